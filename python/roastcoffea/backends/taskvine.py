"""The back end for coffea's TaskVine executor: its manager, while it works, and its logs.

The manager is no thing for several threads. It is asked on its own thread, whenever its ``wait()``
has returned and an interval has passed since the last time: what it says of itself
(``status("manager")``) becomes a series named ``manager``, what it says of its workers
(``status("workers")``) their comings and goings. coffea waits at most 5 s at a time, so that is how
old the figures can be. At each submission the manager's log is told which chunk the task is. When
the run has ended, the tasks are read from the logs.

This rests on the interface that TaskVine documents and on logs and answers of real runs of version
7.17.1. It has been tried with those and with a stand-in for the manager, not with a manager itself.
"""

from __future__ import annotations

import json
import logging
import time
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from roastcoffea import _probe
from roastcoffea._roast import Run
from roastcoffea.aggregation.backends.taskvine import TaskVineMetricsParser
from roastcoffea.backends.base import CAME, PRESENT, WENT, AbstractMetricsBackend
from roastcoffea.clock import RunClock
from roastcoffea.inputs import clean_url

logger = logging.getLogger(__name__)

MEGABYTE = 2**20

#: The name under which the run keeps what the manager says of itself
MANAGER = "manager"
#: ... and what that is: numbers of the moment, and counters that only grow
STATISTICS = (
    "workers_connected",
    "workers_idle",
    "workers_busy",
    "workers_joined",
    "workers_removed",
    "workers_lost",
    "tasks_waiting",
    "tasks_running",
    "tasks_with_results",
    "tasks_submitted",
    "tasks_dispatched",
    "tasks_done",
    "tasks_failed",
    "tasks_recovery",
    "bytes_sent",
    "bytes_received",
    "cores_total",
    "cores_inuse",
    "memory_total",
    "memory_inuse",
)
#: Samples wait until there are so many, so that they are stored many at a time.
BLOCK_ROWS = 30
_ABSENT = -1

#: Documented series of the cluster as a whole, and the columns of the log that tell them
_COLUMNS = {"worker_counts": "workers_connected", "total_cores": "total_cores"}


class TaskVineMetricsBackend(AbstractMetricsBackend):
    """Follows a TaskVine manager.

    Parameters
    ----------
    taskvine_manager
        an ``ndcctools.taskvine.Manager``; coffea's ``TaskVineExecutor``, whose manager is
        followed as soon as it is there; or the directory of a manager's logs, which are then all
        that is read

    Example
    -------
    ::

        executor = TaskVineExecutor(manager_name="mine")
        with MetricsCollector(executor, processor_instance=processor) as collector:
            output, report = Runner(executor, savemetrics=True)(fileset, processor)
    """

    parser = TaskVineMetricsParser

    def __init__(self, taskvine_manager: Any) -> None:
        if taskvine_manager is None:
            raise ValueError("taskvine_manager cannot be None")
        self.manager = taskvine_manager
        self.run: Run = Run.create(None)
        self.clock = RunClock()
        self.interval = 1.0
        self.faults: dict[str, int] = {}
        self.cost: Counter[str] = Counter()
        self.worker_counts: dict[datetime, int] = {}
        self.total_cores: dict[datetime, int] = {}
        self._start_utc_ns = 0
        self._run_start_utc_ns: Any = None
        self._logs: Path | None = None
        self._follower: Follower | None = None
        self._custom_init: Any = None

    def attach(self, run: Run) -> None:
        """Write into this run from now on."""
        self.run = run
        self._run_start_utc_ns = run.facts().get("run.start_utc_ns")

    @property
    def performance_log(self) -> Path:
        """Where the manager writes."""
        logs = self._logs or logs_of(self.manager)
        if logs is None:
            raise FileNotFoundError("the manager does not say where its logs are")
        inner = logs / "vine-logs" / "performance"
        return inner if inner.exists() else logs / "performance"

    def start_tracking(self, interval: float) -> None:
        """Begin: what the logs told before belongs to another run."""
        self.interval = interval
        self.clock = RunClock()
        self._start_utc_ns = self._run_start_utc_ns or self.clock.utc_ns()
        if hasattr(self.manager, "custom_init"):
            self._custom_init = self.manager.custom_init
            self.manager.custom_init = self._take_manager
        elif hasattr(self.manager, "wait"):
            self._follow(self.manager)

    def _take_manager(self, manager: Any) -> None:
        """Follow the manager that coffea has made; called by coffea, for each of its phases."""
        if self._custom_init is not None:
            self._custom_init(manager)
        try:
            self._follow(manager)
        except Exception as error:
            self._note_fault("following the manager", error)

    def _follow(self, manager: Any) -> None:
        if self._follower is not None and self._follower.manager() is manager:
            return
        if self._follower is not None:
            self._follower.stop()
        self._logs = logs_of(manager)
        self._follower = Follower(manager, self)
        self._follower.begin()

    def stop_tracking(self) -> dict[str, Any]:
        """Return the number of workers, and of their cores, over time."""
        if hasattr(self.manager, "custom_init"):
            self.manager.custom_init = self._custom_init
        follower, self._follower = self._follower, None
        if follower is not None:
            follower.stop()
        logs = self._logs or logs_of(self.manager)
        if logs is not None and (follower is not None or (logs / "transactions").exists()):
            try:
                self.run.add_tasks_of(logs, self._start_utc_ns)
            except Exception as error:
                self._note_fault("reading the manager's logs", error)
        if self.worker_counts:
            return {"worker_counts": self.worker_counts, "total_cores": self.total_cores}
        with self.performance_log.open(encoding="utf-8") as lines:
            return read_performance(lines, self._start_utc_ns / 1e9)

    def _note_fault(self, where: str, error: Exception) -> None:
        seen = self.faults.get(where, 0)
        self.faults[where] = seen + 1
        if not seen:
            logger.warning("%s: %s: %s", where, type(error).__name__, error)

    def create_span(self, name: str) -> None:
        """There are no spans."""

    def get_span_metrics(self, span_info: Any) -> dict[Any, Any]:
        """There are no spans."""
        return {}

    def supports_fine_metrics(self) -> bool:
        """There are no spans."""
        return False


