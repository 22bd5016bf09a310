"""The report page of runs that are not as they should be, or that somebody made to do harm."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from embedded import DATA, words_of
from playwright.sync_api import Page, expect

Make = Callable[[str], Path]
Open = Callable[..., Page]
Picture = Callable[[Page, str], None]

TABS = [
    "overview",
    "timeline",
    "chunks",
    "gantt",
    "sections",
    "datasets",
    "files",
    "bytes",
    "branches",
    "failures",
    "environment",
]


def walk(page: Page) -> str:
    """Open every tab and return all that is written there."""
    texts = []
    for tab in TABS:
        page.click(f"#tab-{tab}")
        texts.append(page.locator(f"#{tab}").inner_text())
    return "\n".join(texts)


def rows_of(page: Page, tab: str) -> dict[str, list[str]]:
    """Return the rows of a tab's table by their first cell."""
    page.click(f"#tab-{tab}")
    rows = [
        row.locator("th, td").all_inner_texts() for row in page.locator(f"#{tab} tbody tr").all()
    ]
    return {cells[0]: cells[1:] for cells in rows}


def with_words(path: Path, words: dict[str, Any], columns: bytes, name: str) -> Path:
    """A copy of a page with other words."""
    text = json.dumps(words).encode()
    text += b" " * (-len(text) % 4)
    packed = base64.b64encode(zlib.compress(len(text).to_bytes(4, "little") + text + columns))
    copy = path.with_name(name)
    copy.write_text(DATA.sub(lambda m: m.group(1) + packed.decode() + m.group(3), path.read_text()))
    return copy


def test_an_axis_of_few_bytes_says_nothing_twice(make_report: Make, open_page: Open) -> None:
    path = make_report("large")
    words, columns = words_of(path)
    words["series"] = [one for one in words["series"] if one["key"] == "cpu"]
    words["series"][0]["unit"] = "bytes/s"  # 0 to 1.5 of them
    page = open_page(with_words(path, words, columns, "few-bytes.html"))
    page.evaluate(
        """() => {
            const write = CanvasRenderingContext2D.prototype.fillText;
            window.written = new Map();
            CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
                const places = window.written.get(text) ?? new Set();
                window.written.set(text, places.add(Math.round(y)));
                return write.call(this, text, x, y);
            };
        }"""
    )
    page.click("#tab-timeline")
    page.wait_for_function("window.written.has('0 B/s')")
    written = page.evaluate("[...window.written].map(([text, places]) => [text, places.size])")
    assert {text: n for text, n in written if "B/s" in text} == {"0 B/s": 1, "1 B/s": 1}


@pytest.mark.parametrize(
    ("limit_bytes", "told"), [(4e9, "the limit is 4.00 GB"), (7e8, "dashed: the limit, 700.00 MB")]
)
def test_a_limit_is_called_dashed_only_where_it_is_drawn(
    make_report: Make, open_page: Open, limit_bytes: float, told: str
) -> None:
    path = make_report("large")
    words, columns = words_of(path)
    words["grid"]["memory_limit_bytes"] = limit_bytes
    page = open_page(with_words(path, words, columns, "limit.html"), "timeline")
    note = page.locator("#timeline figcaption").filter(has_text="resident memory")
    expect(note).to_have_text(re.compile(f"; {told}$"))


def test_an_empty_run_says_what_is_missing(
    make_report: Make, open_page: Open, picture: Picture
) -> None:
    page = open_page(make_report("empty"))
    text = walk(page)
    assert "There are no chunk records" in text
    assert "@track_metrics" in text
    assert "No chunk failed" in text
    assert "NaN" not in text
    assert "undefined" not in text
    page.click("#tab-overview")
    picture(page, "empty-overview")


def test_an_unfinished_run_says_so(make_report: Make, open_page: Open, picture: Picture) -> None:
    page = open_page(make_report("unfinished"))
    expect(page.locator("header .badge")).to_have_text("unfinished")
    expect(page.locator("#overview .notice")).to_contain_text("its client died")
    picture(page, "unfinished-overview")
    assert "NaN" not in walk(page)


def test_a_failed_run_says_why(make_report: Make, open_page: Open) -> None:
    page = open_page(make_report("failed"))
    expect(page.locator("header .badge")).to_have_text("failed")
    expect(page.locator("#overview .notice")).to_contain_text("ValueError: no muons")


