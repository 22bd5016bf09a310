"""Every attempt at a task, as Dask's workers and scheduler see it: rows of table ``task``.

On a worker :class:`WorkerLedger` notes when tasks begin and end, and sends what ended at the
cadence of the heartbeat, as one message:

    ("tasks", worker, packed rows, {key: start of what runs now})

On the scheduler :class:`SchedulerLedger` knows who has which task, and tells what was lost with a
worker:

    ("lost", worker, row)

On the client :class:`ClientLedger` writes both into the run. A worker that dies tells nothing any
more: when its last attempts began is known from what it last said to be running.
"""

from __future__ import annotations

import itertools
import pickle
import time
import uuid
import zlib
from collections.abc import Callable
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from roastcoffea import collecting
from roastcoffea.inputs import clean_text, clean_url
from roastcoffea.measure import message_of

if TYPE_CHECKING:
    from distributed import Scheduler, Worker

    from roastcoffea._roast import Run
    from roastcoffea.backends.dask_channel import Message
    from roastcoffea.clock import RunClock

#: What became of an attempt, as docs/format.md numbers it
FINISHED, FAILED, LOST, SKIPPED, CANCELLED = "finished", "failed", "lost", "skipped", "cancelled"

#: Names and messages that are longer are cut.
TEXT_MAX = 1000
#: Attempts are sent when there are this many, or with the worker's next samples ...
ROWS_MAX = 1000
#: ... and of more than this many, which nobody fetched, the next are only counted.
PENDING_MAX = 100_000
#: Names of so many files are kept ready.
FILES_MAX = 10_000
#: Rows that take fewer bytes are not compressed: setting zlib up takes longer than sending them.
COMPRESSED_FROM_BYTES = 4096
ZLIB_HEAD = 0x78
#: By how much a duration may differ from what the monotonic clock allows
CLOCK_NS = 5_000_000

_RUNNING = frozenset(("executing", "long-running", "cancelled", "resumed"))
_LEFT = frozenset(("released", "forgotten"))
_ENDED = {"memory": FINISHED, "error": FAILED, "rescheduled": CANCELLED}


#: Executions of tasks of which records were made, by worker and key. One is forgotten when the
#: next begins, or nobody needs the result any more: every ledger of a worker does that, and finds
#: the number that the thread of the task gave until then.
_executions: dict[tuple[str, Any], int] = {}
_numbers = itertools.cycle(range(1, 1 << 16))


def task_number(key: Any) -> int:
    """Return the number of a task of which no execution is known: see execution in task.def."""
    return int.from_bytes(blake2b(text(key).encode(), digest_size=6).digest()) >> 1 << 16


def execution_of(worker: Worker, key: Any) -> int:
    """Return the number of the execution that a worker's thread is at."""
    place = (worker.address, key)
    known = _executions.get(place)
    if known is None:  # other threads are at other tasks
        known = _executions[place] = task_number(key) + next(_numbers)
    return known


def text(value: Any) -> str:
    """Return something as text that every encoding of ours takes."""
    if type(value) is str and value.isprintable() and value.isascii() and len(value) < TEXT_MAX:
        return value
    return str(value)[:TEXT_MAX].encode("utf-8", "replace").decode().replace("\0", " ")


def work_item(spec: Any, depth: int = 2) -> Any:
    """Return coffea's WorkItem, or FileMeta, among the arguments of a task, or None."""
    arguments = getattr(spec, "args", ())
    for argument in arguments if isinstance(arguments, tuple | list) else ():
        if hasattr(argument, "treename") and hasattr(argument, "filename"):
            return argument
        if depth and (found := work_item(argument, depth - 1)) is not None:
            return found
    return None


def file_of(item: Any) -> tuple[Any, ...]:
    """Return which file a WorkItem or a FileMeta is about: four columns of a row."""
    name = getattr(item, "fileuuid", None)
    if isinstance(name, bytes) and len(name) == 16:
        name = uuid.UUID(bytes=name)
    return (
        text(item.dataset), text(clean_url(str(item.filename))), text(item.treename),
        None if name is None else text(name),
    )  # fmt: skip


def chunk_of(item: Any, files: dict[Any, tuple[Any, ...]]) -> tuple[Any, ...]:
    """Return which chunk a WorkItem is, the last columns of a row; ``files`` are those seen."""
    if item is None:
        return (None, None, None, None, -1, -1)
    start = getattr(item, "entrystart", -1)
    stop = getattr(item, "entrystop", -1)
    try:
        known = (item.dataset, item.filename, item.treename, start >= 0)
        file = files.get(known)
        if file is None:
            if len(files) >= FILES_MAX:
                files.clear()
            file = files[known] = file_of(item)
    except TypeError:  # a name that is no name
        file = file_of(item)
    return (*file, int(start), int(stop))


