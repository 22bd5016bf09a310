"""What measuring costs a chunk: monitored and unmonitored ones, in turn, in one process.

python bench/bench_monitoring.py [--pairs N] [--check]

Whole runs vary by a fifth on a small machine, so each chunk is processed twice, once with and
once without the monitor, in an order that alternates, and the difference of the thread's CPU time
is taken. The chunks are small, since what measuring costs does not grow with them, while their own
variation does. What is shown is the mean of the differences, without the tenth of them that is
farthest out, with its 95 % confidence interval, as a share of a chunk of 0.1 s. The sampler's
thread is measured by itself. With --check a missed bound is exit status 1.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples"))

import awkward as ak
import uproot
from coffea.nanoevents import NanoEventsFactory

from analysis import DemoSchema
from make_data import make_data
from roastcoffea import collecting, track_metrics, track_time
from roastcoffea._probe import Sampler

CHUNK_S = 0.1
EVENTS = 1_000
BOUND_PERCENT = 0.5
SAMPLER_PERCENT = 0.2


class Small:
    """Reads four branches in as many sections, and little else."""

    @track_metrics
    def process(self, events: Any) -> dict[str, Any]:
        output = {}
        for collection, field in (("Muon", "pt"), ("Muon", "eta"), ("Jet", "pt"), ("Jet", "eta")):
            with track_time(self, f"{collection} {field}"):
                output[f"{collection}_{field}"] = float(ak.sum(events[collection][field]))
        return output


def cpu_of_chunk(processor: Any, file: Any, path: str, monitored: bool) -> int:
    """Process one chunk; return the CPU time of process(), in ns."""
    events = NanoEventsFactory.from_root(
        file,
        treepath="Events",
        schemaclass=DemoSchema,
        entry_start=0,
        entry_stop=EVENTS,
        metadata={
            "dataset": "bench",
            "filename": path,
            "treename": "Events",
            "entrystart": 0,
            "entrystop": EVENTS,
        },
    ).events()
    processor._roastcoffea_collect_metrics = monitored
    begin_ns = time.thread_time_ns()
    processor.process(events)
    return time.thread_time_ns() - begin_ns


def trimmed(values: list[int], share: float = 0.05) -> tuple[float, float]:
    """Return the mean without the outermost values, and half of its confidence interval."""
    ordered = sorted(values)
    cut = int(len(ordered) * share)
    kept = ordered[cut : len(ordered) - cut]
    low, high = kept[0], kept[-1]
    mean = sum(kept) / len(kept)
    winsorized = [min(max(value, low), high) for value in ordered]
    centre = sum(winsorized) / len(winsorized)
    variance = sum((value - centre) ** 2 for value in winsorized) / (len(winsorized) - 1)
    return mean, 1.96 * math.sqrt(variance / len(values)) / (1 - 2 * share)


def bench_chunks(pairs: int) -> bool:
    processor = Small()
    differences, plain = [], []
    with tempfile.TemporaryDirectory() as directory:
        fileset = make_data(
            Path(directory), files=1, events_per_file=EVENTS, basket_events=EVENTS, report=None
        )
        path = next(iter(next(iter(fileset.values()))["files"]))
        file = uproot.open(path)
        collecting.add_sink("bench", lambda data: None)
        for _ in range(20):
            cpu_of_chunk(processor, file, path, True)
        for i in range(pairs):
            first = cpu_of_chunk(processor, file, path, i % 2 == 0)
            second = cpu_of_chunk(processor, file, path, i % 2 == 1)
            with_us, without_us = (first, second) if i % 2 == 0 else (second, first)
            differences.append(with_us - without_us)
            plain.append(without_us)
        collecting.remove_sink("bench")
    mean, half = trimmed(differences)
    percent, error = mean / 1e7 / CHUNK_S, half / 1e7 / CHUNK_S
    print(f"{pairs:,} pairs of chunks of {sorted(plain)[pairs // 2] / 1e6:.1f} ms")
    print(f"measuring a chunk: {mean / 1e3:.0f} +- {half / 1e3:.0f} us of CPU")
    print(f"of a chunk of {CHUNK_S} s: {percent:.3f} +- {error:.3f} %, bound {BOUND_PERCENT} %")
    return percent + error <= BOUND_PERCENT


def bench_sampler() -> bool:
    sampler = Sampler(1.0)
    sampler.start()
    time.sleep(10)
    state = sampler.state()
    sampler.stop()
    percent = state["cpu_ns"] / state["rows"] / 1e9 * 100
    print(f"the sampler's thread at 1 Hz: {percent:.3f} % of a core, bound {SAMPLER_PERCENT} %")
    return percent <= SAMPLER_PERCENT


def main() -> int:
    parser = argparse.ArgumentParser(description="What measuring costs a chunk.")
    parser.add_argument("--pairs", type=int, default=2_000)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    kept = [bench_chunks(options.pairs), bench_sampler()]
    return 1 if options.check and not all(kept) else 0


if __name__ == "__main__":
    sys.exit(main())
