"""What it costs to keep every attempt at a task: per transition, per task, and in bytes.

The code of the plugins runs; workers, scheduler and tasks are made up. CPU time of the thread, the
least of three repeats. With --check it exits with 1 where a limit is exceeded.
"""

from __future__ import annotations

import argparse
import sys
import time
import uuid
from types import SimpleNamespace
from typing import Any

from roastcoffea._roast import Run
from roastcoffea.backends.dask_ledger import SchedulerLedger, WorkerLedger, pack, unpack
from roastcoffea.clock import RunClock

#: What Dask tells a worker's plugin of a task that is computed and released
ON_WORKER = (
    ("released", "waiting"),
    ("waiting", "ready"),
    ("ready", "executing"),
    ("executing", "memory"),
    ("memory", "released"),
    ("released", "forgotten"),
)
#: ... and a scheduler's
ON_SCHEDULER = (
    ("released", "waiting"),
    ("waiting", "processing"),
    ("processing", "memory"),
    ("memory", "released"),
    ("released", "forgotten"),
)
LIMIT_US = 3.0


def make_tasks(n: int) -> dict[str, Any]:
    """Return states of tasks as a worker has them, with coffea's WorkItem in their arguments."""
    from coffea.processor.executor import WorkItem

    tasks = {}
    now = time.time()
    worker = SimpleNamespace(address="tcp://10.0.0.1:1234", nthreads=4, executing={})
    for i in range(n):
        item = WorkItem(
            dataset=f"dataset{i % 20}",
            filename=f"root://eos.example.org//store/data/file_{i // 10}.root",
            treename="Events",
            entrystart=(i % 10) * 100_000,
            entrystop=(i % 10 + 1) * 100_000,
            fileuuid=uuid.UUID(int=i // 10 + 1).bytes,
            usermeta={},
        )
        tasks[f"Processor-{uuid.uuid4().hex}"] = SimpleNamespace(
            startstops=[{"action": "compute", "start": now + i, "stop": now + i + 0.5}],
            nbytes=12_345,
            type=bytes,
            run_spec=SimpleNamespace(args=(SimpleNamespace(args=(item, "heavy")),)),
            exception=None,
            exception_text="",
            prefix="Processor",
            processing_on=worker,
            waiters=(),
            who_wants=(),
        )
    return tasks


def drive(transition: Any, keys: list[str], moves: tuple[tuple[str, str], ...]) -> float:
    """Return the mean CPU time of a transition in us."""
    begin = time.thread_time()
    for key in keys:
        for start, finish in moves:
            transition(key, start, finish)
    return (time.thread_time() - begin) / (len(keys) * len(moves)) * 1e6


def main() -> int:
    """Measure, print, and compare with the limits."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--tasks", type=int, default=20_000)
    options = parser.parse_args()
    tasks = make_tasks(options.tasks)
    keys = list(tasks)
    events: list[Any] = []
    state = SimpleNamespace(tasks=tasks, executing=())
    host = SimpleNamespace(
        state=state, scheduler_delay=0.0, digests_total={}, periodic_callbacks={},
        address="tcp://10.0.0.1:1234", transfer_incoming_log=(),
    )  # fmt: skip
    figures = {}
    for repeat in range(3):
        events.clear()
        ledger = WorkerLedger(host, RunClock(), events.append)  # type: ignore[arg-type]
        whole = drive(ledger.transition, keys, ON_WORKER)
        begin = time.thread_time()
        ledger.send()
        whole += (time.thread_time() - begin) / (len(keys) * len(ON_WORKER)) * 1e6
        figures[f"worker {repeat}"] = whole
    scheduler = SimpleNamespace(tasks=tasks, workers={"tcp://10.0.0.1:1234": SimpleNamespace(
        address="tcp://10.0.0.1:1234", nthreads=4, processing=())})  # fmt: skip
    for repeat in range(3):
        judge = SchedulerLedger(scheduler, RunClock(), events.append)  # type: ignore[arg-type]
        figures[f"scheduler {repeat}"] = drive(judge.transition, keys, ON_SCHEDULER)
    worker_us = min(value for name, value in figures.items() if name.startswith("worker"))
    scheduler_us = min(value for name, value in figures.items() if name.startswith("scheduler"))
    packed = [event[2] for event in events if event[0] == "tasks" and event[2]]
    rows = [row for data in packed for row in unpack(data)]
    size = sum(map(len, packed)) / len(rows)
    run = Run.create(None)
    begin = time.thread_time()
    for data in packed:
        run.add_tasks("tcp://10.0.0.1:1234", unpack(data))
    run.commit()
    client_us = (time.thread_time() - begin) / len(rows) * 1e6
    begin = time.thread_time()
    summary = run.summary()
    summary_s = time.thread_time() - begin
    assert summary.metrics()["num_chunks"] == len(rows) == len(keys)
    assert unpack(pack(rows)) == rows
    print(f"worker: {worker_us:.2f} us CPU per transition, packing included (limit {LIMIT_US:g})")
    print(f"scheduler: {scheduler_us:.2f} us CPU per transition (limit {LIMIT_US:g})")
    print(f"on the wire: {size:.1f} B per attempt at a chunk")
    print(f"client: {client_us:.1f} us per attempt into the run")
    print(f"summary of {len(rows)} attempts without records: {summary_s:.2f} s")
    return int(options.check and max(worker_us, scheduler_us) > LIMIT_US)


if __name__ == "__main__":
    sys.exit(main())