def lost_row(key: Any, prefix: str | None, utc_ns: int, item: Any) -> tuple[Any, ...]:
    """Return the row of an attempt that was lost; -1 and None stand for what is not known."""
    return (
        text(key), prefix if prefix is None else text(prefix), -1, LOST, -1, utc_ns,
        -1, -1, -1, -1, -1, -1, -1, None, None, *chunk_of(item, {}), -1, -1, -1, task_number(key),
    )  # fmt: skip


def pack(rows: list[tuple[Any, ...]]) -> bytes:
    """Return rows as few bytes; neighbours that are alike stand together."""
    import msgpack

    data: bytes = msgpack.packb(list(zip(*rows, strict=True)))
    return data if len(data) < COMPRESSED_FROM_BYTES else zlib.compress(data, 1)


def unpack(data: bytes) -> list[tuple[Any, ...]]:
    """Return the rows that :func:`pack` packed."""
    import msgpack

    if data[0] == ZLIB_HEAD:  # no list begins with it
        data = zlib.decompress(data)
    return list(zip(*msgpack.unpackb(data, strict_map_key=False), strict=True))


class WorkerLedger:
    """Notes the tasks of one worker; everything happens on its event loop."""

    def __init__(self, worker: Worker, clock: RunClock, send: Callable[[Message], None]) -> None:
        self.worker = worker
        self.clock_ns = clock.offset_ns  # from the monotonic clock to UTC
        self.send_message = send
        self.begun: dict[Any, int] = {}
        self.ended: list[tuple[Any, ...]] = []
        self.failures: dict[Any, int] = {}
        self.files: dict[Any, tuple[Any, ...]] = {}
        self.told: dict[str, int] = {}  # what was said to be running
        self.digests = dict(getattr(worker, "digests_total", {}))
        now = time.monotonic_ns()
        for task in worker.state.executing:  # begun before we came
            self.begun[task.key] = now

    def transition(self, key: Any, start: str, finish: str) -> None:
        """Take a transition of a task."""
        if finish == "executing":
            self.begun[key] = time.monotonic_ns()
            _executions.pop((self.worker.address, key), None)
        elif finish in _LEFT and start not in _RUNNING:  # else its thread is still at it
            _executions.pop((self.worker.address, key), None)
        elif start in _RUNNING and finish in _ENDED:
            begun = self.begun.pop(key, None)
            if begun is not None:
                self.note(key, start, finish, begun)

    def note(self, key: Any, start: str, finish: str, begun: int) -> None:
        """Keep what is known of an attempt now; rows are made of it when they are sent."""
        task = self.worker.state.tasks.get(key)
        if task is None or len(self.ended) >= PENDING_MAX:
            collecting.note_fault("ledger", RuntimeError("an attempt at a task was not noted"))
            return
        self.ended.append((
            key, begun, time.monotonic_ns(), time.time() + self.worker.scheduler_delay,
            CANCELLED if start == "cancelled" else _ENDED[finish], task.startstops,
            len(task.startstops), task.nbytes, task.type, work_item(task.run_spec),
            task.exception, task.exception_text, task.prefix,
            _executions.get((self.worker.address, key)),
        ))  # fmt: skip
        if len(self.ended) >= ROWS_MAX:
            self.send()

    def row(self, noted: tuple[Any, ...]) -> tuple[Any, ...]:
        """Make a row of what was noted, as ``Run.add_tasks`` takes it."""
        (key, begun, ended, clock, outcome, startstops, n, nbytes, kind, item, exception, said,
         prefix, execution) = noted  # fmt: skip
        transfer, unpacking, disk = 0.0, 0.0, 0.0
        transfers = []
        compute = None
        for entry in reversed(startstops[:n]):
            action = entry["action"]
            if action == "compute":
                if compute is not None:  # what stands before it belongs to an earlier attempt
                    break
                compute = entry
            elif action == "transfer":
                transfer += entry["stop"] - entry["start"]
                transfers.append((entry["start"], entry["stop"], entry["source"]))
            elif action == "deserialize":
                unpacking += entry["stop"] - entry["start"]
            else:
                disk += entry["stop"] - entry["start"]
        error: tuple[str | None, str | None] = (None, None)
        attempt = self.failures.get(key, 0) + 1
        if outcome == FAILED:
            if len(self.failures) < PENDING_MAX:
                self.failures[key] = attempt
            error = error_of(exception, said)
        elif outcome == FINISHED and item is not None and kind is type(None):
            outcome = SKIPPED
        return (
            text(key), text(prefix), attempt, outcome, self.clock_ns + begun, self.clock_ns + ended,
            *self.compute(compute, begun, ended, clock),
            max(0, int(transfer * 1e9)), max(0, int(unpacking * 1e9)), max(0, int(disk * 1e9)),
            int(nbytes) if nbytes and outcome == FINISHED else -1, self.fetched_bytes(transfers),
            *error, *chunk_of(item, self.files), -1, -1,
            # what coffea has packed is sized by Dask as what it is: bytes
            int(nbytes) if kind is bytes and item is not None and outcome == FINISHED else -1,
            execution or task_number(key),
        )  # fmt: skip

    def fetched_bytes(self, transfers: list[tuple[Any, ...]]) -> int:
        """Return how many bytes came by these transfers; -1 where Dask's log of them was cut."""
        if not transfers:
            return 0
        wanted, total = set(transfers), 0
        earliest = min(start for start, _, _ in transfers)
        for entry in reversed(self.worker.transfer_incoming_log):
            if entry["stop"] < earliest or not wanted:
                break
            name = (entry["start"], entry["stop"], entry["who"])
            if name in wanted:
                wanted.remove(name)
                total += int(entry["total"])
        return -1 if wanted else total

    def compute(self, entry: Any, begun: int, ended: int, clock: float) -> tuple[int, int]:
        """Return start and length of the computation itself.

        Dask tells them by the wall clock. They are placed by the monotonic one, and taken from it
        where they cannot be true because the wall clock was set meanwhile.
        """
        longest = ended - begun
        if entry is None:
            return (-1, -1)
        length = int((entry["stop"] - entry["start"]) * 1e9)
        if not 0 <= length <= longest + CLOCK_NS:
            return (self.clock_ns + begun, longest)
        length = min(length, longest)
        late = min(max(0, int((clock - entry["stop"]) * 1e9)), longest - length)
        return (self.clock_ns + ended - late - length, length)

    def send(self) -> None:
        """Send what ended, and what runs."""
        running = {text(key): self.clock_ns + begun for key, begun in self.begun.items()}
        if not self.ended and running == self.told:
            return
        self.told = running
        noted, self.ended = self.ended, []
        rows = []
        for attempt in noted:
            try:
                rows.append(self.row(attempt))
            except Exception as error:  # a task of a kind that was never seen
                collecting.note_fault("ledger", error)
        packed = pack(rows) if rows else b""
        self.send_message(("tasks", self.worker.address, packed, running))

    def send_activities(self) -> None:
        """Send what Dask counted since we came: where this worker's time went."""
        sums: dict[tuple[str | None, ...], float] = {}
        for key, value in getattr(self.worker, "digests_total", {}).items():
            if not isinstance(key, tuple) or not isinstance(value, int | float):
                continue
            since = value - self.digests.get(key, 0)
            kind, *middle, activity, unit = key if len(key) >= 3 else (None, None, None)
            if kind is None or not since:
                continue
            # what tasks took bears the span and the prefix of the tasks
            prefix = text(middle[1]) if len(middle) == 2 else None
            name = (text(kind), prefix, text(activity), text(unit))
            sums[name] = sums.get(name, 0.0) + since
        self.digests = dict(getattr(self.worker, "digests_total", {}))
        rows = [(*name, float(value)) for name, value in sums.items()]
        if rows:
            self.send_message(("activities", self.worker.address, pack(rows)))


