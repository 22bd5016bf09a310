"""What users see and read back has the documented words, keys and messages.

What is documented stands in tests/data/surface.toml.
"""

from __future__ import annotations

import builtins
import json
import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest
import test_plots_data as plot_data
from coffea import processor as coffea_processor
from coffea.processor import IterativeExecutor, Runner
from oracles import GOLDEN, SURFACE
from test_plots_data import draw, parameters, texts

from analysis import DemoSchema
from roastcoffea import (
    MetricsCollector,
    load_measurement,
    track_bytes,
    track_memory,
    track_metrics,
    track_time,
)
from roastcoffea.aggregation.backends import get_parser
from roastcoffea.aggregation.chunk import aggregate_chunk_metrics
from roastcoffea.aggregation.core import MetricsAggregator
from roastcoffea.backends.dask import DaskMetricsBackend
from roastcoffea.export import reporter
from roastcoffea.export.measurements import save_measurement
from roastcoffea.visualization import plots

COLLECTOR = SURFACE["collector"]
KEYS = SURFACE["keys"]


def says(name: str) -> Any:
    """Expect the documented exception with the documented words."""
    kind, words = SURFACE["messages"][name]
    error = json.JSONDecodeError if kind == "JSONDecodeError" else getattr(builtins, kind)
    return pytest.raises(error, match=words.replace("(", r"\("))


# -- a collector and its records -----------------------------------------------------------


class Sections(coffea_processor.ProcessorABC):
    """One section of each kind."""

    @track_metrics
    def process(self, events: Any) -> Any:
        with track_time(self, "selection"), track_bytes(self, events, "selection"):
            n = int((events.MET.pt > 20).to_numpy().sum())
        with track_memory(self, "filling"):
            pass
        return {"n": n}

    def postprocess(self, accumulator: Any) -> Any:
        return accumulator


@pytest.fixture(scope="module")
def collected(cluster: Any, small_fileset: Any) -> MetricsCollector:
    """A finished run of two files under Dask's collector, its chunks processed here."""
    from distributed import Client

    instance = Sections()
    runner = Runner(
        executor=IterativeExecutor(status=False),
        schema=DemoSchema,
        chunksize=2_000,
        savemetrics=True,
    )
    with (
        Client(cluster) as client,
        MetricsCollector(client, processor_instance=instance) as collector,
    ):
        output, report = runner(small_fileset, instance)
        assert COLLECTOR["output_key"] in output
        collector.extract_metrics_from_output(output)
        assert COLLECTOR["output_key"] not in output
        collector.set_coffea_report(report)
    return collector


def test_a_new_collector_has_its_attributes(client: Any) -> None:
    instance = Sections()
    collector = MetricsCollector(
        client,
        backend="dask",
        track_workers=False,
        worker_tracking_interval=0.5,
        processor_instance=instance,
    )
    given = {name: getattr(collector, name) for name in COLLECTOR["given"]}
    assert given == {
        "client": client,
        "backend": "dask",
        "track_workers": False,
        "worker_tracking_interval": 0.5,
        "processor_instance": instance,
    }
    assert collector.processor_name == "Sections"
    assert MetricsCollector(client).processor_name is None
    assert isinstance(collector.metrics_backend, DaskMetricsBackend)
    assert collector.metrics_backend.client is client
    assert isinstance(collector.aggregator, MetricsAggregator)
    assert collector.aggregator.backend == "dask"
    for name in COLLECTOR["none"]:
        assert getattr(collector, name) is None, name
    for name in COLLECTOR["lists"]:
        assert getattr(collector, name) == [], name


