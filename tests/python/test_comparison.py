"""Comparisons and scaling in Python: the command's figures, tables, plots and frames."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import matplotlib

matplotlib.use("agg")

import pytest

import roastcoffea
from roastcoffea._roast import Run

ROOT = Path(__file__).resolve().parents[2]
MAKE_RUN = ROOT / "build" / "tests" / "unit" / "make-run"
ROAST = Path(sys.executable).with_name("roast")


def make(path: Path, seed: int, scale: float, workers: int = 4, chunks: int = 120) -> Path:
    words = ["many", path, chunks, seed, scale, 0.1, workers]
    subprocess.run([MAKE_RUN, *map(str, words)], check=True, timeout=60)
    return path


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    directory = tmp_path_factory.mktemp("pair")
    return [make(directory / "a.roast", 1, 1.0), make(directory / "b.roast", 2, 1.3)]


@pytest.fixture(scope="module")
def sizes(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    directory = tmp_path_factory.mktemp("sizes")
    return [make(directory / f"{n}.roast", n, 1 + 0.05 * n, n) for n in (1, 2, 4, 8)]


def test_figures_are_those_of_the_command(pair: list[Path], sizes: list[Path]) -> None:
    said = subprocess.run([ROAST, "compare", *pair, "-f", "json"], capture_output=True, check=True)
    assert roastcoffea.compare(pair).to_dict() == json.loads(said.stdout)
    said = subprocess.run([ROAST, "scaling", *sizes, "-f", "json"], capture_output=True, check=True)
    assert roastcoffea.scaling(sizes).to_dict() == json.loads(said.stdout)


def test_paths_runs_and_groups_are_taken(pair: list[Path]) -> None:
    a, b = pair
    by_path = roastcoffea.compare([str(a), b]).to_dict()["rows"]
    opened = [Run.open(a), Run.open(b)]
    assert roastcoffea.compare(opened).to_dict()["rows"] == by_path
    grouped = roastcoffea.compare([[a, b], [Run.open(a), Run.open(b)]]).to_dict()
    assert [run["group"] for run in grouped["runs"]] == [0, 0, 1, 1]
    assert {row["verdict"] for row in grouped["rows"]} == {"~"}


def test_what_is_no_pair_is_refused(pair: list[Path]) -> None:
    run = Run.open(pair[0])
    with pytest.raises(ValueError, match="twice"):
        roastcoffea.compare([run, run])
    with pytest.raises(ValueError, match="nothing to compare"):
        roastcoffea.compare([run])
    with pytest.raises(ValueError, match="no runs"):
        roastcoffea.compare([[run], []])
    with pytest.raises(FileNotFoundError):
        roastcoffea.compare([run, "missing.roast"])
    with pytest.raises(TypeError):
        roastcoffea.compare([run, [7]])
    closed = Run.open(pair[1])
    closed.close()
    with pytest.raises(RuntimeError, match="closed"):
        roastcoffea.compare([run, closed])
    run.summary()  # its lock was let go
    with pytest.raises(ValueError, match="no runs"):
        roastcoffea.scaling([])


def test_a_frame_has_a_row_for_each_figure(pair: list[Path], sizes: list[Path]) -> None:
    comparison = roastcoffea.compare(pair)
    frame = comparison.to_pandas()
    assert len(frame) == len(comparison.to_dict()["rows"])
    wall = frame[frame.key == "wall_per_event"].iloc[0]
    assert wall.verdict == "worse"
    assert wall.change == pytest.approx(0.3, abs=0.05)
    assert list(roastcoffea.scaling(sizes).to_pandas().cores) == [1, 2, 4, 8]


def test_it_prints_as_tables(pair: list[Path], sizes: list[Path]) -> None:
    text = repr(roastcoffea.compare(pair))
    assert "From A to B" in text
    assert "worse" in text
    assert "Universal scalability law" in repr(roastcoffea.scaling(sizes))


def test_plots_show_every_figure(pair: list[Path], sizes: list[Path], tmp_path: Path) -> None:
    comparison = roastcoffea.compare(pair)
    _, ax = comparison.plot(tmp_path / "change.png")
    assert (tmp_path / "change.png").stat().st_size > 10_000
    labels = [label.get_text() for label in ax.get_yticklabels()]
    rows = [row for row in comparison.to_dict()["rows"] if row["change"] is not None]
    bold = [text.get_text() for text in ax.get_yticklabels() if text.get_fontweight() == "bold"]
    assert bold == [
        "Whole runs",
        "Chunks",
        "Waits, of wall time",
        "Datasets, wall time",
        "Sections",
    ]
    assert [label for label in labels if label not in bold] == [row["title"] for row in rows]
    marks = [line.get_xdata()[0] for line in ax.lines if line.get_marker() not in ("None", "")]
    assert marks == pytest.approx([1 + row["change"] for row in rows])
    with pytest.raises(ValueError, match="No figures"):
        comparison.plot(against=2)
    _, ax = roastcoffea.scaling(sizes).plot(tmp_path / "scaling.png")
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert any("Amdahl" in text for text in legend)
    assert list(ax.lines[-1].get_xdata()) == [1, 2, 4, 8]


def test_a_comparison_writes_the_page_of_the_command(pair: list[Path], tmp_path: Path) -> None:
    comparison = roastcoffea.compare(pair)
    page = comparison.report(tmp_path / "python.html")
    assert page == tmp_path / "python.html"
    subprocess.run([ROAST, "report", *pair, "-o", tmp_path / "command.html"], check=True)
    assert page.read_bytes() == (tmp_path / "command.html").read_bytes()
    with pytest.raises(OSError, match="nowhere"):
        comparison.report("/nowhere/at/all.html")
