"""Says which lines and branches of libroast the unit tests and the tests of the command reach.

python tools/reached_lines.py

A build of its own, build-coverage, without optimisation; gcov counts. Prints a row for each file
with the lines that were never reached, and the sums. Also there are the lines that only a
failing call reaches: the tests of faults try ten times as many calls as usual. A line of a header
counts where it is used; what a forked child reaches does not count, since it ends without telling.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build-coverage"
BIN = ROOT / ".venv" / "bin"


class Reached:
    """How often lines and branches of one file were reached, over all objects that have it."""

    def __init__(self) -> None:
        self.lines: dict[int, int] = defaultdict(int)
        self.branches: dict[tuple[int, int], int] = defaultdict(int)

    def add(self, line: dict[str, Any]) -> None:
        """Add a line of gcov's JSON."""
        number = line["line_number"]
        self.lines[number] += line["count"]
        for place, branch in enumerate(line["branches"]):
            self.branches[number, place] += branch["count"]

    def sums(self) -> tuple[int, int, int, int]:
        """Return lines reached, lines, branches taken, branches."""
        lines, branches = self.lines.values(), self.branches.values()
        return sum(map(bool, lines)), len(lines), sum(map(bool, branches)), len(branches)


def build() -> None:
    """Build, and forget what earlier runs counted."""
    if not (BUILD / "build.ninja").exists():
        # Without optimisation the compiler warns of what it cannot follow.
        options = ["-Dtests=true", "-Db_coverage=true", "-Doptimization=0", "-Dpython=false"]
        options.append("-Dwerror=false")
        subprocess.run(
            [BIN / "meson", "setup", BUILD, *options],
            cwd=ROOT,
            check=True,
            stdout=subprocess.DEVNULL,
        )
    subprocess.run([BIN / "ninja", "-C", BUILD, "--quiet"], check=True)
    for counts in BUILD.rglob("*.gcda"):
        counts.unlink()


def run_tests() -> bool:
    """Run what counts; return whether all passed."""
    unit: list[str | Path] = [
        BIN / "meson",
        "test",
        "-C",
        BUILD,
        "--quiet",
        "--timeout-multiplier",
        "20",
    ]
    cli: list[str | Path] = [BIN / "python", "-m", "pytest", "-q", "tests/cli"]
    cli.append("--ignore=tests/cli/test_startup.py")  # a stopwatch, for what is optimised
    # Its answers take so long without optimisation that the server gives the connections up.
    nobody = "tests/cli/test_serve_life.py::test_answers_that_nobody_takes_are_limited"
    cli.append(f"--deselect={nobody}")
    environment = {
        **os.environ,
        "NINJA": str(BIN / "ninja"),  # another one would build all of it again
        "ROAST": str(BUILD / "cli" / "roast"),
        "ROAST_FAULTS_PART": "150",
    }
    results = [
        subprocess.run(command, cwd=ROOT, env=environment, check=False) for command in (unit, cli)
    ]
    return all(result.returncode == 0 for result in results)


def read_counts() -> dict[str, Reached]:
    """Let gcov read the counts of every object of libroast."""
    files: dict[str, Reached] = defaultdict(Reached)
    output = BUILD / "gcov"
    output.mkdir(exist_ok=True)
    for old in output.iterdir():
        old.unlink()
    objects = sorted(str(path) for path in (BUILD / "libroast").rglob("*.gcno"))
    subprocess.run(
        ["gcov", "--json-format", "--branch-probabilities", "--hash-filenames", *objects],
        cwd=output,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    for path in output.glob("*.gcov.json.gz"):
        with gzip.open(path) as text:
            told = json.load(text)
        for file in told["files"]:
            source = (Path(told["current_working_directory"]) / file["file"]).resolve()
            if source.is_relative_to(ROOT / "libroast"):
                for line in file["lines"]:
                    files[str(source.relative_to(ROOT))].add(line)
    return files


def as_ranges(numbers: Iterable[int]) -> str:
    """Write sorted numbers as "3, 7-9"."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in ranges)


def percent(part: int, whole: int) -> str:
    """Write a share; a file without branches has none."""
    return f"{100 * part / whole:6.1f} %" if whole else "      --"


def main() -> int:
    """Build, run, print."""
    build()
    passed = run_tests()
    files = read_counts()
    total = [0, 0, 0, 0]
    print(f"\n{'file':<40}{'lines':>8}{'branches':>10}  never reached")
    for name, reached in sorted(files.items()):
        sums = reached.sums()
        total = [a + b for a, b in zip(total, sums, strict=True)]
        missed = as_ranges(number for number, n in sorted(reached.lines.items()) if n == 0)
        print(f"{name:<40}{percent(*sums[:2])}  {percent(*sums[2:])}  {missed}")
    print(f"\nlines:    {percent(*total[:2])} of {total[1]}")
    print(f"branches: {percent(*total[2:])} of {total[3]}")
    if not passed:
        print("coverage: a test failed: the figures may be too low", file=sys.stderr)
    return not passed


if __name__ == "__main__":
    sys.exit(main())
