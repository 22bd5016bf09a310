"""Runs the benchmarks, and shows what they measured as one table.

    python tools/bench.py [--check] [--list] [NAME ...]

All of bench/bench_*.py and of build/bench/bench-*, or those that are named (`chunks run`). Each
prints rows as JSON (bench/result.py, bench/result.h); all of them go to build/bench.json. With
--check the exit status is 1 if a bound is missed by more than the noise, which is twice the spread
of the repetitions. A benchmark that fails is exit status 1 in any case. docs/benchmarks.md tells
how to read the table.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "build" / "bench.json"
LIMIT_S = 900
SIZES = frozenset(
    ("B", "B/record", "B/sample", "kB", "MB", "reads", "descriptors", "allocations", "instructions")
)


def benchmarks() -> dict[str, list[str]]:
    """Return the command of each benchmark by its name."""
    found = {
        path.stem.removeprefix("bench_"): [sys.executable, str(path)]
        for path in sorted((ROOT / "bench").glob("bench_*.py"))
    }
    for path in sorted((ROOT / "build" / "bench").glob("bench-*")):
        if path.is_file() and os.access(path, os.X_OK):
            found[path.name.removeprefix("bench-")] = [str(path)]
    return found


def kind(row: dict[str, Any]) -> str:
    """Return whether a row depends on the machine: a ratio and a size hardly do."""
    if "reference" in row or row["unit"] == "exponent":
        return "ratio"
    return "size" if row["unit"] in SIZES else "absolute"


def verdict(row: dict[str, Any]) -> str:
    """Return how a row stands to its bound."""
    if "bound" not in row:
        return ""
    over = row["value"] - row["bound"]
    if row["direction"] == "at least":
        over = -over
    if over <= 0:
        return "kept"
    return "MISSED" if over > 2 * row["spread"] else "missed, within noise"


def rows_of(text: str, name: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the rows and the curves that a benchmark printed."""
    rows, curves = [], []
    for line in text.splitlines():
        if not line.startswith("{"):
            continue
        row = {"benchmark": name, **json.loads(line)}
        if "curve" in row:
            curves.append(row)
            continue
        if "absent" not in row:
            row.update(kind=kind(row), verdict=verdict(row))
        rows.append(row)
    return rows, curves


def run(name: str, command: list[str]) -> tuple[str, str | None]:
    """Return what a benchmark printed, and why it failed, if it did."""
    begun = time.monotonic()
    print(f"{name:<12}", end=" ", file=sys.stderr, flush=True)
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        text, _ = process.communicate(timeout=LIMIT_S)
        why = f"exit status {process.returncode}" if process.returncode else None
    except subprocess.TimeoutExpired:
        process.kill()
        text, _ = process.communicate()
        why = f"it took more than {LIMIT_S} s"
    print(f"{time.monotonic() - begun:6.1f} s {why or ''}", file=sys.stderr, flush=True)
    return text, why


def number(value: float) -> str:
    """Return a number with three digits that count, and no exponent."""
    if value != 0 and abs(value) < 1000:
        text = f"{value:.3g}"
        return f"{value:.6f}".rstrip("0") if "e" in text else text
    return f"{value:,.0f}"


def cells(row: dict[str, Any]) -> list[str]:
    """Return what the table shows of a row."""
    if "absent" in row:
        return [row["name"], "", "", "", "", f"not measured: {row['absent']}"]
    spread = f"± {number(row['spread'])}" if row["spread"] else ""
    bound = f"{row['direction']} {number(row['bound'])}" if "bound" in row else ""
    unit = f"of {row['reference']}" if "reference" in row else row["unit"]
    return [row["name"], number(row["value"]), spread, unit, bound, row["verdict"]]


def table(rows: list[dict[str, Any]]) -> str:
    """Return the rows as text, those of a benchmark together."""
    shown = [["", "measured", "spread", "", "bound", ""], *map(cells, rows)]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    lines, before = [], None
    for i, row in enumerate(shown):
        name = rows[i - 1]["benchmark"] if i else None
        if name != before:
            lines.append(name or "")
            before = name
        aligned = [
            cell.rjust(width) if j in (1, 2) else cell.ljust(width)
            for j, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  " + "  ".join(aligned).rstrip())
    return "\n".join(lines)


def machine() -> dict[str, Any]:
    """Return what absolute figures depend on."""
    cpu = platform.processor() or platform.machine()
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            cpu = line.partition(":")[2].strip()
            break
    return {"cpu": cpu, "cores": os.cpu_count(), "load": os.getloadavg()[0]}


def main() -> int:
    """Run, collect, show, judge."""
    parser = argparse.ArgumentParser(description="Runs the benchmarks.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="all, if none is given")
    parser.add_argument("--check", action="store_true", help="exit 1 if a bound is missed")
    parser.add_argument("--list", action="store_true", help="tell the names")
    options = parser.parse_args()
    found = benchmarks()
    if options.list:
        print("\n".join(found))
        return 0
    unknown = [name for name in options.names if name not in found]
    if unknown or not found:
        print(f"bench: there is no benchmark {' '.join(unknown)}", file=sys.stderr)
        return 2
    rows, curves, failed = [], [], {}
    result: dict[str, Any] = {"machine": machine(), "utc": time.strftime("%FT%TZ", time.gmtime())}
    for name in options.names or found:
        text, why = run(name, found[name])
        more, lines = rows_of(text, name)
        rows += more
        curves += lines
        if why:
            failed[name] = why
        result.update(rows=rows, curves=curves, failed=failed)
        RESULTS.write_text(json.dumps(result, indent=1) + "\n")  # at once: it may be interrupted
    print(table(rows))
    missed = sum(row.get("verdict") == "MISSED" for row in rows)
    bounded = sum("bound" in row for row in rows)
    print(f"{bounded} bounds, {missed} missed; {len(failed)} benchmarks failed")
    return 1 if failed or (options.check and missed) else 0


if __name__ == "__main__":
    sys.exit(main())
