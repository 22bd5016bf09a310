"""TaskVine's manager followed while it works.

TaskVine cannot be installed here. The manager is a stand-in: it has the attributes and methods that
TaskVine documents, answers ``status()`` with the keys that a real one answered with, and writes its
transactions in the format that a real one writes.
"""

from __future__ import annotations

import gc
import itertools
import json
import time
import weakref
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from waiting import until

from roastcoffea import MetricsCollector, open_run, track_metrics
from roastcoffea.backends.taskvine import MANAGER, STATISTICS, TaskVineMetricsBackend

HEADER = "# time manager_pid MANAGER manager_pid START|END time_from_origin\n"
ALLOTTED = '{"memory":[4000,"MB"],"disk":[8000,"MB"],"cores":[2,"cores"]}'


class Events(list[int]):
    """Events of a chunk, as far as the decorator looks at them."""

    def __init__(self, item: Any) -> None:
        super().__init__(range(item.entrystop - item.entrystart))
        self.metadata = {
            "dataset": item.dataset,
            "filename": item.filename,
            "treename": item.treename,
            "entrystart": item.entrystart,
            "entrystop": item.entrystop,
        }


class Counting:
    @track_metrics
    def process(self, events: Any) -> dict[str, Any]:
        time.sleep(0.01)
        return {"events": len(events)}


class Manager:
    """One that works off its tasks in ``wait()``, one at a time, by the worker that came last."""

    def __init__(self, logs: Path) -> None:
        self.logging_directory = str(logs)
        self.log = (logs / "transactions").open("w", buffering=1)
        self.log.write(HEADER)
        self.write("MANAGER 6 START 0")
        self.workers: dict[str, dict[str, Any]] = {}
        self.waiting: list[tuple[int, Any]] = []
        self.counts = dict.fromkeys(STATISTICS, 0)
        self.asked = 0
        self.fails = False

    def write(self, text: str) -> None:
        self.log.write(f"{time.time_ns() // 1000} 6 {text}\n")

    def connect(self, worker: str, port: int) -> None:
        address = f"127.0.0.1:{port}"
        self.write(f"WORKER {worker} CONNECTION {address}")
        self.write(f"WORKER {worker} RESOURCES {ALLOTTED}")
        self.workers[worker] = {
            "addrport": address,
            "hostname": "node0",
            "start_time": time.time_ns() // 1000,
            "cores_total": 2,
            "memory_total": 4000,
        }
        self.counts["workers_joined"] += 1

    def disconnect(self, worker: str) -> None:
        del self.workers[worker]
        self.write(f"WORKER {worker} DISCONNECTION FAILURE")
        self.counts["workers_lost"] += 1

    def submit(self, task: Any) -> int:
        task.id = self.counts["tasks_submitted"] = self.counts["tasks_submitted"] + 1
        self.write(f"TASK {task.id} READY {task.category} FIRST_RESOURCES 1 {ALLOTTED}")
        self.waiting.append((task.id, task))
        self.counts["bytes_sent"] += 1000
        return int(task.id)

    def wait(self, timeout: float | None = None) -> Any:
        if not self.waiting or not self.workers:
            return None
        number, task = self.waiting.pop(0)
        worker = list(self.workers)[-1]
        self.write(f"TASK {number} RUNNING {worker}  FIRST_RESOURCES {ALLOTTED}")
        begin_s, code = time.time(), 0
        try:
            task.output = task.work()
        except ValueError:
            code = 1
        self.write(f"TASK {number} WAITING_RETRIEVAL {worker} ")
        measured = {"time_worker_start": [begin_s, "s"], "time_worker_end": [time.time(), "s"]}
        self.write(f"TASK {number} RETRIEVED SUCCESS  {code}  {{}} {json.dumps(measured)}")
        self.write(f"TASK {number} DONE SUCCESS  {code} ")
        self.counts["tasks_done"] += 1
        self.counts["bytes_received"] += 10
        return task

    def status(self, request: str) -> list[dict[str, Any]]:
        self.asked += 1
        if self.fails:
            raise RuntimeError("the manager has been deleted")
        if request == "workers":
            return list(self.workers.values())
        assert request == "manager"
        now = {
            "workers_connected": len(self.workers),
            "tasks_waiting": len(self.waiting),
            "cores_total": 2 * len(self.workers),
        }
        return [{**self.counts, **now, "type": "vine_manager", "version": "7.17.1 FINAL"}]

    def log_txn_app(self, text: str) -> None:
        self.write(f"APPLICATION {text}")

    def __del__(self) -> None:
        for worker in list(self.workers):
            self.write(f"WORKER {worker} DISCONNECTION EXPLICIT")
        self.write("MANAGER 6 END 1")
        self.log.close()


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[Manager]:
    (tmp_path / "logs").mkdir()
    return Manager(tmp_path / "logs")


