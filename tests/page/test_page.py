"""The report page in a real browser: every tab, and what one can do there."""

from __future__ import annotations

import csv
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import ROAST
from embedded import words_of
from playwright.sync_api import Locator, Page, expect

Make = Callable[[str], Path]
Open = Callable[..., Page]
Picture = Callable[[Page, str], None]

TABS = {
    "overview": "Overview",
    "timeline": "Timeline",
    "chunks": "Chunks",
    "gantt": "Gantt",
    "sections": "Sections",
    "datasets": "Datasets",
    "files": "Files",
    "bytes": "Bytes",
    "branches": "Branches",
    "failures": "Failures",
    "environment": "Environment",
}


def drawn_pixels(canvas: Locator) -> int:
    """How many pixels of a canvas are not transparent."""
    return int(
        canvas.evaluate(
            """canvas => {
                const {width, height} = canvas;
                const data = canvas.getContext("2d").getImageData(0, 0, width, height).data;
                let n = 0;
                for (let i = 3; i < data.length; i += 4) n += data[i] > 0;
                return n;
            }"""
        )
    )


def choice(page: Page, name: str) -> Locator:
    return page.locator(f'select[name="{name}"]:visible')


@pytest.mark.parametrize("tab", TABS)
def test_every_tab_opens(make_report: Make, open_page: Open, picture: Picture, tab: str) -> None:
    page = open_page(make_report("large"), tab)
    expect(page.get_by_role("tab", name=TABS[tab])).to_have_attribute("aria-selected", "true")
    panel = page.locator(f"#{tab}")
    expect(panel).to_be_visible()
    assert panel.inner_text().strip()
    for canvas in panel.locator("canvas").all():
        assert drawn_pixels(canvas) > 500
    picture(page, f"large-{tab}")


def test_key_figures_are_those_of_the_run(make_report: Make, open_page: Open) -> None:
    page = open_page(make_report("large"))
    cards = page.locator(".card").all_inner_texts()
    assert "Chunks\n2,000" in cards
    assert any(card.startswith("Elapsed time\n2m 0s") for card in cards)
    assert any("no report was given" in card for card in cards), "what is absent says why"


def test_seconds_are_written_in_one_way(make_report: Make, open_page: Open) -> None:
    page = open_page(make_report("finished"))
    assert "Elapsed time\n10.0s" in page.locator(".card").all_inner_texts()
    expect(page.locator("header")).to_contain_text("UTC, 10.0s")


def test_bytes_stand_side_by_side_by_their_sources(make_report: Make, open_page: Open) -> None:
    page = open_page(make_report("finished"), "bytes")
    text = page.locator("#bytes").inner_text()
    for source in ("Needed by the chunks' baskets", "Requested by uproot", "Read by the processes"):
        assert source in text
    page.click("#tab-files")
    heads = page.locator("#files thead").inner_text()
    assert {"Needed", "Requested", "Read"} <= set(heads.split())


def test_dragging_over_one_timeline_zooms_all(
    make_report: Make, open_page: Open, picture: Picture
) -> None:
    page = open_page(make_report("large"), "timeline")
    status = page.locator("#timeline .ranges [role=status]")
    expect(status).to_have_text("Drag over a chart to zoom.")
    over = page.locator("#timeline .u-over").nth(3)
    over.scroll_into_view_if_needed()
    box = over.bounding_box()
    assert box
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 0.25, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.5, middle, steps=4)
    page.mouse.up()
    expect(status).to_have_text(re.compile(r"^0:(29|30)\.\d to (0:59|1:00)\.\d, (29|30)\.\ds$"))
    picture(page, "zoom-timeline")
    # The Gantt chart and the scatter over time follow the same stretch.
    page.click("#tab-gantt")
    expect(page.locator("#gantt .ranges [role=status]")).to_contain_text("0:")
    page.locator("#gantt").get_by_role("button", name="Show all").click()
    page.click("#tab-timeline")
    expect(status).to_have_text("Drag over a chart to zoom.")


def test_keys_zoom_a_chart(make_report: Make, open_page: Open) -> None:
    page = open_page(make_report("large"), "timeline")
    status = page.locator("#timeline .ranges [role=status]")
    page.locator("#timeline .chart").first.focus()
    page.keyboard.press("+")
    expect(status).to_have_text("0:30.0 to 1:30.0, 1m 0s")
    page.keyboard.press("ArrowRight")
    expect(status).to_have_text("0:42.0 to 1:42.0, 1m 0s")
    page.keyboard.press("0")
    expect(status).to_have_text("Drag over a chart to zoom.")


