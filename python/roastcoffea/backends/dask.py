"""The Dask back end: one topic of events from workers and scheduler to the client's run.

Whatever is asked of the cluster is asked by coroutines on the client's own event loop. A ``with``
block waits for them from outside of it; an ``async with`` block awaits them.
"""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from roastcoffea._roast import Run
from roastcoffea.backends.base import PRESENT, WENT, AbstractMetricsBackend
from roastcoffea.backends.clocks import Clocks
from roastcoffea.backends.dask_ledger import ClientLedger
from roastcoffea.backends.tracking import tracking_data
from roastcoffea.clock import RunClock

if TYPE_CHECKING:
    from distributed import Client

T = TypeVar("T")

logger = logging.getLogger(__name__)

#: How long the beginning of a run, and its end, wait for workers that do not answer: Dask itself
#: has no limit. It is one time for all of their questions together ...
ASK_TIMEOUT_S = 10.0
#: ... but for each until the scheduler has it ...
SEND_TIMEOUT_S = 1.0
#: ... and for events that are on their way when everybody has answered.
FLUSH_TIMEOUT_S = 5.0


class DaskMetricsBackend(AbstractMetricsBackend):
    """Follows the workers of a Dask cluster.

    Parameters
    ----------
    client
        a connected ``distributed.Client``, asynchronous or not
    """

    def __init__(self, client: Client) -> None:
        if client is None:
            raise ValueError("client cannot be None")
        self.client = client
        self.run: Run = Run.create(None)
        self._run_start_utc_ns: Any = None
        self.clock = RunClock()
        self.clocks = Clocks(self._correct)
        self.interval = 1.0
        self.topic: str | None = None
        self.start_utc_ns = 0
        self._columns: tuple[str, ...] = ()
        self._flush_token = ""
        self._flushed: set[str] = set()
        self._arrived: asyncio.Event | None = None
        self._patience_s = ASK_TIMEOUT_S  # that is left for questions
        self._ledger = ClientLedger(lambda who: self.clocks.offset_ns(who))
        self.faults: Counter[str] = Counter()
        self.cost: Counter[str] = Counter()

    def attach(self, run: Run) -> None:
        """Write into this run from now on."""
        self.run = run
        self._run_start_utc_ns = run.facts().get("run.start_utc_ns")

    # -- for a with block: wait for what the client's event loop does ------------------

    def start_tracking(self, interval: float = 1.0) -> None:
        """Begin to follow the workers: they sample themselves every ``interval`` seconds."""
        self._wait(self._open, interval)

    def open_channel(self) -> None:
        """Let chunk records come, without following the workers."""
        self._wait(self._open, None)

    def stop_tracking(self) -> dict[str, Any]:
        """Stop following, leave the cluster as it was, and return the tracking data."""
        self.close_channel()
        return self.tracking_data(self.start_utc_ns, self.clock.utc_ns())

    def close_channel(self) -> None:
        """Wait for what is still on its way, and leave the cluster as it was."""
        if self.topic is None:
            raise AttributeError("tracking was never started")
        try:
            self._wait(self._close)
        except Exception as error:
            self._note_closed(error)

    def _note_closed(self, error: Exception) -> None:
        """Note that the client was closed: what came until now is in the run."""
        self.topic = None
        self.faults["end of tracking"] += 1
        logger.warning("what was still on its way is lost: %s", error)

    def _wait(self, function: Callable[..., Awaitable[T]], *args: Any) -> T:
        if self.client.asynchronous:
            raise RuntimeError(
                "within the event loop of its client a collector cannot wait: use `async with`"
            )
        return self.client.sync(function, *args)  # type: ignore[no-any-return]

    # -- for an async with block -------------------------------------------------------

    async def open_async(self, interval: float | None) -> None:
        """Begin to follow the workers, or, without an interval, only take chunk records."""
        await self._on_loop(self._open(interval))

    async def close_async(self, tracked: bool) -> dict[str, Any] | None:
        """Stop following, leave the cluster as it was, and return the tracking data."""
        try:
            await self._on_loop(self._close())
        except Exception as error:
            self._note_closed(error)
        return self.tracking_data(self.start_utc_ns, self.clock.utc_ns()) if tracked else None

    async def get_span_metrics_async(self, span_info: dict[str, Any] | None) -> dict[Any, Any]:
        """Return the fine metrics of a span that has ended."""
        return await self._on_loop(self._span_metrics(span_info))

    async def _on_loop(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Await a coroutine that belongs to the client's event loop, on whichever loop."""
        loop = self.client.loop.asyncio_loop
        if loop is asyncio.get_running_loop():
            return await coroutine
        try:
            future = asyncio.run_coroutine_threadsafe(coroutine, loop)
        except RuntimeError:  # the loop is closed
            coroutine.close()
            raise
        return await asyncio.wrap_future(future)

    # -- on the client's event loop ----------------------------------------------------

    async def _open(self, interval: float | None) -> None:
        if interval is not None:
            if not 0.05 <= interval <= 60:
                raise ValueError(f"the interval must be from 0.05 to 60 seconds, not {interval!r}")
            self.interval = interval
        self.clock = RunClock()
        self.start_utc_ns = self.clock.utc_ns()
        self.topic = topic = f"roastcoffea-{uuid.uuid4().hex}"
        self._arrived = asyncio.Event()
        self._patience_s = ASK_TIMEOUT_S
        try:
            await self._join(topic, interval)
        except BaseException:
            self.topic = None
            await self._leave(topic)
            raise

    async def _join(self, topic: str, interval: float | None) -> None:
        """Make workers and scheduler report under a topic."""
        from roastcoffea.backends import dask_lease, shipping
        from roastcoffea.backends.dask_scheduler import SchedulerProbe
        from roastcoffea.backends.dask_worker import WorkerProbe, sampled_columns

        client = self.client
        answer = partial(_answer_until, time.monotonic() + ASK_TIMEOUT_S)
        await shipping.ship(client, f"{topic}-package", answer)
        # subscribe_topic() only sends a message: what the plugins report first could overtake it
        client._event_handlers[topic] = self._receive
        await client.run_on_scheduler(dask_lease.begin, topic, client.id)
        follow = interval is not None
        passing = SchedulerProbe(topic, client.id, self.clock.utc_ns(), follow)
        await client.register_plugin(passing, name=topic)
        self._columns = sampled_columns()
        probe = WorkerProbe(topic, interval, self.clock.utc_ns(), self._columns)
        try:
            await answer(client.register_plugin(probe, name=topic))
        except TimeoutError:  # the scheduler has it, and so have those who answer
            self.faults["workers that do not answer"] += 1

    def _receive(self, event: tuple[float, Any]) -> None:
        """Take an event, which has several messages; called on the client's event loop."""
        begin_ns = time.thread_time_ns()
        received_ns = self.clock.utc_ns()
        for message in event[1]:
            try:
                self._take(received_ns, *message)
            except Exception as error:
                self.faults["events that could not be kept"] += 1
                if self.faults["events that could not be kept"] == 1:
                    logger.warning("an event could not be kept: %s", error)
        self.cost["events"] += 1
        self.cost["client_ns"] += time.thread_time_ns() - begin_ns

    def _take(self, received_ns: int, kind: str, *rest: Any) -> None:
        """Write one message into the run."""
        if kind == "samples":
            self._take_samples(received_ns, *rest)
        elif kind == "occupancy":
            self.run.add_values("dask_occupancy_ms", "scheduler", *rest)
        elif kind == "clock":
            who, asked_ns, answered_ns = rest
            self.clocks.asked(who, asked_ns, answered_ns)
            self.clocks.heard(who, answered_ns, received_ns)
        elif kind == "chunks":
            self._take_chunks(_native_records(rest[0]))
        elif kind == "worker":
            self._take_worker(received_ns, *rest)
        elif kind == "flushed":
            self._note_flushed(*rest)
        else:
            self.cost["bytes"] += self._ledger.receive(self.run, kind, *rest)

    def _take_samples(
        self, received_ns: int, worker: str, blocks: Any, sent_ns: int, memory_bytes: int | None
    ) -> None:
        self.clocks.heard(worker, sent_ns, received_ns)
        self.cost["bytes"] += self.run.add_samples(worker, blocks, self._columns)
        if self.arrived is not None and memory_bytes is not None:
            self.arrived.set_memory(worker, memory_bytes)

    def _take_worker(
        self, received_ns: int, kind: int, utc_ns: int, address: str, *known: Any
    ) -> None:
        """Keep that a worker came or went."""
        self.clocks.heard("scheduler", utc_ns, received_ns)
        utc_ns += self.clocks.offset_ns("scheduler")
        if kind == PRESENT and self._run_start_utc_ns is not None:
            utc_ns = min(utc_ns, self._run_start_utc_ns)  # it was there before we looked
        self.run.add_worker_event(utc_ns, kind, address, *known)
        if self.arrived is not None:
            self.arrived.add_worker(address, kind != WENT)

    def _take_chunks(self, data: bytes) -> None:
        self.cost["bytes"] += len(data)
        if self.run.add_chunks(data) and self.arrived is not None:
            self.arrived.add_chunks(data)

    def _correct(self, who: str, offset_ns: int, error_ns: int) -> None:
        """Let the run have another correction of stamps."""
        self.run.set_clock(who, offset_ns, error_ns)

    def _note_flushed(self, token: str, address: str, state: dict[str, Any]) -> None:
        if token == self._flush_token and self._arrived is not None:
            self.faults.update(state.get("faults", {}))
            self._flushed.add(address)
            self._arrived.set()

    async def _ask(self, question: Callable[[], Awaitable[T]], share: float = 1.0) -> T:
        """Ask the cluster, but not at all where nobody can answer, and not for longer than a share
        of the patience that earlier questions have left.
        """
        if self.client.status != "running":
            raise OSError(f"the client has no scheduler: it is {self.client.status}")
        limit_s = max(share * self._patience_s, SEND_TIMEOUT_S)
        begin_s = time.monotonic()
        try:
            return await asyncio.wait_for(question(), limit_s)
        except TimeoutError:
            raise TimeoutError(f"no answer of the workers within {limit_s:.3g} s") from None
        finally:
            self._patience_s -= time.monotonic() - begin_s

    async def _flush(self) -> None:
        """Wait until everything that the workers have sent is in the run."""
        from roastcoffea.backends.dask_worker import flush

        self._flush_token = token = uuid.uuid4().hex
        self._flushed.clear()
        question = partial(self.client.run, flush, self.topic, token, self.clock.utc_ns())
        answers = await self._ask(partial(question, on_error="ignore"))
        awaited = {address for address, here in answers.items() if here is True}
        try:
            await asyncio.wait_for(self._all_flushed(awaited), FLUSH_TIMEOUT_S)
        except TimeoutError:
            missing = awaited - self._flushed
            logger.warning("the last samples of %d workers did not arrive", len(missing))

    async def _all_flushed(self, awaited: set[str]) -> None:
        assert self._arrived is not None
        while not awaited <= self._flushed:
            self._arrived.clear()
            await self._arrived.wait()

    async def _close(self) -> None:
        if self.topic is None:
            raise AttributeError("tracking was never started")
        topic = self.topic
        try:
            await self._flush()
        except Exception as error:  # what came until now is in the run
            self.faults["end of tracking"] += 1
            logger.warning("what was still on its way is lost: %s", error)
        finally:
            self.topic = None
            await self._leave(topic)

    async def _leave(self, topic: str) -> None:
        """Leave the cluster as it was.

        A scheduler that does not answer is asked again when it is heard of; one that has lost this
        client does it by itself.
        """
        from roastcoffea.backends import dask_lease

        handlers = self.client._event_handlers
        left = False
        try:
            # unsubscribe_topic() would leave an empty topic behind
            wait_s = max(0.0, self._patience_s - SEND_TIMEOUT_S)
            question = partial(self.client.run_on_scheduler, dask_lease.end, topic, wait_s)
            spent_ns = await self._ask(question)
            self.cost["scheduler_ns"] += spent_ns
            left = True
        except Exception as error:
            logger.debug("while leaving the cluster: %s", error)
        finally:
            if left or self.client.status != "running":
                handlers.pop(topic, None)
            elif topic in handlers:
                handlers[topic] = partial(self._leave_late, topic)

    def _leave_late(self, topic: str, event: Any) -> None:
        """Take an event as the sign that the scheduler answers again."""
        self.client._event_handlers[topic] = lambda event: None
        self._patience_s = ASK_TIMEOUT_S  # nobody waits
        self._leaving = asyncio.ensure_future(self._leave(topic))  # the loop does not keep it

    def tracking_data(self, start_utc_ns: int, end_utc_ns: int) -> dict[str, Any]:
        """Return the documented series on one grid of UTC times."""
        return tracking_data(self.run, start_utc_ns, end_utc_ns, self.interval)

    def create_span(self, name: str) -> dict[str, Any]:
        """Return a span that has not been entered yet."""
        from distributed import span

        return {"context": span(name), "name": name}

    def get_span_metrics(
        self,
        span_info: dict[str, Any] | None,
        max_retries: int = 3,
        retry_delay: float = 0.5,
        delay: float | None = None,
    ) -> dict[Any, Any]:
        """Return the fine metrics of a span that has ended.

        Workers are asked to report at once, so that nothing is missing whatever the period of
        their heartbeats; ``max_retries`` and ``retry_delay`` bound how long a metric that is
        still on its way is waited for.
        """
        if not span_info or "id" not in span_info:
            return {}
        return self._wait(self._span_metrics, span_info, max_retries, retry_delay, delay)

    async def _span_metrics(
        self,
        span_info: dict[str, Any] | None,
        max_retries: int = 3,
        retry_delay: float = 0.5,
        delay: float | None = None,
    ) -> dict[Any, Any]:
        from roastcoffea.backends.dask_scheduler import read_span, what_spans_lack

        if not span_info or "id" not in span_info:
            return {}
        if delay:
            await asyncio.sleep(delay)
        await self._let_report()
        for attempt in range(max(1, max_retries)):
            question = partial(self.client.run_on_scheduler, read_span, span_id=span_info["id"])
            metrics = await self._ask(question)
            if metrics is None or any(
                "thread-cpu" in key for key in metrics if isinstance(key, tuple)
            ):
                break
            if attempt + 1 < max_retries:
                await asyncio.sleep(retry_delay * 2**attempt)
        question = partial(self.client.run_on_scheduler, what_spans_lack, topic=self.topic)
        reason, shortfall = await self._ask(partial(question, span_id=span_info["id"]))
        if metrics is None:
            self.run.fact("backend.spans", None, reason)
            return {}
        if shortfall is not None:
            self._note_shortfall(shortfall)
        return dict(metrics)

    async def _let_report(self) -> None:
        """Make all workers report at once; who does not is noted."""
        shortfall = None
        try:
            question = partial(self.client.run, _report, on_error="return")
            answers = await self._ask(question, share=0.5)  # what is on its way matters as much
            silent = sum(answer is not True for answer in answers.values())
            if silent:
                shortfall = f"{silent} of {len(answers)} workers did not report"
        except Exception as error:
            shortfall = f"not all workers reported: {error}"
        if shortfall is not None:
            self._note_shortfall(shortfall)

    def _note_shortfall(self, shortfall: str) -> None:
        logger.warning("fine metrics may be incomplete: %s", shortfall)
        self.run.fact("backend.spans_shortfall", shortfall)

    def supports_fine_metrics(self) -> bool:
        """Dask has fine metrics."""
        return True


def _native_records(data: bytes) -> bytes:
    """Return encoded records; a worker without the native module sends them as JSON."""
    if not data.startswith(b"{"):
        return data
    from roastcoffea.native import Records

    return Records.from_bytes(data).to_bytes()


async def _answer_until(deadline_s: float, question: Awaitable[T]) -> T:
    """Await what workers are asked, until the deadline if some of them do not answer."""
    left_s = deadline_s - time.monotonic()
    return await asyncio.wait_for(question, max(left_s, SEND_TIMEOUT_S))


async def _report(dask_worker: Any) -> bool:
    """Make a worker send its heartbeat, and its metrics with it, now."""
    await dask_worker.heartbeat()
    return True


DaskBackend = DaskMetricsBackend
