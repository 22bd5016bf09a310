"""Traps that a monitor of coffea on Dask falls into, on real clusters: ours does not."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
from clusters import local_cluster
from coffea.processor import DaskExecutor, ProcessorABC, Runner
from distributed import Client
from hist import Hist

from analysis import DemoSchema
from roastcoffea import MetricsCollector, load_measurement, track_metrics, track_time

CHUNKSIZE = 1_000


def analyse(client: Any, fileset: Any, processor: Any, **options: Any) -> tuple[Any, Any]:
    """Run coffea as users do; return output and report."""
    executor = options.pop("executor", {})
    return Runner(  # type: ignore[no-any-return]
        executor=DaskExecutor(client=client, status=False, retries=0, **executor),
        schema=DemoSchema,
        chunksize=CHUNKSIZE,
        savemetrics=True,
        **options,
    )(fileset, processor)


@pytest.fixture(scope="module")
def threads() -> Iterator[Client]:
    """A client of one worker with four threads, which share what they unpickle."""
    with (
        local_cluster(n_workers=1, threads_per_worker=4, processes=False) as cluster,
        Client(cluster) as client,
    ):
        yield client


class Counting(ProcessorABC):
    """Returns a Counter, and goes over every value of the merged one."""

    @track_metrics
    def process(self, events: Any) -> Any:
        with track_time(self, "counting"):
            time.sleep(0.01)
        return Counter(events=len(events))

    def postprocess(self, accumulator: Any) -> Any:
        return Counter({name: int(value) + 0 for name, value in accumulator.items()})


class Looping(Counting):
    """The same with a dict, into which a record could be put."""

    @track_metrics
    def process(self, events: Any) -> Any:
        with track_time(self, "counting"):
            time.sleep(0.01)
        return {"events": len(events)}


class Filling(ProcessorABC):
    """Returns a histogram and nothing else."""

    @track_metrics
    def process(self, events: Any) -> Any:
        histogram = Hist.new.Reg(10, 0, 100, name="met").Double()
        histogram.fill(met=events.MET.pt)
        return histogram

    def postprocess(self, accumulator: Any) -> Any:
        return accumulator


class Spinning(ProcessorABC):
    """Takes a known CPU time."""

    @track_metrics
    def process(self, events: Any) -> Any:
        end = time.thread_time() + 0.05
        while time.thread_time() < end:
            pass
        return {"events": len(events)}

    def postprocess(self, accumulator: Any) -> Any:
        return accumulator


@pytest.mark.parametrize("kind", [Counting, Looping])
def test_a_processor_that_threads_share_runs_and_every_chunk_is_measured(
    kind: Any, threads: Client, small_fileset: Any
) -> None:
    """Threads that use one unpickled processor do not see each other's chunk, and an output that
    cannot carry a record, or a postprocess that looks at all of it, works as without a monitor.
    """
    processor = kind()
    with MetricsCollector(threads, processor_instance=processor) as collector:
        output, report = analyse(threads, small_fileset, processor, processor_compression=None)
        collector.set_coffea_report(report)
    assert output["events"] == report["entries"] == 12_000
    chunks = collector.chunk_metrics
    assert len(chunks) == report["chunks"] == 12
    assert {chunk["num_events"] for chunk in chunks} == {CHUNKSIZE}
    assert all(chunk["timing"]["counting"] < chunk["duration"] + 0.001 for chunk in chunks)


def test_fine_metrics_are_complete_where_heartbeats_are_slow(small_fileset: Any) -> None:
    """With more than ten workers heartbeats are a second and more apart: a run that is shorter
    than that has its whole CPU time in the fine metrics all the same.
    """
    processor = Spinning()
    with (
        local_cluster(n_workers=12, processes=False) as cluster,
        Client(cluster) as client,
    ):
        with MetricsCollector(client, processor_instance=processor) as collector:
            _, report = analyse(client, small_fileset, processor)
            collector.set_coffea_report(report)
        period = client.run(lambda dask_worker: dask_worker.heartbeat_interval)
        assert min(period.values()) >= 1
    assert report["chunks"] == 12
    metrics = collector.get_metrics()
    assert "processor_cpu_time_seconds" not in metrics.estimated
    assert metrics["processor_cpu_time_seconds"] >= 12 * 0.05


def test_cpu_time_is_cpu_time_and_efficiency_counts_it(client: Any, small_fileset: Any) -> None:
    """The wall time of process() is called so, and neither core efficiency nor speed-up rest on
    it where Dask tells the CPU time of tasks; none of them exceeds what the cores could do.
    """
    processor = Spinning()
    with MetricsCollector(client, processor_instance=processor) as collector:
        _, report = analyse(client, small_fileset, processor)
        collector.set_coffea_report(report)
    metrics = collector.get_metrics()
    tasks_s = metrics["processor_cpu_time_seconds"] + metrics["overhead_cpu_time_seconds"]
    cores_s = metrics["elapsed_time_seconds"] * metrics["total_cores"]
    assert metrics["core_efficiency"] == pytest.approx(tasks_s / cores_s, rel=1e-6)
    assert metrics["speedup_factor"] == pytest.approx(
        tasks_s / metrics["elapsed_time_seconds"], rel=1e-6
    )
    assert 0 < metrics["core_efficiency"] <= 1.0


def test_without_compression_the_processor_is_told_from_overhead(
    client: Any, small_fileset: Any
) -> None:
    """``DaskExecutor(compression=None)`` names chunks and preprocessing alike."""
    processor = Spinning()
    with MetricsCollector(client, processor_instance=processor) as collector:
        _, report = analyse(client, small_fileset, processor, executor={"compression": None})
        collector.set_coffea_report(report)
    assert collector.get_metrics()["processor_cpu_time_seconds"] >= report["chunks"] * 0.05


def test_an_output_that_is_no_dict_loses_no_chunk(client: Any, small_fileset: Any) -> None:
    """A bare histogram comes back as it is, and its chunks are measured."""
    with MetricsCollector(client) as collector:  # nor is a processor given
        output, report = analyse(client, small_fileset, Filling())
        collector.extract_metrics_from_output(output)
        collector.set_coffea_report(report)
    assert isinstance(output, Hist)
    assert output.sum(flow=True) == report["entries"]
    metrics = collector.get_metrics()
    assert metrics["num_chunks"] == report["chunks"]
    assert metrics["total_events_from_chunks"] == report["entries"]


def test_records_that_are_given_after_the_block_count(small_fileset: Any) -> None:
    """``extract_metrics_from_output`` behind the ``with`` has its effect on the metrics."""
    from coffea.processor import IterativeExecutor

    processor = Looping()
    with MetricsCollector(processor_instance=processor) as collector:
        output, report = Runner(
            executor=IterativeExecutor(status=False),
            schema=DemoSchema,
            chunksize=CHUNKSIZE,
            savemetrics=True,
        )(small_fileset, processor)
    collector.set_coffea_report(report)
    collector.extract_metrics_from_output(output)
    metrics = collector.get_metrics()
    assert metrics["num_chunks"] == report["chunks"]
    assert metrics["total_events_from_chunks"] == report["entries"]
    assert [section["name"] for section in collector.summary().sections()] == ["counting"]


def test_chunks_know_their_file_and_totals_of_a_file_come_once(
    client: Any, small_fileset: Any
) -> None:
    """The file's uuid is in every record; totals of its tree once for each process that met it."""
    with MetricsCollector(client) as collector:
        _, report = analyse(client, small_fileset, Looping())
        collector.set_coffea_report(report)
    chunks = list(collector.chunk_metrics)
    assert len({chunk["file"] for chunk in chunks}) == 2
    assert len({chunk["uuid"] for chunk in chunks}) == 2
    assert all(chunk["uuid"] for chunk in chunks)
    met = {(chunk["file"], chunk["worker"]) for chunk in chunks}
    told = [(c["file"], c["worker"]) for c in chunks if c.get("file_metadata")]
    assert sorted(told) == sorted(met)
    assert len(told) < len(chunks)


