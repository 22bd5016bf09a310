"""Executors without a cluster: this process, and pools that are sampled from outside."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import pytest

from roastcoffea import MetricsCollector, _probe
from roastcoffea.backends import local
from roastcoffea.backends.local import is_pool_process


@pytest.fixture(autouse=True)
def no_other_pools(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes that other tests have left running, such as the session's cluster, are no pool."""
    others = set(_probe.descendants(os.getpid()))
    monkeypatch.setattr(
        local, "is_pool_process", lambda pid: pid not in others and is_pool_process(pid)
    )


def burn(seconds: float) -> int:
    """Use a core, and hold 50 MB while doing so."""
    ballast = bytearray(50_000_000)
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass
    return os.getpid() + 0 * len(ballast)


def test_a_pool_of_processes_is_sampled_from_outside() -> None:
    with (
        MetricsCollector(worker_tracking_interval=0.05) as collector,
        ProcessPoolExecutor(2) as pool,
    ):
        pids = set(pool.map(burn, [0.6, 0.6]))
    data = collector.tracking_data
    assert data is not None
    workers = {int(name.rsplit(":", 1)[1]) for name in data["worker_memory"]}
    assert pids <= workers
    assert os.getpid() not in workers, "a process that has a pool is no worker"
    for name, series in data["worker_memory"].items():
        if int(name.rsplit(":", 1)[1]) in pids:
            assert max(value for _, value in series) > 50_000_000


def test_a_process_without_a_pool_is_the_worker() -> None:
    with MetricsCollector(worker_tracking_interval=0.05) as collector:
        burn(0.3)
    data = collector.tracking_data
    assert data is not None
    assert [int(name.rsplit(":", 1)[1]) for name in data["worker_memory"]] == [os.getpid()]
    assert set(data["worker_counts"].values()) == {1}


def test_other_children_are_no_workers() -> None:
    with subprocess.Popen(["sleep", "30"]) as child:
        try:
            deadline = time.monotonic() + 10
            while is_pool_process(child.pid) and time.monotonic() < deadline:
                time.sleep(0.01)  # until it has called exec()
            assert child.pid in _probe.descendants(os.getpid())
            assert not is_pool_process(child.pid)
        finally:
            child.kill()
    assert _probe.read_process(child.pid) is None


def test_readings_of_a_child_agree_with_its_own() -> None:
    code = (
        "import sys, time, resource\n"
        "end = time.process_time() + 0.5\n"
        "while time.process_time() < end: pass\n"
        "print(time.process_time(), flush=True)\n"
        "sys.stdin.read()"
    )
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", code], **pipes) as child:
        own_s = float(child.stdout.readline())  # type: ignore[union-attr]
        reading = _probe.read_process(child.pid)
        child.communicate(b"")
    assert reading is not None
    names = [name.partition("/")[0] for name in _probe.PROCESS_COLUMNS.split(",")]
    values = dict(zip(names, reading[1:], strict=True))
    cpu_s = (values["cpu_user_ns"] + values["cpu_system_ns"]) / 1000
    assert cpu_s == pytest.approx(own_s, abs=0.05)
    assert values["threads"] == 1


@pytest.mark.parametrize("name", ["iterative", "loky", "processes", "threads"])
def test_coffea_on_local_executors(name: str, small_fileset: Any) -> None:
    from concurrent.futures import ThreadPoolExecutor

    from coffea.processor import FuturesExecutor, IterativeExecutor, Runner

    from analysis import DemoSchema, DimuonProcessor

    executor = {
        "iterative": lambda: IterativeExecutor(status=False),
        "loky": lambda: FuturesExecutor(workers=2, status=False),
        "processes": lambda: FuturesExecutor(pool=ProcessPoolExecutor, workers=2, status=False),
        "threads": lambda: FuturesExecutor(pool=ThreadPoolExecutor, workers=2, status=False),
    }[name]()
    processor = DimuonProcessor()
    with MetricsCollector(
        executor, processor_instance=processor, worker_tracking_interval=0.05
    ) as collector:
        runner = Runner(executor, schema=DemoSchema, savemetrics=True, chunksize=1000)
        output, report = runner(small_fileset, processor_instance=processor)
        collector.extract_metrics_from_output(output)
        collector.set_coffea_report(report)
    metrics = collector.get_metrics()
    assert metrics["num_chunks"] == report["chunks"] > 0
    assert "num_failed_chunks" not in metrics.estimated
    for key in ("num_lost_chunks", "num_skipped_chunks"):
        assert metrics.absent[key] == "no tasks were followed"
    assert metrics["total_events_from_chunks"] == report["entries"]
    assert metrics["peak_workers"] >= (2 if name in ("loky", "processes") else 1)
    assert metrics["peak_memory_bytes"] > 10_000_000
    workers = {record["worker"] for record in metrics["raw_chunk_metrics"]}
    assert workers <= set(collector.tracking_data["worker_memory"])  # type: ignore[index]
