"""Instructions by callgrind: what does not depend on how busy the machine is.

python bench/bench_instructions.py
python bench/bench_instructions.py --repeat OPERATION TIMES     (what callgrind looks at)

Each operation runs some and twice as many times; the difference, over that many, is what one takes,
without the start of Python. Beside it stands the same in plain Python: contextlib and json.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

from result import Figure, absent, ratio, row
from roastcoffea._probe import Chunk, track_time

TIMES = 400
FIELDS = {
    "dataset": "TTbar", "file": "root://host//store/file.root", "tree": "Events",
    "entry_start": 0, "entry_stop": 20_000, "num_events": 20_000, "outcome": 0, "attempt": 1,
    "worker": "tcp://10.0.0.1:4711", "host": "node1", "pid": 1, "thread": 2, "metadata": {},
    "requested_bytes": 1_000_000, "branches": [(f"Jet_{i}", 50_000) for i in range(20)],
}  # fmt: skip


class Processor:
    """Runs chunks."""


@contextlib.contextmanager
def plain_section(times: dict[str, float], name: str) -> Iterator[None]:
    """Time a section as one would without us."""
    begin = time.perf_counter()
    try:
        yield
    finally:
        times[name] = times.get(name, 0.0) + time.perf_counter() - begin


def running() -> tuple[Processor, Chunk]:
    """Return a processor with a chunk that runs."""
    processor = Processor()
    chunk = Chunk(processor)
    chunk.begin()
    return processor, chunk


def sections(times: int) -> None:
    processor, _chunk = running()
    for _ in range(times):
        with track_time(processor, "selection"):
            pass


def plain_sections(times: int) -> None:
    taken: dict[str, float] = {}
    for _ in range(times):
        with plain_section(taken, "selection"):
            pass


def records(times: int) -> None:
    _processor, chunk = running()
    chunk.end()
    for _ in range(times):
        chunk.encode(FIELDS)


def plain_records(times: int) -> None:
    for _ in range(times):
        json.dumps(FIELDS).encode()


OPERATIONS: dict[str, Callable[[int], None]] = {
    "sections": sections,
    "plain_sections": plain_sections,
    "records": records,
    "plain_records": plain_records,
}


def counted(operation: str, times: int) -> int:
    """Return how many instructions a process takes for an operation, so many times."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", sys.executable]
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    ran = subprocess.run(
        [*command, __file__, "--repeat", operation, str(times)],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = re.search(r"Collected : (\d+)", ran.stderr)
    if found is None:
        raise SystemExit(ran.stderr)
    return int(found[1])


def instructions(operation: str) -> Figure:
    """Return the instructions of one operation; how far two measurements differ is the spread."""
    once, twice, thrice = (counted(operation, n * TIMES) for n in (1, 2, 3))
    taken = (twice - once) / TIMES, (thrice - twice) / TIMES
    return Figure(sum(taken) / 2, abs(taken[1] - taken[0]) / 2)


def main() -> int:
    if sys.argv[1:2] == ["--repeat"]:
        OPERATIONS[sys.argv[2]](int(sys.argv[3]))
        return 0
    if shutil.which("valgrind") is None:
        absent("instructions", "valgrind is not installed")
        return 0
    for name, ours, plain, reference in (
        ("a section", "sections", "plain_sections", "contextlib"),
        ("a record written", "records", "plain_records", "json"),
    ):
        taken = instructions(ours)
        row(f"{name}, instructions", taken, "instructions")
        row(f"{name}, instructions", ratio(taken, instructions(plain)), of=reference)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