def test_hovering_shows_the_chunk(make_report: Make, open_page: Open, picture: Picture) -> None:
    page = open_page(make_report("large"), "gantt")
    box = page.locator("#gantt .u-over").bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 5)
    tooltip = page.locator("#gantt .tooltip")
    expect(tooltip).to_be_visible()
    expect(tooltip).to_contain_text("tcp://10.0.0.1:40001")
    expect(tooltip).to_contain_text(".root")
    picture(page, "hover-gantt")
    page.mouse.down()
    page.mouse.up()
    expect(page.locator("#gantt .about")).to_contain_text("Peak memory")


def test_the_slowest_chunk_is_first_and_can_be_chosen(make_report: Make, open_page: Open) -> None:
    page = open_page(make_report("large"), "chunks")
    panel = page.locator("#chunks")
    expect(panel.locator(".ranges [role=status]")).to_have_text("2,000 of 2,000 chunks in view")
    first = panel.locator("tbody tr").first
    duration = first.locator("td").nth(5).inner_text()
    first.focus()
    page.keyboard.press("Enter")
    expect(panel.locator(".about")).to_contain_text(duration)


@pytest.mark.parametrize("against", ["num_events", "start_utc_ns", "cpu_ns", "rss_peak_bytes"])
def test_chunks_are_drawn_against_anything(
    make_report: Make, open_page: Open, against: str
) -> None:
    page = open_page(make_report("large"), "chunks")
    choice(page, "Against").select_option(against)
    for color, names in (("worker", 8), ("outcome", 2), ("dataset", 6)):
        choice(page, "Coloured by").select_option(color)
        expect(page.locator("#chunks .legend li")).to_have_count(names)
    expect(page.locator("#chunks .ranges [role=status]")).to_have_text(
        "2,000 of 2,000 chunks in view"
    )
    box = page.locator("#chunks .u-over").bounding_box()
    assert box
    # Somewhere along a line through the cloud there is a chunk to hover.
    for step in range(4, 20):
        page.mouse.move(box["x"] + box["width"] * step / 20, box["y"] + box["height"] * 0.85)
        page.wait_for_timeout(30)
        if page.locator("#chunks .tooltip").is_visible():
            break
    expect(page.locator("#chunks .tooltip")).to_contain_text("root://")


def test_chunks_are_filtered_and_zoomed(make_report: Make, open_page: Open) -> None:
    page = open_page(make_report("large"), "chunks")
    status = page.locator("#chunks .ranges [role=status]")
    choice(page, "Outcome").select_option(label="failed")
    expect(status).to_have_text("13 of 2,000 chunks in view")
    choice(page, "Outcome").select_option("")
    page.get_by_label("Logarithmic").check()
    expect(status).to_have_text("2,000 of 2,000 chunks in view")
    box = page.locator("#chunks .u-over").bounding_box()
    assert box
    page.mouse.move(box["x"] + 100, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + 500, box["y"] + 200, steps=4)
    page.mouse.up()
    expect(status).not_to_have_text("2,000 of 2,000 chunks in view")
    page.locator("#chunks").get_by_role("button", name="Show all").click()
    expect(status).to_have_text("2,000 of 2,000 chunks in view")


def test_tables_are_sorted_and_filtered(make_report: Make, open_page: Open) -> None:
    page = open_page(make_report("large"), "files")
    panel = page.locator("#files")
    header = panel.get_by_role("columnheader", name="Wall", exact=True)
    expect(header).to_have_attribute("aria-sort", "none")
    header.get_by_role("button").click()
    expect(header).to_have_attribute("aria-sort", "descending")
    wall = panel.locator("tbody tr td:nth-child(6)").all_inner_texts()
    assert len(wall) == 32
    seconds = [
        sum(float(n) * u for n, u in zip(re.findall(r"[\d.]+", w), (60, 1), strict=False))
        for w in wall
        if "m " in w
    ]
    assert seconds == sorted(seconds, reverse=True)
    header.get_by_role("button").click()
    expect(header).to_have_attribute("aria-sort", "ascending")
    panel.get_by_label("Filter").fill("nano_1 DYJets")
    expect(panel.locator("[role=status]")).to_have_text(re.compile(r"^\d of 32 rows$"))
    for text in panel.locator("tbody tr").all_inner_texts():
        assert "nano_1" in text
        assert "DYJets" in text