def test_a_finished_collector_has_its_attributes(collected: MetricsCollector) -> None:
    assert collected.t_end > collected.t_start > 0
    assert collected.get_metrics() is collected.metrics
    assert set(KEYS["tracking"]) <= set(collected.tracking_data)
    assert set(COLLECTOR["span_info"]) <= set(collected.span_info)
    assert collected.span_info["name"] == COLLECTOR["span_name"]
    assert isinstance(collected.span_metrics, dict)
    assert collected.custom_metrics is None
    assert collected.coffea_report["chunks"] == len(collected.chunk_metrics) == 6
    for group in ("workflow", "worker", "efficiency", "chunk", "branch"):
        assert [key for key in KEYS[group] if key not in collected.metrics] == [], group


def test_the_switch_is_on_only_inside(client: Any) -> None:
    instance = Sections()
    with MetricsCollector(client, processor_instance=instance, track_workers=False):
        assert getattr(instance, COLLECTOR["switch"]) is True
        assert getattr(Sections, COLLECTOR["switch"]) is True
    assert not getattr(instance, COLLECTOR["switch"])
    assert not getattr(Sections(), COLLECTOR["switch"], False)


def test_a_record_has_every_key(collected: MetricsCollector) -> None:
    for record in collected.chunk_metrics:
        assert [key for key in KEYS["record"] if key not in record] == []
        assert set(record["timing"]) == set(record["bytes"]) == {"selection"}
        assert set(record["memory"]) == {"filling"}
        for section in record["sections"]:
            assert set(KEYS["record_section"]) <= set(section)
        for section in record["memory_sections"]:
            assert set(KEYS["record_memory_section"]) <= set(section)
        assert record["duration"] == pytest.approx(record["t_end"] - record["t_start"], abs=1e-3)
        assert record["num_branches_accessed"] == len(record["accessed_branches"]) > 0
    with_file = [r for r in collected.chunk_metrics if "file_metadata" in r]
    assert {r["file"] for r in with_file} == {r["file"] for r in collected.chunk_metrics}
    for record in with_file:
        assert set(KEYS["file_metadata"]) <= set(record["file_metadata"])
    assert sorted(r["chunk_id"] for r in collected.chunk_metrics) == list(range(6))


def test_a_section_writes_to_what_a_user_put_on_the_instance() -> None:
    class Anything:
        pass

    thing = Anything()
    with track_time(thing, "nothing"):
        pass
    assert not hasattr(thing, COLLECTOR["current_chunk"])
    chunk: dict[str, Any] = {}
    setattr(thing, COLLECTOR["current_chunk"], chunk)
    with track_time(thing, "t"), track_memory(thing, "m"), track_bytes(thing, [], "b"):
        pass
    assert chunk["timing"]["t"] >= 0
    assert isinstance(chunk["memory"]["m"], float)
    assert chunk["bytes"] == {"b": 0}


def test_series_are_lists_of_time_and_value(collected: MetricsCollector) -> None:
    data = collected.tracking_data
    times = list(data["worker_counts"])
    assert len(times) > 0
    for name in KEYS["tracking"][1:]:
        for series in data[name].values():
            assert all(type(pair) is tuple and len(pair) == 2 for pair in series), name
            assert {time for time, _ in series} <= set(times), name


# -- a measurement -------------------------------------------------------------------------


def test_a_measurement_has_its_files_and_keys(collected: MetricsCollector, tmp_path: Path) -> None:
    path = collected.save_measurement(str(tmp_path), "named")
    assert path == tmp_path / "named"
    assert [name for name in SURFACE["measurement"]["files"] if not (path / name).is_file()] == []
    facts = json.loads((path / "metadata.json").read_text())
    assert set(KEYS["measurement_metadata"]) <= set(facts)
    assert facts["format"] == SURFACE["measurement"]["format"]
    start, end = map(float, (path / "start_end_time.txt").read_text().strip().split(","))
    assert end - start == pytest.approx(collected.t_end - collected.t_start, abs=0.01)
    metrics, t0, t1 = load_measurement(path)
    assert (t0, t1) == (start, end)
    assert set(KEYS["tracking"]) <= set(metrics["tracking_data"])
    for group in ("workflow", "worker", "efficiency", "chunk", "branch"):
        assert [key for key in KEYS[group] if key not in metrics] == [], group
    assert load_measurement(path)["metrics"]["total_events"] == metrics["total_events"]
    other = save_measurement({"a": 1}, 0.0, 1.0, tmp_path, "other", config={"x": Path("y")})
    assert json.loads((other / SURFACE["measurement"]["config"]).read_text()) == {"x": "y"}