@pytest.mark.parametrize("kind", ["hostile", "hostile-names"])
def test_hostile_names_are_text(
    make_report: Make, open_page: Open, picture: Picture, kind: str
) -> None:
    path = make_report(kind)
    page = open_page(path)
    page.evaluate("window.harmed = 0")
    text = walk(page)
    for tab in ("chunks", "gantt"):
        page.click(f"#tab-{tab}")
        picture(page, f"{kind}-{tab}")
    assert page.evaluate("window.harmed") == 0
    assert page.locator("img, iframe, object, embed, link, a[href]").count() == 0
    if kind == "hostile-names":
        assert "<img src=x onerror=harmed++>" in text
        assert "</script><script>harmed++</script>" in text
        assert "onerror" not in path.read_text().split('id="data"')[1].split("<script>")[0]


def test_the_policy_lets_nothing_in(make_report: Make, browser: Any) -> None:
    path = make_report("large")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', path.read_text())
    assert policy
    assert "default-src 'none'" in policy.group(1)
    assert not re.search(r"https?:|unsafe|\*", policy.group(1))
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", path.read_text())
    page = browser.new_page()
    page.goto(path.as_uri())
    # What a page without the policy would obey
    ran = page.evaluate(
        """() => {
            const script = document.createElement("script");
            script.textContent = "window.injected = true";
            document.body.append(script);
            return window.injected === true;
        }"""
    )
    page.close()
    assert ran is False


def test_findings_are_shown_if_there_are_any(
    make_report: Make, open_page: Open, picture: Picture
) -> None:
    path = make_report("large")
    words, columns = words_of(path)
    finding = {
        "rule": "tail",
        "title": "The last chunks kept everyone waiting",
        "saves_s": 12.3,
        "share": 0.12,
        "threshold": "reported from 5 % of the run on",
        "evidence": ["15 of 16 threads were idle for the last 12.3s"],
        "subjects": [{"kind": "chunk", "name": "<b>nano_3.root</b> 0 to 100", "value": "4.7s"}],
        "try": "smaller chunks",
    }
    words["explanation"] = {"findings": [finding], "checked": []}
    page = open_page(with_words(path, words, columns, "findings.html"))
    section = page.locator("#overview .findings")
    expect(section).to_contain_text("could save 12.3s, 12 % of the run")
    expect(section).to_contain_text("<b>nano_3.root</b>")
    picture(page, "findings-overview")
    del words["explanation"]
    page = open_page(with_words(path, words, columns, "no-findings.html"))
    expect(page.locator("#overview .findings")).to_have_count(0)


def test_times_that_are_not_told_or_nothing_are_told_apart(
    make_report: Make, open_page: Open
) -> None:
    path = make_report("large")
    words, columns = words_of(path)
    n, names = words["chunks"]["n"], words["workers"]
    # One byte for each chunk, 255 is "not told". The chunks of the first worker do not tell their
    # time, those of the others took none, and the last has only one. A file is a worker's.
    of = [i % (len(names) - 1) for i in range(n - 1)] + [len(names) - 1]
    bytes_at = {
        "worker": bytes(of),
        "file": bytes(of),
        "wall_ns": bytes(0 if worker else 255 for worker in of),
        **dict.fromkeys(("outcome", "file_dataset", "other_dataset"), bytes(n)),
    }
    for name, values in bytes_at.items():
        place = words["chunks"]["amounts"] if name == "wall_ns" else words["chunks"]
        place[name] = {"type": "u8", "n": n, "at": len(columns)}
        columns += values
    words["files"], words["datasets"] = names, ["ttbar"]
    words["tables"] = [table for table in words["tables"] if table["name"] != "files"]
    page = open_page(with_words(path, words, columns, "no-times.html"))
    assert "NaN" not in walk(page)
    workers = rows_of(page, "gantt")
    assert workers[names[0]] == ["0", "", "", ""]
    assert workers[names[1]][1] == "0.0s"
    assert workers[names[1]][3] == "0.00"
    assert workers[names[-1]] == ["1", "0.0s", "0.0s", ""]
    files = rows_of(page, "files")
    assert [files[names[0]][i] for i in (4, 6)] == ["", ""]
    assert [files[names[1]][i] for i in (4, 6)] == ["0.0s", "0.0s"]


def test_a_damaged_page_says_so(make_report: Make, browser: Any, tmp_path: Path) -> None:
    copy = tmp_path / "damaged.html"
    copy.write_text(DATA.sub(r"\1eJxLTE\3", make_report("empty").read_text()))
    page = browser.new_page()
    page.goto(copy.as_uri())
    expect(page.get_by_role("alert")).to_contain_text("The report cannot be shown")
    page.close()


def test_a_page_without_data_is_small(make_report: Make) -> None:
    text = make_report("empty").read_text()
    assert len(DATA.sub(r"\1\3", text).encode()) <= 120_000
