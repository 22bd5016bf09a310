"""The local back end's cores, its clock, and what it lets the progress line know."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from stand_in import Events, Plain
from test_clocks import HOUR_S, SECOND_NS, Wall, wall
from test_local import burn, no_other_pools
from test_pool_records import new_files

from roastcoffea import MetricsCollector, collecting
from roastcoffea.backends.local import PoolWatcher, largest_pool, threads_of
from roastcoffea.progress import Arrived, Display

pytestmark = pytest.mark.slow

__all__ = ["no_other_pools", "wall"]


def run_on(executor: Any, fileset: Any, *given: Any) -> MetricsCollector:
    """Run the demo analysis on an executor; the collector knows what is given to it."""
    from coffea.processor import Runner

    from analysis import DemoSchema, DimuonProcessor

    processor = DimuonProcessor()
    collector = MetricsCollector(
        *given, processor_instance=processor, worker_tracking_interval=0.05
    )
    with collector:
        runner = Runner(executor, schema=DemoSchema, savemetrics=True, chunksize=500)
        output, report = runner(fileset, processor_instance=processor)
        collector.extract_metrics_from_output(output)
        collector.set_coffea_report(report)
    return collector


@pytest.mark.parametrize("kind", ["class", "instance"])
def test_an_executor_says_how_many_threads_its_pool_has(kind: str, small_fileset: Any) -> None:
    from coffea.processor import FuturesExecutor

    with ThreadPoolExecutor(3) as pool:
        executor = FuturesExecutor(
            pool=pool if kind == "instance" else ThreadPoolExecutor, workers=3, status=False
        )
        collector = run_on(executor, small_fileset, executor)
    metrics = collector.get_metrics()
    assert metrics["peak_workers"] == 1
    assert metrics["total_cores"] == pytest.approx(3, rel=0.05)
    assert metrics["cores_per_worker"] == pytest.approx(3)
    assert metrics["core_efficiency"] < 1


def test_threads_of_a_pool_are_seen_where_nobody_says_how_many(small_fileset: Any) -> None:
    from coffea.processor import FuturesExecutor

    executor = FuturesExecutor(pool=ThreadPoolExecutor, workers=3, status=False)
    collector = run_on(executor, small_fileset)
    assert collector.get_metrics()["cores_per_worker"] == pytest.approx(3)


def test_one_thread_works_for_an_executor_without_a_pool(small_fileset: Any) -> None:
    from coffea.processor import IterativeExecutor

    executor = IterativeExecutor(status=False)
    collector = run_on(executor, small_fileset, executor)
    assert collector.get_metrics()["cores_per_worker"] == pytest.approx(1)


def test_pools_are_told_apart_by_the_names_of_their_threads() -> None:
    names = ["MainThread", "ThreadPoolExecutor-1_0", "asyncio_0", "Thread-3"]
    names += [f"ThreadPoolExecutor-2_{i}" for i in range(4)]
    assert largest_pool(names) == 4
    assert largest_pool(names[:1]) == 0
    assert threads_of(object()) is None


def test_a_pool_that_is_told_no_number_has_as_many_threads_as_python_gives_it() -> None:
    from coffea.processor import FuturesExecutor

    executor = FuturesExecutor(pool=ThreadPoolExecutor, workers=None, status=False)
    with ThreadPoolExecutor() as pool:
        assert threads_of(executor) == pool._max_workers


# ---- what goes wrong ---------------------------------------------------------------------------


def measure_one() -> MetricsCollector:
    """Measure a chunk, and look that nothing is left."""
    files = new_files()
    processor = Plain(result=[])
    with MetricsCollector(processor_instance=processor, track_workers=True) as collector:
        assert processor.process(Events()) == []
    assert [chunk["file"] for chunk in collector.chunk_metrics] == ["f.root"]
    assert new_files() == files
    assert collecting.RECORDS_VARIABLE not in os.environ
    assert collecting.COLLECT_VARIABLE not in os.environ
    return collector


@pytest.mark.parametrize("name", ["roastcoffea", "roastcoffea-local"])
def test_where_no_thread_can_be_started_chunks_are_measured(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = threading.Thread.start

    def refusing(self: threading.Thread) -> None:
        if self.name == name:
            raise RuntimeError("can't start new thread")
        start(self)

    monkeypatch.setattr(threading.Thread, "start", refusing)
    measure_one()


def test_an_error_of_the_watcher_takes_no_records_along(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: PoolWatcher) -> None:
        raise ValueError("nobody knows how many threads there are")

    monkeypatch.setattr(PoolWatcher, "count_threads", broken)
    assert measure_one().run.facts()["run.faults"] == 1


# ---- clock and progress ------------------------------------------------------------------------


STEPPING = """
import os, struct, sys, time
from concurrent.futures import ProcessPoolExecutor
from roastcoffea import MetricsCollector

