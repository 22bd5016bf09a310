"""Start-up: what it costs before anything is measured or shown.

Each figure is the least of many tries, beside a reference in the same run:

    roast --version       elapsed, against /bin/true: at most 3 times
    import roastcoffea    CPU beyond the interpreter's start, against import json: at most 1.5 times
    roast show RUN        CPU, at most 10 ms; RUN is a run of the demo
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from result import Figure, ratio, repeated, row

ROOT = Path(__file__).resolve().parent.parent
ROAST = os.environ.get("ROAST", str(Path(sys.executable).parent / "roast"))
TRIES = 60


def elapsed_s(command: list[str]) -> Figure:
    """The shortest time that a command took."""

    def once() -> float:
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - start

    return repeated(once, TRIES)


def cpu_s(command: list[str]) -> float:
    """The least CPU time that a command took, by the kernel's count in ticks of many runs."""
    before = os.times()
    for _ in range(TRIES):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    used = after.children_user + after.children_system
    return (used - before.children_user - before.children_system) / TRIES


def import_s(module: str) -> Figure:
    """The least CPU time of an import in a new interpreter."""
    code = (
        "import time; t = time.process_time_ns();"
        f"import {module}; print(time.process_time_ns() - t)"
    )
    ask = [sys.executable, "-c", code]
    return repeated(lambda: int(subprocess.check_output(ask)) / 1e9, 20)


def main() -> int:
    true, version = elapsed_s(["/bin/true"]), elapsed_s([ROAST, "--version"])
    row("roast --version, elapsed", version.times(1e3), "ms")
    row("roast --version, elapsed", ratio(version, true), of="/bin/true", at_most=3)
    json, ours = import_s("json"), import_s("roastcoffea")
    row("import roastcoffea, CPU", ours.times(1e3), "ms")
    row("import roastcoffea, CPU", ratio(ours, json), of="import json", at_most=1.5)
    with tempfile.TemporaryDirectory() as folder:
        demo = [sys.executable, str(ROOT / "examples" / "demo.py"), "--output", folder]
        subprocess.run(demo, check=True, stdout=subprocess.DEVNULL)
        (run,) = Path(folder).glob("demo-*.roast")
        row(
            "roast show of the demo's run, CPU",
            cpu_s([ROAST, "show", str(run)]) * 1e3,
            "ms",
            at_most=10,
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
