"""The page of several runs: what `roast report A B` writes, in a real browser."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import MAKE_RUN, ROAST
from playwright.sync_api import Page, expect

Open = Callable[..., Page]
Picture = Callable[[Page, str], None]

DATA = re.compile(r'id="data">([^<]*)</script>')


def make(path: Path, seed: int, scale: float = 1.0, workers: int = 4) -> Path:
    words = [path, 300, seed, scale, 0.1, workers]
    subprocess.run([MAKE_RUN, "many", *map(str, words)], check=True, timeout=60)
    return path


def report(page: Path, *words: object) -> Path:
    subprocess.run([ROAST, "report", *map(str, words), "-o", page], check=True, timeout=60)
    return page


def compared(*words: object) -> dict[str, Any]:
    """What the command says about the same runs."""
    answer = subprocess.run(
        [ROAST, "compare", *map(str, words), "--format", "json"],
        check=True,
        capture_output=True,
        timeout=60,
    )
    found: dict[str, Any] = json.loads(answer.stdout)
    return found


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Path]]:
    folder = tmp_path_factory.mktemp("compared")
    return {
        "base": [make(folder / f"base{i}.roast", i) for i in range(3)],
        "slow": [make(folder / f"slow{i}.roast", 10 + i, 1.3) for i in range(3)],
        "wide": [make(folder / f"wide{i}.roast", 20 + i, 1.0, 8) for i in range(3)],
    }


@pytest.fixture(scope="module")
def pair(runs: dict[str, list[Path]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    page = tmp_path_factory.mktemp("pages") / "pair.html"
    return report(page, runs["base"][0], runs["slow"][0])


def rows_of(page: Page) -> list[dict[str, str]]:
    """The rows of the first table of changes, by the titles of its columns."""
    rows: list[dict[str, str]] = page.locator(".changes table").first.evaluate(
        """table => {
            const titles = [...table.tHead.rows[0].cells].map(c => c.textContent || "Verdict");
            return [...table.tBodies[0].rows].filter(row => row.cells.length > 1).map(row =>
                Object.fromEntries([...row.cells].map((cell, i) => [titles[i], cell.textContent])));
        }"""
    )
    return rows


def test_what_differs_around_the_runs_comes_first(
    runs: dict[str, list[Path]], tmp_path: Path, open_page: Open
) -> None:
    page = open_page(report(tmp_path / "page.html", runs["base"][0], runs["wide"][0]))
    headings = page.locator("#changes h3").all_inner_texts()
    assert headings == ["What Differs Around Them", "From A to B"]
    conditions = page.locator("#changes .figures").inner_text()
    assert re.search(r"workers\s+4\s+8", conditions)


def test_the_page_says_what_the_command_says(
    pair: Path, runs: dict[str, list[Path]], open_page: Open, picture: Picture
) -> None:
    page = open_page(pair)
    said = compared(runs["base"][0], runs["slow"][0])["rows"]
    shown = rows_of(page)
    assert [row["Figure"] for row in shown] == [row["title"] for row in said]
    wall = next(row for row in shown if row["Figure"] == "Wall time per event")
    told = next(row for row in said if row["title"] == "Wall time per event")
    assert wall["Change"] == f"{100 * told['change']:+.1f}%"
    assert wall["Verdict"] == told["verdict"] == "worse"
    assert "called different" in page.locator("#changes [role=status]").inner_text()
    picture(page, "comparison")


def test_every_change_is_drawn_where_it_belongs(pair: Path, open_page: Open) -> None:
    page = open_page(pair)
    drawn = page.locator(".changes tbody tr:not(.group)")
    said = page.evaluate(
        "[...document.querySelectorAll('.changes .axis text')].map(t => t.textContent)"
    )
    assert said[2] == "1×"
    assert float(said[4].rstrip("×")) >= 1.3
    at = drawn.locator("svg.forest > svg").evaluate_all(
        "marks => marks.map(mark => parseFloat(mark.getAttribute('x')))"
    )
    changes = [row["Change"] for row in rows_of(page)]
    for x, change in zip(at, changes, strict=True):
        number = float(change.rstrip("%"))
        assert (x > 50) == (number > 0) or abs(number) < 0.06
    # an interval spans its mark
    for image in drawn.locator("svg.forest:has(.interval)").all():
        low, mark, high = image.evaluate(
            """image => [image.querySelector('.interval').getAttribute('x1'),
                image.querySelector('svg').getAttribute('x'),
                image.querySelector('.interval').getAttribute('x2')].map(parseFloat)"""
        )
        assert low <= mark <= high


def test_rows_can_be_chosen(pair: Path, open_page: Open) -> None:
    page = open_page(pair)
    everything = len(rows_of(page))
    page.locator("select[name=Show]").select_option("section")
    sections = rows_of(page)
    assert 0 < len(sections) < everything
    expect(page.locator(".changes tr.group")).to_have_count(1)
    page.locator("select[name=Show]").select_option("")
    page.get_by_label("only what is called different").check()
    verdicts = {row["Verdict"] for row in rows_of(page)}
    assert verdicts
    assert not any(verdict.startswith("~") for verdict in verdicts)


def test_groups_have_a_table_each(
    runs: dict[str, list[Path]], tmp_path: Path, open_page: Open, picture: Picture
) -> None:
    words = [*runs["base"], "--", *runs["slow"], "--", *runs["wide"]]
    page = open_page(report(tmp_path / "page.html", *words), color_scheme="dark")
    assert page.locator("#changes h3").all_inner_texts()[1:] == ["From A to B", "From A to C"]
    assert "3 repeated runs" in page.locator("h1").inner_text()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(23, 22, 20)"
    picture(page, "comparison-groups-dark")
    page.click("#tab-runs")
    rows = page.locator("#runs tbody tr")
    expect(rows).to_have_count(9)
    assert [text[0] for text in rows.all_inner_texts()] == list("AAABBBCCC")
    assert "Elapsed time" in page.locator("#runs thead").inner_text()
    picture(page, "comparison-runs-dark")


def test_a_run_that_does_not_differ_has_nothing_called(
    runs: dict[str, list[Path]], tmp_path: Path, open_page: Open
) -> None:
    page = open_page(report(tmp_path / "page.html", runs["base"][0], runs["base"][0]))
    expect(page.locator(".notice").last).to_have_text("No difference can be told from chance.")
    page.get_by_label("only what is called different").check()
    assert rows_of(page) == []


def test_an_empty_run_can_be_compared(
    runs: dict[str, list[Path]], tmp_path: Path, open_page: Open
) -> None:
    empty = tmp_path / "empty.roast"
    subprocess.run([MAKE_RUN, "empty", empty], check=True)
    page = open_page(report(tmp_path / "page.html", runs["base"][0], empty))
    expect(page.locator("#changes .empty")).to_have_text("The runs have no figure in common.")
    page.click("#tab-runs")
    assert "not known" in page.locator("#runs").inner_text()


@pytest.mark.parametrize("kind", ["hostile", "hostile-names"])
def test_names_with_html_in_them_show_as_text(tmp_path: Path, open_page: Open, kind: str) -> None:
    hostile = tmp_path / "hostile.roast"
    subprocess.run([MAKE_RUN, kind, hostile], check=True)
    path = report(tmp_path / "page.html", hostile, hostile)
    page = open_page(path)
    page.evaluate("window.harmed = 0")
    text = page.locator("main").inner_text()
    page.click("#tab-runs")
    text += page.locator("main").inner_text()
    said = compared(hostile, hostile)
    names = {said["runs"][0]["name"], *(row["title"] for row in said["rows"])}
    plain = re.compile(r"\s+")
    for name in names:
        assert plain.sub(" ", name).strip() in plain.sub(" ", text)
    assert page.evaluate("window.harmed") == 0
    assert page.locator("img, iframe, object, embed, link, a[href]").count() == 0
    if kind == "hostile-names":
        assert any("<" in name for name in names)


def test_the_page_prints(pair: Path, open_page: Open) -> None:
    page = open_page(pair)
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(page.locator("#runs table")).to_be_visible()
    expect(page.locator("#changes .changes table")).to_be_visible()


def test_the_data_are_small(pair: Path) -> None:
    found = DATA.search(pair.read_text())
    assert found
    packed = base64.b64decode(found.group(1))
    assert len(packed) < 20_000
    assert json.loads(zlib.decompress(packed)[4:])["comparison"]["rows"]
