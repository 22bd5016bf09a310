"""Chunk records reach the run, whatever becomes of chunks and workers."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest
from analysing import Measured, analyse
from coffea.processor import FuturesExecutor, IterativeExecutor, Runner

from analysis import DemoSchema, DimuonProcessor
from roastcoffea import MetricsCollector, track_metrics


def test_chunk_records_are_in_the_metrics(measured: Measured) -> None:
    collector, report, _ = measured
    metrics = collector.get_metrics()
    assert metrics["num_successful_chunks"] == report["chunks"]
    assert metrics["num_failed_chunks"] == 0
    assert metrics["total_events_from_chunks"] == report["entries"]
    assert metrics["chunk_duration_min"] <= metrics["chunk_duration_mean"]
    assert len(collector.chunk_metrics) == report["chunks"]
    assert {chunk["dataset"] for chunk in collector.chunk_metrics} == {"DYJets", "TTbar"}


def test_a_section_counts_its_time_once(measured: Measured) -> None:
    collector, report, _ = measured
    sections = {section["name"]: section for section in collector.summary().sections()}
    jets = sections["jet kinematics"]  # tracked for time, memory and bytes
    assert jets["count"] == jets["chunks"] == report["chunks"]
    durations = sum(chunk["duration"] for chunk in collector.chunk_metrics)
    assert 0 < sum(section["total_s"] for section in sections.values()) < durations


def test_a_record_that_comes_by_event_and_in_the_output_counts_once(
    client: Any, small_fileset: Any
) -> None:
    with MetricsCollector(client) as collector:  # no processor given: collected all the same
        output, report = analyse(client, small_fileset, DimuonProcessor())
        before = len(collector.chunk_metrics)
        collector.extract_metrics_from_output(output)
        collector.set_coffea_report(report)
    assert before == len(collector.chunk_metrics) == report["chunks"]
    assert "__roastcoffea_metrics__" not in output


def test_without_worker_tracking_chunks_are_recorded_all_the_same(
    client: Any, small_fileset: Any
) -> None:
    with MetricsCollector(client, track_workers=False) as collector:
        _, report = analyse(client, small_fileset, DimuonProcessor())
        collector.set_coffea_report(report)
    assert collector.get_metrics()["num_successful_chunks"] == report["chunks"]
    assert "avg_workers" not in collector.get_metrics()


@pytest.mark.parametrize("executor", [IterativeExecutor, FuturesExecutor])
def test_local_executors_collect_without_a_processor(executor: Any, small_fileset: Any) -> None:
    processor = DimuonProcessor()
    with MetricsCollector() as collector:
        runner = Runner(
            executor=executor(status=False), schema=DemoSchema, chunksize=2_000, savemetrics=True
        )
        output, report = runner(small_fileset, processor)
        collector.extract_metrics_from_output(output)
        collector.set_coffea_report(report)
    assert collector.get_metrics()["num_successful_chunks"] == report["chunks"] == 6
    assert "ROAST_COLLECT" not in os.environ


def test_the_metrics_references_standard_pattern_works(small_fileset: Any, tmp_path: Path) -> None:
    processor_instance = DimuonProcessor()
    runner = Runner(executor=IterativeExecutor(status=False), schema=DemoSchema, savemetrics=True)
    with MetricsCollector(output_dir=tmp_path) as mc:
        _, report = runner(small_fileset, processor_instance)
        mc.set_coffea_report(report)
        mc.set_chunk_metrics(processor_instance._chunk_metrics)
    assert mc.get_metrics()["num_successful_chunks"] == report["chunks"]
    mc.set_chunk_metrics([])
    assert len(mc.chunk_metrics) == report["chunks"]


def test_a_chunk_that_always_fails_leaves_everything_else_in_the_run(
    client: Any, small_fileset: Any, tmp_path: Path
) -> None:
    class Failing(DimuonProcessor):
        @track_metrics
        def process(self, events: Any) -> Any:
            if events.metadata["entrystart"] == 0 and events.metadata["dataset"] == "TTbar":
                raise ArithmeticError("one chunk is bad")
            return DimuonProcessor.process(self, events)

    with (
        pytest.raises(Exception, match="one chunk is bad"),
        MetricsCollector(client, output_dir=tmp_path, measurement_name="bad") as collector,
    ):
        analyse(client, small_fileset, Failing())
    failed = [chunk for chunk in collector.chunk_metrics if chunk["outcome"] == "failed"]
    assert failed
    assert {chunk["error_type"] for chunk in failed} == {"ArithmeticError"}
    assert collector.summary().metrics()["num_failed_chunks"] == len(failed)


def test_a_killed_worker_loses_chunks_and_the_sums_still_agree(
    small_fileset: Any, tmp_path: Path
) -> None:
    from clusters import local_cluster
    from distributed import Client

    flag = tmp_path / "killed"

    class Killer(DimuonProcessor):
        @track_metrics
        def process(self, events: Any) -> Any:
            metadata = events.metadata
            if metadata["dataset"] == "TTbar" and metadata["entrystart"] and not flag.exists():
                flag.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return {"events": len(events)}

    with (
        local_cluster() as cluster,
        Client(cluster) as client,
        MetricsCollector(client, worker_tracking_interval=0.1) as collector,
    ):
        output, report = analyse(client, small_fileset, Killer())
        collector.extract_metrics_from_output(output)
        collector.set_coffea_report(report)
    assert flag.exists()
    metrics = collector.get_metrics()
    assert output["events"] == report["entries"] == 12_000
    assert metrics["num_lost_chunks"] >= 1
    assert metrics["total_events_from_chunks"] == report["entries"]
    assert metrics["num_successful_chunks"] == report["chunks"]
    lost = [chunk for chunk in collector.chunk_metrics if chunk["outcome"] == "lost"]
    assert {chunk["dataset"] for chunk in lost} <= {"DYJets", "TTbar"}
    assert metrics["peak_workers"] >= 2


def test_the_documented_shapes_of_chunks_are_in_the_metrics(measured: Measured) -> None:
    collector, report, _ = measured
    metrics = collector.get_metrics()
    assert set(metrics["per_dataset"]) == {"DYJets", "TTbar"}
    assert sum(d["total_events"] for d in metrics["per_dataset"].values()) == report["entries"]
    assert metrics["sections"]["jet kinematics"]["count"] == report["chunks"]
    assert len(metrics["chunk_info"]) == report["chunks"]
    # the report also counts what was read to open the files
    assert 0 < sum(info[2] for info in metrics["chunk_info"].values()) < report["bytesread"]
    assert len(metrics["file_read_metrics"]) == len(metrics["compression_ratios"]) == 2
    assert 0 < metrics["avg_bytes_read_percent"] < 100
    assert metrics["raw_chunk_metrics"] is collector.chunk_metrics


def test_secrets_of_urls_do_not_reach_the_run(client: Any, tmp_path: Path) -> None:
    message = "cannot open root://me:pw@site//store/f.root?authz=SECRET&x=1"
    with (
        pytest.raises(OSError, match="SECRET"),
        MetricsCollector(client, output_dir=tmp_path, measurement_name="secret"),
    ):
        raise OSError(message)
    content = (tmp_path / "secret.roast").read_bytes()
    assert b"SECRET" not in content
    assert b"me:pw" not in content
    assert b"site//store/f.root" in content