def chunk(number: int, processor: Any) -> Any:
    """Return a task as coffea's manager submits it."""
    item = SimpleNamespace(
        dataset="DY",
        filename="root://me:secret@host//nano.root",
        treename="Events",
        entrystart=100 * number,
        entrystop=100 * number + 100,
        fileuuid=b"\x01\x02",
    )
    return SimpleNamespace(
        item=item,
        itemid=f"p_{number}",
        category="processing",
        work=lambda: processor.process(Events(item)),
    )


def work_off(manager: Any) -> list[Any]:
    done = []
    while manager.waiting:
        task = manager.wait(5)
        done.append(task)
    return done


def test_workers_tasks_and_bytes_are_followed(manager: Manager, tmp_path: Path) -> None:
    processor = Counting()
    manager.connect("worker-early", 1000)
    collector = MetricsCollector(
        manager,
        backend="taskvine",
        processor_instance=processor,
        worker_tracking_interval=0.05,
        output_dir=tmp_path,
        measurement_name="run",
    )
    with collector:
        manager.connect("worker-late", 1001)
        for number in range(20):
            manager.submit(chunk(number, processor))
        done = [manager.wait(5) for _ in range(10)]
        time.sleep(0.06)
        manager.disconnect("worker-late")
        done += work_off(manager)
        time.sleep(0.06)
        manager.wait(0)
        output: dict[str, Any] = {"__roastcoffea_metrics__": []}
        for task in done:
            output["__roastcoffea_metrics__"] += task.output["__roastcoffea_metrics__"]
        collector.extract_metrics_from_output(output)
        collector.set_coffea_report({"entries": 2000, "processtime": 0.2, "chunks": 20})

    assert "wait" not in vars(manager), "the manager is left as it was"
    assert "submit" not in vars(manager)
    opened = open_run(tmp_path / "run.roast")
    series = opened.series[MANAGER]
    assert series["vine_tasks_done"].values[-1] == 20
    assert series["vine_bytes_sent"].values[-1] == 20_000
    assert series["vine_bytes_received"].values[-1] == 200
    assert np.all(np.diff(series["vine_tasks_waiting"].values[1:]) <= 0)
    assert series["vine_workers_connected"].values.max() == 2
    assert np.all(np.diff(series["vine_tasks_done"].times) > 0)

    events = {(event["worker"], event["kind"]): event for event in opened.workers}
    assert set(events) == {("worker-early", 1), ("worker-late", 2), ("worker-late", 3)}
    came = events["worker-late", 2]
    assert (came["threads"], came["memory_limit_bytes"]) == (2, 4000 * 2**20)
    assert came["host"] == "node0"
    assert came["utc_ns"] < events["worker-late", 3]["utc_ns"]

    metrics = collector.get_metrics()
    assert metrics["num_chunks"] == metrics["num_successful_chunks"] == 20
    assert metrics["total_events_from_chunks"] == 2000
    assert metrics["num_tasks"] == metrics["num_task_attempts"] == 20
    assert metrics["peak_workers"] == 2
    assert 1 < metrics["avg_workers"] < 2
    assert metrics["cores_per_worker"] == 2
    assert collector.run.facts()["run.faults"] == 0
    assert collector.tracking_data is not None
    assert max(collector.tracking_data["total_cores"].values()) == 4


def test_the_managers_log_is_told_which_chunk_a_task_is(manager: Manager) -> None:
    manager.connect("worker-1", 1000)
    processor = Counting()
    with MetricsCollector(manager, backend="taskvine", processor_instance=processor) as collector:
        manager.submit(chunk(3, processor))
        manager.submit(SimpleNamespace(category="accumulating", work=dict))
        work_off(manager)
    text = (Path(manager.logging_directory) / "transactions").read_text()
    assert "secret" not in text
    [line] = [line for line in text.splitlines() if "APPLICATION coffea_task" in line]
    assert json.loads(line.partition("coffea_task ")[2]) == {
        "task_id": 1,
        "item": "p_3",
        "dataset": "DY",
        "file": "root://host//nano.root",
        "tree": "Events",
        "uuid": "0102",
        "start": 300,
        "stop": 400,
    }
    summary = collector.summary().metrics()
    assert summary["num_tasks"] == 2
    assert summary["num_successful_chunks"] == 1, "without records, the log tells of chunks"


