"""The back end for executors without a cluster: this process and the pools of its children.

Children run none of our code: they are sampled from outside. Their chunk records come through the
output, and by a file that those find in the environment which were started within the block; those
of this process come also without it. So do those of chunks that failed, and of outputs that can
carry none.

A process of a pool has one core. This process, where it is the worker itself, has as many as the
threads of its pool: those that the executor says, else those of the largest
``ThreadPoolExecutor`` that was seen, which a look every interval may miss. Threads that nobody
calls a pool are not counted.

Parsl's threads are threads of this process too. Its worker processes are nobody's children, often
on other hosts: they are known by their chunk records alone, and how many cores there were is not
known. Parsl's own ``monitoring.db`` tells that.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from roastcoffea import _probe, collecting, measure
from roastcoffea._roast import Run
from roastcoffea.backends.base import CAME, PRESENT, WENT, AbstractMetricsBackend
from roastcoffea.backends.tracking import tracking_data

if TYPE_CHECKING:
    from roastcoffea.progress import Arrived

#: Samples wait this long, so that they are stored many at a time.
BLOCK_S = 5.0
#: Without a child by then, this process does the work itself.
POOL_WAIT_S = 5.0

_POOL_THREAD = re.compile(r"ThreadPoolExecutor-(\d+)_\d+")
#: Where a reading of a process has its resident memory, and in what unit
_RSS, _RSS_BYTES = next(
    (i, int(column.partition("/")[2] or 1))
    for i, column in enumerate(_probe.PROCESS_COLUMNS.split(","))
    if column.partition("/")[0] == "rss_bytes"
)


class LocalMetricsBackend(AbstractMetricsBackend):
    """Follows this process and the worker processes of its pools.

    Parameters
    ----------
    client
        the executor, if it is known: it says how many threads work
    """

    def __init__(self, client: Any = None) -> None:
        self.client = client
        self.run: Run = Run.create(None)
        self.faults: Counter[str] = Counter()
        self.interval = 1.0
        self.start_utc_ns = 0
        self._watcher: PoolWatcher | None = None
        self._left: RecordFile | None = None

    def attach(self, run: Run) -> None:
        """Write into this run from now on."""
        self.run = run

    def open_channel(self) -> None:
        """Take the records of this process from now on, and let children of pools leave theirs."""
        measure.listen(self._take)
        try:
            self._left = RecordFile()
        except OSError as error:  # no place for it
            collecting.note_fault("records of pools", error)

    def start_tracking(self, interval: float = 1.0) -> None:
        """Begin to sample every ``interval`` seconds."""
        self.open_channel()
        self.interval = interval
        self.start_utc_ns = collecting.clock().utc_ns()
        try:
            watcher = PoolWatcher(self.run, interval, self.start_utc_ns, self.client)
            watcher.arrived = self.arrived
            watcher.take_records = self.take_records
            watcher.start()
        except Exception as error:  # no more threads: records come all the same
            collecting.note_fault("sampling of the pool", error)
        else:
            self._watcher = watcher

    def stop_tracking(self) -> dict[str, Any]:
        """Stop, and return the tracking data."""
        watcher, self._watcher = self._watcher, None
        try:
            if watcher is not None:
                watcher.stop()
        finally:
            self.close_channel()
        if watcher is None or not watcher.saw_workers:
            return {}  # which is not the same as that there were none
        now_utc_ns = collecting.clock().utc_ns()
        return tracking_data(self.run, self.start_utc_ns, now_utc_ns, self.interval)

    def close_channel(self) -> None:
        """Take the rest of the records."""
        measure.unlisten(self._take)
        try:
            self.take_records()
        finally:
            left, self._left = self._left, None
            if left is not None:
                left.close()

    def take_records(self) -> None:
        """Take what children of pools have left until now."""
        for data in self._left.read() if self._left is not None else ():
            self._take(data)

    def _take(self, data: bytes) -> None:
        try:
            new = self.run.add_chunks(data)
        except Exception:
            self.faults["records that could not be kept"] += 1
            raise
        if new and self.arrived is not None:
            self.arrived.add_chunks(data)

    def create_span(self, name: str) -> None:
        """There are no spans."""

    def get_span_metrics(self, span_info: Any) -> dict[Any, Any]:
        """There are no spans."""
        return {}

    def supports_fine_metrics(self) -> bool:
        """There are no spans."""
        return False


class RecordFile:
    """A file in which the children of pools leave their chunk records.

    Its name tells its process. One that is left by a process that was killed is of no use to
    anybody: the next one removes it.
    """

    def __init__(self) -> None:
        place = records_prefix()
        remove_orphans(place)
        descriptor, self.path = tempfile.mkstemp(".records", f"{place}{os.getpid()}-")
        self.file = open(descriptor, "rb")  # noqa: SIM115  (closed at the end of the run)
        self.lock = threading.Lock()
        collecting.add_record_file(self.path)

    def read(self) -> list[bytes]:
        """Return the records that are new; one that is not complete may be so later."""
        records: list[bytes] = []
        with self.lock:
            while True:
                begin = self.file.tell()
                head = self.file.read(collecting.RECORD_HEAD_BYTES)
                length = int.from_bytes(head, "little")
                data = self.file.read(length)
                if len(head) < collecting.RECORD_HEAD_BYTES or len(data) < length:
                    self.file.seek(begin)
                    return records
                records.append(data)

    def close(self) -> None:
        """Let it go."""
        collecting.remove_record_file(self.path)
        self.file.close()
        os.unlink(self.path)


def records_prefix() -> str:
    """Return how files of records of all processes begin that this one sees, and of no others:
    several hosts and containers may share a temporary directory.
    """
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return f"roastcoffea-{boot}-{os.stat('/proc/self/ns/pid').st_ino}-"


def remove_orphans(prefix: str) -> None:
    """Remove the files of records whose processes have gone."""
    for path in Path(tempfile.gettempdir()).glob(f"{prefix}*.records"):
        pid = path.name.removeprefix(prefix).partition("-")[0]
        if pid.isdecimal() and not os.path.exists(f"/proc/{pid}"):
            with suppress(OSError):  # another was faster, or it is another user's
                path.unlink()


@dataclass
class Child:
    """A process of a pool, and its samples that are not stored yet."""

    name: str
    times_ms: list[int] = field(default_factory=list)
    rows: list[tuple[int, ...]] = field(default_factory=list)


class PoolWatcher(threading.Thread):
    """Samples the pools' processes; this process samples itself natively.

    A process that has a pool is no worker. Until one is seen nobody knows: the word on it comes
    after :data:`POOL_WAIT_S`, or at the end.
    """

    arrived: Arrived | None = None
    take_records: Callable[[], None]

    def __init__(self, run: Run, interval: float, began_utc_ns: int, executor: Any) -> None:
        super().__init__(name="roastcoffea-local", daemon=True)
        self.pool_run = run
        self.interval = interval
        self.host = collecting.identity().host
        self.stopping = threading.Event()
        self.clock = collecting.clock()
        self.began_utc_ns = began_utc_ns
        self.began = time.monotonic()
        self.last_stored = self.began
        self.pool_threads: int | None = None  # as the executor says; 0: others work for it
        self.most_threads = 1  # that were seen, where the executor does not say
        self.sampler = _probe.Sampler(interval)
        self.children: dict[tuple[int, int], Child] = {}
        self.executor = executor
        self.saw_workers = False
        self.alone: bool | None = None  # None: not known yet

    def run(self) -> None:
        """Sample until told to stop."""
        try:
            self.sampler.start()
        except Exception as error:  # no more threads
            collecting.note_fault("sampling of the pool", error)
        while not self.stopping.wait(self.interval):
            try:
                self.tick()
            except Exception as error:  # the next one may do
                collecting.note_fault("sampling of the pool", error)

    def stop(self) -> None:
        """Stop, and store what is left."""
        self.stopping.set()
        self.join()
        self.sampler.stop()
        try:
            self.sampler.read()  # up to the end
        except Exception as error:
            collecting.note_fault("sampling of the pool", error)
        self.count_threads()
        if self.alone is None:
            self.work_alone()
        self.store()
        for child in self.children.values():
            self.report(WENT, child.name)

    def tick(self) -> None:
        """Take one sample of each process of the pools."""
        now = time.monotonic()
        now_ms = self.clock.utc_ns() // 1_000_000
        self.take_records()
        self.count_threads()
        seen = set()
        for pid in _probe.descendants(os.getpid()) if self.pool_threads != 0 else ():
            reading = _probe.read_process(pid)
            if reading is None:
                continue
            start, *row = reading
            process = (pid, start)
            if process not in self.children and not is_pool_process(pid):
                continue
            seen.add(process)
            if process not in self.children:
                self.welcome(pid, start)
            self.children[process].times_ms.append(now_ms)
            self.children[process].rows.append(tuple(row))
            self.show_memory(self.children[process].name, row[_RSS])
        for process in self.children.keys() - seen:
            child = self.children.pop(process)
            self.store_child(child)
            self.report(WENT, child.name)
        if self.alone is None and now - self.began >= POOL_WAIT_S:
            self.work_alone()
        if self.alone and self.arrived is not None:
            own = _probe.read_process(os.getpid())
            self.show_memory(f"{self.host}:{os.getpid()}", own[1 + _RSS] if own else -1)
        if now - self.last_stored >= BLOCK_S:
            self.last_stored = now
            self.store()

    def welcome(self, pid: int, start_ticks: int) -> None:
        """Note a new process of a pool, by the time at which it was started."""
        self.alone = False
        name = f"{self.host}:{pid}"
        age_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME) - start_ticks * (
            1_000_000_000 // os.sysconf("SC_CLK_TCK")
        )
        self.children[pid, start_ticks] = Child(name)
        self.report(CAME, name, max(self.began_utc_ns, self.clock.utc_ns() - age_ns), pid)

    def work_alone(self) -> None:
        """Note this process as the worker, as it was from the beginning on."""
        self.alone = True
        pid = os.getpid()
        threads = self.most_threads if self.pool_threads is None else self.pool_threads
        self.report(PRESENT, f"{self.host}:{pid}", self.began_utc_ns, pid, threads)

    def count_threads(self) -> None:
        """Look how many threads work here: as the executor says, else those of the largest pool."""
        if self.pool_threads is None:
            self.pool_threads = threads_of(self.executor)
            if self.pool_threads == 0:
                self.alone = False
        if self.pool_threads is not None:
            return
        threads = largest_pool(thread.name for thread in threading.enumerate())
        if threads > self.most_threads:
            self.most_threads = threads
            if self.alone:
                self.work_alone()

    def report(
        self, kind: int, name: str, utc_ns: int | None = None, pid: int = -1, threads: int = 1
    ) -> None:
        """Write a coming or going."""
        self.saw_workers = True
        now = self.clock.utc_ns() if utc_ns is None else utc_ns
        self.pool_run.add_worker_event(now, kind, name, self.host, pid, threads, -1)
        if self.arrived is not None:
            self.arrived.add_worker(name, kind != WENT)

    def show_memory(self, name: str, units: int) -> None:
        """Let the line that shows progress know how much memory a worker has."""
        if self.arrived is not None and units >= 0:
            self.arrived.set_memory(name, units * _RSS_BYTES)

    def store(self) -> None:
        """Write the samples that wait."""
        for child in self.children.values():
            self.store_child(child)
        block = self.sampler.take() if self.alone else None  # else it keeps its last rows
        if block is not None:
            name = f"{self.host}:{os.getpid()}"
            self.pool_run.add_series(name, _probe.SAMPLER_COLUMNS, block)

    def store_child(self, child: Child) -> None:
        """Write the samples of one process."""
        if child.rows:
            block = _probe.encode_block(child.times_ms, list(zip(*child.rows, strict=True)))
            self.pool_run.add_series(child.name, _probe.PROCESS_COLUMNS, block)
            child.times_ms, child.rows = [], []


def threads_of(executor: Any) -> int | None:
    """Return how many threads of this process work for an executor; None: it does not say.

    Without an executor, for Parsl, if it has been loaded.

    >>> from types import SimpleNamespace
    >>> threads_of(SimpleNamespace(pool=ThreadPoolExecutor, workers=4))
    4
    """
    pool = getattr(executor, "pool", None)
    if isinstance(pool, ThreadPoolExecutor):
        return pool._max_workers
    if isinstance(pool, type) and issubclass(pool, ThreadPoolExecutor):
        return ThreadPoolExecutor(executor.workers)._max_workers  # which knows how many None is
    if executor is None or hasattr(executor, "jobs_executors"):
        return _threads_of_parsl(getattr(executor, "config", None))
    return None


def _threads_of_parsl(config: Any) -> int | None:
    """Return how many threads Parsl has here; 0: its workers are other processes."""
    parsl = sys.modules.get("parsl")
    if parsl is None:
        return None
    try:
        executors = (config or parsl.dfk().config).executors
    except Exception:  # it is not loaded yet, which Parsl says by an exception of its own
        return None
    threads = (getattr(executor, "max_threads", None) for executor in executors)
    return sum(int(n) for n in threads if n is not None)


def largest_pool(names: Iterable[str]) -> int:
    """Return how many threads the largest pool has, by the names that Python gives them.

    >>> largest_pool(["MainThread", "ThreadPoolExecutor-0_0", "ThreadPoolExecutor-0_1"])
    2
    """
    pools = Counter(found[1] for name in names if (found := _POOL_THREAD.fullmatch(name)))
    return max(pools.values(), default=0)


def is_pool_process(pid: int) -> bool:
    """Whether a child works for a pool: loky's and multiprocessing's processes, and forks of us.

    Helpers of theirs, and whatever else an analysis starts, are not.
    """
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
        own = Path("/proc/self/cmdline").read_bytes()
    except OSError:  # it has gone
        return False
    return command == own or b"LokyProcess-" in command or b"--multiprocessing-fork" in command
