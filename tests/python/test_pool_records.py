"""Chunk records of process pools: every attempt leaves one, also one that has no output."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from coffea.processor import FuturesExecutor, ProcessorABC, Runner

from analysis import DemoSchema
from roastcoffea import MetricsCollector, collecting, track_metrics
from roastcoffea.backends.local import RecordFile

pytestmark = pytest.mark.slow

CHUNK_EVENTS = 1_000
N_CHUNKS = 12


class Failing(ProcessorABC):
    """One chunk of each file fails: at the first attempt, or always."""

    def __init__(self, directory: Path, *, always: bool = False) -> None:
        self.directory = directory
        self.always = always

    @track_metrics
    def process(self, events: Any) -> Any:
        metadata = events.metadata
        if metadata["entrystart"] == CHUNK_EVENTS:
            mark = self.directory / metadata["dataset"]
            if self.always or not mark.exists():
                mark.touch()
                raise OSError("the first attempt")
        return {"events": len(events)}

    def postprocess(self, accumulator: Any) -> Any:
        return accumulator


class Bare(ProcessorABC):
    """Its output can carry no record."""

    @track_metrics
    def process(self, events: Any) -> Any:
        return len(events)

    def postprocess(self, accumulator: Any) -> Any:
        return accumulator


def run(executor: Any, fileset: Any, processor: Any, **options: Any) -> tuple[Any, Any]:
    runner = Runner(
        executor, schema=DemoSchema, savemetrics=True, chunksize=CHUNK_EVENTS, **options
    )
    output, report = runner(fileset, processor)
    return output, report


def new_files() -> set[str]:
    return {name for name in os.listdir(tempfile.gettempdir()) if name.endswith(".records")}


@pytest.mark.parametrize("pool", ["loky", "processes"])
@pytest.mark.parametrize("track", [True, False])
def test_attempts_that_failed_in_a_pool_are_counted(
    pool: str, track: bool, small_fileset: Any, tmp_path: Path
) -> None:
    options = {"pool": ProcessPoolExecutor} if pool == "processes" else {}
    executor = FuturesExecutor(workers=2, status=False, **options)
    processor = Failing(tmp_path)
    files = new_files()
    with MetricsCollector(executor, processor_instance=processor, track_workers=track) as collector:
        output, report = run(executor, small_fileset, processor)
        collector.extract_metrics_from_output(output)
        collector.set_coffea_report(report)
    assert output == {"events": 12_000}
    metrics = collector.get_metrics()
    assert metrics["num_failed_chunks"] == metrics["num_retried_chunks"] == 2
    assert metrics["num_chunks"] == N_CHUNKS + 2
    assert not {"num_chunks", "num_failed_chunks"} & metrics.estimated.keys()
    assert metrics["total_events_from_chunks"] == 12_000
    assert [c["error_message"] for c in collector.chunk_metrics if c["outcome"] == "failed"] == [
        "the first attempt"
    ] * 2
    assert new_files() == files
    assert collecting.RECORDS_VARIABLE not in os.environ


def test_chunks_of_a_run_that_fails_are_there(small_fileset: Any, tmp_path: Path) -> None:
    executor = FuturesExecutor(workers=1, status=False)
    processor = Failing(tmp_path, always=True)
    with (
        pytest.raises(Exception, match="the first attempt"),
        MetricsCollector(executor, processor_instance=processor) as collector,
    ):
        run(executor, small_fileset, processor)
    outcomes = [chunk["outcome"] for chunk in collector.chunk_metrics]
    assert outcomes.count("failed") >= 1
    assert outcomes.count("finished") >= 1


def test_chunks_whose_output_carries_nothing_are_there(small_fileset: Any) -> None:
    executor = FuturesExecutor(workers=2, status=False)
    processor = Bare()
    with MetricsCollector(executor, processor_instance=processor) as collector:
        output, report = run(executor, small_fileset, processor)
        collector.set_coffea_report(report)
    assert output == 12_000
    assert collector.get_metrics()["total_events_from_chunks"] == 12_000


def test_collectors_around_each_other_have_the_same_chunks(
    small_fileset: Any, tmp_path: Path
) -> None:
    executor = FuturesExecutor(workers=1, status=False)
    processor = Failing(tmp_path)
    with (
        MetricsCollector(executor, processor_instance=processor) as outer,
        MetricsCollector(executor, processor_instance=processor) as inner,
    ):
        run(executor, small_fileset, processor)
    for collector in (outer, inner):
        assert len(collector.chunk_metrics) == N_CHUNKS + 2


def test_a_pool_that_is_older_than_the_collector_makes_counts_estimates(
    small_fileset: Any, tmp_path: Path
) -> None:
    processor = Failing(tmp_path)
    with ProcessPoolExecutor(1) as pool:
        pool.submit(os.getpid).result()
        executor = FuturesExecutor(pool=pool, status=False)
        with MetricsCollector(executor, processor_instance=processor) as collector:
            output, report = run(executor, small_fileset, processor)
            collector.extract_metrics_from_output(output)
            collector.set_coffea_report(report)
    metrics = collector.get_metrics()
    assert metrics["num_successful_chunks"] == N_CHUNKS
    assert "num_successful_chunks" not in metrics.estimated
    for key in ("num_chunks", "num_failed_chunks", "num_retried_chunks"):
        assert "in the output alone" in metrics.estimated[key]


def test_a_record_is_read_when_it_is_complete() -> None:
    file = RecordFile()
    try:
        assert collecting.leave(b"first")
        assert file.read() == [b"first"]
        with open(file.path, "ab", buffering=0) as other:
            other.write((6).to_bytes(collecting.RECORD_HEAD_BYTES, "little") + b"sec")
            assert file.read() == []
            other.write(b"ond")
        assert collecting.leave(b"")
        assert file.read() == [b"second", b""]
    finally:
        file.close()
    assert not Path(file.path).exists()
    assert not collecting.leave(b"too late")
    assert not Path(file.path).exists()


def test_where_no_file_can_be_made_the_rest_is_measured(
    small_fileset: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    executor = FuturesExecutor(pool=ProcessPoolExecutor, workers=1, status=False)
    processor = Bare()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    with MetricsCollector(executor, processor_instance=processor) as collector:
        monkeypatch.undo()
        output, report = run(executor, small_fileset, processor)
        collector.set_coffea_report(report)
    assert output == 12_000
    assert collector.get_metrics()["peak_workers"] == 1


def test_a_temporary_directory_may_have_any_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = tmp_path / "node:0, scratch"
    directory.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(directory))
    first, second = RecordFile(), RecordFile()
    try:
        assert collecting.leave(b"for both")
        assert first.read() == second.read() == [b"for both"]
        first.close()
        assert collecting.leave(b"for one")
        assert second.read() == [b"for one"]
    finally:
        second.close()
    assert collecting.RECORDS_VARIABLE not in os.environ


KILLED = """
import time
from roastcoffea import MetricsCollector

with MetricsCollector():
    print("collecting", flush=True)
    time.sleep(600)
"""


def test_what_a_killed_collector_left_is_removed_by_the_next_but_nothing_that_is_in_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", KILLED], env=environment, stdout=subprocess.PIPE, text=True
    ) as killed:
        assert killed.stdout is not None
        assert killed.stdout.readline() == "collecting\n"
        (left,) = new_files()
        with MetricsCollector():
            assert len(new_files()) == 2
        assert new_files() == {left}
        killed.kill()
        killed.wait(timeout=60)
    assert new_files() == {left}
    with MetricsCollector():
        (own,) = new_files()
    assert own != left
    assert new_files() == set()