def test_times_of_a_saved_measurement_are_times(client: Any, tmp_path: Path) -> None:
    """Stamps of samples are UTC and lie within the run; elapsed time is that of the block."""
    before = time.time()
    with MetricsCollector(client, worker_tracking_interval=0.1) as collector:
        time.sleep(0.5)
    after = time.time()
    collector.set_coffea_report({"entries": 1, "processtime": 1.0, "chunks": 1, "bytesread": 1})
    path = collector.save_measurement(tmp_path, "saved")
    metrics, start, end = load_measurement(path)
    assert before - 1 <= start <= end <= after + 1
    assert end - start == pytest.approx(metrics["elapsed_time_seconds"], abs=1e-6)
    counts = metrics["tracking_data"]["worker_counts"]
    stamps = [stamp.replace(tzinfo=UTC).timestamp() for stamp in counts]
    assert before - 1 <= min(stamps) <= max(stamps) <= after + 1


def test_memory_between_tasks_is_not_called_file_input(
    client: Any, small_fileset: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """What tasks read out of Dask's memory is said to be that."""
    processor = Looping()
    with MetricsCollector(client, processor_instance=processor) as collector:
        _, report = analyse(client, small_fileset, processor)
        collector.set_coffea_report(report)
    assert collector.get_metrics()["total_bytes_read"] == report["bytesread"]
    collector.print_summary()
    lines = [line for line in capsys.readouterr().out.splitlines() if "Memory Read" in line]
    assert len(lines) == 1
    assert "between tasks" in lines[0]