def test_columns_that_no_row_fills_are_not_shown(make_report: Make, open_page: Open) -> None:
    path = make_report("large")
    csv_of_files = subprocess.run(
        [ROAST, "show", "--format", "csv", "--table", "files", path.with_suffix(".roast")],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    keys, *rows = csv.reader(csv_of_files.splitlines())
    filled = [key for key, *values in zip(keys, *rows, strict=True) if any(values)]
    assert "requested_bytes" in filled
    assert "read_bytes" not in filled
    words, _ = words_of(path)
    files = next(table for table in words["tables"] if table["name"] == "files")
    assert [column["key"] for column in files["columns"]] == filled
    page = open_page(path, "files")
    expect(page.locator("#files thead th")).to_have_count(len(filled))


def test_blocks_of_an_icicle_are_as_wide_as_their_share(make_report: Make, open_page: Open) -> None:
    page = open_page(make_report("large"), "sections", viewport={"width": 400, "height": 900})
    rows = page.locator("#sections .icicle .rows").nth(1)
    edge = rows.evaluate("rows => rows.getBoundingClientRect().right")
    blocks = rows.locator(".part").evaluate_all(
        "parts => parts.map(part => [part.getBoundingClientRect(), parseFloat(part.style.width)])"
        ".map(([box, percent]) => [box.right, box.width, percent])"
    )
    whole = max(width for _, width, _ in blocks)
    assert min(percent for _, _, percent in blocks) < 3
    for right, width, percent in blocks:
        assert right <= edge + 0.5
        assert width == pytest.approx(whole * percent / 100, abs=0.5)


def test_names_in_blocks_of_an_icicle_are_cut_where_the_block_ends(
    make_report: Make, open_page: Open
) -> None:
    page = open_page(make_report("large"), "sections", viewport={"width": 700, "height": 900})
    names = page.locator("#sections .icicle .part span:not(:empty)").evaluate_all(
        "spans => spans.map(span => [span.textContent, span.parentElement.title,"
        " getComputedStyle(span).textOverflow, span.scrollWidth > span.clientWidth,"
        " span.getBoundingClientRect().right - span.parentElement.getBoundingClientRect().right])"
    )
    assert any(too_long for *_, too_long, _ in names)
    for name, title, overflow, _, beyond in names:
        assert title.startswith(f"{name}: ")
        assert overflow == "ellipsis"
        assert beyond <= 0


def test_an_icicle_opens_a_dataset(make_report: Make, open_page: Open) -> None:
    page = open_page(make_report("large"), "sections")
    icicle = page.locator("#sections .icicle").nth(1)
    icicle.locator(".part.dataset").first.click()
    expect(icicle.locator(".part.dataset")).to_have_count(1)
    assert icicle.locator(".part.section").count() == 5
    icicle.locator(".part.dataset").click()
    expect(icicle.locator(".part.dataset")).to_have_count(6)


def test_tabs_are_walked_by_keys(make_report: Make, open_page: Open) -> None:
    page = open_page(make_report("large"))
    page.locator("#tab-overview").focus()
    for tab in list(TABS)[1:]:
        page.keyboard.press("ArrowRight")
        expect(page.locator(f"#tab-{tab}")).to_be_focused()
        expect(page.locator(f"#{tab}")).to_be_visible()
    page.keyboard.press("Home")
    expect(page.locator("#tab-overview")).to_be_focused()


@pytest.mark.parametrize("tab", ["overview", "timeline", "chunks", "gantt", "sections"])
def test_dark_colours(make_report: Make, open_page: Open, picture: Picture, tab: str) -> None:
    page = open_page(make_report("large"), tab, color_scheme="dark")
    brightness = (
        "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3).map(Number)"
    )
    assert max(page.evaluate(brightness)) < 60
    picture(page, f"dark-{tab}")
    page.get_by_role("button", name="Show in light colours").click()
    assert min(page.evaluate(brightness)) > 200
    expect(page.locator(f"#{tab}")).to_be_visible()


def test_thousands_of_workers_are_bands(
    make_report: Make, open_page: Open, picture: Picture
) -> None:
    page = open_page(make_report("large:20000:2000:300"), "timeline")
    legend = page.locator("#timeline .timeline").nth(3).locator(".u-legend")
    expect(legend).to_contain_text("Median")
    expect(legend).to_contain_text("90 %")
    choice(page, "Worker").select_option("17")
    expect(page.locator("#timeline .timeline").nth(3).locator(".u-legend")).to_contain_text(
        ":40001"
    )
    picture(page, "many-timeline")
    page.click("#tab-gantt")
    picture(page, "many-gantt")


def test_it_prints_every_part(make_report: Make, open_page: Open) -> None:
    page = open_page(make_report("large"))
    pdf = page.pdf(print_background=True)
    assert pdf.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) > 3
    expect(page.locator("#overview")).to_be_visible()
    expect(page.locator("#timeline")).to_be_hidden()
