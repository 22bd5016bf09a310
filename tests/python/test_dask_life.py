"""Collectors on real clusters of every kind: each leaves the cluster as it found it."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from clusters import INTERVAL_S, local_cluster
from coffea.processor import Runner
from distributed import Client
from leftovers import left, left_on_scheduler, left_on_worker
from slow import Slow, work
from waiting import until

from roastcoffea import MetricsCollector, collecting
from roastcoffea.backends import dask as dask_backend
from roastcoffea.flags import Flags
from roastcoffea.recording import RunWriter

pytestmark = pytest.mark.slow


def rates(collector: MetricsCollector) -> list[float]:
    """Return how often each worker sampled, 1 being what was asked for.

    Every row has its own time stamp as a value. Workers begin while the block is entered and end
    while it is left, which takes its time on a busy machine: only what lies between rows counts.
    """
    start_utc_ns: Any = collector.run.facts()["run.start_utc_ns"]
    series = collector.run.resample("dask_seen_ms", start_utc_ns, 1_000_000, 60_000)
    found = []
    for values in series.values():
        stamps = sorted({value for value in values if value is not None})
        span_s = (stamps[-1] - stamps[0]) / 1000
        found.append((len(stamps) - 1) * INTERVAL_S / span_s)
    return found


# ---- several collectors ------------------------------------------------------------------------


def test_ten_collectors_in_a_row_sample_at_the_rate_that_was_asked_for(client: Any) -> None:
    found = []
    for _ in range(10):
        with MetricsCollector(client, worker_tracking_interval=INTERVAL_S) as collector:
            time.sleep(0.5)
        found.append(rates(collector))
    assert all(len(workers) == 2 for workers in found)
    # the last row of a worker comes in addition to those of the ticks
    assert max(max(workers) for workers in found) < 1.7
    assert min(min(workers) for workers in found[-3:]) > 0.3
    assert left(client) == []


def test_collectors_within_each_other_see_what_happens_in_their_own_block(client: Any) -> None:
    with MetricsCollector(client, processor_instance=Slow()) as outer:
        work(client, 2)
        with MetricsCollector(client, processor_instance=Slow()) as inner:
            work(client, 3)
        work(client, 4)
    assert (len(outer.chunk_metrics), len(inner.chunk_metrics)) == (9, 3)
    assert left(client) == []


def test_two_clients_of_one_scheduler_do_not_disturb_each_other(cluster: Any) -> None:
    with Client(cluster) as one, Client(cluster) as other:
        with MetricsCollector(one) as first:
            work(one, 2)
            with MetricsCollector(other) as second:
                work(other, 3)
            work(one, 2)
        assert (len(first.chunk_metrics), len(second.chunk_metrics)) == (7, 3)
        assert left(one) == left(other) == []


# ---- kinds of clusters -------------------------------------------------------------------------


def test_a_worker_that_closes_takes_nothing_from_its_siblings_in_the_process() -> None:
    with (
        local_cluster(processes=False) as cluster,
        Client(cluster) as client,
    ):
        with MetricsCollector(client, worker_tracking_interval=INTERVAL_S) as collector:
            before = work(client, 4)
            cluster.scale(1)
            assert until(lambda: len(client.scheduler_info()["workers"]) == 1)
            after = work(client, 4)
        assert len({answer["worker"] for answer in before}) == 2
        ran = Counter(record["worker"] for record in collector.chunk_metrics)
        # a result that was lost with the closing worker is computed again: more, but never less
        assert Counter(answer["worker"] for answer in before + after) <= ran
        assert left(client) == []


@pytest.fixture(scope="module", params=["--nanny", "--no-nanny"])
def dask_processes(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Client, Any]]:
    """A client of a scheduler and a worker that were started by command, and the scheduler."""
    from distributed.utils import open_port

    tmp_path = tmp_path_factory.mktemp("dask")
    address = f"tcp://127.0.0.1:{open_port()}"
    dask = [str(Path(sys.executable).with_name("dask"))]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parent)}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": environment}
    options = ["--host", "127.0.0.1", "--port", address.rpartition(":")[2], "--no-dashboard"]
    with (
        subprocess.Popen([*dask, "scheduler", *options], cwd=tmp_path, **quiet) as scheduler,
        subprocess.Popen(
            [*dask, "worker", address, "--nthreads", "8", request.param, "--no-dashboard"],
            cwd=tmp_path,
            **quiet,
        ) as worker,
    ):
        try:
            with Client(address, timeout=60, set_as_default=False) as client:
                client.wait_for_workers(1, timeout=60)
                yield client, scheduler
        finally:
            for process in (worker, scheduler):  # one after the other: Dask's own ends can cross
                process.terminate()
                try:
                    process.wait(timeout=30)
                except subprocess.TimeoutExpired:
                    process.kill()


def test_a_dask_worker_with_eight_threads_is_followed(dask_processes: tuple[Client, Any]) -> None:
    client, _ = dask_processes
    with MetricsCollector(client, worker_tracking_interval=INTERVAL_S) as collector:
        answers = work(client, 24)
        collector.set_coffea_report({"entries": 24})
    threads = {record["thread"] for record in collector.chunk_metrics}
    assert len(collector.chunk_metrics) == len(answers) == 24
    assert 1 < len(threads) <= 8
    assert collector.get_metrics()["cores_per_worker"] == pytest.approx(8)
    assert left(client) == []


# ---- who does not answer -----------------------------------------------------------------------


@pytest.mark.timeout(60)
def test_a_worker_that_is_stopped_does_not_keep_others_waiting(
    two_workers: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_backend, "ASK_TIMEOUT_S", 1.0)
    (stopped, pid), (other, _) = two_workers.run(os.getpid).items()
    begin = time.monotonic()
    os.kill(pid, signal.SIGSTOP)
    try:
        collector = MetricsCollector(two_workers).__enter__()
        took_s = time.monotonic() - begin
        two_workers.submit(Slow().process, [1], workers=[other], pure=False).result()
        assert until(lambda: len(collector.chunk_metrics) == 1)
    finally:
        os.kill(pid, signal.SIGCONT)
        monkeypatch.undo()
    assert took_s < 10
    assert until(lambda: all(map(len, two_workers.run(left_on_worker).values())))
    two_workers.submit(Slow().process, [1], workers=[stopped], pure=False).result()
    collector.__exit__(None, None, None)
    assert {chunk["worker"] for chunk in collector.chunk_metrics} == {stopped, other}
    assert collector.metrics_backend.faults == {"workers that do not answer": 1}
    assert until(lambda: left(two_workers) == [])


@pytest.mark.timeout(60)
def test_a_block_is_left_at_one_deadline_if_a_worker_is_stopped(
    two_workers: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_backend, "ASK_TIMEOUT_S", 3.0)
    pid, _ = two_workers.run(os.getpid).values()
    try:
        with MetricsCollector(two_workers) as collector:
            work(two_workers)
            os.kill(pid, signal.SIGSTOP)
            begin = time.monotonic()
        took_s = time.monotonic() - begin
        assert [topic for topic in two_workers._event_handlers if "roastcoffea" in topic] == []
    finally:
        os.kill(pid, signal.SIGCONT)
    assert took_s < 2 * dask_backend.ASK_TIMEOUT_S, "several questions had no answer"
    assert len(collector.chunk_metrics) == 8
    assert collector.metrics_backend.faults == {"end of tracking": 1}
    assert "not all workers reported" in str(collector.run.facts()["backend.spans_shortfall"])
    assert until(lambda: left(two_workers) == [])


def test_a_scheduler_that_stalls_while_a_block_is_left_is_cleaned_later(
    dask_processes: tuple[Client, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    client, scheduler = dask_processes
    monkeypatch.setattr(dask_backend, "ASK_TIMEOUT_S", 0.3)
    try:
        with MetricsCollector(client, worker_tracking_interval=INTERVAL_S):
            work(client, 1)
            scheduler.send_signal(signal.SIGSTOP)
        assert [topic for topic in client._event_handlers if "roastcoffea" in topic]
    finally:
        scheduler.send_signal(signal.SIGCONT)
    assert until(lambda: left(client) == [])


# ---- ends that nobody wished for ---------------------------------------------------------------


def test_a_scheduler_that_closes_in_the_middle_does_not_stop_the_block() -> None:
    with local_cluster() as cluster, Client(cluster) as client:
        with MetricsCollector(client, worker_tracking_interval=INTERVAL_S) as collector:
            work(client, 4)
            assert until(lambda: len(collector.chunk_metrics) == 4)
            cluster.close()
            assert until(lambda: client.status != "running")
        assert len(collector.chunk_metrics) == 4
        assert collector.tracking_data is not None
        assert collector.tracking_data["worker_memory"]
        assert "ROAST_COLLECT" not in os.environ


def test_a_client_that_closes_in_the_middle_takes_everything_along(cluster: Any) -> None:
    with Client(cluster) as other:
        client = Client(cluster)
        with MetricsCollector(client, worker_tracking_interval=INTERVAL_S):
            assert other.run_on_scheduler(left_on_scheduler)
            client.close()
        assert until(lambda: left(other) == [])


KILLED = """
import sys, time
from coffea.processor import Runner
from distributed import Client
from roastcoffea import MetricsCollector

