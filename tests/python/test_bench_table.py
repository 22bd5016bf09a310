"""`make bench`: rows become one table and build/bench.json, and bounds are judged in one place."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROW = "from result import *\n"


def bench(folder: Path, text: str, *options: str) -> tuple[int, str, dict[str, Any]]:
    """Run tools/bench.py over one benchmark; return status, what it showed, and the JSON."""
    for name in ("tools", "bench", "build"):
        (folder / name).mkdir()
    shutil.copy(ROOT / "tools" / "bench.py", folder / "tools")
    shutil.copy(ROOT / "bench" / "result.py", folder / "bench")
    (folder / "bench" / "bench_one.py").write_text(ROW + text)
    done = subprocess.run(
        [sys.executable, folder / "tools" / "bench.py", *options],
        capture_output=True,
        text=True,
        check=False,
    )
    results = folder / "build" / "bench.json"
    return done.returncode, done.stdout, json.loads(results.read_text())


@pytest.mark.parametrize(
    ("text", "verdict", "status"),
    [
        ("row('a', 2.0, 's', at_most=2)", "kept", 0),
        ("row('a', 2.1, 's', at_most=2)", "MISSED", 1),
        ("row('a', Figure(2.1, 0.06), 's', at_most=2)", "missed, within noise", 0),
        ("row('a', Figure(2.1, 0.04), 's', at_most=2)", "MISSED", 1),
        ("row('a', 2.1, 'rows/s', at_least=2)", "kept", 0),
        ("row('a', 1.9, 'rows/s', at_least=2)", "MISSED", 1),
        ("row('a', 1.0, 'tests', at_most=0)", "MISSED", 1),
        ("row('a', 2.1, 's')", "", 0),
    ],
)
def test_a_bound_is_missed_beyond_the_noise(
    tmp_path: Path, text: str, verdict: str, status: int
) -> None:
    code, shown, results = bench(tmp_path, text, "--check")
    assert (code, results["rows"][0]["verdict"]) == (status, verdict)
    assert verdict in shown


def test_without_check_a_missed_bound_is_only_shown(tmp_path: Path) -> None:
    code, shown, _ = bench(tmp_path, "row('a', 3.0, 's', at_most=2)")
    assert code == 0
    assert "MISSED" in shown


def test_a_benchmark_that_fails_keeps_its_rows_and_fails_the_whole(tmp_path: Path) -> None:
    code, _, results = bench(tmp_path, "row('a', 3.0, 's')\nraise SystemExit(3)")
    assert code == 1
    assert results["failed"] == {"one": "exit status 3"}
    assert [row["name"] for row in results["rows"]] == ["a"]


def test_kinds_follow_from_reference_and_unit(tmp_path: Path) -> None:
    text = "row('a', 3.0, of='memcpy')\nrow('b', 3.0, 'MB')\nrow('c', 3.0, 's')"
    _, shown, results = bench(tmp_path, text)
    assert [row["kind"] for row in results["rows"]] == ["ratio", "size", "absolute"]
    assert "of memcpy" in shown


def test_what_was_not_measured_says_why_and_misses_no_bound(tmp_path: Path) -> None:
    code, shown, results = bench(tmp_path, "absent('reads', 'there is no strace')", "--check")
    assert code == 0
    assert "not measured: there is no strace" in shown
    assert "value" not in results["rows"][0]


def test_a_curve_is_fitted(tmp_path: Path) -> None:
    text = "curve('sum', 'chunks', {n: Figure(n**1.5) for n in (10, 100, 1000)}, 's', 1.1)"
    code, _, results = bench(tmp_path, text, "--check")
    fit, last = results["rows"]
    assert fit["value"] == pytest.approx(1.5)
    assert last["value"] == pytest.approx(1.5)
    assert fit["spread"] == pytest.approx(0, abs=1e-7)
    assert (fit["verdict"], last["verdict"]) == ("", "MISSED")
    assert results["curves"][0]["x"] == [10, 100, 1000]
    assert code == 1


def test_repeated_values_have_a_spread(tmp_path: Path) -> None:
    text = "row('a', best([5, 4, 3, 9, 8]), 's')\nrow('b', median([1, 2, 3, 4, 5]), 's')"
    _, _, results = bench(tmp_path, text)
    assert [(row["value"], row["spread"]) for row in results["rows"]] == [(3, 1), (3, 1)]


def test_rows_of_programs_in_c_are_the_same(tmp_path: Path) -> None:
    program = ROOT / "build" / "bench" / "bench-clock"
    if not program.exists():
        pytest.skip("the benchmarks are not built")
    row = json.loads(subprocess.check_output([program], text=True))
    assert row.keys() == {"name", "value", "spread", "unit"}
    assert row["value"] > 0
