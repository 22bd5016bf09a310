"""Every Python block of the documents runs, unchanged; those of an analysis on every executor.

The names that a block leaves open (fileset, runner, result, ...) are defined here; nothing else is.
The blocks are those of tests/data/snippets.md, and of the documents of the earlier package where
they lie next to the clone.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import awkward as ak
import pytest
from coffea import processor as coffea_processor
from coffea.processor import DaskExecutor, FuturesExecutor, IterativeExecutor, Runner
from oracles import DATA, SHARED

from analysis import DemoSchema
from roastcoffea import MetricsCollector, track_memory, track_metrics, track_time
from roastcoffea.instrumentation import BaseInstrumentationContext

SNIPPETS = DATA / "snippets.md"
SEEDS = SHARED / "seeds"


@pytest.fixture(autouse=True, params=[SNIPPETS, *[SEEDS] * SEEDS.is_dir()], ids=lambda p: p.stem)
def source(request: pytest.FixtureRequest) -> Iterator[Path]:
    """Where block() takes a block from."""
    global SOURCE
    SOURCE = request.param
    yield SOURCE
    SOURCE = SNIPPETS


SOURCE = SNIPPETS

#: A line of code in a document that does not mark its code, and a line of a list, which is none
CODE = re.compile(
    r"(from|import|class|def|with|for|if) \w|processor\._|result\W|# |@|return\b|    +\S|\)$"
)
LISTED = re.compile(r"\s+(•|\d+\.)")


def unmarked_blocks(text: str) -> list[str]:
    blocks: list[str] = []
    now: list[str] = []
    for line in [*text.splitlines(), "The end."]:
        if CODE.match(line) and not LISTED.match(line):
            now.append(line)
        elif not line.strip() and now:
            now.append("")
        elif now:
            blocks.append("\n".join(now).strip("\n") + "\n")
            now = []
    return blocks


def snippets() -> dict[str, str]:
    """Return the block under each heading."""
    text = SNIPPETS.read_text(encoding="utf-8")
    return dict(re.findall(r"^## (\w+)\n\n```python\n(.*?)```", text, re.DOTALL | re.MULTILINE))


def all_blocks() -> list[str]:
    """Return every Python block of every document."""
    blocks = []
    for document in sorted(SEEDS.glob("*.txt")):
        text = document.read_text(encoding="utf-8")
        if "```" in text:
            blocks += re.findall(r"```python\n(.*?)```", text, re.DOTALL)
        elif not text.startswith("#"):  # Markdown marks its code
            blocks += unmarked_blocks(text)
    return [textwrap.dedent(block) for block in blocks]


def block(containing: str) -> str:
    """Return the snippet of the test that RUN_BY names, or the document's block of these words.

    Where two documents have it, it is the same.
    """
    if SOURCE == SNIPPETS:
        return snippets()[RUN_BY[containing]]
    (found,) = {b for b in all_blocks() if containing in b}
    return found


#: Words that only one block has, and the test that runs it
RUN_BY = {
    'with track_time(self, "jet_selection")': "test_a_timed_section",
    "# On worker": "test_the_output_carries_the_records",
    "branches = {col[:-5]": "test_columns_of_the_report",
    "# Retry attempts:": "test_there_is_nothing_to_run_in_a_comment",
    "backend = DaskBackend(client)": "test_retries",
    'with track_section(self, "histogram_filling")': "test_sections",
    "How much memory do histograms use?": "test_memory_of_a_section",
    "class MyCustomTracker": "test_custom_trackers",
    'output_dir="benchmarks"': "test_minimal",
    "mc.set_chunk_metrics(processor_instance._chunk_metrics)": "test_standard",
    "from coffea_metrics import track_metrics, track_section, track_memory": "test_advanced",
    "Automatic - fine metrics collected by default": "test_complete",
    "class TaskVineMetricsBackend": "test_a_custom_back_end",
    "def get_parser(backend: str)": "test_parsers_of_custom_back_ends",
    "class CustomProcessor": "test_the_advanced_pages_custom_fields",
    "processor._roastcoffea_collect_metrics = False": "test_the_flag",
    "worker_tracking_interval=0.5": "test_the_interval",
    "# Raw chunk data": "test_raw_data",
    "def calculate_efficiency_metrics": "test_derived_metrics",
}


def test_every_block_is_run(source: Path) -> None:
    if source == SNIPPETS:
        assert set(snippets()) == set(RUN_BY.values())
        assert SNIPPETS.read_text(encoding="utf-8").count("```python") == len(RUN_BY) == 19
        return
    for found in all_blocks():
        runners = {test for words, test in RUN_BY.items() if words in found}
        assert len(runners) == 1, found
        assert runners <= set(globals())
    assert len(all_blocks()) >= len(RUN_BY) == 19


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
    exec(block("class CustomProcessor"), names)
    for record in run(names, names["CustomProcessor"]()):
        assert record["custom_count"] == 42


# -- blocks that need no executor ----------------------------------------------------------


def as_method(source: str, names: dict[str, Any]) -> Any:
    """Return a decorated ``process`` whose body is the block."""
    body = textwrap.indent(source, "    ")
    exec(f"@track_metrics\ndef process(self, events):\n{body}", names)
    return names["process"]


def record_of(source: str, **names: Any) -> dict[str, Any]:
    """Run a block inside a processor and return the chunk's record."""
    names |= {"track_metrics": track_metrics, "track_time": track_time}
    names |= {"track_memory": track_memory, "__name__": "a_document"}
    written = type("Written", (Base,), {"process": as_method(source, names)})
    with MetricsCollector() as collector:
        written().process(ak.Array([1, 2, 3]))
        collector.set_chunk_metrics(written._chunk_metrics)
    (record,) = collector.chunk_metrics
    return dict(record)


