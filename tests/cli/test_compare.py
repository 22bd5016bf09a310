"""`roast compare` and `roast scaling`, from the outside; runs come from tests/unit/make-run.c."""

from __future__ import annotations

import csv
import json
import subprocess
from pathlib import Path

import pytest
from command import make_run, roast


def make(
    path: Path, chunks: int, seed: int, scale: float, workers: int = 4, events: int = 0
) -> Path:
    words = [chunks, seed, scale, 0.1, workers, *([events] if events else [])]
    return make_run(path, "many", *words)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    directory = tmp_path_factory.mktemp("runs")
    found = {
        "base": make(directory / "base.roast", 300, 1, 1.0),
        "same": make(directory / "same.roast", 300, 2, 1.0),
        "slow": make(directory / "slow.roast", 300, 3, 1.2),
        "cut": make(directory / "cut.roast", 300, 4, 1.0, events=20_000),
    }
    for i in range(3):
        found[f"a{i}"] = make(directory / f"a{i}.roast", 100, 10 + i, 1 + 0.01 * i)
        found[f"b{i}"] = make(directory / f"b{i}.roast", 100, 20 + i, 1.3 + 0.01 * i)
    for n in (1, 2, 4, 8):
        found[f"w{n}"] = make(directory / f"w{n}.roast", 32, 30 + n, 1 + 0.05 * (n - 1), workers=n)
    for kind in ("empty", "hostile", "finished"):
        found[kind] = directory / f"{kind}.roast"
        make_run(found[kind], kind)
    return found


def rows(result: subprocess.CompletedProcess[str]) -> dict[tuple[str, str], dict[str, object]]:
    assert (result.returncode, result.stderr) == (0, "")
    return {(row["group"], row["key"]): row for row in json.loads(result.stdout)["rows"]}


def test_a_slowdown_is_named_in_every_format(runs: dict[str, Path]) -> None:
    text = roast("compare", runs["base"], runs["slow"])
    assert (text.returncode, text.stderr) == (0, "")
    line = next(line for line in text.stdout.splitlines() if "Wall time per event" in line)
    assert "worse" in line
    assert "+2" in line
    markdown = roast("compare", runs["base"], runs["slow"], "-f", "markdown").stdout
    assert "| worse |" in markdown
    row = rows(roast("compare", runs["base"], runs["slow"], "-f", "json"))[
        "chunk", "wall_per_event"
    ]
    assert row["verdict"] == "worse"
    assert row["change_low"] < 0.2 < row["change_high"]
    assert row["a_low"] <= row["a"] <= row["a_high"] < row["low"] <= row["b"] <= row["high"]
    assert row["p"] <= row["p_adjusted"] < 0.001
    assert row["n"] == 300


def test_nothing_is_said_where_nothing_differs(runs: dict[str, Path]) -> None:
    result = roast("compare", runs["base"], runs["same"])
    assert "No difference can be told from chance." in result.stdout
    assert "worse" not in result.stdout


def test_the_same_runs_give_the_same_figures(runs: dict[str, Path]) -> None:
    first, second = (roast("compare", runs["base"], runs["slow"], "-f", "json") for _ in range(2))
    assert first.stdout == second.stdout


@pytest.mark.parametrize(
    ("other", "bound", "code"),
    [("slow", "5%", 1), ("slow", "5", 1), ("slow", "50%", 0), ("same", "0%", 0)],
)
def test_fail_on_wants_a_regression_that_is_large_and_sure(
    runs: dict[str, Path], other: str, bound: str, code: int
) -> None:
    result = roast("compare", runs["base"], runs[other], "--fail-on", bound)
    assert result.returncode == code
    assert ("became worse by" in result.stderr) == bool(code)


def test_an_improvement_does_not_fail(runs: dict[str, Path]) -> None:
    result = roast("compare", "--fail-on=5%", runs["slow"], runs["base"])
    assert result.returncode == 0
    assert "better" in result.stdout


def test_groups_are_divided_by_dashes(runs: dict[str, Path]) -> None:
    a, b = [runs[f"a{i}"] for i in range(3)], [runs[f"b{i}"] for i in range(3)]
    result = roast("compare", *a, "--", *b, "--format", "json")
    found = rows(result)
    assert [run["group"] for run in json.loads(result.stdout)["runs"]] == [0, 0, 0, 1, 1, 1]
    assert found["run", "elapsed_time_seconds"]["verdict"] == "worse"
    assert found["run", "elapsed_time_seconds"]["test"] == "t"
    assert found["chunk", "wall_per_event"]["noise"] == 0


