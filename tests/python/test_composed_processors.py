"""Processors that use each other: code between coffea and a decorated method sees no records."""

from __future__ import annotations

import functools
import inspect
import logging
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import awkward as ak
import pytest
from coffea.processor import (
    DaskExecutor,
    FuturesExecutor,
    IterativeExecutor,
    ProcessorABC,
    Runner,
)

from analysis import DemoSchema
from roastcoffea import MetricsCollector, track_metrics, track_time

KEY = "__roastcoffea_metrics__"
N_CHUNKS = 12
TAKES_FUNCTIONS = "Callable" in str(inspect.signature(Runner.__call__))


class Base(ProcessorABC):
    """A decorated processor."""

    @track_metrics
    def process(self, events: Any) -> Any:
        with track_time(self, "base"):
            return {"n": len(events), "met": float(ak.sum(events.MET.pt))}

    def postprocess(self, accumulator: Any) -> Any:
        return accumulator


class Scaled(Base):
    """An override without a decorator that goes over every value."""

    def process(self, events: Any) -> Any:
        return {key: value * 2.0 for key, value in super().process(events).items()}


class Wrapping(ProcessorABC):
    """Hands over to another processor; its postprocess() is unknown to us."""

    def __init__(self) -> None:
        self.inner = Base()

    def process(self, events: Any) -> Any:
        return self.inner.process(events)

    def postprocess(self, accumulator: Any) -> Any:
        return {key: value / 2 for key, value in accumulator.items()}


def doubling(function: Any) -> Any:
    """A decorator of the user's."""

    @functools.wraps(function)
    def doubled(self: Any, events: Any) -> Any:
        return {key: 2 * value for key, value in function(self, events).items()}

    return doubled


class Decorated(ProcessorABC):
    """Has another decorator above ours."""

    @doubling
    @track_metrics
    def process(self, events: Any) -> Any:
        return {"n": len(events)}

    def postprocess(self, accumulator: Any) -> Any:
        return {key: value / 2 for key, value in accumulator.items()}


class Varied(Base):
    """Calls the decorated method for each of several variations."""

    def process(self, events: Any) -> Any:
        return {name: super(Varied, self).process(events) for name in ("nominal", "up")}

    def postprocess(self, accumulator: Any) -> Any:
        return {name: sum(values.values()) for name, values in accumulator.items()}


class Several(ProcessorABC):
    """Decorated, and calls decorated ones."""

    def __init__(self) -> None:
        self.parts = {"a": Base(), "b": Base()}

    @track_metrics
    def process(self, events: Any) -> Any:
        return {name: part.process(events) for name, part in self.parts.items()}

    def postprocess(self, accumulator: Any) -> Any:
        return {name: sum(values.values()) for name, values in accumulator.items()}


class Threaded(Several):
    """Calls decorated ones from threads of its own."""

    @track_metrics
    def process(self, events: Any) -> Any:
        with ThreadPoolExecutor(2) as pool:
            outputs = pool.map(lambda part: part.process(events), self.parts.values())
            return dict(zip(self.parts, outputs, strict=True))


@track_metrics
def function(events: Any) -> Any:
    """A processor that is no class."""
    return {"n": len(events)}


def analyse(executor: Any, fileset: Any, processor: Any) -> Any:
    return Runner(executor=executor, schema=DemoSchema, chunksize=1_000, savemetrics=True)(
        fileset, processor
    )


def measure(executor: Any, fileset: Any, processor: Any) -> tuple[MetricsCollector, Any]:
    """Measure an analysis, whose output is what it is without."""
    expected, _ = analyse(executor, fileset, processor)
    with MetricsCollector(executor, processor_instance=processor) as collector:
        output, report = analyse(executor, fileset, processor)
        collector.extract_metrics_from_output(output)
        collector.set_coffea_report(report)
    assert output == expected
    return collector, report