def error_of(exception: Any, said: str) -> tuple[str | None, str | None]:
    """Return type and message of the exception that a task ended with."""
    error = getattr(exception, "data", exception)
    if isinstance(error, bytes):  # as it goes to the scheduler; Dask made it here
        try:
            error = pickle.loads(error)
        except Exception:  # one that can be made, but not from its arguments
            error = None
    # coffea wraps what process() raised, with the name of the file
    if type(error) is Exception and error.__cause__ is not None:
        error = error.__cause__
    if isinstance(error, BaseException):
        return text(type(error).__name__), text(clean_text(message_of(error)))
    name, _, message = str(said).partition("(")
    return text(name), text(clean_text(message.removesuffix(")")))


class SchedulerLedger:
    """Knows which worker has which task, to tell what was lost with it."""

    def __init__(
        self, scheduler: Scheduler, clock: RunClock, send: Callable[[Message], None]
    ) -> None:
        self.scheduler = scheduler
        self.clock = clock
        self.send_message = send
        self.holders: dict[Any, str] = {}
        self.processing: dict[str, dict[Any, None]] = {}
        self.states: dict[str, Any] = {}
        self.running: dict[str, set[Any]] = {}
        for worker in scheduler.workers.values():
            for task in worker.processing:
                self.take(task.key, worker)

    def take(self, key: Any, worker: Any) -> None:
        """Note that a worker has a task to do."""
        address = worker.address
        self.holders[key] = address
        self.processing.setdefault(address, {})[key] = None
        self.states[address] = worker

    def transition(
        self, key: Any, start: str, finish: str, worker: str | None = None, stimulus: str = ""
    ) -> None:
        """Take a transition of a task; ``worker`` is who computed it."""
        if finish == "processing":
            state = self.scheduler.tasks[key].processing_on
            if state is not None:
                self.take(key, state)
        elif start == "processing":
            holder = self.holders.get(key)
            gone = holder is not None and holder not in self.scheduler.workers
            if finish != "memory" and (gone or stimulus.startswith("handle-worker-cleanup")):
                self.left(key, holder)
            elif finish != "memory" and holder and stimulus.startswith("client-restart"):
                self.left_by(key, holder)  # all tasks are given up before the workers go
            if holder is not None:
                self.processing.get(holder, {}).pop(key, None)
            if finish != "memory":
                self.holders.pop(key, None)
            elif worker is not None:
                self.holders[key] = worker
        elif start == "memory":
            holder = self.holders.pop(key, None)
            if holder is not None and holder not in self.scheduler.workers:
                state = self.scheduler.tasks.get(key)
                # what a worker that retired had was copied before: nobody needs it when it goes
                if state is not None and (state.waiters or state.who_wants):
                    self.report_lost(key, holder)

    def left(self, key: Any, holder: str | None) -> None:
        """Report a task whose worker went, unless it still waited there for others."""
        here = self.scheduler.workers
        gone = holder if holder not in here else None
        if gone is None:  # it was stolen: another worker's list has it
            others = [address for address in self.states if address not in here]
            if len(others) == 1:
                self.report_lost(key, others[0])
            return
        self.left_by(key, gone)

    def left_by(self, key: Any, worker: str) -> None:
        """Report a task of a worker that goes if it ran there."""
        if worker not in self.running:
            self.running[worker] = self.running_on(worker)
        if key in self.running[worker]:
            self.report_lost(key, worker)

    def running_on(self, worker: str) -> set[Any]:
        """Return the tasks that ran on a worker when it went.

        Those that its last heartbeat called running, and if threads are left, the next ones in the
        order in which a worker takes them.
        """
        state = self.states.get(worker)
        tasks = self.processing.get(worker, {})
        if state is None:
            return set()
        running = [task.key for task in state.executing if task.key in tasks]
        known = self.scheduler.tasks
        waiting = sorted(
            (key for key in tasks if key not in running and key in known),
            key=lambda key: known[key].priority or (),
        )
        return {*running, *waiting[: max(0, state.nthreads - len(running))]}

    def forget(self, worker: str) -> None:
        """Forget a worker that went."""
        for known in (self.processing, self.states, self.running):
            known.pop(worker, None)

    def report_lost(self, key: Any, worker: str) -> None:
        """Send an attempt whose worker has gone."""
        state = self.scheduler.tasks.get(key)
        item = work_item(getattr(state, "run_spec", None))
        prefix = getattr(getattr(state, "prefix", None), "name", None)
        self.send_message(("lost", worker, lost_row(key, prefix, self.clock.utc_ns(), item)))


class ClientLedger:
    """Writes what comes into the run; ``offset_ns`` tells how far a clock is from the run's."""

    def __init__(self, offset_ns: Callable[[str], int]) -> None:
        self.offset_ns = offset_ns
        self.running: dict[str, dict[str, int]] = {}

    def receive(self, run: Run, kind: str, worker: str, *rest: Any) -> int:
        """Take a message, and return how many bytes of rows it had."""
        if kind == "tasks":
            packed, running = rest
            self.running[worker] = running
            if packed:
                run.add_tasks(worker, unpack(packed))
        elif kind == "lost":
            key, prefix, attempt, outcome, start, stop, *others = rest[0]
            start = self.running.get(worker, {}).get(key, start)
            # the run corrects stamps by the worker's clock, but this one is the scheduler's
            stop += self.offset_ns("scheduler") - self.offset_ns(worker)
            run.add_tasks(worker, [(key, prefix, attempt, outcome, start, stop, *others)])
            return 0
        elif kind == "activities":
            for row in unpack(rest[0]):
                run.add_activity(worker, *row)
        else:
            raise ValueError(f"a message of an unknown kind: {kind}")
        return len(rest[0])
