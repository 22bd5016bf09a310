"""The back end for executors without a cluster: this process and the pools of its children.

Children run none of our code: they are sampled from outside. Chunk records come through the
output.
"""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from roastcoffea import _probe, collecting
from roastcoffea._roast import Run
from roastcoffea.backends.base import AbstractMetricsBackend
from roastcoffea.backends.tracking import tracking_data

PRESENT, CAME, WENT = 1, 2, 3

#: Samples wait this long, so that they are stored many at a time.
BLOCK_S = 5.0
#: Without a child by then, this process does the work itself.
POOL_WAIT_S = 5.0


class LocalMetricsBackend(AbstractMetricsBackend):
    """Follows this process and the worker processes of its pools."""

    def __init__(self, client: Any = None) -> None:
        self.client = client
        self.run: Run = Run.create(None)
        self.interval = 1.0
        self.start_utc_ns = 0
        self._watcher: PoolWatcher | None = None

    def attach(self, run: Run) -> None:
        """Write into this run from now on."""
        self.run = run

    def start_tracking(self, interval: float = 1.0) -> None:
        """Begin to sample every ``interval`` seconds."""
        self.interval = interval
        self.start_utc_ns = time.time_ns()
        self._watcher = PoolWatcher(self.run, interval, self.start_utc_ns)
        self._watcher.start()

    def stop_tracking(self) -> dict[str, Any]:
        """Stop, and return the tracking data."""
        if self._watcher is None:
            return {}
        self._watcher.stop()
        self._watcher = None
        return tracking_data(self.run, self.start_utc_ns, time.time_ns(), self.interval)

    def create_span(self, name: str) -> None:
        """There are no spans."""

    def get_span_metrics(self, span_info: Any) -> dict[Any, Any]:
        """There are no spans."""
        return {}

    def supports_fine_metrics(self) -> bool:
        """There are no spans."""
        return False


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

    def __init__(self, run: Run, interval: float, began_utc_ns: int) -> None:
        super().__init__(name="roastcoffea-local", daemon=True)
        self.pool_run = run
        self.interval = interval
        self.host = collecting.identity().host
        self.stopping = threading.Event()
        self.began_utc_ns = began_utc_ns
        self.began = time.monotonic()
        self.last_stored = self.began
        self.clock_ms = time.time_ns() // 1_000_000 - int(self.began * 1000)
        self.sampler = _probe.Sampler(interval)
        self.children: dict[tuple[int, int], Child] = {}
        self.alone: bool | None = None  # None: not known yet

    def run(self) -> None:
        """Sample until told to stop."""
        try:
            self.sampler.start()
            while not self.stopping.wait(self.interval):
                self.tick()
        except Exception as error:
            collecting.note_fault("sampling of the pool", error)

    def stop(self) -> None:
        """Stop, and store what is left."""
        self.stopping.set()
        self.join()
        self.sampler.stop()
        if self.alone is None:
            self.work_alone()
        self.store()
        for child in self.children.values():
            self.report(WENT, child.name)

    def tick(self) -> None:
        """Take one sample of each process of the pools."""
        now = time.monotonic()
        now_ms = self.clock_ms + int(now * 1000)
        seen = set()
        for pid in _probe.descendants(os.getpid()):
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
        for process in self.children.keys() - seen:
            child = self.children.pop(process)
            self.store_child(child)
            self.report(WENT, child.name)
        if self.alone is None and now - self.began >= POOL_WAIT_S:
            self.work_alone()
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
        self.report(CAME, name, max(self.began_utc_ns, time.time_ns() - age_ns), pid)

    def work_alone(self) -> None:
        """Note this process as the worker."""
        self.alone = True
        pid = os.getpid()
        self.report(PRESENT, f"{self.host}:{pid}", self.began_utc_ns, pid)

    def report(self, kind: int, name: str, utc_ns: int | None = None, pid: int = -1) -> None:
        """Write a coming or going."""
        now = time.time_ns() if utc_ns is None else utc_ns
        self.pool_run.add_worker_event(now, kind, name, self.host, pid, 1, -1)

    def store(self) -> None:
        """Write the samples that wait."""
        for child in self.children.values():
            self.store_child(child)
        block = self.sampler.take() if self.alone else None  # else it keeps its last rows
        if block is not None:
            name = f"{self.host}:{os.getpid()}"
            self.pool_run.add_series(name, self.sampler.columns, block)

    def store_child(self, child: Child) -> None:
        """Write the samples of one process."""
        if child.rows:
            block = _probe.encode_block(child.times_ms, list(zip(*child.rows, strict=True)))
            self.pool_run.add_series(child.name, _probe.PROCESS_COLUMNS, block)
            child.times_ms, child.rows = [], []


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
