"""What runs inside Dask's scheduler: workers that come and go, and what was lost with them.

    ("clock", "scheduler", asked_ns, received_ns)
    ("worker", kind, utc_ns, address, host, pid, threads, memory limit)
    ("occupancy", utc_ms, {address: ms, ...})

kind is 1 for a worker that was there at the start, 2 for one that came, 3 for one that went. Tasks
that were lost with a worker are told by :mod:`roastcoffea.backends.dask_ledger`.

What workers send is passed on as it is. A worker's occupancy, how much work the scheduler thinks
it has, is looked at when its samples are passed on, and goes with them: no worker is ever polled.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from distributed.diagnostics.plugin import SchedulerPlugin

from roastcoffea.backends.base import CAME, PRESENT, WENT
from roastcoffea.backends.dask_channel import Message, Outbox, workers_topic
from roastcoffea.backends.dask_ledger import SchedulerLedger
from roastcoffea.clock import RunClock

if TYPE_CHECKING:
    from distributed import Scheduler

#: The client waits for these, or takes the time by them.
URGENT = frozenset(("clock", "flushed"))


#: How many tasks of a group are followed, and how far, to find out whether they are the client's
TRIES_MAX = 20
STEPS_MAX = 100


class SpanWatch:
    """Notices tasks of a client that Dask counts in another span than the one they ran in.

    Dask puts all tasks of a group into the span of the first of them, as long as one of them is
    held: those of a second run have the name of the first, and land in its span.
    """

    def __init__(self, scheduler: Scheduler, client: str) -> None:
        self.scheduler = scheduler
        self.client = client
        self.ours: set[Any] = set()  # groups of tasks that the client wants
        self.tries: dict[Any, int] = {}  # how many tasks of another group were looked at

    def note(self, task: Any) -> None:
        """Take a task that begins."""
        group = task.group
        tries = self.tries.get(group, 0)
        if group in self.ours or tries >= TRIES_MAX:
            return
        if self.is_wanted(task):
            self.ours.add(group)
            self.tries.pop(group, None)
        else:
            self.tries[group] = tries + 1

    def is_wanted(self, task: Any) -> bool:
        """Tell whether the client wants what becomes of a task, as far as it looks ahead."""
        for _ in range(STEPS_MAX):
            if any(state.client_key == self.client for state in task.who_wants or ()):
                return True
            if not task.dependents:
                break
            task = next(iter(task.dependents))
        return False

    def counted_elsewhere(self, span_id: str) -> list[str]:
        """Return the prefixes of tasks that are not in a span, nor in one around or inside it."""
        spans = self.scheduler.extensions["spans"].spans
        span = spans.get(span_id)
        ours = {span_id, *(inner.id for inner in span.traverse_spans())} if span else {span_id}
        while span is not None:
            ours.add(span.id)
            span = span.parent
        return sorted({group.prefix.name for group in self.ours if group.span_id not in ours})


class SchedulerProbe(SchedulerPlugin):
    """Passes on what workers send, and tells what was lost with one.

    With ``follow`` it also tells which workers there are, and what they have to do.
    """

    scheduler: Scheduler
    outbox: Outbox
    ledger: SchedulerLedger
    spans: SpanWatch

    def __init__(self, topic: str, client: str, asked_ns: int, follow: bool) -> None:
        self.name = topic
        self.topic = topic
        self.workers_topic = workers_topic(topic)
        self.client = client
        self.asked_ns = asked_ns
        self.follow = follow
        self.spent_ns = 0  # elapsed: to ask for CPU time costs more than most hooks

    async def start(self, scheduler: Scheduler) -> None:
        """Report the workers that are there."""
        self.scheduler = scheduler
        self.clock = RunClock()
        self.outbox = Outbox(scheduler, self.topic, self.occupancy)
        self.outbox.put(("clock", "scheduler", self.asked_ns, self.clock.utc_ns()))
        self.outbox.pass_on()
        self.ledger = SchedulerLedger(scheduler, self.clock, self.outbox.put)
        self.spans = SpanWatch(scheduler, self.client)
        for worker in list(scheduler.workers):
            self.report(PRESENT, worker)

    def report(self, kind: int, address: str) -> None:
        """Send one coming or going."""
        if not self.follow:
            return
        state = self.scheduler.workers.get(address)
        known: tuple[Any, ...] = (None, -1, -1, -1)
        if state is not None:
            known = (state.host, pid_of(address), state.nthreads, state.memory_limit or -1)
        self.outbox.put(("worker", kind, self.clock.utc_ns(), address, *known))

    def transition(self, key: Any, start: str, finish: str, *args: Any, **kwargs: Any) -> None:
        """Called by Dask for every task."""
        begin_ns = time.perf_counter_ns()
        self.ledger.transition(
            key, start, finish, kwargs.get("worker"), kwargs.get("stimulus_id", "")
        )
        if finish == "processing":
            self.spans.note(self.scheduler.tasks[key])
        self.spent_ns += time.perf_counter_ns() - begin_ns

    def log_event(self, topic: str, msg: Any) -> None:
        """Called by Dask for every event."""
        if topic != self.workers_topic:
            return
        begin_ns = time.perf_counter_ns()
        self.outbox.put(msg)
        if msg[0] in URGENT:
            self.outbox.pass_on()
        self.spent_ns += time.perf_counter_ns() - begin_ns

    def occupancy(self, messages: list[Message]) -> Message | None:
        """Return what the scheduler thinks that those have to do whose samples are on their way."""
        states = {
            message[1]: self.scheduler.workers.get(message[1])
            for message in messages
            if message[0] == "samples"
        }
        work_ms = {
            address: int(state.occupancy * 1000)
            for address, state in states.items()
            if state is not None
        }
        return ("occupancy", self.clock.utc_ns() // 1_000_000, work_ms) if work_ms else None

    def add_worker(self, scheduler: Scheduler, worker: str) -> None:
        """Called by Dask when a worker has come."""
        begin_ns = time.perf_counter_ns()
        self.report(CAME, worker)
        self.spent_ns += time.perf_counter_ns() - begin_ns

    def remove_worker(
        self, scheduler: Scheduler, worker: str, *, stimulus_id: str, **kwargs: Any
    ) -> None:
        """Called by Dask when a worker has gone."""
        begin_ns = time.perf_counter_ns()
        self.ledger.forget(worker)
        self.report(WENT, worker)
        self.spent_ns += time.perf_counter_ns() - begin_ns

    def stop(self) -> int:
        """Keep nothing back any more, and return the nanoseconds that all of it took."""
        self.outbox.pass_on()
        return self.spent_ns + self.outbox.spent_ns


def pid_of(address: str) -> int:
    """Return the process of a worker where its address tells it, as where several share one; else
    -1.

    >>> pid_of("inproc://192.0.2.1/4242/7"), pid_of("tcp://192.0.2.1:4242")
    (4242, -1)
    """
    kind, _, place = address.partition("://")
    parts = place.split("/")
    return int(parts[1]) if kind == "inproc" and len(parts) == 3 and parts[1].isdigit() else -1


def read_span(dask_scheduler: Scheduler, span_id: str) -> dict[Any, Any] | None:
    """Return a span's metrics; None if the scheduler knows no spans or not this one."""
    extension = dask_scheduler.extensions.get("spans")
    span = extension.spans.get(span_id) if extension is not None else None
    return dict(span.cumulative_worker_metrics) if span is not None else None


def what_spans_lack(
    dask_scheduler: Scheduler, topic: str | None, span_id: str
) -> tuple[str, str | None]:
    """Return why a span would be missing, and what it lacks if it is there."""
    if dask_scheduler.extensions.get("spans") is None:
        return "spans are off on this cluster", None
    plugin = dask_scheduler.plugins.get(topic) if topic is not None else None
    watch = plugin.spans if isinstance(plugin, SchedulerProbe) else None
    if watch is None:
        return "no tasks of the run are known", None
    elsewhere = watch.counted_elsewhere(span_id)
    if not elsewhere:
        return "no tasks ran", None
    return (
        "its tasks belong to the span of an earlier run whose results are still held",
        f"tasks of {', '.join(elsewhere)} are counted in the span of an earlier run whose results "
        "are still held",
    )
