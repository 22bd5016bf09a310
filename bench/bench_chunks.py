"""What chunks, sections and records cost, against the bounds that we promise.

Times are CPU times of this process, the lowest of several rounds, so that a busy
machine does not count. Beside a section stands one that is written with contextlib and
a dict, beside a chunk one that is measured with psutil, as one would by hand.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import pickle
import random
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

from result import Figure, best, ratio, row
from roastcoffea import collecting
from roastcoffea._probe import Records, track_time
from roastcoffea.decorator import track_metrics

ROOT = Path(__file__).resolve().parent.parent
SECTIONS = ("jet_selection", "btag_weights", "systematics", "histogram_filling", "met")
BRANCHES = (
    "Jet_pt",
    "Jet_eta",
    "Jet_phi",
    "nJet",
    "Muon_pt",
    "Muon_eta",
    "nMuon",
    "Electron_pt",
    "MET_pt",
)
KEY = "__roastcoffea_metrics__"


def cpu_ns(function: Callable[[int], None], n: int, rounds: int = 9) -> Figure:
    """Return the CPU time of one of n repetitions, of the best round."""
    took = []
    for _ in range(rounds):
        begin = time.thread_time_ns()
        function(n)
        took.append((time.thread_time_ns() - begin) / n)
    return best(took)


class Section:
    _roastcoffea_collect_metrics = True
    container: dict[str, dict[str, float]]

    @track_metrics
    def process(self, events: Any) -> Any:
        return events(self)

    @track_metrics
    def idle(self, events: Any) -> Any:
        return {}


@contextlib.contextmanager
def by_contextlib(processor: Any, name: str) -> Any:
    begin = time.time()
    try:
        yield
    finally:
        processor.container["timing"][name] = time.time() - begin


def loop(tracker: Any, processor: Any) -> Callable[[int], None]:
    def repeat(n: int) -> None:
        for _ in range(n):
            with tracker(processor, "x"):
                pass

    return repeat


def nothing(n: int) -> None:
    for _ in range(n):
        pass


def two_clock_reads_ns() -> Figure:
    """Ask the C program of the build."""
    told = json.loads(subprocess.check_output([ROOT / "build" / "bench" / "bench-clock"]))
    return Figure(told["value"], told["spread"])


def bench_sections() -> None:
    processor = Section()
    processor.container = {"timing": {}}
    empty = cpu_ns(nothing, 300_000)
    reference = cpu_ns(loop(by_contextlib, processor), 60_000).less(empty)
    inactive = cpu_ns(loop(track_time, processor), 300_000).less(empty)
    active = processor.process(lambda self: cpu_ns(loop(track_time, self), 300_000)).less(empty)
    row("a section", active, "ns")
    row("a section", ratio(active, reference), of="contextlib and a dict", at_most=1 / 6)
    row("a section", ratio(active, two_clock_reads_ns()), of="two clock reads in C", at_most=5)
    row("a section outside of chunks", ratio(inactive, active), of="one inside", at_most=0.8)


def events_of(directory: str, n_branches: int) -> Any:
    """Return the events of a file with so many branches, as coffea gives them to process()."""
    import numpy as np
    import uproot
    from coffea.nanoevents import BaseSchema, NanoEventsFactory

    path = f"{directory}/{n_branches}.root"
    with uproot.recreate(path) as file:
        tree = file.mktree("Events", {f"b{i}": np.float32 for i in range(n_branches)})
        tree.extend({f"b{i}": np.zeros(10, np.float32) for i in range(n_branches)})
    return NanoEventsFactory.from_root(
        uproot.open(path),
        treepath="Events",
        schemaclass=BaseSchema,
        mode="virtual",
        access_log=[],
        metadata={
            "dataset": "ttbar",
            "filename": f"root://eospublic.cern.ch//eos/cms/nano/{n_branches}.root",
            "treename": "Events",
            "entrystart": 0,
            "entrystop": 10,
            "fileuuid": str(uuid.uuid4()),
            "xs": 831.76,
        },
    ).events()


def by_psutil(events: Any) -> dict[str, Any]:
    """Measure an empty chunk as one would by hand: fewer figures than @track_metrics has."""
    process = psutil.Process()
    before, io, begin = process.memory_info().rss, process.io_counters(), time.time()
    after, cpu = process.memory_info().rss, process.cpu_times()
    read = process.io_counters().read_chars - io.read_chars
    return {
        "t_start": begin,
        "duration": time.time() - begin,
        "mem_before_mb": before / 2**20,
        "mem_after_mb": after / 2**20,
        "cpu": cpu.user + cpu.system,
        "bytes_read": read,
        "num_events": len(events),
        **events.metadata,
    }


def five_sections(self: Section) -> dict[str, Any]:
    for name in SECTIONS:
        with track_time(self, name):
            time.sleep(0.001)
    return {}


def bench_decorator() -> None:
    processor = Section()
    sent: list[bytes] = []
    collecting.set_identity(worker="tcp://10.0.3.17:41235")
    with tempfile.TemporaryDirectory() as directory:
        cost = {}
        for n_branches in (64, 1600):
            events = events_of(directory, n_branches)
            collecting.add_sink("bench", lambda data: None)

            def repeat(n: int, events: Any = events) -> None:
                for _ in range(n):
                    processor.idle(events)

            repeat(10)
            cost[n_branches] = cpu_ns(repeat, 500).times(1e-3)
        row("@track_metrics, 64 branches", cost[64], "us", at_most=60)
        grown = ratio(cost[1600], cost[64])
        row("@track_metrics, 1,600 branches", grown, of="64 branches", at_most=1.15)
        plain = cpu_ns(lambda n: [by_psutil(events) for _ in range(n)] and None, 100).times(1e-3)
        row("@track_metrics, 1,600 branches", ratio(cost[1600], plain), of="psutil and a dict")

        class Five(Section):
            @track_metrics
            def process(self, events: Any) -> Any:
                return five_sections(self)

        collecting.add_sink("bench", sent.append)
        Five().process(events)
        output = Five().process(events)
        collecting.remove_sink("bench")
    size = len(pickle.dumps(output[KEY]))
    row("a record with 5 sections, pickled", size, "B", at_most=450)
    plain_size = len(pickle.dumps(synthetic(1)))
    row("the same", size / plain_size, of="a dict, pickled")


def synthetic(n: int, seed: int = 1) -> list[dict[str, Any]]:
    """Return records as a cluster of 16 workers would make them."""
    rng = random.Random(seed)
    files = [
        (
            f"root://eospublic.cern.ch//eos/cms/TT_{rng.getrandbits(32):08x}/nano_{i}.root",
            str(uuid.UUID(int=rng.getrandbits(128))),
        )
        for i in range(max(1, n // 20))
    ]
    workers = [
        {
            "worker": f"tcp://10.0.3.{i}:{rng.randrange(30000, 60000)}",
            "host": f"node-{i // 4}.cluster",
            "pid": rng.randrange(10**4, 4 * 10**6),
            "thread": 0x7F0000000000 + rng.getrandbits(36),
        }
        for i in range(16)
    ]
    clocks = [1.79e9 + rng.random() for _ in workers]
    pages = [rng.randrange(90_000, 200_000) for _ in workers]
    sizes = [rng.randrange(20_000, 2_000_000) for _ in BRANCHES]
    made = []
    for i in range(n):
        file, number = files[i // 20 % len(files)], rng.randrange(16)
        wall = rng.lognormvariate(1.3, 0.35)
        begin = clocks[number] + rng.uniform(0.05, 0.3)
        clocks[number] = begin + wall
        cpu, waited = wall * rng.uniform(0.75, 0.95), wall * rng.uniform(0, 0.02)
        asleep = wall - cpu - waited
        samples = int(asleep * 30) + 1
        block = rng.randrange(samples)
        gil = rng.randrange(samples - block)
        before = pages[number]
        pages[number] += rng.randrange(-2000, 2500)
        needed = {
            name: int(size * rng.uniform(0.98, 1.02))
            for name, size in zip(BRANCHES, sizes, strict=True)
        }
        left, timing = wall, {}
        for name in SECTIONS:
            timing[name] = left * rng.uniform(0.1, 0.4)
            left -= timing[name]
        made.append(
            {
                "t_start": begin,
                "duration": wall,
                "wall_split": {
                    "cpu": cpu,
                    "runqueue": waited,
                    "throttled": 0.0,
                    "block_io": asleep * block / samples,
                    "gil": asleep * gil / samples,
                    "other": asleep * (samples - block - gil) / samples,
                    "samples": samples,
                },
                "mem_before_mb": before / 256,
                "mem_after_mb": pages[number] / 256,
                "mem_peak_mb": (max(before, pages[number]) + rng.randrange(30_000)) / 256,
                "bytes_read": sum(needed.values()),
                "rchar_bytes": sum(needed.values()) + rng.randrange(4_000, 200_000),
                "wchar_bytes": rng.randrange(300),
                "read_bytes": 0,
                "write_bytes": 0,
                "major_faults": 0,
                "probe_ns": rng.randrange(22_000, 60_000),
                "num_events": 100_000,
                "dataset": f"ttbar_{i // 20 % 4}",
                "file": file[0],
                "uuid": file[1],
                "tree": "Events",
                "entry_start": 100_000 * (i % 20),
                "entry_stop": 100_000 * (i % 20 + 1),
                "timing": timing,
                "accessed_branches": list(BRANCHES),
                "branch_bytes": needed,
                "tree_branches": 1499,
                "tree_bytes": 10**9 + i // 20,
                "selected_bytes": 37_000_000 + i // 20,
                "selected_uncompressed_bytes": 80_000_000 + i // 20,
                "metadata": {"xsec": 831.76},
                "attempt": 1,
                "outcome": "finished",
                **workers[number],
            }
        )
    return made


def memcpy_ns(n_bytes: int) -> Figure:
    source, target = ctypes.create_string_buffer(n_bytes), ctypes.create_string_buffer(n_bytes)
    return cpu_ns(lambda n: [ctypes.memmove(target, source, n_bytes) for _ in range(n)] and None, 3)


def bench_records() -> None:
    thousand = Records(synthetic(1000))
    pickled = pickle.dumps(pickle.loads(pickle.dumps(Records.from_bytes(thousand.to_bytes()))))
    each = len(pickled) / 1000
    row("1,000 merged records, 5 sections, 9 branches", each, "B/record", at_most=90)
    row("the same", len(pickled) / len(pickle.dumps(synthetic(1000))), of="dicts, pickled")

    single = Records([record.to_bytes() for record in map(Records, zip(synthetic(1000)))])
    took = {}
    for n in (500, 1000):

        def merge(_: int, n: int = n) -> None:
            merged = Records()
            for _ in range(n):
                merged += single

        took[n] = cpu_ns(merge, 1, rounds=5)
    copied = memcpy_ns(16 * 1_000_000)
    beyond = took[1000].less(copied).times(1e-6)
    row("merging 1,000 x 1,000 records, each beyond memcpy", beyond, "ns", at_most=20)
    row("merging 1,000 x 1,000 records", ratio(took[1000], copied), of="memcpy of as many handles")
    twice = ratio(took[1000], took[500].times(2))
    row("merging 1,000 x 1,000 records", twice, of="twice 500 x 1,000", at_most=1.5)


def bench_million() -> None:
    """Decode and sum a million records, in a process that has done nothing else."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(Records(synthetic(4096)).to_bytes())
        file.flush()
        out = subprocess.check_output([sys.executable, __file__, "--million", file.name], text=True)
    seconds, spread, megabytes = map(float, out.split())
    row("1 M records decoded and summed up", Figure(seconds, spread), "s", at_most=1.5)
    row("their memory, the records' own bytes included", megabytes, "MB", at_most=400)


def bench_allocations() -> None:
    """Count as tests/python/test_allocations.py does."""
    sys.path.insert(0, str(ROOT / "tests" / "python"))
    import test_allocations

    with tempfile.TemporaryDirectory() as directory:
        counts = test_allocations.count_allocations(Path(directory))
    grown = counts[1024] - counts[512]
    row("allocations of 1,024 sections beyond 512", grown, "allocations", at_most=3)


def peak_kb() -> int:
    """Return the highest resident memory; getrusage() would tell of the parent's before exec."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0])


def million(path: str) -> None:
    block = Path(path).read_bytes()
    begin_kb = peak_kb()
    records = Records(bytes(bytearray(block)) for _ in range(245))
    took = cpu_ns(lambda n: records.totals() and None, 1, rounds=3).times(1e-9)
    memory_kb = peak_kb() - begin_kb
    assert records.totals()["records"] == len(records) >= 1_000_000
    print(*took, memory_kb / 1000)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--million", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.million:
        million(options.million)
        return 0
    bench_sections()
    bench_decorator()
    bench_records()
    bench_million()
    bench_allocations()
    return 0


if __name__ == "__main__":
    sys.exit(main())
