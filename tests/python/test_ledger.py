"""The ledger on real clusters: every attempt at a task is in the run, once, with what became of it.

The rows of the run file are looked at as any SQL user would; what they come to, as users do.
"""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from analysing import Plain, copy_files, rows, runner

from analysis import DimuonProcessor
from roastcoffea import MetricsCollector

# ---- what an ordinary run leaves ---------------------------------------------------------------


def test_every_task_of_a_run_is_a_row_once(client: Any, small_fileset: Any, tmp_path: Path) -> None:
    processor = DimuonProcessor()
    with MetricsCollector(client, processor_instance=processor, output_dir=tmp_path) as collector:
        output, report = runner(client)(small_fileset, processor)
        collector.extract_metrics_from_output(output)
        collector.set_coffea_report(report)
    (path,) = tmp_path.glob("*.roast")
    prefixes = Counter(prefix for (prefix,) in rows(path, "SELECT prefix FROM tasks"))
    assert prefixes["DimuonProcessor"] == report["chunks"] == 6
    assert prefixes["automatic_retries"] >= 2  # the files' metadata
    assert prefixes["reduce"] >= 2
    assert len(set(rows(path, "SELECT key, worker, start_utc_ns FROM tasks"))) == sum(
        prefixes.values()
    )
    chunks = rows(
        path,
        "SELECT t.compute_ns, c.wall_ns, t.start_utc_ns, c.start_utc_ns, t.stop_utc_ns,"
        " t.compute_start_utc_ns, t.result_bytes, t.outcome FROM tasks t JOIN chunks c ON"
        " t.file=c.file AND t.tree=c.tree AND t.dataset=c.dataset AND t.uuid=c.uuid AND"
        " t.entry_start=c.entry_start AND t.entry_stop=c.entry_stop AND t.worker=c.worker",
    )
    assert len(chunks) == 6
    for compute, wall, start, began, stop, computing, size, outcome in chunks:
        assert compute > wall  # opening the file is in the task, but not in process()
        assert start <= computing
        assert computing <= began <= computing + compute
        assert computing + compute <= stop
        assert size > 0
        assert outcome == 0
    metrics = collector.get_metrics()
    assert metrics["num_chunks"] == metrics["num_successful_chunks"] == report["chunks"]
    assert metrics["num_lost_chunks"] == metrics["num_retried_chunks"] == 0
    assert "chunk_duration_mean" not in metrics.estimated
    assert len(collector.chunk_metrics) == report["chunks"]


@pytest.mark.parametrize("compression", [1, None])
def test_the_size_of_an_output_is_known_where_coffea_packs_it(
    client: Any, small_fileset: Any, tmp_path: Path, compression: int | None
) -> None:
    processor = DimuonProcessor()
    with MetricsCollector(client, processor_instance=processor, output_dir=tmp_path):
        runner(client, executor={"compression": compression})(small_fileset, processor)
    (path,) = tmp_path.glob("*.roast")
    sizes = rows(
        path,
        "SELECT output_bytes, result_bytes FROM tasks WHERE file NOT NULL AND entry_start NOT NULL",
    )
    assert len(sizes) == 6
    for output, result in sizes:
        assert output == (result if compression else None)
    assert not any(
        rows(
            path,
            "SELECT output_bytes FROM tasks WHERE entry_start IS NULL AND output_bytes NOT NULL",
        )
    )


def test_an_undecorated_processor_has_its_chunks_counted(
    client: Any, small_fileset: Any, tmp_path: Path
) -> None:
    with MetricsCollector(client, output_dir=tmp_path) as collector:
        output, report = runner(client)(small_fileset, Plain())
        collector.set_coffea_report(report)
    metrics = collector.get_metrics()
    assert output["events"] == report["entries"] == 12_000
    assert metrics["num_chunks"] == metrics["num_successful_chunks"] == report["chunks"]
    assert metrics["total_events_from_chunks"] == report["entries"]
    assert metrics["num_failed_chunks"] == 0
    assert "without a record" in metrics.estimated["chunk_duration_mean"]
    records = collector.chunk_metrics
    assert {(r["dataset"], r["outcome"]) for r in records} == {
        ("DYJets", "finished"),
        ("TTbar", "finished"),
    }
    assert sum(r["num_events"] for r in records) == report["entries"]
    assert all(r["duration"] > 0 for r in records)
    (path,) = tmp_path.glob("*.roast")
    assert rows(path, "SELECT count(*) FROM chunk") == [(0,)]