@pytest.mark.parametrize("where", ["iterative", "dask"])
@pytest.mark.parametrize(
    ("kind", "n_records"),
    [
        (Base, N_CHUNKS),
        (Scaled, N_CHUNKS),
        (Wrapping, N_CHUNKS),
        (Decorated, N_CHUNKS),
        (Several, N_CHUNKS),
        (Threaded, N_CHUNKS),
        (Varied, 2 * N_CHUNKS),
        pytest.param(
            lambda: function,
            N_CHUNKS,
            marks=pytest.mark.skipif(
                not TAKES_FUNCTIONS, reason="this coffea takes no functions as processors"
            ),
        ),
    ],
)
def test_the_output_is_the_same_and_every_record_arrives(
    where: str, kind: Any, n_records: int, client: Any, small_fileset: Any
) -> None:
    executor: Any = IterativeExecutor(status=False)
    if where == "dask":
        executor = DaskExecutor(client=client, status=False, retries=0)
    processor = kind()
    collector, report = measure(executor, small_fileset, processor)
    assert report["chunks"] == N_CHUNKS
    metrics = collector.get_metrics()
    assert metrics["num_chunks"] == n_records
    assert metrics["monitoring_faults"] == 0
    assert {chunk["num_events"] for chunk in collector.chunk_metrics} == {1_000}
    if kind is Several:
        assert all(list(chunk["timing"]) == ["base"] for chunk in collector.chunk_metrics)


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Path]:
    """What this process and those that it forks log."""
    handler = logging.FileHandler(tmp_path / "log")
    logging.getLogger("roastcoffea").addHandler(handler)
    yield tmp_path / "log"
    logging.getLogger("roastcoffea").removeHandler(handler)
    handler.close()


def test_records_that_a_pool_cannot_hand_on_are_told_of(small_fileset: Any, log: Path) -> None:
    processor = Wrapping()
    processor.inner._roastcoffea_collect_metrics = True  # its process is older than the collector
    with ProcessPoolExecutor(1) as pool:
        executor = FuturesExecutor(pool=pool, status=False)
        collector, report = measure(executor, small_fileset, processor)
    metrics = collector.get_metrics()
    assert metrics["num_chunks"] == report["chunks"]
    assert metrics.absent["chunk_duration_mean"] == "no chunk records"
    assert "records that no output carries" in log.read_text()


def test_a_processor_that_coffea_traces_is_no_chunk(small_fileset: Any) -> None:
    trace = pytest.importorskip(
        "coffea.nanoevents.trace", reason="this coffea traces no processors"
    )
    if "trace" not in inspect.signature(Runner.__call__).parameters:
        pytest.skip("this coffea traces no processors")
    processor = Scaled()
    executor = IterativeExecutor(status=False)
    runner = Runner(executor=executor, schema=DemoSchema, chunksize=1_000, savemetrics=True)
    with MetricsCollector(executor, processor_instance=processor) as collector:
        _, report = runner(small_fileset, processor, trace=trace.trace_with_length_one_array)
        collector.set_coffea_report(report)
    assert collector.get_metrics()["num_chunks"] == report["chunks"] == N_CHUNKS


def test_a_call_by_hand_has_its_record() -> None:
    processor = Base()
    processor.__dict__["_roastcoffea_collect_metrics"] = True

    class Events(list[int]):
        MET: Any = type("MET", (), {"pt": [1.0]})

    assert KEY in processor.process(Events([1]))
    assert KEY in functools.partial(processor.process)(Events([1]))


def test_calls_by_hand_in_several_threads_have_their_records() -> None:
    class Met(list[int]):
        barrier = threading.Barrier(2)

        def __len__(self) -> int:
            self.barrier.wait(10)
            return 1

    events = Met()

    class Counting:
        _roastcoffea_collect_metrics = True

        @track_metrics
        def process(self, events: Any) -> Any:
            return {"n": len(events)}

    with ThreadPoolExecutor(2) as pool:
        outputs = pool.map(lambda _: Counting().process(events), range(2))
        assert [len(output[KEY]) for output in outputs] == [1, 1]