with Client(sys.argv[1]) as client, MetricsCollector(client, output_dir=sys.argv[2]):
    print("collecting", flush=True)
    time.sleep(600)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_client_that_is_killed_leaves_nothing_on_the_cluster(
    how: signal.Signals, client: Any, tmp_path: Path
) -> None:
    command = [sys.executable, "-c", KILLED, client.scheduler.address, str(tmp_path)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as killed:
        assert killed.stdout is not None
        assert killed.stdout.readline() == "collecting\n"
        assert client.run_on_scheduler(left_on_scheduler)
        killed.send_signal(how)
        assert killed.wait(timeout=60) != 0
    assert until(lambda: left(client) == [])


@pytest.mark.parametrize("step", ["_join", "_flush", "_span_metrics"])
def test_an_interrupted_beginning_or_end_leaves_nothing(
    step: str, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from roastcoffea.backends.dask import DaskMetricsBackend

    inner = getattr(DaskMetricsBackend, step)

    async def interrupted(self: Any, *args: Any, **kwargs: Any) -> Any:
        await inner(self, *args, **kwargs)
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.sleep(60)

    monkeypatch.setattr(DaskMetricsBackend, step, interrupted)
    with pytest.raises(KeyboardInterrupt), MetricsCollector(client) as collector:
        work(client, 2)
    assert until(lambda: left(client) == [])
    if step != "_join":
        assert collector.run.facts()["run.end_utc_ns"]
        assert len(collector.chunk_metrics) == 2


@pytest.mark.parametrize(
    ("owner", "step"),
    [
        (RunWriter, "_create_file"),
        (Flags, "hoist"),
        (MetricsCollector, "_show_progress"),
        (MetricsCollector, "_begin"),
    ],
)
@pytest.mark.parametrize("used", [False, True])
def test_an_interrupt_before_the_cluster_is_asked_leaves_nothing(
    owner: Any,
    step: str,
    used: bool,
    client: Any,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    collector = MetricsCollector(client, progress=True, output_dir=tmp_path)
    if used:
        with collector:
            pass
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    threads = threading.active_count()
    inner = getattr(owner, step)

    def interrupted(*args: Any) -> Any:
        inner(*args)
        raise KeyboardInterrupt

    monkeypatch.setattr(owner, step, interrupted)
    with pytest.raises(KeyboardInterrupt), collector:
        pass
    assert left(client) == []
    assert not collecting.active()
    assert not hasattr(Runner.run, "__wrapped__")
    assert threading.active_count() == threads
    assert {path: path.read_bytes() for path in before} == before
    monkeypatch.undo()
    with collector:  # once more
        work(client, 2)
    assert len(collector.chunk_metrics) == 2


def test_a_worker_that_comes_and_one_that_is_restarted_are_followed(tmp_path: Path) -> None:
    with local_cluster(n_workers=1) as cluster, Client(cluster) as client:
        with MetricsCollector(client, worker_tracking_interval=INTERVAL_S) as collector:
            cluster.scale(2)
            client.wait_for_workers(2, timeout=60)
            work(client, 8)
            client.restart(timeout=240)
            work(client, 8)
            time.sleep(1)
        assert len(collector.chunk_metrics) == 16
        assert collector.tracking_data is not None
        assert len(collector.tracking_data["worker_memory"]) == 4
        assert left(client) == []
