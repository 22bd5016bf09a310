"""Start-up: what it costs before anything is measured or shown.

Each figure is the least of many tries, beside a reference in the same run:

    roast --version       elapsed, against /bin/true: at most 3 times
    import roastcoffea    CPU beyond the interpreter's start, against import json: at most 1.5 times
    roast show RUN        CPU, at most 10 ms

`--check` exits 1 if a bound is missed. RUN is a run of `make demo`; without one the last row is
left out, and said so.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROAST = os.environ.get("ROAST", str(Path(sys.executable).parent / "roast"))
TRIES = 60


def elapsed_s(command: list[str]) -> float:
    """The shortest time that a command took."""
    best = float("inf")
    for _ in range(TRIES):
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        best = min(best, time.perf_counter() - start)
    return best


def cpu_s(command: list[str]) -> float:
    """The least CPU time that a command took, by the kernel's count in ticks of many runs."""
    before = os.times()
    for _ in range(TRIES):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    used = after.children_user + after.children_system
    return (used - before.children_user - before.children_system) / TRIES


def import_s(module: str) -> float:
    """The least CPU time of an import in a new interpreter."""
    code = (
        "import time; t = time.process_time_ns();"
        f"import {module}; print(time.process_time_ns() - t)"
    )
    return min(int(subprocess.check_output([sys.executable, "-c", code])) for _ in range(20)) / 1e9


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="exit 1 if a bound is missed")
    options = parser.parse_args()

    true, version = elapsed_s(["/bin/true"]), elapsed_s([ROAST, "--version"])
    json, ours = import_s("json"), import_s("roastcoffea")
    rows = [
        ("roast --version", version * 1e3, "/bin/true", true * 1e3, version / true, 3.0),
        ("import roastcoffea", ours * 1e3, "import json", json * 1e3, ours / json, 1.5),
    ]
    print(f"{'what':<22}{'ms':>8}  {'reference':<14}{'ms':>8}{'ratio':>8}{'bound':>8}")
    for what, value, reference, other, ratio, bound in rows:
        print(f"{what:<22}{value:8.2f}  {reference:<14}{other:8.2f}{ratio:8.2f}{bound:8.1f}")
    missed = any(ratio > bound for *_, ratio, bound in rows)

    runs = sorted((ROOT / "runs").glob("demo-*.roast"))
    if runs:
        show = cpu_s([ROAST, "show", str(runs[-1])]) * 1e3
        print(f"{'roast show (demo)':<22}{show:8.2f}  {'CPU':<14}{'':8}{'':8}{10.0:8.1f}")
        missed = missed or show > 10
    else:
        print("roast show: there is no run of the demo in runs/: `make demo` makes one")
    return 1 if options.check and missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