def work(seconds):
    time.sleep(seconds)

def show(collector):
    facts, run = collector.run.facts(), collector.run
    events = run.columns("worker_event", ["utc_ns"])["utc_ns"]
    stamps = struct.unpack(f"={len(events) // 8}q", events)
    for worker, names in run.series_names().items():
        times = run.series(worker, "rss_bytes")[0]
        stamps += struct.unpack(f"={len(times) // 8}q", times)
    print(facts["run.start_utc_ns"], facts["run.end_utc_ns"], *stamps)
    print(len(collector.tracking_data["worker_counts"]))

if __name__ == "__main__":
    with MetricsCollector(worker_tracking_interval=0.05) as collector:
        for step in (0, 3600, -3600):
            with open(sys.argv[1], "r+b") as file:
                file.write(struct.pack("=q", step))
            if sys.argv[2] == "pool":
                with ProcessPoolExecutor(1) as pool:
                    pool.submit(work, 0.3).result()
            else:
                work(0.3)
    show(collector)
"""


@pytest.mark.parametrize("kind", ["pool", "alone"])
def test_a_clock_that_is_set_moves_no_stamp(kind: str, wall: Wall, tmp_path: Any) -> None:
    script = tmp_path / "stepping.py"
    script.write_text(STEPPING)
    printed = subprocess.run(
        [sys.executable, script, wall.file, kind],
        env=wall.environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    start_ns, end_ns, *stamps = map(int, printed[0].split())
    assert len(stamps) > 5
    assert start_ns - SECOND_NS // 10 <= min(stamps)
    assert max(stamps) <= end_ns + SECOND_NS
    assert end_ns - start_ns < HOUR_S * SECOND_NS // 2
    assert 5 < int(printed[1]) < HOUR_S, "the grid of the tracking data has the run's length"


def test_the_line_knows_workers_and_chunks_of_this_process() -> None:
    collector = MetricsCollector(worker_tracking_interval=0.05)
    arrived = collector.metrics_backend.arrived = Arrived()
    with collector, ThreadPoolExecutor(1) as pool:
        pool.submit(burn, 0.1).result()
        assert Display(arrived).line().plain.startswith("- chunks done · - Hz · - Gbps · ")
        Plain().process(Events())
        assert Display(arrived).line().plain.startswith("1 chunk done · ")
    assert list(arrived.workers) == [f"{os.uname().nodename}:{os.getpid()}"]


def test_the_line_knows_the_memory_of_a_pool() -> None:
    from concurrent.futures import ProcessPoolExecutor

    collector = MetricsCollector(worker_tracking_interval=0.05)
    arrived = collector.metrics_backend.arrived = Arrived()
    with collector, ProcessPoolExecutor(1) as pool:
        busy = pool.submit(burn, 0.5)
        deadline = time.monotonic() + 20
        while (arrived.memory_bytes or 0) < 50_000_000 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert " · 1 worker · " in Display(arrived).line().plain
        assert (arrived.memory_bytes or 0) > 50_000_000
        busy.result()
