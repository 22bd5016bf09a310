"""How messages get from the workers to the client: with others, in order, and not too late."""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import Callable, Coroutine
from types import SimpleNamespace
from typing import Any

import pytest
from distributed.batched import BatchedSend

from roastcoffea.backends import dask_channel, dask_ledger
from roastcoffea.backends.dask_channel import Outbox, WorkerChannel


class Wire:
    """A connection of Dask's that keeps what is written, one list for each time."""

    def __init__(self) -> None:
        self.written: list[list[Any]] = []

    def closed(self) -> bool:
        return False

    async def write(self, payload: Any, **options: Any) -> int:
        self.written.append([message.get("msg", message["op"]) for message in payload])
        return 1


class StandIn:
    """A worker with Dask's own outgoing stream, and a heartbeat as in a cluster of any size."""

    def __init__(self, heartbeat_s: float) -> None:
        self.wire = Wire()
        self.batched_stream = BatchedSend(interval="2ms")
        self.batched_stream.start(self.wire)
        self.periodic_callbacks = {"heartbeat": SimpleNamespace(callback_time=heartbeat_s * 1000)}

    def log_event(self, topic: str, msg: Any) -> None:
        self.batched_stream.send({"op": "log-event", "topic": topic, "msg": msg})


def in_loop(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Let a test run in an event loop of its own."""

    @functools.wraps(test)
    def run(*args: Any, **kwargs: Any) -> None:
        asyncio.run(test(*args, **kwargs))

    return run


async def settled() -> None:
    await asyncio.sleep(0.05)


@in_loop
async def test_in_a_small_cluster_a_message_goes_at_once() -> None:
    worker: Any = StandIn(heartbeat_s=0.5)
    WorkerChannel(worker, "topic").post(("samples",))
    await settled()
    assert worker.wire.written == [[("samples",)]]


@in_loop
async def test_in_a_large_cluster_a_message_goes_along_with_the_next_of_dask() -> None:
    worker: Any = StandIn(heartbeat_s=51)
    channel = WorkerChannel(worker, "topic")
    channel.post(("samples",))
    channel.post(("tasks",))
    channel.tick()
    await settled()
    assert worker.wire.written == []
    worker.batched_stream.send({"op": "task-finished"})
    await settled()
    assert worker.wire.written == [[("samples",), ("tasks",), "task-finished"]]


@in_loop
async def test_what_has_waited_for_two_heartbeats_goes_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(dask_channel, "WAIT_FROM_S", 0.01)
    worker: Any = StandIn(heartbeat_s=0.2)
    channel = WorkerChannel(worker, "topic")
    begin = time.monotonic()
    channel.post(("samples",))
    while not worker.wire.written:
        channel.tick()
        await asyncio.sleep(0.01)
        assert time.monotonic() - begin < 20
    assert worker.wire.written == [[("samples",)]]
    assert time.monotonic() - begin >= 0.4


@in_loop
async def test_what_comes_later_does_not_make_the_first_wait_longer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(dask_channel, "WAIT_FROM_S", 0.01)
    worker: Any = StandIn(heartbeat_s=0.2)
    channel = WorkerChannel(worker, "topic")
    begin = time.monotonic()
    posted = 0
    while not worker.wire.written:
        if time.monotonic() - begin >= posted * 0.18:  # as a worker does: 0.9 of a heartbeat
            channel.post(("samples", posted))
            posted += 1
        channel.tick()
        await asyncio.sleep(0.01)
        assert time.monotonic() - begin < 20
    assert len(worker.wire.written[0]) > 1


@in_loop
async def test_what_has_gone_is_not_sent_again() -> None:
    worker: Any = StandIn(heartbeat_s=0.5)
    channel = WorkerChannel(worker, "topic")
    channel.leave(("chunks",))
    worker.batched_stream.send({"op": "task-finished"})
    await settled()
    for _ in range(3):
        channel.tick()
    await settled()
    assert worker.wire.written == [[("chunks",), "task-finished"]]
    assert channel.left is None


@in_loop
async def test_a_record_goes_before_what_is_sent_after_it() -> None:
    worker: Any = StandIn(heartbeat_s=51)
    channel = WorkerChannel(worker, "topic")
    await asyncio.to_thread(channel.put, ("chunks", 1))
    channel.post(("tasks",))
    channel.send(("flushed",))
    await settled()
    assert worker.wire.written == [[("chunks", 1), ("tasks",), ("flushed",)]]


@in_loop
async def test_messages_for_a_connection_that_is_closed_are_dropped() -> None:
    worker: Any = StandIn(heartbeat_s=51)
    worker.wire.closed = lambda: True
    channel = WorkerChannel(worker, "topic")
    channel.leave(("samples",))
    channel.push()
    assert worker.batched_stream.buffer == []


@pytest.mark.parametrize(("workers", "waits"), [(10, False), (1000, True)])
@in_loop
async def test_the_scheduler_collects_only_in_large_clusters(workers: int, waits: bool) -> None:
    passed: list[Any] = []
    scheduler: Any = SimpleNamespace(
        workers=range(workers), log_event=lambda topic, messages: passed.append((topic, messages))
    )
    outbox = Outbox(scheduler, "topic", lambda messages: None)
    outbox.put((1,))
    outbox.put((2,))
    await settled()
    assert passed == ([] if waits else [("topic", [(1,), (2,)])])
    outbox.pass_on()
    outbox.pass_on()
    assert passed == [("topic", [(1,), (2,)])]


@in_loop
async def test_a_remark_goes_along_and_one_that_fails_keeps_nothing_back() -> None:
    def remark(messages: list[Any]) -> Any:
        return ("the first of", len(messages), messages[0][1] / messages[0][0])

    passed: list[Any] = []
    scheduler: Any = SimpleNamespace(
        workers=range(1000), log_event=lambda topic, messages: passed.append(messages)
    )
    outbox = Outbox(scheduler, "topic", remark)
    for first in (2, 0):
        outbox.put((first, 6))
        outbox.put((1, 1))
        outbox.pass_on()
    assert passed == [[(2, 6), (1, 1), ("the first of", 2, 3)], [(0, 6), (1, 1)]]


@in_loop
async def test_the_scheduler_keeps_no_more_than_a_bounded_number() -> None:
    passed: list[Any] = []
    scheduler: Any = SimpleNamespace(
        workers=range(1000), log_event=lambda topic, messages: passed.append(len(messages))
    )
    outbox = Outbox(scheduler, "topic", lambda messages: None)
    for i in range(2 * dask_channel.COLLECT_MAX + 1):
        outbox.put((i,))
    assert passed == [dask_channel.COLLECT_MAX] * 2
    outbox.pass_on()
    assert passed[-1] == 1


@pytest.mark.parametrize("n", [1, 3, 2000])
def test_rows_come_back_however_many_there_are(n: int) -> None:
    rows = [(f"task-{i}", i, -1, None) for i in range(n)]
    packed = dask_ledger.pack(rows)
    assert dask_ledger.unpack(packed) == rows
    assert (packed[0] == dask_ledger.ZLIB_HEAD) == (n == 2000)