# -- tables --------------------------------------------------------------------------------


def everything() -> dict[str, Any]:
    """Metrics that every row of every table is made of."""
    groups = ("workflow", "worker", "efficiency", "fine")
    metrics: dict[str, Any] = {key: 12.0 for group in groups for key in KEYS[group]}
    metrics |= {key: 3.0 for key in KEYS["chunk"] if key.startswith("chunk_")}
    metrics |= {"num_chunks": 5, "num_successful_chunks": 4, "num_failed_chunks": 1}
    metrics |= {"total_events": 1_000_000, "peak_workers": 3, "core_efficiency": 0.5}
    metrics["per_dataset"] = {
        name: dict.fromkeys(KEYS["per_dataset"], 2.0) | {"num_chunks": 2} for name in "AB"
    }
    metrics["sections"] = {
        "s": {"count": 2, "total_duration": 1.0, "type": "section", "mean_duration": 0.5}
    }
    return metrics


def labels(table: Any) -> list[str]:
    return [getattr(cell, "plain", cell) for cell in table.columns[0]._cells]


def assert_in_order(expected: list[str], given: Iterable[str]) -> None:
    rest = iter(given)
    missing = [label for label in expected if label not in rest]
    assert missing == []


@pytest.mark.parametrize("name", SURFACE["tables"])
def test_a_table_has_its_title_and_rows(name: str) -> None:
    documented = SURFACE["tables"][name]
    table = getattr(reporter, name)(everything())
    assert table.title == documented["title"]
    assert [column.header for column in table.columns] == ["Metric", "Value"]
    assert table.columns[0].no_wrap
    assert_in_order(documented["rows"], labels(table))


def test_the_summary_has_the_tables_in_their_order(capsys: pytest.CaptureFixture[str]) -> None:
    old = (GOLDEN / "print_summary.txt").read_text(encoding="utf-8")
    titles = [table["title"] for table in SURFACE["tables"].values()]
    assert_in_order(titles, [line.strip() for line in old.splitlines()])
    collector = MetricsCollector.from_run(GOLDEN / "measurement")
    collector.print_summary()
    printed = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert_in_order(titles, printed)
    rows = [line.strip("│┃ ").split("│")[0].strip() for line in old.splitlines() if "│" in line]
    shown = [line.strip("│┃ ").split("│")[0].strip() for line in printed if "│" in line]
    assert len(rows) > 30
    assert set(rows) - set(shown) == set()


# -- plots ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def demo() -> plot_data.Data:
    mpl.use("agg")
    return plot_data.make_metrics()