def test_an_attempt_that_failed_is_known_by_the_log_alone(manager: Manager) -> None:
    processor = Counting()

    def fail() -> None:
        raise ValueError("once")

    manager.connect("worker-1", 1000)
    with MetricsCollector(manager, backend="taskvine", processor_instance=processor) as collector:
        bad, good = chunk(0, processor), chunk(0, processor)
        bad.work = fail
        manager.submit(bad)
        work_off(manager)
        manager.submit(good)
        [done] = work_off(manager)
        collector.extract_metrics_from_output(done.output)
        collector.set_coffea_report({"entries": 100, "processtime": 0.01, "chunks": 1})
    metrics = collector.get_metrics()
    assert (metrics["num_successful_chunks"], metrics["num_failed_chunks"]) == (1, 1)
    assert metrics["total_events_from_chunks"] == 100


def test_the_manager_of_coffeas_executor_is_followed_as_soon_as_it_is_there(
    manager: Manager, capsys: pytest.CaptureFixture[str]
) -> None:
    from coffea.processor import TaskVineExecutor

    seen = []
    executor = TaskVineExecutor(custom_init=seen.append, status=False)
    before = executor.custom_init
    with MetricsCollector(executor, worker_tracking_interval=0.05) as collector:
        assert collector.backend == "taskvine"
        assert isinstance(collector.metrics_backend, TaskVineMetricsBackend)
        executor.custom_init(manager)  # as coffea does before each of its two phases
        manager.connect("worker-1", 1000)
        time.sleep(0.06)
        manager.wait(0)
        executor.custom_init(manager)
        collector.set_coffea_report({"entries": 1})
    assert seen == [manager, manager], "the user's own function is called as well"
    assert executor.custom_init is before
    assert collector.get_metrics()["peak_workers"] == 1


def test_the_manager_is_not_kept_alive(manager: Manager, tmp_path: Path) -> None:
    from coffea.processor import TaskVineExecutor

    (tmp_path / "other").mkdir()
    executor = TaskVineExecutor(status=False)
    with MetricsCollector(executor, worker_tracking_interval=0.05) as collector:
        mine = Manager(tmp_path / "other")
        mine.connect("worker-1", 1000)
        executor.custom_init(mine)
        known = weakref.ref(mine)
        gc.disable()  # a cycle would live on
        try:
            del mine
            assert known() is None
        finally:
            gc.enable()
    kinds = [int(kind) for kind in np.frombuffer(_kinds(collector), np.int64)]
    assert kinds == [2, 3], "with the manager its workers have gone"
    assert "MANAGER 6 END" in (tmp_path / "other" / "transactions").read_text()


def _kinds(collector: MetricsCollector) -> bytes:
    return collector.run.columns("worker_event", ["kind"])["kind"]


def test_a_manager_that_fails_to_answer_does_not_stop_the_analysis(
    manager: Manager, caplog: pytest.LogCaptureFixture
) -> None:
    manager.connect("worker-1", 1000)
    processor = Counting()
    with MetricsCollector(
        manager, backend="taskvine", processor_instance=processor, worker_tracking_interval=0.05
    ) as collector:
        manager.fails = True
        asked, numbers = manager.asked, itertools.count()

        def a_chunk_is_done_and_three_questions_failed() -> bool:
            manager.submit(chunk(next(numbers), processor))
            assert manager.wait(5).output["events"] == 100
            return manager.asked == asked + 3

        # where the first answer took long, the next question comes later
        assert until(a_chunk_is_done_and_three_questions_failed)
    assert "asking the manager" in caplog.text
    assert collector.run.facts()["run.faults"] == 3


def test_the_manager_is_not_asked_more_often_than_the_interval(manager: Manager) -> None:
    with MetricsCollector(manager, backend="taskvine", worker_tracking_interval=60):
        for _ in range(100):
            manager.wait(0)
    assert manager.asked == 2, "once for itself, once for its workers"
