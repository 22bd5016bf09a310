"""What the metadata of a NanoAOD file cost: `roast inspect` beside uproot.

    python bench/bench_inspect.py [FILE.root] [--roast PATH] [--json]

Prints CPU time of the command (best and median of many runs, with the start of
the process), CPU time of uproot for open + keys + sizes in this run, the ratio,
peak memory and the number of reads of the file. Exits with 1 over a bound.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]
SAMPLE = TOP.parent / "shared" / "data" / "root" / "nano_dy.root"
BOUNDS = {"cpu_ms": 6.0, "ratio_to_uproot": 1 / 50, "peak_mb": 8.0, "reads": 12.0}


def cpu_seconds(command: list[str]) -> float:
    """CPU time of a process, with its start."""
    output = (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)
    pid = os.posix_spawn(command[0], command, dict(os.environ), file_actions=[output])
    _, status, usage = os.wait4(pid, 0)
    if status != 0:
        raise SystemExit(f"{' '.join(command)} failed")
    return usage.ru_utime + usage.ru_stime


def peak_bytes(command: list[str]) -> float:
    """Peak memory by time(1), as a child of this process would inherit its peak."""
    if not shutil.which("time"):
        return float("nan")
    done = subprocess.run(
        ["time", "-f", "%M", *command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=True,
    )
    return 1024.0 * float(done.stderr)


def uproot_cpu(path: Path, times: int) -> list[float]:
    """CPU seconds of open + keys + sizes; imports are not counted."""
    import uproot

    seconds = []
    for _ in range(times):
        begin = time.process_time()
        with uproot.open(path, object_cache=None, array_cache=None) as file:
            for name in file.keys(filter_classname="TTree", cycle=False):
                tree = file[name]
                tree.keys()
                for branch in tree.itervalues():
                    _ = (branch.compressed_bytes, branch.uncompressed_bytes, branch.num_baskets)
        seconds.append(time.process_time() - begin)
    return seconds


def count_reads(command: list[str], path: Path) -> float:
    """Reads of the file itself, by strace; NaN without it."""
    if not shutil.which("strace"):
        return float("nan")
    with tempfile.NamedTemporaryFile(mode="r") as log:
        trace = ["strace", "-f", "-y", "-o", log.name, "-e", "trace=read,pread64,preadv"]
        subprocess.run([*trace, *command], stdout=subprocess.DEVNULL, check=True)
        return float(sum(path.name in line for line in log))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("file", nargs="?", type=Path, default=SAMPLE)
    parser.add_argument("--roast", default=os.environ.get("ROAST", TOP / "build/cli/roast"))
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--runs", type=int, default=60)
    options = parser.parse_args()
    forms = {"summary": [], "listing": ["--branches"]}
    uproot_s = min(uproot_cpu(options.file, 3))
    result: dict[str, float] = {"uproot_cpu_ms": 1e3 * uproot_s}
    over = []
    for form, extra in forms.items():
        command = [str(options.roast), "inspect", str(options.file), "--format", "json", *extra]
        runs = [cpu_seconds(command) for _ in range(options.runs)]
        values = {
            "cpu_ms": 1e3 * min(runs),
            "ratio_to_uproot": min(runs) / uproot_s,
            "peak_mb": peak_bytes(command) / 1e6,
            "reads": count_reads(command, options.file),
        }
        result[f"{form}.cpu_median_ms"] = 1e3 * statistics.median(runs)
        for key, value in values.items():
            result[f"{form}.{key}"] = value
            if value > BOUNDS[key]:
                over.append(f"{form}.{key} is {value:.4g}, over {BOUNDS[key]:.4g}")
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        for key, value in result.items():
            print(f"{key:28} {value:12.4f}")
    for line in over:
        print(line, file=sys.stderr)
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
