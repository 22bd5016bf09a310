"""The Dask back end by itself: what it waits for, what it leaves behind, what it calls lost."""

from __future__ import annotations

import asyncio
import time
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest
from clusters import local_cluster
from distributed import Client, get_worker

from roastcoffea import MetricsCollector, collecting, track_metrics
from roastcoffea.backends import dask_lease
from roastcoffea.backends.dask import DaskMetricsBackend
from roastcoffea.backends.dask_ledger import SchedulerLedger
from roastcoffea.backends.dask_scheduler import read_span, what_spans_lack
from roastcoffea.clock import RunClock


class Standing:
    """Stands in for a client whose cluster answers as a test wants it to."""

    asynchronous = False
    status = "running"
    id = "client"

    def __init__(self) -> None:
        self._event_handlers: dict[str, Any] = {}
        self.asked: list[Any] = []

    def sync(self, function: Any, *args: Any) -> Any:
        return asyncio.run(function(*args))

    async def run(self, function: Any, *args: Any, **kwargs: Any) -> Any:
        return {}

    async def run_on_scheduler(self, function: Any, *args: Any, **kwargs: Any) -> Any:
        self.asked.append(function)


def opened(client: Any) -> DaskMetricsBackend:
    """Return a back end as if it had joined the cluster of a client."""
    backend = DaskMetricsBackend(client)
    backend.topic = "topic"
    backend.start_utc_ns = time.time_ns()
    backend._arrived = asyncio.Event()
    return backend


def test_the_end_waits_for_every_worker_not_only_for_the_first() -> None:
    client: Any = Standing()
    backend = opened(client)
    answered: list[str] = []

    async def run(
        function: Any, topic: str, token: str, asked_ns: int, on_error: str
    ) -> dict[str, bool]:
        def answer(address: str) -> None:
            answered.append(address)
            backend._receive((0.0, [("flushed", token, address, {})]))

        answer("a")  # arrives before it is known who will answer
        asyncio.get_running_loop().call_later(0.2, answer, "b")
        return {"a": True, "b": True}

    client.run = run
    backend.close_channel()
    assert answered == ["a", "b"]


def test_an_answer_to_an_earlier_question_does_not_count(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("roastcoffea.backends.dask.FLUSH_TIMEOUT_S", 0.1)
    client: Any = Standing()
    backend = opened(client)
    backend._receive((0.0, [("flushed", "earlier", "a", {})]))

    async def run(*args: Any, **kwargs: Any) -> dict[str, bool]:
        return {"a": True}

    client.run = run
    backend.close_channel()
    assert "the last samples of 1 workers did not arrive" in caplog.text


def test_a_start_that_fails_leaves_nothing_on_the_cluster(client: Any) -> None:
    backend = DaskMetricsBackend(client)
    handlers = dict(client._event_handlers)
    register = client.register_plugin

    def refuse(plugin: Any, name: str | None = None) -> Any:
        if type(plugin).__name__ == "WorkerProbe":
            raise OSError("no")
        return register(plugin, name=name)

    client.register_plugin = refuse
    try:
        with pytest.raises(OSError, match="no"):
            backend.start_tracking(0.1)
    finally:
        del client.register_plugin
    left = client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.plugins))
    assert [name for name in left if "roastcoffea" in str(name)] == []
    assert client._event_handlers == handlers
    assert backend.topic is None


def test_a_scheduler_that_is_gone_takes_no_samples_along() -> None:
    client: Any = Standing()

    async def run(*args: Any, **kwargs: Any) -> Any:
        raise OSError("gone")

    client.run = client.run_on_scheduler = run
    backend = opened(client)
    assert "worker_counts" in backend.stop_tracking()
    with pytest.raises(AttributeError):
        backend.stop_tracking()


def test_nobody_is_asked_where_nobody_can_answer() -> None:
    client: Any = Standing()
    client.status = "connecting"
    backend = opened(client)
    client._event_handlers["topic"] = backend._receive
    assert "worker_counts" in backend.stop_tracking()
    assert client.asked == []
    assert client._event_handlers == {}


