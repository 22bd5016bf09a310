"""Chunk records of executors without a cluster, also where the output carries none."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from analysing import CHUNKSIZE
from coffea.processor import FuturesExecutor, IterativeExecutor, ProcessorABC, Runner
from stand_in import Events
from waiting import until

from analysis import DemoSchema
from roastcoffea import MetricsCollector, open_run, track_metrics
from roastcoffea.backends.local import LocalMetricsBackend


class Failing(ProcessorABC):
    """Fails for one chunk of each file."""

    @track_metrics
    def process(self, events: Any) -> Any:
        if events.metadata["entrystart"] == CHUNKSIZE:
            raise OSError("the file cannot be read any more")
        return {"events": len(events)}

    def postprocess(self, accumulator: Any) -> Any:
        return accumulator


class Listing(ProcessorABC):
    """Gives lists, which carry no records."""

    @track_metrics
    def process(self, events: Any) -> Any:
        return [len(events)]

    def postprocess(self, accumulator: Any) -> Any:
        return accumulator


EXECUTORS: dict[str, Any] = {
    "iterative": lambda: IterativeExecutor(status=False, retries=0),
    "threads": lambda: FuturesExecutor(pool=ThreadPoolExecutor, workers=2, status=False, retries=0),
}


@pytest.fixture(params=sorted(EXECUTORS))
def measured(request: pytest.FixtureRequest, small_fileset: Any) -> Any:
    """Return a function that measures a processor."""
    executor = EXECUTORS[request.param]()
    run = Runner(
        executor=executor,
        schema=DemoSchema,
        chunksize=CHUNKSIZE,
        savemetrics=True,
        skipbadfiles=True,
        metadata_cache={},
    )

    def measure(processor: Any) -> tuple[Any, dict[str, Any]]:
        with MetricsCollector(executor, processor_instance=processor) as collector:
            output, report = run(small_fileset, processor)
            collector.extract_metrics_from_output(output)
            collector.set_coffea_report(report)
        return output, collector.get_metrics()

    return measure


@pytest.mark.filterwarnings("ignore:Skipping bad file")
def test_chunks_that_failed_are_known(measured: Any) -> None:
    output, metrics = measured(Failing())
    assert output == {"events": 8_000}
    assert metrics["num_chunks"] == 6
    assert metrics["num_successful_chunks"] == 4
    assert metrics["num_failed_chunks"] == 2
    assert metrics["total_events_from_chunks"] == 8_000


def test_an_output_that_is_no_dict_loses_no_record(measured: Any) -> None:
    output, metrics = measured(Listing())
    assert sum(output) == 12_000
    assert metrics["num_chunks"] == metrics["num_successful_chunks"] == 6
    assert metrics["total_events_from_chunks"] == 12_000


def test_a_forked_child_that_leaves_the_block_leaves_the_run_alone(tmp_path: Path) -> None:
    with MetricsCollector(output_dir=tmp_path, track_workers=False) as collector:
        child = os.fork()
        if child == 0:
            try:
                collector.__exit__(SystemExit, SystemExit(0), None)
            finally:
                os._exit(0)
        assert os.waitpid(child, 0) == (child, 0)
        collector.run.fact("told.later", 1)
    assert collector.run_path is not None
    metrics = open_run(collector.run_path).metrics
    assert metrics["monitoring_faults"] == 0
    assert b"SystemExit" not in collector.run_path.read_bytes()


def files(collector: MetricsCollector) -> list[str]:
    return [chunk["file"] for chunk in collector.chunk_metrics]


@pytest.mark.parametrize("track", [True, False])
def test_records_are_in_the_file_while_the_run_lasts(track: bool, tmp_path: Path) -> None:
    processor = Listing()
    with MetricsCollector(
        processor_instance=processor, output_dir=tmp_path, track_workers=track
    ) as collector:
        processor.process(Events())
        assert files(collector) == ["f.root"]
        path = collector.run_path
        assert path is not None
        assert until(lambda: len(open_run(path).chunks) == 1, timeout_s=10)


def test_collectors_within_each_other_see_what_happens_in_their_own_block() -> None:
    processor = Listing()
    with MetricsCollector(processor_instance=processor) as outer:
        processor.process(Events(filename="before"))
        with MetricsCollector(processor_instance=processor, track_workers=False) as inner:
            processor.process(Events(filename="within"))
        processor.process(Events(filename="after"))
    assert files(outer) == ["before", "within", "after"]
    assert files(inner) == ["within"]


def test_an_output_that_is_looked_at_late_brings_no_records_of_another_run() -> None:
    processor = Failing()
    with MetricsCollector(processor_instance=processor) as first:
        output = processor.process(Events(filename="first"))
    with MetricsCollector(processor_instance=processor) as second:
        processor.process(Events(filename="second"))
    first.extract_metrics_from_output(output)
    assert (files(first), files(second)) == (["first"], ["second"])


def test_a_run_that_takes_no_records_leaves_the_output_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(self: Any, data: bytes) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(LocalMetricsBackend, "_take", broken)
    processor = Failing()
    with MetricsCollector(processor_instance=processor) as collector:
        output = processor.process(Events())
        assert files(collector) == []
        collector.extract_metrics_from_output(output)
    assert output == {"events": 5}
    assert files(collector) == ["f.root"]
