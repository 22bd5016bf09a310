"""coffea on Parsl: chunk records through the output, and Parsl's own database of the same run."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from parsl_run import CHUNK_EVENTS, WORKERS

from roastcoffea import MetricsCollector
from roastcoffea._roast import Run

pytestmark = pytest.mark.slow

HERE = Path(__file__).resolve().parent
ROAST = Path(sys.executable).parent / "roast"
FINISHED, FAILED = 0, 1


class Measured:
    """What a run on Parsl left behind."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.path = directory / "run.roast"
        self.database = directory / "runinfo" / "monitoring.db"
        told = json.loads((directory / "told.json").read_text())
        self.report, self.output = told["report"], told["output"]
        self.tracking_data = told["tracking_data"]
        self.notes = [json.loads(path.read_text()) for path in (directory / "notes").iterdir()]

    @property
    def finished(self) -> list[dict[str, Any]]:
        return [note for note in self.notes if note["outcome"] == "ok"]


def tasks_of(database: Path, directory: Path) -> list[dict[str, Any]]:
    """Return the tasks that are found in Parsl's database."""
    copy = directory / "imported.roast"
    Run.open(database).copy(copy)
    with sqlite3.connect(copy) as rows:
        rows.row_factory = sqlite3.Row
        return [dict(row) for row in rows.execute("SELECT * FROM tasks ORDER BY id")]


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory, small_fileset: Any) -> Measured:
    directory = tmp_path_factory.mktemp("parsl")
    (directory / "fileset.json").write_text(json.dumps(small_fileset, default=str))
    paths = (str(HERE), str(HERE.parents[1] / "examples"))
    environment = {
        **os.environ,
        "PATH": f"{ROAST.parent}:{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(paths),
    }
    done = subprocess.run(
        [sys.executable, HERE / "parsl_run.py", directory, directory / "fileset.json"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return Measured(directory)


def test_every_chunk_comes_through_the_output(measured: Measured) -> None:
    collector = MetricsCollector.from_run(measured.path)
    records = collector.chunk_metrics
    chunks = sorted((r["file"], r["entry_start"], r["entry_stop"]) for r in records)
    assert chunks == sorted(tuple(note["chunk"]) for note in measured.finished)
    assert len(chunks) == measured.report["chunks"] == 2 * 6_000 // CHUNK_EVENTS
    assert {r["pid"] for r in records} == {note["pid"] for note in measured.finished}
    assert len({r["worker"] for r in records}) <= WORKERS
    assert all(r["timing"]["sums"] <= r["duration"] for r in records)


def test_the_sums_are_those_of_the_report(measured: Measured) -> None:
    report = measured.report
    metrics = MetricsCollector.from_run(measured.path).get_metrics()
    assert metrics["total_events"] == metrics["total_events_from_chunks"] == report["entries"]
    assert report["entries"] == measured.output["events"] == 12_000
    assert metrics["num_chunks"] == metrics["num_successful_chunks"] == report["chunks"]
    for key in ("num_chunks", "num_failed_chunks"):  # the one that failed had no way here
        assert "in the output alone" in metrics.estimated[key]
    assert metrics["total_bytes_read"] == report["bytesread"] > 0
    assert metrics["total_cpu_time"] == pytest.approx(report["processtime"])
    per_dataset = metrics["per_dataset"].values()
    wall_s = sum(dataset["total_duration"] for dataset in per_dataset)
    noted_s = sum(note["end"] - note["begin"] for note in measured.finished)
    assert noted_s <= wall_s <= report["processtime"]


def test_workers_that_nobody_can_see_are_not_made_up(measured: Measured) -> None:
    assert measured.tracking_data == []
    absent = MetricsCollector.from_run(measured.path).get_metrics().absent
    assert {"peak_workers", "total_cores", "core_efficiency"} <= set(absent)
    shown = subprocess.run([ROAST, "show", measured.path], capture_output=True, check=True)
    assert b"12,000" in shown.stdout


def test_parsls_own_database_agrees_with_what_happened(measured: Measured) -> None:
    tasks = tasks_of(measured.database, measured.directory)
    others = 3  # two files, and the question who works
    assert len(tasks) == others + len(measured.notes)
    assert sum(task["outcome"] == FAILED for task in tasks) == 1
    for note in measured.notes:
        [task] = [
            task
            for task in tasks
            if task["worker"].endswith(f":{note['pid']}")
            and task["start_utc_ns"] <= note["begin"] * 1e9
            and task["stop_utc_ns"] >= note["end"] * 1e9
        ]
        assert task["outcome"] == (FINISHED if note["outcome"] == "ok" else FAILED)
        assert (task["error_type"] is None) == (note["outcome"] == "ok")
    assert len({note["pid"] for note in measured.notes}) == WORKERS
    metrics = MetricsCollector.from_run(measured.database).summary().metrics()
    assert metrics["num_task_attempts"] == len(tasks)
    assert metrics["num_tasks"] == others + len(measured.finished)
    assert metrics["peak_workers"] == WORKERS


def test_threads_of_parsl_are_threads_of_this_process(small_fileset: Any, tmp_path: Path) -> None:
    import parsl
    from coffea.processor import ParslExecutor, Runner
    from parsl.config import Config
    from parsl.executors import ThreadPoolExecutor

    from analysis import DemoSchema, DimuonProcessor

    config = Config(
        executors=[ThreadPoolExecutor(max_threads=2)],
        run_dir=str(tmp_path),
        usage_tracking=0,
        initialize_logging=False,
    )
    parsl.load(config)
    try:
        executor, processor = ParslExecutor(status=False), DimuonProcessor()
        with MetricsCollector(executor, processor_instance=processor) as collector:
            runner = Runner(executor, schema=DemoSchema, savemetrics=True, chunksize=1000)
            output, report = runner(small_fileset, processor_instance=processor)
            collector.extract_metrics_from_output(output)
            collector.set_coffea_report(report)
    finally:
        parsl.dfk().cleanup()
        parsl.clear()
    metrics = collector.get_metrics()
    assert collector.backend == "local"
    assert metrics["num_chunks"] == report["chunks"] == 12
    assert metrics["total_events_from_chunks"] == report["entries"] == 12_000
    assert metrics["peak_workers"] == 1
    assert metrics["cores_per_worker"] == pytest.approx(2)
