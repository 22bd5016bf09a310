"""The report page in Firefox: it opens from disk, draws, and complains of nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import MAKE_RUN, PICTURES, ROAST
from firefox import Firefox

Make = Callable[[str], Path]

#: Shows a tab and returns its words, and of each canvas how many pixels were drawn
SHOW = """
document.getElementById(`tab-${tab}`).click();
await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
const panel = document.getElementById(tab);
const drawn = [...panel.querySelectorAll("canvas")].map(canvas => {
    const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    let n = 0;
    for (let k = 3; k < data.length; k += 4) n += data[k] > 0;
    return n;
});
return [panel.innerText, drawn];
"""


@pytest.fixture(scope="module")
def firefox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Firefox]:
    names = (os.environ.get("ROAST_FIREFOX"), "firefox-esr", "firefox")
    program = next((found for name in names if name and (found := shutil.which(name))), None)
    if program is None:
        pytest.skip("there is no Firefox")
    browser = Firefox(program, tmp_path_factory.mktemp("firefox"))
    yield browser
    browser.close()


def show(firefox: Firefox, tab: str) -> tuple[str, list[int]]:
    words, drawn = firefox.run(f"const tab = '{tab}'; {SHOW}")
    return words, drawn


def tabs_of(firefox: Firefox) -> list[str]:
    found: list[str] = firefox.run(
        "return [...document.querySelectorAll('[role=tab]')].map(tab => tab.id.slice(4))"
    )
    return found


def test_every_tab_of_a_run_is_drawn(firefox: Firefox, make_report: Make) -> None:
    firefox.open(make_report("large"))
    tabs = tabs_of(firefox)
    assert {"overview", "timeline", "chunks", "gantt", "sections", "files"} <= set(tabs)
    for tab in tabs:
        words, drawn = show(firefox, tab)
        assert words.strip(), tab
        assert all(n > 500 for n in drawn), tab
        assert bool(drawn) == (tab in ("overview", "timeline", "chunks", "gantt")), tab
    firefox.picture(PICTURES / "firefox-large.png")
    assert firefox.complaints == []


def test_charts_are_zoomed_by_keys(firefox: Firefox, make_report: Make) -> None:
    firefox.open(make_report("large"))
    show(firefox, "timeline")
    told = "return document.querySelector('#timeline .range').textContent"
    whole = firefox.run(told)
    firefox.run("document.querySelector('#timeline .chart').focus()")
    firefox.press("+")
    closer = firefox.run(told)
    assert closer != whole
    firefox.press("0")
    assert firefox.run(told) == whole
    assert firefox.complaints == []


def test_tables_are_sorted(firefox: Firefox, make_report: Make) -> None:
    firefox.open(make_report("large"))
    show(firefox, "files")
    before, after, told = firefox.run(
        """const files = () => [...document.querySelectorAll("#files tbody tr")]
            .map(row => row.cells[0].textContent);
        const before = files();
        document.querySelectorAll("#files th button")[5].click();
        return [before, files(), document.querySelectorAll("#files th")[5].ariaSort];"""
    )
    assert len(before) == len(after)
    assert before != after
    assert told == "descending"
    assert firefox.complaints == []


def test_dark_colours_are_drawn(firefox: Firefox, make_report: Make) -> None:
    firefox.open(make_report("large"))
    colours: list[str] = firefox.run(
        """const colour = () => getComputedStyle(document.body).backgroundColor;
        const before = colour();
        document.querySelector("button.theme").click();
        return [before, colour()];"""
    )
    assert set(colours) == {"rgb(246, 245, 242)", "rgb(23, 22, 20)"}
    assert show(firefox, "timeline")[1]
    firefox.picture(PICTURES / "firefox-other-colours.png")
    assert firefox.complaints == []


def test_hostile_names_are_text(firefox: Firefox, make_report: Make) -> None:
    firefox.open(make_report("hostile-names"))
    firefox.run("window.harmed = 0")
    text = "\n".join(show(firefox, tab)[0] for tab in tabs_of(firefox))
    assert "<img src=x onerror=harmed++>" in text
    assert firefox.run("return window.harmed") == 0
    assert firefox.complaints == []


def test_a_comparison_is_drawn(firefox: Firefox, tmp_path: Path) -> None:
    runs = [tmp_path / "a.roast", tmp_path / "b.roast"]
    for i, run in enumerate(runs):
        words = ["many", run, 200, i, 1 + 0.3 * i, 0.1, 4]
        subprocess.run([MAKE_RUN, *map(str, words)], check=True)
    page = tmp_path / "page.html"
    subprocess.run([ROAST, "report", *runs, "-o", page], check=True)
    firefox.open(page)
    assert tabs_of(firefox) == ["changes", "runs"]
    marks: list[list[float]] = firefox.run(
        """return [...document.querySelectorAll(".changes tbody svg.forest")].map(image => {
            const whole = image.getBoundingClientRect();
            const mark = image.querySelector("circle, rect:not(.noise), path");
            const at = mark.getBoundingClientRect();
            return [(at.left + at.right) / 2 - whole.left, whole.width];
        })"""
    )
    assert len(marks) > 5
    assert all(0 <= at <= width and width >= 200 for at, width in marks)
    assert any(at > 0.6 * width for at, width in marks)
    firefox.picture(PICTURES / "firefox-comparison.png")
    assert firefox.complaints == []