def test_a_worker_that_does_not_answer_does_not_hold_up_the_end(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("roastcoffea.backends.dask.ASK_TIMEOUT_S", 0.1)
    monkeypatch.setattr("roastcoffea.backends.dask.SEND_TIMEOUT_S", 0.02)
    client: Any = Standing()
    let_go: list[str] = []

    async def never(*args: Any, **kwargs: Any) -> None:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            let_go.append("run")
            raise

    async def run_on_scheduler(function: Any, *args: Any, **kwargs: Any) -> Any:
        client.asked.append(function)
        if function is what_spans_lack:
            return "", None
        return {("execute", "X", "thread-cpu", "seconds"): 1.0}

    client.run = never
    client.run_on_scheduler = run_on_scheduler
    backend = opened(client)
    assert backend.get_span_metrics({"id": "id"})
    assert "worker_counts" in backend.stop_tracking()
    assert let_go == ["run", "run"]
    assert caplog.text.count("no answer of the workers within 0.0") == 2, "they share the time"
    assert dask_lease.end in client.asked


class Whereabouts:
    @track_metrics
    def process(self, events: Any) -> dict[str, str]:
        return {"worker": get_worker().address}


def test_workers_that_share_a_process_are_told_apart() -> None:
    with (
        local_cluster(processes=False) as cluster,
        Client(cluster) as client,
        MetricsCollector(client) as collector,
    ):
        futures = [
            client.submit(Whereabouts().process, [1], workers=[worker], pure=False)
            for worker in client.scheduler_info()["workers"]
        ]
        ran = {future.result()["worker"] for future in futures}
    assert {record["worker"] for record in collector.chunk_metrics} == ran
    assert len(ran) == 2


def test_a_worker_that_came_during_a_run_does_not_collect_after_it() -> None:
    with (
        local_cluster(n_workers=1) as cluster,
        Client(cluster) as client,
    ):
        with MetricsCollector(client):
            cluster.scale(2)
            client.wait_for_workers(2, timeout=30)
        assert set(client.run(collecting.active).values()) == {False}


async def without_sampler(dask_worker: Any) -> list[str]:
    """Set a probe up where the sampler cannot start, and where there is none at all."""
    from roastcoffea.backends import dask_worker as module

    real, seen = module._probe, []
    refusing = MagicMock(
        **{
            "Sampler.side_effect": RuntimeError("no more threads"),
            "encode_block.return_value": b"block",
        }
    )
    for stand_in in (refusing, None):
        module._probe = stand_in
        probe = module.WorkerProbe("topic", 0.1, 0)
        try:
            probe.setup(dask_worker)
            probe.flush("token", 0)
            seen.append(f"{probe.sampler} {probe.sampling is not None} {len(probe.rows)}")
        finally:
            probe.teardown(dask_worker)
            module._probe = real
    return seen


def test_a_worker_whose_sampler_fails_goes_on_with_what_it_has() -> None:
    with (
        local_cluster(n_workers=1, processes=False) as cluster,
        Client(cluster) as client,
    ):
        assert list(client.run(without_sampler).values()) == [["None True 0", "None False 0"]]


def test_spans_are_read_as_documented() -> None:
    span = SimpleNamespace(cumulative_worker_metrics={("execute", "X", "thread-cpu", "s"): 1.0})
    scheduler: Any = SimpleNamespace(extensions={"spans": SimpleNamespace(spans={"id": span})})
    client: Any = Standing()

    async def run_on_scheduler(function: Any, **kwargs: Any) -> Any:
        return function(scheduler, **kwargs)

    client.run_on_scheduler = run_on_scheduler
    backend = DaskMetricsBackend(client)
    assert backend.get_span_metrics({"id": "id"}) == span.cumulative_worker_metrics
    assert backend.get_span_metrics({"id": "other"}) == {}
    assert read_span(scheduler, span_id="id") == span.cumulative_worker_metrics


@pytest.mark.parametrize("needed", [True, False])
def test_a_result_that_nobody_needs_any_more_is_not_lost_with_its_worker(needed: bool) -> None:
    item = SimpleNamespace(
        dataset="d", filename="f", treename="t", fileuuid="u", entrystart=0, entrystop=9
    )
    worker = SimpleNamespace(address="tcp://a", nthreads=1, processing=())
    task = SimpleNamespace(
        processing_on=worker,
        run_spec=SimpleNamespace(args=(item,)),
        prefix=None,
        waiters={"reduce"} if needed else set(),
        who_wants=set(),
    )
    scheduler: Any = SimpleNamespace(tasks={"key": task}, workers={"tcp://a": worker})
    sent: list[Any] = []
    probe = SchedulerLedger(scheduler, RunClock(), sent.append)
    probe.transition("key", "waiting", "processing")
    probe.transition("key", "processing", "memory")
    del scheduler.workers["tcp://a"]
    probe.transition("key", "memory", "released")
    assert bool(sent) is needed
