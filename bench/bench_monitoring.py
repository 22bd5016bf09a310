"""What measuring costs a chunk: monitored and unmonitored ones, in turn, in one process.

python bench/bench_monitoring.py [--pairs N]

Whole runs vary by a fifth on a small machine, so each chunk is processed twice, once with and
once without the monitor, in an order that alternates, and the difference of the thread's CPU time
is taken. The chunks are small, since what measuring costs does not grow with them, while their own
variation does. What is shown is the mean of the differences, without the tenth of them that is
farthest out, with its 95 % confidence interval, as a share of a chunk of 0.1 s. The sampler's
thread is measured by itself. The demo's own figure is that of its summary, and leaving the block is
timed on a cluster with nothing left to send.
"""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import mean, stdev
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples"))

import awkward as ak
import psutil
import uproot
from coffea.nanoevents import NanoEventsFactory
from distributed import Client, LocalCluster

from analysis import DemoSchema
from make_data import make_data
from result import Figure, best, row
from roastcoffea import MetricsCollector, collecting, track_metrics, track_time
from roastcoffea._probe import Sampler
from roastcoffea._roast import Run

ROOT = Path(__file__).resolve().parent.parent
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


def bench_chunks(pairs: int) -> None:
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
    small = Figure(sorted(plain)[pairs // 2])
    measured = Figure(mean, half / 1.96)
    row(f"measuring a chunk, {pairs:,} pairs, CPU", measured.times(1e-3), "us")
    row(f"a monitored chunk of {small.value / 1e6:.1f} ms", plus(small, measured), of="unmonitored")
    name = f"measuring a chunk of {CHUNK_S} s"
    row(name, measured.times(100 / (CHUNK_S * 1e9)), "% of CPU", at_most=BOUND_PERCENT)


def plus(base: Figure, more: Figure) -> Figure:
    return Figure(1 + more.value / base.value, more.spread / base.value)


def bench_sampler() -> None:
    sampler = Sampler(1.0)
    sampler.start()
    time.sleep(10)
    state = sampler.state()
    sampler.stop()
    percent = state["cpu_ns"] / state["rows"] / 1e9 * 100
    row("the sampler's thread at 1 Hz", percent, "% of a core", at_most=SAMPLER_PERCENT)
    process = psutil.Process()
    begin = time.thread_time_ns()
    for _ in range(50):
        process.memory_info(), process.cpu_times(), process.io_counters()
        process.num_ctx_switches(), process.num_fds(), psutil.net_io_counters()
    plain = (time.thread_time_ns() - begin) / 50
    row("a row of samples", state["cpu_ns"] / state["rows"] / plain, of="psutil")


def bench_demo() -> None:
    """Take the figure that the demo's summary shows, in percent of the workers' CPU."""
    percents = []
    for _ in range(5):
        with tempfile.TemporaryDirectory() as folder:
            demo = [sys.executable, str(ROOT / "examples" / "demo.py"), "--output", folder]
            subprocess.run(demo, check=True, stdout=subprocess.DEVNULL)
            (path,) = Path(folder).glob("demo-*.roast")
            percents.append(Run.open(str(path)).summary().metrics()["monitoring_percent"])
    figure = Figure(mean(percents), stdev(percents) / len(percents) ** 0.5)
    row("the demo's own figure", figure, "% of CPU", at_most=BOUND_PERCENT)


def bench_leaving() -> None:
    """Leave the block on a cluster of two workers that have done a few tasks."""
    took = []
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        for _ in range(5):
            with MetricsCollector(client):
                client.gather(client.map(abs, range(20), pure=False))
                begin = time.perf_counter()
            took.append(time.perf_counter() - begin)
    row("leaving the block, elapsed", best(took), "s", at_most=0.5)


def main() -> int:
    parser = argparse.ArgumentParser(description="What measuring costs a chunk.")
    parser.add_argument("--pairs", type=int, default=2_000)
    options = parser.parse_args()
    bench_chunks(options.pairs)
    bench_sampler()
    bench_demo()
    bench_leaving()
    return 0


if __name__ == "__main__":
    sys.exit(main())