def test_a_timed_section() -> None:
    jets = ak.Array({"pt": [40.0, 20.0]})
    record = record_of(block('with track_time(self, "jet_selection")'), jets=jets)
    assert set(record["timing"]) == {"jet_selection"}


def test_memory_of_a_section() -> None:
    jets = SimpleNamespace(pt=[1.0])
    record = record_of(block("How much memory do histograms use?"), jets=jets)
    assert set(record["memory"]) == {"histogram_filling"}


def test_the_output_carries_the_records() -> None:
    """The block is what the decorator does, and what it leaves is what the collector takes."""
    names: dict[str, Any] = {"events": [1, 2, 3], "chunk_metrics": {"duration": 1.0}}
    exec("def work():\n" + textwrap.indent(block("# On worker"), "    "), names)
    output = names["work"]()
    with MetricsCollector() as collector:
        collector.extract_metrics_from_output(output)
    assert output == {"sum": 3}
    assert collector.chunk_metrics == [{"duration": 1.0}]


def test_columns_of_the_report() -> None:
    from roastcoffea.aggregation.branch_coverage import parse_accessed_branches

    names: dict[str, Any] = {"columns": ["Jet_pt-data", "nJet-offsets", "Muon_pt-data"]}
    exec(block("branches = {col[:-5]"), names)
    assert names["branches"] == parse_accessed_branches(names["columns"]) == {"Jet_pt", "Muon_pt"}


def test_there_is_nothing_to_run_in_a_comment() -> None:
    exec(block("# Retry attempts:"), {})


def test_retries(client: Any) -> None:
    from roastcoffea.backends.dask import DaskBackend

    backend = DaskBackend(client)
    span_info = backend.create_span("document")
    with span_info["context"] as span_id:
        assert client.submit(sum, [1, 2], pure=False).result() == 3
    names = {
        "client": client,
        "DaskBackend": DaskBackend,
        "span_info": {**span_info, "id": span_id},
    }
    exec(block("backend = DaskBackend(client)"), names)
    assert any(key[2] == "thread-cpu" for key in names["metrics"])


@pytest.fixture
def taskvine() -> Any:
    """The advanced page's back end, registered."""
    from roastcoffea import register_backend
    from roastcoffea.aggregation.backends import AbstractTrackingDataParser
    from roastcoffea.backends import unregister_backend

    class TaskVineMetricsParser(AbstractTrackingDataParser):
        def parse_tracking_data(self, tracking_data: Any) -> dict[str, Any]:
            return {"avg_workers": 3.0, "seen": tracking_data}

    names: dict[str, Any] = {"Any": Any, "TaskVineMetricsParser": TaskVineMetricsParser}
    exec(block("class TaskVineMetricsBackend"), names)
    register_backend("taskvine", names["TaskVineMetricsBackend"], TaskVineMetricsParser)
    yield names
    unregister_backend("taskvine")


@pytest.mark.parametrize("executor", ["iterative"], indirect=True)
def test_a_custom_back_end(names: dict[str, Any], taskvine: dict[str, Any]) -> None:
    manager = object()
    with MetricsCollector(manager, backend="taskvine") as collector:
        _, report = names["runner"](names["fileset"], names["processor_instance"])
        collector.set_coffea_report(report)
    assert type(collector.metrics_backend) is taskvine["TaskVineMetricsBackend"]
    assert collector.metrics_backend.manager is manager
    assert collector.tracking_data == {"taskvine_metrics": ...}
    assert collector.get_metrics()["total_events"] == 12_000
    assert collector.aggregator.parser.parse_tracking_data({})["avg_workers"] == 3.0


def test_parsers_of_custom_back_ends(taskvine: dict[str, Any]) -> None:
    from roastcoffea.aggregation.backends import DaskMetricsParser, get_parser

    names = {**taskvine, "DaskMetricsParser": DaskMetricsParser}
    exec(block("def get_parser(backend: str)"), names)
    for backend in ("dask", "taskvine"):
        assert type(names["get_parser"](backend)) is type(get_parser(backend))


def test_the_flag() -> None:
    names = {"processor": Decorated()}
    exec(block("processor._roastcoffea_collect_metrics = False"), names)
    assert names["processor"]._roastcoffea_collect_metrics is True
    names["processor"]._roastcoffea_collect_metrics = False
    assert names["processor"].process(ak.Array([1])) == {"events": 1}


def test_the_interval(client: Any) -> None:
    names: dict[str, Any] = {"client": client, "MetricsCollector": MetricsCollector}
    exec(block("worker_tracking_interval=0.5"), names)
    assert names["collector"].run.facts()["backend.interval_s"] == 0.5


@pytest.mark.parametrize("executor", ["dask"], indirect=True)
def test_raw_data(names: dict[str, Any], client: Any, capsys: pytest.CaptureFixture[str]) -> None:
    with MetricsCollector(client) as collector:
        output, report = names["runner"](names["fileset"], names["processor_instance"])
        collector.extract_metrics_from_output(output)
        collector.set_coffea_report(report)
    capsys.readouterr()
    exec(block("# Raw chunk data"), {"collector": collector})
    printed = capsys.readouterr().out
    assert len(re.findall(r"^[\d.e-]+ 2000$", printed, re.MULTILINE)) == 6
    assert "datetime.datetime(" in printed
    assert "thread-cpu" in printed


def test_derived_metrics() -> None:
    """The documented place to extend still works by hand; register_metric() does it for all."""
    names: dict[str, Any] = {"metrics": {}}
    exec(block("def calculate_efficiency_metrics"), names)
    result = names["calculate_efficiency_metrics"]({"total_events": 10}, {"avg_workers": 2})
    assert result == {"custom_efficiency": 5.0}
