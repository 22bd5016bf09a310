"""The code of the metrics reference runs, unchanged, on every executor.

The names that a block leaves open (fileset, runner, result, ...) are defined here; nothing else is.
"""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import awkward as ak
import pytest
from coffea import processor as coffea_processor
from coffea.processor import DaskExecutor, FuturesExecutor, IterativeExecutor, Runner

from analysis import DemoSchema
from roastcoffea import MetricsCollector, track_metrics
from roastcoffea.instrumentation import BaseInstrumentationContext

SEEDS = Path(__file__).resolve().parents[3] / "shared" / "seeds"

pytestmark = pytest.mark.skipif(
    not SEEDS.is_dir(), reason="the documents are not beside this clone: ../shared/seeds"
)


def block(containing: str) -> str:
    """Return the one Python block of the metrics reference that has these words."""
    (reference,) = SEEDS.glob("002_*.txt")
    blocks = re.findall(r"```python\n(.*?)```", reference.read_text(encoding="utf-8"), re.DOTALL)
    (found,) = [b for b in blocks if containing in b]
    return found


class Base(coffea_processor.ProcessorABC):
    """The parts of a processor that the documents leave out."""

    hist = SimpleNamespace(fill=lambda values: None)

    def process(self, events: Any) -> Any:
        raise NotImplementedError

    def postprocess(self, accumulator: Any) -> Any:
        return accumulator


class Decorated(Base):
    @track_metrics
    def process(self, events: Any) -> Any:
        return {"events": len(events)}


@pytest.fixture(params=["iterative", "futures", "dask"])
def executor(request: pytest.FixtureRequest) -> Any:
    if request.param == "iterative":
        return IterativeExecutor(status=False)
    if request.param == "futures":
        return FuturesExecutor(status=False, workers=2)
    return DaskExecutor(client=request.getfixturevalue("client"), status=False)


@pytest.fixture
def names(
    executor: Any, small_fileset: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, Any]:
    """What the blocks leave open."""
    monkeypatch.chdir(tmp_path)
    runner = Runner(executor=executor, schema=DemoSchema, chunksize=2_000, savemetrics=True)
    return {
        "__name__": "a_document",  # classes of no module are pickled by value
        "executor": executor,
        "runner": runner,
        "fileset": small_fileset,
        "output_dir": tmp_path / "out",
        "processor": SimpleNamespace(ProcessorABC=Base),
        "processor_instance": Decorated(),
        "result": {"n": 1},
        "BaseInstrumentationContext": BaseInstrumentationContext,
        "compute_something": lambda: 42,
    }


def run(names: dict[str, Any], processor: Any) -> Any:
    """Run a processor of a document under a collector and return the records."""
    with MetricsCollector(names["executor"]) as collector:
        output, report = names["runner"](names["fileset"], processor)
        collector.extract_metrics_from_output(output)
        collector.set_coffea_report(report)
    assert collector.get_metrics()["num_successful_chunks"] == report["chunks"] == 6
    return collector.chunk_metrics


def test_minimal(names: dict[str, Any]) -> None:
    exec(block('output_dir="benchmarks"'), names)
    metrics = names["mc"].get_metrics()
    assert metrics["total_events"] == 12_000
    assert list(Path("benchmarks").glob("*.roast"))


def test_standard(names: dict[str, Any]) -> None:
    exec(block("mc.set_chunk_metrics(processor_instance._chunk_metrics)"), names)
    report = names["report"]
    names["mc"].extract_metrics_from_output(names["output"])
    assert names["mc"].get_metrics()["num_successful_chunks"] == report["chunks"]
    assert len(run(names, names["MyProcessor"]())) == 6


def test_advanced(names: dict[str, Any]) -> None:
    exec(block("from coffea_metrics import track_metrics, track_section, track_memory"), names)
    for record in run(names, names["MyProcessor"]()):
        assert [s["section_name"] for s in record["sections"]] == ["jet_selection"]
        (memory,) = record["memory_sections"]
        assert memory["section_name"] == "histogram_filling"
        assert memory["memory_end_gb"] - memory["memory_start_gb"] == pytest.approx(
            memory["memory_delta_gb"]
        )


@pytest.mark.parametrize("executor", ["iterative"], indirect=True)
def test_sections(names: dict[str, Any]) -> None:
    """The block's method returns nothing, which coffea refuses: it is called directly."""
    from roastcoffea import track_section

    names |= {"track_metrics": track_metrics, "track_section": track_section}
    exec(block('with track_section(self, "histogram_filling")'), names)
    written = type("Written", (Base,), {"process": names["process"]})
    events = ak.Array([{"Jet": [{"pt": 40.0}, {"pt": 20.0}]}])
    with MetricsCollector() as collector:
        assert written().process(events) is None
        collector.set_chunk_metrics(written._chunk_metrics)
    (record,) = collector.chunk_metrics
    assert set(record["timing"]) == {"jet_selection", "histogram_filling"}


def test_custom_trackers(names: dict[str, Any]) -> None:
    exec(block("class MyCustomTracker"), names)
    tracker = names["MyCustomTracker"]

    class Custom(Base):
        @track_metrics
        def process(self, events: Any) -> Any:
            with tracker(self):
                pass
            return {"events": len(events)}

    for record in run(names, Custom()):
        assert record["custom_metrics"] == {"my_metric": 42}


@pytest.mark.parametrize("executor", ["dask"], indirect=True)
def test_complete(names: dict[str, Any], client: Any, capsys: pytest.CaptureFixture[str]) -> None:
    names |= {"client": client, "MetricsCollector": MetricsCollector}
    exec(block("Automatic - fine metrics collected by default"), names)
    printed = capsys.readouterr().out
    assert "Processor CPU time:" in printed
    assert "Throughput Metrics" in printed


def test_the_advanced_pages_custom_fields(names: dict[str, Any]) -> None:
    (page,) = SEEDS.glob("003_*.txt")
    text = page.read_text(encoding="utf-8")
    start = text.index("from roastcoffea import track_metrics")
    exec(text[start : text.index("The custom field will appear")], names)
    for record in run(names, names["CustomProcessor"]()):
        assert record["custom_count"] == 42