class Follower:
    """Looks at one manager whenever its ``wait()`` returns, until it is told to stop.

    Nothing here keeps the manager: it lets its workers go when coffea forgets it.
    """

    def __init__(self, manager: Any, backend: TaskVineMetricsBackend) -> None:
        self.manager = weakref.ref(manager)
        self.backend = backend
        self.names = WorkerNames(backend._logs)
        self.workers: dict[str, str] = {}  # those that are here: their names by their addresses
        self.times_ms: list[int] = []
        self.rows: list[tuple[int, ...]] = []
        self.next_utc_ns = 0
        self._before: dict[str, Any] = {}

    def begin(self) -> None:
        """Let ``wait()`` and ``submit()`` of the manager, and of no other, be followed by us."""
        manager = self.manager()
        for name, after in (("wait", self.waited), ("submit", self.submitted)):
            if manager is not None and hasattr(manager, name):
                self._before[name] = vars(manager).get(name)
                setattr(manager, name, self._wrapped(type(manager), name, after))
        self._after(self.waited)

    def _wrapped(self, cls: type, name: str, after: Callable[..., None]) -> Callable[..., Any]:
        """Return the manager's method, with a look at the manager afterwards."""
        own, method, manager = self._before[name], getattr(cls, name, None), self.manager

        def wrapper(*args: Any, **kwargs: Any) -> Any:
            if own is not None:
                result = own(*args, **kwargs)
            else:
                assert method is not None
                result = method(manager(), *args, **kwargs)
            self._after(after, *args, result=result)
            return result

        return wrapper

    def _after(self, look: Callable[..., None], *args: Any, **kwargs: Any) -> None:
        """Do what is ours; what goes wrong in it is noted."""
        begin_ns = time.thread_time_ns()
        try:
            look(*args, **kwargs)
        except Exception as error:
            self.backend._note_fault("asking the manager", error)
        self.backend.cost["client_ns"] += time.thread_time_ns() - begin_ns

    def stop(self) -> None:
        """Leave the manager as it was, and store what is left."""
        manager = self.manager()
        for name, own in self._before.items() if manager is not None else ():
            if own is None:
                vars(manager).pop(name, None)
            else:
                setattr(manager, name, own)
        if self.rows:
            self.store()
        if manager is None:  # it has let its workers go
            self.note_workers({})

    def waited(self, *_: Any, **__: Any) -> None:
        """Take a sample, if it is time for one: asking takes a hundredth of the time at most."""
        manager, now_utc_ns = self.manager(), self.backend.clock.utc_ns()
        if manager is None or now_utc_ns < self.next_utc_ns:
            return
        self.next_utc_ns = now_utc_ns + int(self.backend.interval * 1e9)
        [status, *_] = manager.status("manager")
        workers = {worker["addrport"]: worker for worker in manager.status("workers")}
        answered_utc_ns = self.backend.clock.utc_ns()
        self.next_utc_ns = max(self.next_utc_ns, 100 * answered_utc_ns - 99 * now_utc_ns)
        self.times_ms.append(now_utc_ns // 1_000_000)
        self.rows.append(tuple(int(status.get(name, _ABSENT)) for name in STATISTICS))
        instant = datetime.fromtimestamp(now_utc_ns / 1e9, UTC).replace(tzinfo=None)
        for series, name in (
            (self.backend.worker_counts, "workers_connected"),
            (self.backend.total_cores, "cores_total"),
        ):
            if name in status:
                series[instant] = int(status[name])
        self.note_workers(workers)
        if len(self.rows) >= BLOCK_ROWS:
            self.store()

    def note_workers(self, workers: Mapping[str, Mapping[str, Any]]) -> None:
        """Write who has come and gone since the last time."""
        backend, arrived = self.backend, self.backend.arrived
        for address in self.workers.keys() - workers.keys():
            name = self.workers.pop(address)
            backend.run.add_worker_event(backend.clock.utc_ns(), WENT, name)
            if arrived is not None:
                arrived.add_worker(name, False)
        for address in sorted(workers.keys() - self.workers.keys()):
            worker = workers[address]
            name = self.workers[address] = self.names.of(address)
            now_ns = backend.clock.utc_ns()
            since_utc_ns = int(worker["start_time"]) * 1000 if "start_time" in worker else now_ns
            earlier = since_utc_ns < backend._start_utc_ns
            backend.run.add_worker_event(
                backend._start_utc_ns if earlier else min(since_utc_ns, now_ns),
                PRESENT if earlier else CAME,
                name,
                worker.get("hostname"),
                -1,
                int(worker.get("cores_total", -1)),
                int(worker["memory_total"]) * MEGABYTE if "memory_total" in worker else -1,
            )
            if arrived is not None:
                arrived.add_worker(name, True)

    def store(self) -> None:
        """Write the samples that wait."""
        columns = ",".join(f"vine_{name}" for name in STATISTICS)
        block = _probe.encode_block(self.times_ms, list(zip(*self.rows, strict=True)))
        self.backend.run.add_series(MANAGER, columns, block)
        self.times_ms, self.rows = [], []

    def submitted(self, task: Any, *_: Any, result: Any = None, **__: Any) -> None:
        """Let the manager's log say which chunk a task is: TaskVine does not know."""
        manager, item = self.manager(), getattr(task, "item", None)
        if manager is None or item is None or not hasattr(manager, "log_txn_app"):
            return
        note = {
            "task_id": result,
            "item": getattr(task, "itemid", None),
            "dataset": getattr(item, "dataset", None),
            "file": clean_url(str(item.filename)) if hasattr(item, "filename") else None,
            "tree": getattr(item, "treename", None),
            "uuid": _hex(getattr(item, "fileuuid", None)),
            "start": getattr(item, "entrystart", None),
            "stop": getattr(item, "entrystop", None),
        }
        known = {key: value for key, value in note.items() if value is not None}
        manager.log_txn_app(f"coffea_task {json.dumps(known)}")


class WorkerNames:
    """The names that the logs have for workers, by their addresses; without logs the addresses."""

    def __init__(self, logs: Path | None) -> None:
        self.path = None if logs is None else transactions_of(logs)
        self.read_bytes = 0
        self.names: dict[str, str] = {}

    def of(self, address: str) -> str:
        """Return the name of the worker that is at an address now."""
        if self.path is not None:
            self._read_on(self.path)
        return self.names.get(address, address)

    def _read_on(self, path: Path) -> None:
        """Read what has been written since the last time, in whole lines."""
        try:
            with path.open("rb") as log:
                log.seek(self.read_bytes)
                for line in log:
                    if not line.endswith(b"\n"):
                        break
                    self.read_bytes += len(line)
                    _time, _pid, kind, *rest = line.decode(errors="replace").split() + [""] * 3
                    if kind == "WORKER" and rest[1] == "CONNECTION":
                        self.names[rest[2]] = rest[0]
        except FileNotFoundError:  # it has written nothing yet
            return


def logs_of(manager: Any) -> Path | None:
    """Return the directory of a manager's logs, or that directory itself; None: it is not told."""
    directory = getattr(manager, "logging_directory", manager)
    return Path(directory) if isinstance(directory, str | Path) else None


def transactions_of(logs: Path) -> Path:
    """Return where the manager writes what happens to workers and tasks."""
    inner = logs / "vine-logs"
    return (inner if inner.is_dir() else logs) / "transactions"


def _hex(uuid: Any) -> str | None:
    return uuid.hex() if isinstance(uuid, bytes) else None if uuid is None else str(uuid)


def read_performance(lines: Iterable[str], start_s: float = 0.0) -> dict[str, Any]:
    """Return series of a performance log: ``{"worker_counts": {time: n}, "total_cores": ...}``.

    Columns are known by their names, for their number differs between versions.

    >>> log = ["# timestamp workers_connected total_cores", "1000000 2 8", "2000000 3 12"]
    >>> [*read_performance(log)["worker_counts"].values()]
    [2, 3]
    """
    names: list[str] = []
    series: dict[str, dict[datetime, int]] = {key: {} for key in _COLUMNS}
    for line in lines:
        fields = line.split()
        if line.startswith("#"):
            names = fields[1:]
            continue
        row = dict(zip(names, fields, strict=False))
        try:
            seconds = int(row["timestamp"]) / 1e6
            values = {key: int(row[column]) for key, column in _COLUMNS.items() if column in row}
        except (KeyError, ValueError):  # a line that was cut
            continue
        if seconds < start_s:
            continue
        instant = datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None)
        for key, value in values.items():
            series[key][instant] = value
    return dict(_known(series))


def _known(series: Mapping[str, Mapping[Any, Any]]) -> Iterable[tuple[str, Mapping[Any, Any]]]:
    return ((key, values) for key, values in series.items() if values)
