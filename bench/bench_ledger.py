"""What it costs to keep every attempt at a task: per transition, per task, and in bytes.

The code of the plugins runs; workers, scheduler and tasks are made up. CPU time of the thread, the
least of three repeats. A transition without a plugin is a call that does nothing.
"""

from __future__ import annotations

import argparse
import sys
import time
import uuid
from types import SimpleNamespace
from typing import Any

from result import best, ratio, row
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
    on_worker, on_scheduler = [], []
    for _ in range(3):
        events.clear()
        ledger = WorkerLedger(host, RunClock(), events.append)  # type: ignore[arg-type]
        whole = drive(ledger.transition, keys, ON_WORKER)
        begin = time.thread_time()
        ledger.send()
        whole += (time.thread_time() - begin) / (len(keys) * len(ON_WORKER)) * 1e6
        on_worker.append(whole)
    scheduler = SimpleNamespace(tasks=tasks, workers={"tcp://10.0.0.1:1234": SimpleNamespace(
        address="tcp://10.0.0.1:1234", nthreads=4, processing=())})  # fmt: skip
    for _ in range(3):
        judge = SchedulerLedger(scheduler, RunClock(), events.append)  # type: ignore[arg-type]
        on_scheduler.append(drive(judge.transition, keys, ON_SCHEDULER))
    nothing = best([drive(lambda *_: None, keys, ON_SCHEDULER) for _ in range(3)])
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
    transition = "a transition on the worker, packing included"
    row(transition, best(on_worker), "us", at_most=LIMIT_US)
    row(transition, ratio(best(on_worker), nothing), of="an empty call")
    row("a transition on the scheduler", best(on_scheduler), "us", at_most=LIMIT_US)
    row("a transition on the scheduler", ratio(best(on_scheduler), nothing), of="an empty call")
    row("an attempt at a chunk, on the wire", size, "B")
    row("an attempt into the run, client", client_us, "us")
    row(f"summary of {len(rows):,} attempts without records", summary_s, "s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