def test_without_compression_the_chunks_are_still_known(
    client: Any, small_fileset: Any, tmp_path: Path
) -> None:
    fileset = copy_files(small_fileset, tmp_path)  # coffea remembers the metadata of the others
    with MetricsCollector(client) as collector:
        _, report = runner(client, executor={"compression": None})(fileset, Plain())
        collector.set_coffea_report(report)
    metrics = collector.get_metrics()
    assert metrics["num_chunks"] == report["chunks"] == 6
    assert metrics["total_events_from_chunks"] == report["entries"]
    # chunks and the files' metadata bear one name, and are told apart by what they are about
    assert metrics["processor_cpu_time_seconds"] > 0
    assert "same name" in metrics.estimated["processor_cpu_time_seconds"]


PARTS = {
    "processor_cpu",
    "processor_wait",
    "overhead",
    "serialize",
    "compress",
    "transfer",
    "spill",
    "idle",
    "gone",
}


def test_the_time_ledger_sums_to_threads_times_wall_and_has_the_spans_figures(
    client: Any, small_fileset: Any
) -> None:
    processor = DimuonProcessor()
    with MetricsCollector(client, processor_instance=processor) as collector:
        _, report = runner(client)(small_fileset, processor)
        time.sleep(0.5)  # idle
        collector.set_coffea_report(report)
    metrics = collector.get_metrics()
    ledger = metrics["time_ledger"]
    assert len(ledger) == 2
    for row in ledger.values():
        assert set(row) == PARTS
        assert min(row.values()) >= 0
        assert sum(row.values()) == pytest.approx(metrics["elapsed_time_seconds"], rel=1e-9)
        assert row["idle"] > 0.4
        assert row["gone"] == pytest.approx(0, abs=1e-6)
    # the same seconds by two ways: intervals of tasks, and Dask's spans
    total = {part: sum(row[part] for row in ledger.values()) for part in PARTS}
    spans = metrics["processor_cpu_time_seconds"] + metrics["processor_io_wait_time_seconds"]
    assert total["processor_cpu"] + total["processor_wait"] == pytest.approx(spans, rel=0.1)
    assert total["processor_cpu"] == pytest.approx(metrics["processor_cpu_time_seconds"], rel=0.1)
    shown = [str(row[0]) for row in collector.summary().table("ledger")[2]]
    assert any("Processor, on a core" in label for label in shown)


class Job:
    """Has arguments, but is no task."""

    args = 5


def run_job(job: Job) -> int:
    return job.args


def test_a_task_is_known_whatever_its_arguments_are(client: Any, tmp_path: Path) -> None:
    with MetricsCollector(client, output_dir=tmp_path) as collector:
        assert client.submit(run_job, Job(), pure=False).result() == 5
    (path,) = tmp_path.glob("*.roast")
    assert rows(path, "SELECT outcome FROM tasks WHERE prefix='run_job'") == [(0,)]
    assert collector.run.facts()["run.faults"] == 0


# ---- spans -------------------------------------------------------------------------------------


class Deadbeefdeadbeefdeadbeefdeadbeefdeadbeefdeadbeefdeadbeefdeadbeef(Plain):
    """A name that Dask cuts, and takes for a number."""


def test_a_processor_whose_name_dask_changes_is_found(client: Any, small_fileset: Any) -> None:
    processor = Deadbeefdeadbeefdeadbeefdeadbeefdeadbeefdeadbeefdeadbeefdeadbeef()
    with MetricsCollector(client, processor_instance=processor) as collector:
        _, report = runner(client)(small_fileset, processor)
        collector.set_coffea_report(report)
    metrics = collector.get_metrics()
    assert metrics["processor_cpu_time_seconds"] > 0
    assert metrics["num_chunks"] == report["chunks"]


def count_own(seconds: float) -> None:
    from distributed.metrics import context_meter

    context_meter.digest_metric("reading tea leaves", seconds, "seconds")


def test_activities_of_the_users_own_are_carried(client: Any, tmp_path: Path) -> None:
    with MetricsCollector(client, output_dir=tmp_path) as collector:
        client.submit(count_own, 0.25, pure=False).result()
    (path,) = tmp_path.glob("*.roast")
    own = "SELECT value FROM {} WHERE activity='reading tea leaves' AND unit='seconds'"
    assert rows(path, own.format("span")) == [(0.25,)]
    assert rows(path, own.format("activities")) == [(0.25,)]
    assert collector.span_metrics is not None
