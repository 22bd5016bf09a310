"""What runs inside Dask's scheduler: workers that come and go, and what was lost with them.

    ("clock", "scheduler", asked_ns, received_ns)
    ("worker", kind, utc_ns, address, host, pid, threads, memory limit)
    ("occupancy", [(address, utc_ms, ms), ...])

kind is 1 for a worker that was there at the start, 2 for one that came, 3 for one that went. Tasks
that were lost with a worker are told by :mod:`roastcoffea.backends.dask_ledger`.
A worker's occupancy, the seconds of work that the scheduler thinks it has, is looked at when
its samples pass by: no worker is ever polled.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from distributed.diagnostics.plugin import SchedulerPlugin

from roastcoffea.backends.dask_ledger import SchedulerLedger
from roastcoffea.clock import RunClock

if TYPE_CHECKING:
    from distributed import Scheduler

PRESENT, CAME, WENT = 1, 2, 3

#: Occupancies are sent together: when there are so many, or the first of them is so old.
OCCUPANCIES_MAX = 64
OCCUPANCY_AGE_MS = 1000


class SchedulerProbe(SchedulerPlugin):
    """Tells the client which workers there are."""

    def __init__(self, topic: str, asked_ns: int) -> None:
        self.name = topic
        self.topic = topic
        self.asked_ns = asked_ns
        self.scheduler: Scheduler | None = None
        self.ledger: SchedulerLedger | None = None
        self.occupancies: list[tuple[str, int, int]] = []
        self.spent_ns = 0

    async def start(self, scheduler: Scheduler) -> None:
        """Report the workers that are there."""
        self.scheduler = scheduler
        self.clock = RunClock()
        scheduler.log_event(self.topic, ("clock", "scheduler", self.asked_ns, self.clock.utc_ns()))
        self.ledger = SchedulerLedger(scheduler, self.topic, self.clock)
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
        self.scheduler.log_event(self.topic, ("worker", kind, self.clock.utc_ns(), address, *known))

    def transition(self, key: Any, start: str, finish: str, *args: Any, **kwargs: Any) -> None:
        """Called by Dask for every task."""
        begin_ns = time.perf_counter_ns()
        self.ledger.transition(  # type: ignore[union-attr]
            key, start, finish, kwargs.get("worker"), kwargs.get("stimulus_id", "")
        )
        self.spent_ns += time.perf_counter_ns() - begin_ns

    def log_event(self, topic: str, msg: Any) -> None:
        """Called by Dask for every event: notes the occupancy of a worker whose samples pass by."""
        if topic != self.topic or msg[0] not in ("samples", "flushed"):
            return
        begin_ns = time.perf_counter_ns()
        if msg[0] == "samples":
            self.note_occupancy(msg[1])
        if self.occupancies and (msg[0] == "flushed" or self.occupancies_are_due()):
            occupancies, self.occupancies = self.occupancies, []
            self.scheduler.log_event(self.topic, ("occupancy", occupancies))  # type: ignore[union-attr]
        self.spent_ns += time.perf_counter_ns() - begin_ns

    def note_occupancy(self, worker: str) -> None:
        """Keep how much work the scheduler thinks a worker has now."""
        state = self.scheduler.workers.get(worker)  # type: ignore[union-attr]
        if state is not None:
            now_ms = self.clock.utc_ns() // 1_000_000
            self.occupancies.append((worker, now_ms, int(state.occupancy * 1000)))

    def occupancies_are_due(self) -> bool:
        """Tell whether those that are kept should be sent."""
        age_ms = self.occupancies[-1][1] - self.occupancies[0][1]
        return len(self.occupancies) >= OCCUPANCIES_MAX or age_ms >= OCCUPANCY_AGE_MS

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


def read_span(dask_scheduler: Scheduler, span_id: str) -> dict[Any, Any] | None:
    """Return a span's metrics; None if the scheduler knows no spans or not this one."""
    extension = dask_scheduler.extensions.get("spans")
    span = extension.spans.get(span_id) if extension is not None else None
    return dict(span.cumulative_worker_metrics) if span is not None else None


def why_no_span(dask_scheduler: Scheduler) -> str:
    """Return why the scheduler has no metrics of a span."""
    if dask_scheduler.extensions.get("spans") is None:
        return "spans are off on this cluster"
    return "its tasks belong to the span of an earlier run whose results are still held"
