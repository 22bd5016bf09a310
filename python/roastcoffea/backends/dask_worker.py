"""What runs inside a Dask worker: the sampler, the sink for chunk records.

Everything leaves the worker by its :class:`~roastcoffea.backends.dask_channel.WorkerChannel`:

    ("clock", worker, asked_ns, received_ns)             a message of the client came
    ("samples", worker, [(columns, block), ...], now_ns, memory)  blocks of samples; columns are
                                                         names, or a number if the client has them
    ("chunks", records)                                  encoded chunk records
    ("tasks", ...), ("activities", ...)                  attempts at tasks: see dask_ledger
    ("flushed", token, worker, state)                    all that was there has been sent before
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

from distributed.diagnostics.plugin import WorkerPlugin
from tornado.ioloop import PeriodicCallback

from roastcoffea import collecting
from roastcoffea.backends.dask_channel import WorkerChannel
from roastcoffea.backends.dask_ledger import WorkerLedger, execution_of

try:
    from roastcoffea import _probe
except ImportError:  # another platform: chunk records come, samples do not
    _probe = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from distributed import Worker

#: What Dask itself knows about a worker; sampled on its event loop.
DASK_COLUMNS = (
    "dask_executing",
    "dask_active_tasks",
    "dask_managed_bytes",
    "dask_spilled_bytes",
    "dask_loop_lag_us",
    "dask_cpu_millipercent",
    "dask_gil_millipercent",
    "dask_seen_ms",
    "monitor_cpu_us",
    "clock_step_ms",
)

#: A block is sent when it has this many rows, or at the worker's next heartbeat ...
ROWS_MAX = 120
#: ... but no more often than the client writes: what is packed together costs less.
SEND_S = 1.0
#: How often it is looked whether a heartbeat's time has passed
TICK_S = 0.5

#: One transition in so many is timed, for all of them: reading the clock costs as much as the rest.
#: A prime, so that no step of a task's life is always the one.
TIMED_ONE_IN = 17

#: The probes of this process, by topic: the first of them tells what watching chunks takes.
_probes: dict[str, list[WorkerProbe]] = {}


class WorkerProbe(WorkerPlugin):
    """Sends the chunks' records, and samples of the worker unless ``interval`` is None."""

    def __init__(
        self,
        topic: str,
        interval: float | None,
        asked_ns: int,
        known_columns: tuple[str, ...] = (),
    ) -> None:
        self.name = topic
        self.topic = topic
        self.interval = interval
        self.asked_ns = asked_ns
        self.known_columns = known_columns  # by the client: their number is enough for it
        self.worker: Worker | None = None

    def __getstate__(self) -> dict[str, Any]:
        kept = ("name", "topic", "interval", "asked_ns", "known_columns")
        return {**{name: getattr(self, name) for name in kept}, "worker": None}

    def setup(self, worker: Worker) -> None:
        """Start: called by Dask in the worker, on its event loop."""
        self.worker = worker
        self.channel = WorkerChannel(worker, self.topic)
        self.rows: list[tuple[int, ...]] = []
        self.last_sent = time.monotonic()
        self.expected_ns = time.monotonic_ns()
        self.sampler: _probe.Sampler | None = None
        self.sampling: PeriodicCallback | None = None
        self.spent_ns = 0  # by us on the worker's event loop
        self.transitions = 0
        self.watched_ns = 0
        collecting.set_identity(worker.address, None, worker_of_thread, execution_of_thread)
        self.faults_before = collecting.faults()
        collecting.add_sink(self.topic, self.send_chunks, worker.address)
        self.clock = collecting.clock()
        self.answer(self.asked_ns)
        self.ledger = WorkerLedger(worker, self.clock, self.channel.post)
        if worker.nanny:  # a process of its own: started during the run, it inherited the switch
            os.environ.pop(collecting.COLLECT_VARIABLE, None)
        if self.interval is not None and _probe is not None:
            self.start_sampling()
        self.sending = PeriodicCallback(self.tick, TICK_S * 1000)
        self.sending.start()

    def start_sampling(self) -> None:
        """Sample what the process needs, by a thread, and what Dask knows, on the event loop."""
        assert self.interval is not None
        _probes.setdefault(self.topic, []).append(self)
        self.watched_from_ns = _probe.watcher_cpu_ns()
        try:
            sampler = _probe.Sampler(self.interval)
            sampler.start()
            self.sampler = sampler
        except Exception as error:  # no more threads: what Dask knows is sampled all the same
            collecting.note_fault("sampler", error)
        self.sampling = PeriodicCallback(self.sample, self.interval * 1000)
        self.sampling.start()
        self.sample()

    def teardown(self, worker: Worker) -> None:
        """Stop: the worker closes, or the collector is left."""
        collecting.remove_sink(self.topic, worker.address)
        if self.worker is None:
            return
        self.sending.stop()
        if self.sampling is not None:
            self.sampling.stop()
        if worker.status.name != "running":  # it closes: nobody will ask it any more
            try:
                self.sample_end()
                self.send()
                self.ledger.send_activities()
                self.channel.push()
            except Exception as error:
                collecting.note_fault("sending the last samples", error)
        collecting.forget_identity(worker.address)
        self.hand_over()
        if self.sampler is not None:
            self.sampler.stop()
        self.worker = None

    def hand_over(self) -> None:
        """Let another worker of this process tell what watching takes from now on."""
        probes = _probes.get(self.topic, [])
        if self not in probes:
            return
        if probes[0] is self and len(probes) > 1:
            probes[1].watched_from_ns = self.watched_from_ns
        probes.remove(self)
        if not probes:
            del _probes[self.topic]

    def transition(self, key: Any, start: str, finish: str, **kwargs: Any) -> None:
        """Called by Dask for every task of this worker, before it tells the scheduler."""
        if self.worker is None:
            return
        self.transitions += 1
        is_timed = self.transitions % TIMED_ONE_IN == 0
        begin_ns = time.thread_time_ns() if is_timed else 0
        self.ledger.transition(key, start, finish)
        if self.channel.finished:
            self.channel.leave_finished()
        if is_timed:
            self.spent_ns += TIMED_ONE_IN * (time.thread_time_ns() - begin_ns)

    def send_chunks(self, records: bytes) -> None:
        """Send chunk records; called on the thread of the task."""
        if self.worker is not None:
            self.channel.put(("chunks", records))

    def answer(self, asked_ns: int) -> None:
        """Tell what time it is here when a message of the client has come."""
        assert self.worker is not None
        self.channel.send(("clock", self.worker.address, asked_ns, self.clock.utc_ns()))

    def tick(self) -> None:
        """Send at the cadence of the heartbeat, which slows down with the size of the cluster."""
        begin_ns = time.thread_time_ns()
        try:
            if time.monotonic() - self.last_sent >= 0.9 * max(SEND_S, self.channel.heartbeat_s()):
                self.send()
            self.channel.tick()
        except Exception as error:  # a fault of ours must not become the worker's
            collecting.note_fault("sending", error)
        self.spent_ns += time.thread_time_ns() - begin_ns

    def sample(self) -> None:
        """Sample what Dask knows."""
        begin_ns = time.thread_time_ns()
        try:
            self.rows.append(self.row())
            if len(self.rows) >= ROWS_MAX:
                self.send_samples()
        except Exception as error:  # a fault of ours must not become the worker's
            collecting.note_fault("worker sampling", error)
        self.spent_ns += time.thread_time_ns() - begin_ns

    def row(self) -> tuple[int, ...]:
        """Return one row of Dask's own values."""
        worker = self.worker
        assert worker is not None
        assert self.interval is not None
        now_ns = time.monotonic_ns()
        lag_ns = max(0, now_ns - self.expected_ns)
        self.expected_ns = now_ns + int(self.interval * 1e9)
        state = worker.state
        executing = state.executing_count
        quantities = worker.monitor.quantities
        cpu = quantities.get("cpu")
        gil = quantities.get("gil_contention")  # where gilknocker is installed
        spilled = getattr(worker.data, "spilled_total", None)
        if self in _probes.get(self.topic, [])[:1]:
            watcher_ns = _probe.watcher_cpu_ns()
            self.watched_ns += watcher_ns - self.watched_from_ns
            self.watched_from_ns = watcher_ns
        spent_ns = self.spent_ns + self.watched_ns
        if self.sampler is not None:
            spent_ns += self.sampler.cpu_ns
        utc_ms = self.clock.utc_ns() // 1_000_000
        return (
            utc_ms,
            executing,
            executing + len(state.ready) + len(state.constrained) + len(state.waiting),
            int(state.nbytes),
            int(spilled.disk) if spilled is not None else -1,
            lag_ns // 1000,
            int(cpu[-1] * 1000) if cpu else -1,
            int(gil[-1] * 100_000) if gil else -1,
            utc_ms,
            spent_ns // 1000,
            abs(self.clock.step_ns()) // 1_000_000,
        )

    def send(self) -> None:
        """Send what there is, all together."""
        self.last_sent = time.monotonic()
        self.send_samples()
        self.ledger.send()

    def send_samples(self) -> None:
        """Send the samples that are there."""
        worker = self.worker
        if worker is None:
            return
        blocks = []
        if self.sampler is not None:
            block = self.sampler.take()
            if block is not None:
                blocks.append((self.numbered(_probe.SAMPLER_COLUMNS), block))
        if self.rows:
            times, *columns = zip(*self.rows, strict=True)
            block = _probe.encode_block(times, columns)
            blocks.append((self.numbered(",".join(DASK_COLUMNS)), block))
            self.rows = []
        if blocks:
            memory = worker.monitor.quantities.get("memory")
            memory_bytes = int(memory[-1]) if memory else None
            self.channel.post(
                ("samples", worker.address, blocks, self.clock.utc_ns(), memory_bytes)
            )

    def sample_end(self) -> None:
        """Sample up to now, not to the last time that a sample was due."""
        try:
            if self.sampler is not None:
                self.sampler.read()
        except Exception as error:
            collecting.note_fault("worker sampling", error)
        if self.sampling is not None:
            self.sample()

    def numbered(self, columns: str) -> int | str:
        """Return the number of columns that the client knows, or the columns themselves."""
        known = self.known_columns
        return known.index(columns) if columns in known else columns

    def flush(self, token: str, asked_ns: int) -> None:
        """Send everything, then say so: the client waits for that on the same channel."""
        worker = self.worker
        if worker is None:
            return
        self.answer(asked_ns)
        self.sample_end()
        now = collecting.faults()
        faults = {where: n - self.faults_before.get(where, 0) for where, n in now.items()}
        state: dict[str, Any] = {"faults": {where: n for where, n in faults.items() if n > 0}}
        if self.sampler is not None:
            state["sampler"] = self.sampler.state()
        self.send()
        self.ledger.send_activities()
        self.channel.send(("flushed", token, worker.address, state))


def sampled_columns() -> tuple[str, ...]:
    """Return the columns of what workers of this package send."""
    return _probe.SAMPLER_COLUMNS, ",".join(DASK_COLUMNS)


def worker_of_thread() -> str | None:
    """Return the address of the worker whose task this thread runs, if it runs one."""
    from distributed import get_worker

    try:
        return str(get_worker().address)
    except ValueError:
        return None


def execution_of_thread() -> int | None:
    """Return the number of the execution of the task that this thread runs, if it runs one."""
    from distributed.worker import thread_state

    key = getattr(thread_state, "key", None)
    return None if key is None else execution_of(thread_state.execution_state["worker"], key)


async def flush(topic: str, token: str, asked_ns: int, dask_worker: Worker) -> bool:
    """Make a worker send what it has and report its metrics; run by the client at the end."""
    plugin = dask_worker.plugins.get(topic)
    if plugin is not None:
        plugin.flush(token, asked_ns)
    await dask_worker.heartbeat()
    return plugin is not None
