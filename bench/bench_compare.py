"""Comparisons: what they cost, and whether they call what is none a difference.

    compare, 1 M chunks each   elapsed and peak memory of `roast compare`, in 5 s and 600 MB
    drawn pairs                2,000 without a difference, 500 with one (tests/unit/test-compare*)
    real pairs                 runs of the demo, one after the other: none is called different

`--pairs N` makes so many real pairs (0: none).
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from result import best, row

ROOT = Path(__file__).resolve().parent.parent
UNIT = ROOT / "build" / "tests" / "unit"
ROAST = os.environ.get("ROAST", str(Path(sys.executable).parent / "roast"))
MAX_S, MAX_MB = 5.0, 600.0


def bench_size(directory: Path) -> None:
    """Compare two runs of a million chunks, three times; the best counts."""
    runs = [directory / f"{seed}.roast" for seed in (1, 2)]
    for seed, run in enumerate(runs, 1):
        words = [UNIT / "make-run", "many", run, 1_000_000, seed, 1 + 0.03 * seed, 0.1, 100]
        subprocess.run([str(word) for word in words], check=True)
    elapsed, cpu, peak = [], [], 0.0
    for _ in range(3):
        begin = time.perf_counter()
        child = subprocess.Popen([ROAST, "compare", *runs], stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        elapsed.append(time.perf_counter() - begin)
        if status:
            raise SystemExit("roast compare failed")
        peak = max(peak, usage.ru_maxrss * 1024 / 1e6)
        cpu.append(usage.ru_utime + usage.ru_stime)
    row("two runs of 1 M chunks, elapsed", best(elapsed), "s", at_most=MAX_S)
    row("two runs of 1 M chunks, CPU", best(cpu), "s")
    row("two runs of 1 M chunks, memory", peak, "MB", at_most=MAX_MB)


def bench_drawn() -> None:
    """Run the unit tests with the full number of pairs; what they counted is in their output."""
    failed = 0
    for test in ("test-compare", "test-compare-recorded"):
        result = subprocess.run(
            [UNIT / test],
            env={
                **os.environ,
                "ROAST_TEST_PAIRS": "2000",
                "ROAST_TEST_DATA": str(ROOT / "tests" / "data"),
            },
            capture_output=True,
            text=True,
            check=False,
        )
        output = result.stdout + result.stderr
        if result.returncode:
            print(output, file=sys.stderr)
        broken = len(re.findall(r"^not ok|^\[  FAILED  \] test", output, re.M))
        failed += max(broken, result.returncode)
    row("drawn pairs, 2,000: tests that fail", failed, "tests", at_most=0)


def bench_real(directory: Path, pairs: int) -> None:
    """Run the demo twice for each pair, and compare."""
    called = 0
    for _ in range(pairs):
        for _ in range(2):
            demo = [sys.executable, ROOT / "examples" / "demo.py", "--output", directory]
            subprocess.run(demo, check=True, stdout=subprocess.DEVNULL)
        runs = sorted(directory.glob("demo-*.roast"))[-2:]
        text = subprocess.check_output([ROAST, "compare", *runs, "--format", "json"])
        rows = [line for line in json.loads(text)["rows"] if line["verdict"] != "~"]
        called += bool(rows)
        for line in rows:
            told = f"{line['title']}: {100 * line['change']:+.1f} %, {line['verdict']}"
            print(told, file=sys.stderr)
    row(f"real pairs of {pairs} that are called different", called, "pairs", at_most=0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=2, help="real pairs of the demo")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        bench_size(Path(name))
        bench_drawn()
        bench_real(Path(name), options.pairs)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
