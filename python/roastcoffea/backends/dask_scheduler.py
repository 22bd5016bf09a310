"""What runs inside Dask's scheduler: workers that come and go, and what was lost with them.

    ("worker", kind, utc_ns, address, host, pid, threads, memory limit)

kind is 1 for a worker that was there at the start, 2 for one that came, 3 for one that went. Tasks
that were lost with a worker are told by :mod:`roastcoffea.backends.dask_ledger`.
"""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING, Any

from distributed.diagnostics.plugin import SchedulerPlugin

from roastcoffea.backends.dask_ledger import SchedulerLedger

if TYPE_CHECKING:
    from distributed import Scheduler

PRESENT, CAME, WENT = 1, 2, 3


class SchedulerProbe(SchedulerPlugin):
    """Tells the client which workers there are."""

    def __init__(self, topic: str) -> None:
        self.name = topic
        self.topic = topic
        self.scheduler: Scheduler | None = None
        self.ledger: SchedulerLedger | None = None

    async def start(self, scheduler: Scheduler) -> None:
        """Report the workers that are there."""
        self.scheduler = scheduler
        self.ledger = SchedulerLedger(scheduler, self.topic)
        remember_nothing(scheduler, self.topic)
        for worker in list(scheduler.workers):
            self.report(PRESENT, worker)

    def report(self, kind: int, address: str) -> None:
        """Send one coming or going."""
        assert self.scheduler is not None
        state = self.scheduler.workers.get(address)
        known: tuple[Any, ...] = (None, -1, -1, -1)
        if state is not None:
            pid = state.metrics.get("pid") or -1
            known = (state.host, pid, state.nthreads, state.memory_limit or -1)
        self.scheduler.log_event(self.topic, ("worker", kind, time.time_ns(), address, *known))

    def transition(self, key: Any, start: str, finish: str, *args: Any, **kwargs: Any) -> None:
        """Called by Dask for every task."""
        assert self.ledger is not None
        self.ledger.transition(
            key, start, finish, kwargs.get("worker"), str(kwargs.get("stimulus_id", ""))
        )

    def add_worker(self, scheduler: Scheduler, worker: str) -> None:
        """Called by Dask when a worker has come."""
        self.report(CAME, worker)

    def remove_worker(
        self, scheduler: Scheduler, worker: str, *, stimulus_id: str, **kwargs: Any
    ) -> None:
        """Called by Dask when a worker has gone."""
        assert self.ledger is not None
        self.ledger.forget(worker)
        self.report(WENT, worker)


def remember_nothing(scheduler: Scheduler, topic: str) -> None:
    """Keep Dask from storing the last thousand events of a topic: they are only passed on."""
    broker = getattr(scheduler, "_broker", None)
    if broker is not None:
        broker._topics[topic].events = deque(maxlen=1)


def subscribe(topic: str, client: str, dask_scheduler: Scheduler) -> None:
    """Let a client have the events of a topic, from now on."""
    dask_scheduler.subscribe_topic(topic, client)


def forget_topic(topic: str, dask_scheduler: Scheduler) -> None:
    """Remove a topic and its subscribers, so that nothing of it is left."""
    broker = getattr(dask_scheduler, "_broker", None)
    if broker is not None:
        broker._topics.pop(topic, None)


def read_span(dask_scheduler: Scheduler, span_id: str) -> dict[Any, Any] | None:
    """Return a span's metrics; None if the scheduler knows no spans or not this one."""
    extension = dask_scheduler.extensions.get("spans")
    span = extension.spans.get(span_id) if extension is not None else None
    return dict(span.cumulative_worker_metrics) if span is not None else None
