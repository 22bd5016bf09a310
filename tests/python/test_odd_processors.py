"""Processors, names and errors as nobody expects them: the analysis goes on as without us."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import pytest
from coffea.processor import IterativeExecutor, ProcessorABC, Runner

from analysis import DemoSchema
from roastcoffea import MetricsCollector, load_measurement, track_metrics
from roastcoffea.opened import open_run


class Base(ProcessorABC):
    def postprocess(self, accumulator: Any) -> Any:
        return accumulator


class Strict(Base):
    """Takes no attributes, and says so in its own way, as models of pydantic do."""

    def __setattr__(self, name: str, value: Any) -> None:
        raise ValueError(f"no such field: {name}")

    @track_metrics
    def process(self, events: Any) -> Any:
        return {"events": len(events)}


class Static(Base):
    @track_metrics
    @staticmethod
    def process(events: Any) -> Any:
        return {"events": len(events)}


class OfItsClass(Base):
    @track_metrics
    @classmethod
    def process(cls, events: Any) -> Any:
        return {"events": len(events)}


class Partial(Base):
    def count(self, name: str, events: Any) -> Any:
        return {name: len(events)}

    process = track_metrics(functools.partialmethod(count, "events"))


class Named(Base):
    @track_metrics
    def process(self, chunk: Any) -> Any:
        return {"events": len(chunk)}


class CallsByName(Named):
    def process(self, chunk: Any) -> Any:
        return super().process(chunk=chunk)


class AnswersEverything(Base):
    """Has an answer for every name."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return "anything"

    @track_metrics
    def process(self, events: Any) -> Any:
        return {"events": len(events)}


KINDS = [Strict, Static, OfItsClass, Partial, CallsByName, AnswersEverything]


def run(fileset: Any, processor: Any) -> tuple[Any, Any]:
    executor = IterativeExecutor(status=False)
    runner = Runner(executor, schema=DemoSchema, savemetrics=True, chunksize=2_000)
    output, report = runner(fileset, processor)
    return output, report


@pytest.mark.parametrize("kind", KINDS)
def test_a_processor_of_any_kind_is_measured(kind: Any, small_fileset: Any) -> None:
    processor = kind()
    assert run(small_fileset, processor)[0] == {"events": 12_000}
    with MetricsCollector(processor_instance=processor) as collector:
        output, report = run(small_fileset, processor)
        collector.extract_metrics_from_output(output)
        collector.set_coffea_report(report)
    assert output == {"events": 12_000}
    metrics = collector.get_metrics()
    assert metrics["num_chunks"] == report["chunks"]
    assert metrics["total_events_from_chunks"] == 12_000
    assert metrics["monitoring_faults"] == 0


class Speechless(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.parametrize("error", [Speechless(), ValueError("\udcff \0 \ud800")])
def test_an_error_without_a_message_ends_the_run_as_any_other(
    error: Exception, tmp_path: Path
) -> None:
    with (
        pytest.raises(type(error)) as raised,
        MetricsCollector(output_dir=tmp_path, measurement_name="one") as collector,
    ):
        raise error
    assert raised.value is error
    with open_run(tmp_path / "one.roast") as kept:
        assert kept.text("run.outcome") == "failed"
        assert str(kept.text("run.error")).startswith(type(error).__name__)
        assert kept.number("run.faults") == 0
    assert collector.summary() is not None


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("/DoubleMuon/Run2018A-UL2018/NANOAOD", "_DoubleMuon_Run2018A-UL2018_NANOAOD"),
        ("../../x", ".._.._x"),
        ("a\0b", "a_b"),
        ("\udcff", "\\udcff"),
        ("x" * 1_000, "x" * 200),
        (7, "7"),
    ],
)
def test_a_name_stays_in_its_directory(name: Any, stem: str, tmp_path: Path) -> None:
    place = tmp_path / "a" / "b"
    collector = MetricsCollector(output_dir=place, measurement_name=name)
    with collector:
        collector.set_coffea_report({"entries": 3})
    assert collector.run_path == place / f"{stem}.roast"
    saved = collector.save_measurement(place, name)
    assert saved == place / stem
    assert load_measurement(saved)[0]["total_events"] == 3
    assert sorted(path.name for path in place.iterdir()) == sorted([stem, f"{stem}.roast"])
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