@pytest.mark.parametrize("name", SURFACE["plots"])
def test_a_plot_has_its_words(name: str, demo: plot_data.Data) -> None:
    documented = SURFACE["plots"][name]
    data = [plot_data.data_of(name, demo)]
    if name == "plot_throughput_timeline":
        data.append(demo["tracking_data"])
    fig, ax = draw(name, *data)
    assert ax.get_title() == documented["title"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == (documented["xlabel"], documented["ylabel"])
    shown = texts(fig)
    for words in documented.get("words", []):
        assert any(words in text for text in shown), words
    assert tuple(fig.get_size_inches()) in {(10, 4), (10, 5), (10, 6), (12, 6)}


@pytest.mark.parametrize("name", SURFACE["plots"])
def test_a_plot_of_nothing_has_its_message(name: str) -> None:
    nothing: Any = [] if parameters(name)[0] == "chunk_metrics" else {}
    message = SURFACE["plots"][name]["without_data"]
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        getattr(plots, name)(nothing)
    if parameters(name)[0] == "tracking_data":
        with says("no_tracking_data"):
            getattr(plots, name)(None)


# -- messages ------------------------------------------------------------------------------


def test_an_unknown_back_end_has_its_message(client: Any) -> None:
    for make in (lambda: MetricsCollector(client, backend="x"), lambda: MetricsAggregator("x")):
        with says("unsupported_backend"):
            make()
    with says("unsupported_backend"):
        get_parser("x")


def test_no_client_has_its_message() -> None:
    for make in (MetricsCollector, DaskMetricsBackend):
        with says("no_client"):
            make(None)


def test_metrics_that_cannot_be_there_have_their_messages(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    collector = MetricsCollector(client, track_workers=False)
    with says("no_timing"):
        collector.get_metrics()
    with says("save_too_early"):
        collector.save_measurement(tmp_path)
    with collector:
        with says("no_timing"):
            collector.get_metrics()
        with says("save_too_early"):
            collector.save_measurement(tmp_path)
    with says("no_report"):
        collector.get_metrics()
    collector.set_coffea_report({"entries": 1, "processtime": 1.0, "chunks": 1, "bytesread": 8})
    with monkeypatch.context() as patch:
        patch.setattr(collector.aggregator, "aggregate", lambda *a, **k: None)
        with says("no_aggregate"):
            collector.get_metrics()
    assert collector.get_metrics()["total_events"] == 1


def test_a_measurement_that_is_not_there_has_its_messages(tmp_path: Path) -> None:
    with says("no_directory"):
        load_measurement(tmp_path / "none")
    with says("no_metrics_file"):
        load_measurement(tmp_path)
    (tmp_path / "metrics.json").write_text("{}")
    with says("no_timing_file"):
        load_measurement(tmp_path)
    for text in ("1.0", "a,b", "1,2,3", ""):
        (tmp_path / "start_end_time.txt").write_text(text)
        with says("bad_timing"):
            load_measurement(tmp_path)
    (tmp_path / "start_end_time.txt").write_text("1.0,2.0\n")
    assert load_measurement(str(tmp_path))[1:] == (1.0, 2.0)
    (tmp_path / "metrics.json").write_text("{")
    with says("broken_json"):
        load_measurement(tmp_path)


def test_a_record_without_a_duration_has_its_message() -> None:
    with says("no_duration"):
        aggregate_chunk_metrics([{"num_events": 1}])


def test_summaries_of_no_metrics_have_their_message() -> None:
    for name in ("plot_efficiency_summary", "plot_resource_utilization"):
        with says("no_metrics"):
            getattr(plots, name)(None)


def test_warnings_have_their_words(client: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, logger=COLLECTOR["logger"])
    collector = MetricsCollector(client, track_workers=False)
    output = {COLLECTOR["output_key"]: "no list"}
    collector.extract_metrics_from_output(output)
    assert output == {COLLECTOR["output_key"]: "no list"}
    for silent in ({}, None, 5):
        collector.extract_metrics_from_output(silent)
    assert [COLLECTOR["not_a_list"] in record.getMessage() for record in caplog.records] == [True]
    caplog.clear()
    with collector:
        assert client.submit(sum, [1, 2], pure=False).result() == 3
        collector.set_coffea_report({"entries": 1})
    assert any(COLLECTOR["no_processor"] in record.getMessage() for record in caplog.records)
    assert {record.name for record in caplog.records} == {COLLECTOR["logger"]}


def test_a_span_without_metrics_is_mentioned(
    client: Any, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.WARNING, logger=COLLECTOR["logger"])
    collector = MetricsCollector(client, track_workers=False)
    monkeypatch.setattr(collector.metrics_backend, "get_span_metrics", lambda *a, **k: {})
    with collector:
        pass
    assert any(COLLECTOR["no_span_metrics"] in record.getMessage() for record in caplog.records)
