"""The Dask back end: one topic of events from workers and scheduler to the client's run."""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from roastcoffea._roast import Run
from roastcoffea.backends.base import AbstractMetricsBackend
from roastcoffea.backends.dask_ledger import ClientLedger

if TYPE_CHECKING:
    from distributed import Client

logger = logging.getLogger(__name__)

#: How long the end of a run may wait for events that are on their way ...
FLUSH_TIMEOUT_S = 5.0
#: ... and each of its questions for workers that do not answer: Dask itself has no limit.
ASK_TIMEOUT_S = 10.0

#: The documented series, and where they come from.
_SAMPLED = {
    "worker_memory": "rss_bytes",
    "worker_active_tasks": "dask_active_tasks",
    "worker_nbytes": "dask_managed_bytes",
    "worker_executing": "dask_executing",
    "worker_spilled_bytes": "dask_spilled_bytes",
}
#: Of these the run keeps integers: what they are divided by.
_SCALED = {
    "worker_cpu": ("dask_cpu_millipercent", 1000),
    "worker_last_seen": ("dask_seen_ms", 1000),
}
_FROM_EVENTS = {"worker_cores": "threads", "worker_memory_limit": "memory_limit_bytes"}


class DaskMetricsBackend(AbstractMetricsBackend):
    """Follows the workers of a Dask cluster.

    Parameters
    ----------
    client
        a connected ``distributed.Client``
    """

    def __init__(self, client: Client) -> None:
        if client is None:
            raise ValueError("client cannot be None")
        self.client = client
        self.run: Run = Run.create(None)
        self.interval = 1.0
        self.topic: str | None = None
        self.start_utc_ns = 0
        self._flush_token = ""
        self._flushed: set[str] = set()
        self._arrived = threading.Condition()
        self._ledger = ClientLedger()
        self.faults: Counter[str] = Counter()
        self._shipped = False
        self._follows = False  # a plugin of ours is on the scheduler

    def attach(self, run: Run) -> None:
        """Write into this run from now on."""
        self.run = run

    def start_tracking(self, interval: float = 1.0) -> None:
        """Begin to follow the workers: they sample themselves every ``interval`` seconds."""
        if not 0.05 <= interval <= 60:
            raise ValueError(f"the interval must be from 0.05 to 60 seconds, not {interval!r}")
        self.interval = interval
        self.start_utc_ns = time.time_ns()
        self._open(interval)

    def open_channel(self) -> None:
        """Let chunk records come, without following the workers."""
        self._open(None)

    def _open(self, interval: float | None) -> None:
        self._refuse_asynchronous()
        self.topic = topic = f"roastcoffea-{uuid.uuid4().hex}"
        try:
            self._join(topic, interval)
        except BaseException:
            self.topic = None
            self._leave(topic)
            raise

    def _join(self, topic: str, interval: float | None) -> None:
        """Make workers and scheduler report under a topic."""
        from roastcoffea.backends import shipping
        from roastcoffea.backends.dask_scheduler import SchedulerProbe, subscribe
        from roastcoffea.backends.dask_worker import WorkerProbe

        self._shipped = shipping.ship(self.client, f"{topic}-package")
        # subscribe_topic() only sends a message: what the plugins report first could overtake it
        self.client._event_handlers[topic] = self._receive
        self.client.run_on_scheduler(subscribe, topic, self.client.id)
        if interval is not None:
            self._follows = True
            self.client.register_plugin(SchedulerProbe(topic), name=topic)
        self.client.register_plugin(WorkerProbe(topic, interval), name=topic)

    def _refuse_asynchronous(self) -> None:
        if getattr(self.client, "asynchronous", False) is True:
            raise RuntimeError("an asynchronous client cannot be followed from a with block")

    def _receive(self, event: tuple[float, Any]) -> None:
        """Take an event; called on the client's event loop."""
        try:
            kind, *rest = event[1]
            if kind == "samples":
                self.run.add_series(*rest)
            elif kind == "chunks":
                self.run.add_chunks(_native_records(rest[0]))
            elif kind == "worker":
                event_kind, utc_ns, *worker = rest
                self.run.add_worker_event(utc_ns, event_kind, *worker)
            elif kind == "flushed":
                token, address, state = rest
                with self._arrived:
                    if token == self._flush_token:
                        self.faults.update(state.get("faults", {}))
                        self._flushed.add(address)
                        self._arrived.notify_all()
            else:
                self._ledger.receive(self.run, kind, *rest)
        except Exception as error:
            self.faults["events that could not be kept"] += 1
            if self.faults["events that could not be kept"] == 1:
                logger.warning("an event could not be kept: %s", error)

    def flush(self) -> None:
        """Wait until everything that the workers have sent is in the run."""
        from roastcoffea.backends.dask_worker import flush

        with self._arrived:
            self._flush_token = uuid.uuid4().hex
            self._flushed.clear()
        question = partial(self.client.run, flush, self.topic, self._flush_token, on_error="ignore")
        answers = _in_time(question)
        awaited = {address for address, here in answers.items() if here is True}
        with self._arrived:
            if not self._arrived.wait_for(lambda: awaited <= self._flushed, FLUSH_TIMEOUT_S):
                missing = awaited - self._flushed
                logger.warning("the last samples of %d workers did not arrive", len(missing))

    def stop_tracking(self) -> dict[str, Any]:
        """Stop following, leave the cluster as it was, and return the tracking data."""
        self.close_channel()
        return self.tracking_data(self.start_utc_ns, time.time_ns())

    def close_channel(self) -> None:
        """Wait for what is still on its way, and leave the cluster as it was."""
        if self.topic is None:
            raise AttributeError("tracking was never started")
        topic = self.topic
        try:
            self.flush()
        except Exception as error:  # what came until now is in the run
            logger.warning("what was still on its way is lost: %s", error)
        finally:
            self.topic = None
            self._leave(topic)

    def _leave(self, topic: str) -> None:
        from roastcoffea.backends import shipping
        from roastcoffea.backends.dask_scheduler import forget_topic

        client = self.client
        undo: list[Callable[[], Any]] = [
            lambda: client.unregister_worker_plugin(topic),
            # unsubscribe_topic() would leave an empty topic and our handler behind
            lambda: client.run_on_scheduler(forget_topic, topic),
            lambda: client._event_handlers.pop(topic, None),
        ]
        if self._follows:
            self._follows = False
            undo.insert(0, lambda: client.unregister_scheduler_plugin(topic))
        if self._shipped:
            self._shipped = False
            undo.append(lambda: shipping.unship(client, f"{topic}-package"))
        for step in undo:
            try:
                _in_time(step)
            except Exception as error:
                logger.debug("while leaving the cluster: %s", error)

    def tracking_data(self, start_utc_ns: int, end_utc_ns: int) -> dict[str, Any]:
        """Return the documented series on one grid of UTC times."""
        step_ns = int(self.interval * 1e9)
        n = max(1, (end_utc_ns - start_utc_ns) // step_ns + 1)
        grid = (start_utc_ns, step_ns, n)
        times = [
            datetime.fromtimestamp((start_utc_ns + i * step_ns) / 1e9, UTC).replace(tzinfo=None)
            for i in range(n)
        ]

        def samples(series: dict[str, list[int | None]]) -> dict[str, list[tuple[datetime, int]]]:
            return {
                worker: [(t, v) for t, v in zip(times, values, strict=True) if v is not None]
                for worker, values in series.items()
            }

        threads = self.run.resample_workers("threads", *grid)
        present = list(zip(*threads.values(), strict=True)) or [()] * n
        data: dict[str, Any] = {
            "worker_counts": {
                t: sum(v is not None for v in here) for t, here in zip(times, present, strict=True)
            }
        }
        for key, column in _FROM_EVENTS.items():
            data[key] = samples(self.run.resample_workers(column, *grid))
        for key, column in _SAMPLED.items():
            data[key] = samples(self.run.resample(column, *grid))
        for key, (column, unit) in _SCALED.items():
            data[key] = {
                worker: [(t, value / unit) for t, value in series]
                for worker, series in samples(self.run.resample(column, *grid)).items()
            }
        data["worker_occupancy"] = {}  # an estimate of the scheduler's, too dear to ask for
        return data

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
        from roastcoffea.backends.dask_scheduler import read_span

        if not span_info or "id" not in span_info:
            return {}
        self._refuse_asynchronous()
        if delay:
            time.sleep(delay)
        try:
            _in_time(partial(self.client.run, _report, on_error="ignore"))
        except TimeoutError as error:
            logger.warning("fine metrics may be incomplete: %s", error)
        for attempt in range(max(1, max_retries)):
            metrics = self.client.run_on_scheduler(read_span, span_id=span_info["id"])
            if metrics is None:
                return {}
            if any("thread-cpu" in key for key in metrics if isinstance(key, tuple)):
                break
            if attempt + 1 < max_retries:
                time.sleep(retry_delay * 2**attempt)
        return dict(metrics)

    def supports_fine_metrics(self) -> bool:
        """Dask has fine metrics."""
        return True


def _native_records(data: bytes) -> bytes:
    """Return encoded records; a worker without the native module sends them as JSON."""
    if not data.startswith(b"{"):
        return data
    from roastcoffea.native import Records

    return Records.from_bytes(data).to_bytes()


def _in_time(function: Callable[[], Any]) -> Any:
    """Call a function and return its result, or raise TimeoutError and let it go on alone."""
    outcome: Future[Any] = Future()

    def work() -> None:
        try:
            outcome.set_result(function())
        except BaseException as error:
            outcome.set_exception(error)

    threading.Thread(target=work, name="roastcoffea-ask", daemon=True).start()
    try:
        return outcome.result(ASK_TIMEOUT_S)
    except TimeoutError:
        if outcome.done():  # it is the function's own
            raise
        raise TimeoutError(f"no answer of the workers within {ASK_TIMEOUT_S:g} s") from None


async def _report(dask_worker: Any) -> None:
    """Make a worker send its heartbeat, and its metrics with it, now."""
    await dask_worker.heartbeat()


DaskBackend = DaskMetricsBackend
