"""A run as a page and in a notebook, from Python."""

from __future__ import annotations

import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

from roastcoffea import MetricsCollector, open_run
from roastcoffea._roast import Run

MAKE_RUN = Path(__file__).resolve().parents[2] / "build" / "tests" / "unit" / "make-run"


class Elements(HTMLParser):
    """The names of the elements that a browser would make, and the text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


def make_run(folder: Path, kind: str) -> Path:
    path = folder / f"{kind}.roast"
    subprocess.run([MAKE_RUN, kind, path], check=True)
    return path


def test_a_loaded_run_writes_its_page(tmp_path: Path) -> None:
    path = make_run(tmp_path, "finished")
    page = MetricsCollector.from_run(path).report(tmp_path / "a.html")
    assert page == tmp_path / "a.html"
    assert page.read_text() == open_run(path).write_report(tmp_path / "b.html").read_text()
    assert page.read_text().startswith("<!doctype html>")


def test_a_page_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    run = Run.open(make_run(tmp_path, "empty"))
    with pytest.raises(OSError, match="nowhere"):
        run.report("/nowhere/page.html")


def test_a_run_in_a_notebook_is_its_tables(tmp_path: Path) -> None:
    path = make_run(tmp_path, "finished")
    for shown in (open_run(path), MetricsCollector.from_run(path), Run.open(path)):
        html = Elements(shown._repr_html_())
        assert html.names <= {"p", "b", "div", "table", "caption", "thead", "tr", "th", "td"}
        assert "sample, begun 2026-11-15" in html.text
        assert "Chunk Metrics" in html.text


def test_hostile_names_in_a_notebook_are_text(tmp_path: Path) -> None:
    shown = open_run(make_run(tmp_path, "hostile-names"))._repr_html_()
    html = Elements(shown)
    assert html.names <= {"p", "b", "div", "table", "caption", "thead", "tr", "th", "td"}
    assert html.attributes <= {"style", "colspan"}
    assert "<img src=x onerror=harmed++>" in html.text
    assert not re.search(r"<(script|img|svg)", shown)


def test_long_tables_are_cut_in_a_notebook(tmp_path: Path) -> None:
    html = Elements(open_run(make_run(tmp_path, "large"))._repr_html_())
    assert re.search(r"and \d+ more rows", html.text)


def test_a_collector_that_has_not_begun_says_so() -> None:
    assert "not been entered" in MetricsCollector()._repr_html_()