def test_single_runs_say_nothing_about_whole_runs(runs: dict[str, Path]) -> None:
    row = rows(roast("compare", runs["base"], runs["slow"], "-f", "json"))[
        "run", "elapsed_time_seconds"
    ]
    assert (row["verdict"], row["p"], row["test"]) == ("~", None, "")
    assert "one run on each side" in str(row["why"])


def test_three_runs_are_each_held_against_the_first(runs: dict[str, Path]) -> None:
    result = roast("compare", runs["base"], runs["same"], runs["slow"])
    assert "From A to B" in result.stdout
    assert "From A to C" in result.stdout


def test_each_block_of_csv_says_what_it_is(runs: dict[str, Path]) -> None:
    result = roast("compare", runs["base"], runs["same"], runs["slow"], "-f", "csv")
    blocks = [block.split("\n", 1) for block in result.stdout.removeprefix("# ").split("\n# ")]
    named = {name: list(csv.DictReader(text.strip().splitlines())) for name, text in blocks}
    assert [name for name, _ in blocks] == ["runs", "figures-A-B", "figures-A-C"]
    told = {
        name: {row["figure"].strip(): row["verdict"] for row in named[name]}["Wall time per event"]
        for name in ("figures-A-B", "figures-A-C")
    }
    assert told == {"figures-A-B": "~", "figures-A-C": "worse"}


def test_differences_around_the_runs_come_first(runs: dict[str, Path]) -> None:
    result = roast("compare", runs["base"], runs["cut"])
    around, figures = result.stdout.split("From A to B")
    assert "events of a chunk 25,000" in " ".join(around.split())
    assert "Wall time per event" in figures
    data = json.loads(roast("compare", runs["base"], runs["cut"], "-f", "json").stdout)
    names = {entry["name"]: entry["values"] for entry in data["environment"]}
    assert names["events of a chunk"] == ["25,000", "20,000"]


@pytest.mark.parametrize("other", ["empty", "hostile", "finished"])
def test_any_run_can_be_compared(runs: dict[str, Path], other: str) -> None:
    for pair in ([runs["base"], runs[other]], [runs[other], runs["base"]]):
        for form in ("text", "json", "csv", "markdown"):
            result = roast("compare", *pair, "-f", form)
            assert result.returncode == 0
            if form != "csv":  # that is for programs
                assert "\x1b" not in result.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "missing RUN"),
        (["base"], "missing another RUN"),
        (["base", "missing"], "missing"),
        (["--", "base"], "no RUN before"),
        (["base", "--"], "no RUN after"),
        (["base", "same", "--fail-on", "much"], "not a percentage"),
        (["base", "same", "--fail-on", "-5"], "not a percentage"),
        (["base", "same", "--format", "xml"], "no format"),
    ],
)
def test_what_cannot_be_compared_is_said(
    runs: dict[str, Path], words: list[str], said: str
) -> None:
    result = roast("compare", *(runs.get(word, word) for word in words))
    assert (result.returncode, result.stdout) == (2, "")
    assert said in result.stderr


def test_scaling_fits_what_was_made(runs: dict[str, Path]) -> None:
    words = [runs[f"w{n}"] for n in (8, 1, 4, 2)]
    text = roast("scaling", *words)
    assert (text.returncode, text.stderr) == (0, "")
    assert "Amdahl's law" in text.stdout
    data = json.loads(roast("scaling", *words, "-f", "json").stdout)
    assert [point["cores"] for point in data["points"]] == [1, 2, 4, 8]
    assert data["points"][3]["efficiency"] == pytest.approx(1 / 1.35, rel=1e-3)
    amdahl, usl = data["fits"]
    assert amdahl["sigma"]["value"] == pytest.approx(0.05, rel=1e-3)
    assert usl["kappa"]["value"] == pytest.approx(0, abs=1e-5)
    assert amdahl["half"]["value"] == pytest.approx(21, rel=1e-2)


def test_scaling_says_what_it_cannot_do(runs: dict[str, Path]) -> None:
    one = roast("scaling", runs["w1"], runs["empty"])
    assert one.returncode == 0
    assert "no fit: it takes two numbers of cores" in one.stdout
    assert "left out" in one.stdout
    none = roast("scaling")
    assert (none.returncode, none.stdout) == (2, "")
