"""Comparisons: what they cost, and whether they call what is none a difference.

    compare, 1 M chunks each   elapsed and peak memory of `roast compare`, in 5 s and 600 MB
    drawn pairs                2,000 without a difference, 500 with one (tests/unit/test-compare)
    real pairs                 runs of the demo, one after the other: none is called different

`--check` exits 1 if a bound is missed; `--pairs N` makes so many real pairs (20; 0: none).
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

ROOT = Path(__file__).resolve().parent.parent
UNIT = ROOT / "build" / "tests" / "unit"
ROAST = os.environ.get("ROAST", str(Path(sys.executable).parent / "roast"))
MAX_S, MAX_MB = 5.0, 600.0


def bench_size(directory: Path) -> bool:
    """Compare two runs of a million chunks, three times; the best counts."""
    runs = [directory / f"{seed}.roast" for seed in (1, 2)]
    for seed, run in enumerate(runs, 1):
        words = [UNIT / "make-run", "many", run, 1_000_000, seed, 1 + 0.03 * seed, 0.1, 100]
        subprocess.run([str(word) for word in words], check=True)
    elapsed, cpu, peak = float("inf"), 0.0, 0.0
    for _ in range(3):
        begin = time.perf_counter()
        child = subprocess.Popen([ROAST, "compare", *runs], stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        took = time.perf_counter() - begin
        if status:
            raise SystemExit("roast compare failed")
        peak = max(peak, usage.ru_maxrss * 1024 / 1e6)
        if took < elapsed:
            elapsed, cpu = took, usage.ru_utime + usage.ru_stime
    print(f"compare, 1 M chunks each   {elapsed:6.2f} s ({MAX_S:.0f}), CPU {cpu:.2f} s")
    print(f"                           {peak:6.0f} MB ({MAX_MB:.0f})")
    return elapsed <= MAX_S and peak <= MAX_MB


def bench_drawn() -> bool:
    """Run the unit test with the full number of pairs, and print what it counted."""
    result = subprocess.run(
        [UNIT / "test-compare"],
        env={
            **os.environ,
            "ROAST_TEST_PAIRS": "2000",
            "ROAST_TEST_DATA": str(ROOT / "tests" / "data"),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    for line in re.findall(r"^(?:found|matched|unmatched).*$", result.stdout, re.M):
        print(f"drawn pairs                {line}")
    if result.returncode:
        print(result.stdout + result.stderr)
    return result.returncode == 0


def bench_real(directory: Path, pairs: int) -> bool:
    """Run the demo twice for each pair, and compare."""
    called = 0
    for _ in range(pairs):
        for _ in range(2):
            demo = [sys.executable, ROOT / "examples" / "demo.py", "--output", directory]
            subprocess.run(demo, check=True, stdout=subprocess.DEVNULL)
        runs = sorted(directory.glob("demo-*.roast"))[-2:]
        text = subprocess.check_output([ROAST, "compare", *runs, "--format", "json"])
        rows = [row for row in json.loads(text)["rows"] if row["verdict"] != "~"]
        called += bool(rows)
        for row in rows:
            print(f"  {row['title']}: {100 * row['change']:+.1f} %, {row['verdict']}")
    print(f"real pairs                 {called} of {pairs} called different (0)")
    return called == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="exit 1 if a bound is missed")
    parser.add_argument("--pairs", type=int, default=20, help="real pairs of the demo")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        good = bench_size(Path(name))
        good = bench_drawn() and good
        good = bench_real(Path(name), options.pairs) and good
    return 1 if options.check and not good else 0


if __name__ == "__main__":
    raise SystemExit(main())
