"""What the metadata of a NanoAOD file cost: `roast inspect` beside uproot.

    python bench/bench_inspect.py [FILE.root] [--roast PATH]

CPU time of the command (best of many runs, with the start of the process), its
ratio to that of uproot for open + keys + sizes, peak memory and the number of
reads of the file.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from result import absent, best, ratio, row

TOP = Path(__file__).resolve().parents[1]
SAMPLE = TOP.parent / "shared" / "data" / "root" / "nano_dy.root"


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
    """Reads of the file itself, by strace."""
    with tempfile.NamedTemporaryFile(mode="r") as log:
        trace = ["strace", "-f", "-y", "-o", log.name, "-e", "trace=read,pread64,preadv"]
        subprocess.run([*trace, *command], stdout=subprocess.DEVNULL, check=True)
        return float(sum(path.name in line for line in log))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("file", nargs="?", type=Path, default=SAMPLE)
    parser.add_argument("--roast", default=os.environ.get("ROAST", TOP / "build/cli/roast"))
    parser.add_argument("--runs", type=int, default=60)
    options = parser.parse_args()
    if not options.file.exists():
        absent("metadata of a NanoAOD", f"there is no {options.file.name}")
        return 0
    forms = {"summary": [], "listing": ["--branches"]}
    uproot_s = best(uproot_cpu(options.file, 3))
    row("uproot, CPU", uproot_s.times(1e3), "ms")
    for form, extra in forms.items():
        command = [str(options.roast), "inspect", str(options.file), "--format", "json", *extra]
        took = best([cpu_seconds(command) for _ in range(options.runs)])
        row(f"{form}, CPU", took.times(1e3), "ms", at_most=6)
        row(f"{form}, CPU", ratio(took, uproot_s), of="uproot", at_most=1 / 50)
        if shutil.which("time"):
            row(f"{form}, memory", peak_bytes(command) / 1e6, "MB", at_most=8)
        else:
            absent(f"{form}, memory", "there is no time(1)")
        if shutil.which("strace"):
            row(f"{form}, reads", count_reads(command, options.file), "reads", at_most=12)
        else:
            absent(f"{form}, reads", "there is no strace")
    return 0


if __name__ == "__main__":
    sys.exit(main())
