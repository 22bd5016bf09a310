"""What is looked at early, or given to a collector by hand."""

from __future__ import annotations

from contextlib import nullcontext
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from roastcoffea import MetricsCollector, collecting, load_measurement, open_run, track_metrics
from roastcoffea.aggregation.core import MetricsAggregator
from roastcoffea.aggregation.workflow import aggregate_workflow_metrics
from roastcoffea.backends.base import AbstractMetricsBackend


def chunk_record(start: int) -> dict[str, Any]:
    return {
        "file": "a.root",
        "entry_start": start,
        "entry_stop": start + 10,
        "t_start": 1.0,
        "t_end": 2.0,
        "duration": 1.0,
        "num_events": 10,
        "dataset": "A",
    }


class Counting:
    func = staticmethod(len)  # not a partial, for all that

    @track_metrics
    def process(self, events: Any) -> dict[str, int]:
        return {"n": len(events)}


def test_records_that_are_looked_at_early_do_not_hide_later_ones() -> None:
    collector = MetricsCollector()
    assert collector.chunk_metrics == []
    output = Counting().process([1, 2])  # nobody collects yet
    assert output == {"n": 2}
    with collector:
        assert len(collector.chunk_metrics) == 0
        collector.extract_metrics_from_output(Counting().process([1, 2]))
        assert len(collector.chunk_metrics) == 1
        collector.extract_metrics_from_output(Counting().process([1, 2, 3]))
        assert len(collector.chunk_metrics) == 2
        collector.set_coffea_report({"entries": 5})
    assert len(collector.chunk_metrics) == 2
    assert collector.get_metrics()["num_chunks"] == 2


def test_a_report_that_is_set_before_the_block_counts() -> None:
    collector = MetricsCollector()
    collector.set_coffea_report({"entries": 5, "bytesread": 8, "processtime": 1.0, "chunks": 1})
    with collector:
        pass
    assert collector.get_metrics()["total_events"] == 5
    assert collector.get_metrics()["total_bytes_read"] == 8


def test_a_collector_that_was_never_entered_takes_figures_by_hand(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(RuntimeError, match="Timing not available"):
        MetricsCollector().print_summary()
    collector = MetricsCollector()
    collector.t_start, collector.t_end = 1.0, 3.0
    collector.set_coffea_report({"entries": 4000, "bytesread": 0, "processtime": 1.0, "chunks": 1})
    collector.record_chunk_metrics(chunk_record(0))
    assert collector.get_metrics()["event_rate_elapsed_khz"] == 2.0
    assert collector.get_metrics()["num_successful_chunks"] == 1
    collector.print_summary()
    assert "2.0 kHz" in capsys.readouterr().out
    saved = load_measurement(collector.save_measurement(tmp_path))
    assert saved["metrics"]["total_events"] == 4000
    assert saved["t1"] - saved["t0"] == 2.0
    collector.metrics = None
    monkeypatch.setattr(collector.aggregator, "aggregate", lambda *args, **kwargs: None)
    with pytest.raises(RuntimeError, match="Metrics aggregation failed"):
        collector.get_metrics()


@pytest.mark.parametrize("value", [5, "text", {"a": 1}, None])
def test_what_is_no_list_stays_in_the_output(value: Any, caplog: pytest.LogCaptureFixture) -> None:
    output = {"__roastcoffea_metrics__": value}
    with MetricsCollector() as collector:
        collector.extract_metrics_from_output(output)
    assert output == {"__roastcoffea_metrics__": value}
    assert "Metrics not a list" in caplog.text
    assert list(collector.chunk_metrics) == []


class Odd:
    def __contains__(self, key: object) -> bool:
        raise ValueError("the truth value of this is ambiguous")


class Kept(dict[str, Any]):
    def __delitem__(self, key: str) -> None:
        raise RuntimeError("nothing goes from here")


def test_outputs_with_rules_of_their_own_are_left_alone() -> None:
    with MetricsCollector() as collector:
        collector.extract_metrics_from_output(Odd())
        assert list(collector.chunk_metrics) == []
        output = {"__roastcoffea_metrics__": [chunk_record(0)]}
        for frozen in (MappingProxyType(output), Kept(output)):
            collector.extract_metrics_from_output(frozen)
            assert len(collector.chunk_metrics) == 1
    assert len(collector.chunk_metrics) == 1


class Freezing(dict[str, Any]):
    frozen = False

    def __setitem__(self, key: str, value: Any) -> None:
        if self.frozen:
            raise TypeError("frozen")
        super().__setitem__(key, value)


class Freezer(Counting):
    @track_metrics
    def process(self, events: Any) -> dict[str, Any]:
        return Freezing(n=len(events))

    def postprocess(self, accumulator: Any) -> Any:
        accumulator.frozen = True
        return accumulator


def test_a_postprocess_that_freezes_its_output_is_no_error() -> None:
    with MetricsCollector():
        output = Freezer().process([1, 2])
        assert "__roastcoffea_metrics__" in output
        result = Freezer().postprocess(output)
    assert result is output
    assert result == {"n": 2}


def test_records_are_appended_to_the_list_that_is_there() -> None:
    collector = MetricsCollector()
    records = collector.chunk_metrics
    collector.record_chunk_metrics(chunk_record(0))
    collector.record_chunk_metrics(chunk_record(10))
    assert collector.chunk_metrics is records
    assert records == [chunk_record(0), chunk_record(10)]


def test_records_given_by_hand_are_not_called_absent() -> None:
    collector = MetricsCollector()
    with collector:
        collector.record_chunk_metrics(chunk_record(0))
        collector.record_chunk_metrics(chunk_record(10))
        collector.set_coffea_report({"entries": 20})
    metrics = collector.get_metrics()
    assert metrics["num_successful_chunks"] == 2
    assert "num_successful_chunks" not in metrics.absent
    assert "chunk_duration_mean" not in metrics.absent


def test_fine_metrics_without_a_processor_are_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    collector = MetricsCollector()
    with collector:
        collector.span_metrics = {("execute", "X", "thread-cpu", "seconds"): 1.0}
        collector.set_coffea_report({})
    assert "Fine metrics" in caplog.text


def test_faults_of_a_run_are_not_those_of_the_next(tmp_path: Path) -> None:
    place = tmp_path / "file"
    place.write_text("not a directory")
    collector = MetricsCollector(output_dir=place)
    with collector:
        pass
    assert collector.run.facts()["run.faults"] == 1
    collector.output_dir = None
    with collector:
        pass
    assert collector.run.facts()["run.faults"] == 0


def test_the_processor_is_named_after_its_class() -> None:
    assert MetricsCollector(processor_instance=Counting()).processor_name == "Counting"
    assert MetricsCollector(processor_instance=len).processor_name == type(len).__name__
    assert MetricsCollector().processor_name is None


def test_faults_of_the_monitor_on_workers_are_counted_and_shown(
    client: Any, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    def go_wrong() -> None:
        from roastcoffea import collecting

        collecting.note_fault("a test", ValueError("on purpose"))

    client.run(go_wrong)  # before the run: not this run's
    with MetricsCollector(client) as collector:
        client.run(go_wrong)
        collector.set_coffea_report({})
    assert collector.get_metrics()["monitoring_faults"] == 2
    assert "on the workers: a test: 2 faults" in caplog.text
    collector.print_summary()
    assert "Monitoring Faults" in capsys.readouterr().out


def test_a_record_by_hand_stays_whether_or_not_somebody_looked() -> None:
    found = []
    for look in (False, True):
        with MetricsCollector() as collector:
            pass
        if look:
            assert len(collector.chunk_metrics) == 0
        collector.record_chunk_metrics(chunk_record(0))
        collector.extract_metrics_from_output({"__roastcoffea_metrics__": [chunk_record(10)]})
        found.append([record["entry_start"] for record in collector.chunk_metrics])
    assert found == [[10, 0], [10, 0]]


@pytest.mark.parametrize("given", [True, False])
def test_records_by_hand_may_hold_what_cannot_be_compared(given: bool) -> None:
    record = {**chunk_record(0), "weights": np.zeros(2)}
    collector = MetricsCollector()
    collector.record_chunk_metrics(record)
    if given:
        collector.chunk_metrics = [{**record, "weights": np.zeros(2)}]
    assert len(collector.chunk_metrics) == 1
    with collector:
        Counting().process([1, 2])
    assert len(collector.chunk_metrics) == (1 if given else 2)


class PlainBackend(AbstractMetricsBackend):
    """One of a user's own, that knows of no runs."""

    def start_tracking(self, interval: float) -> None:
        pass

    def stop_tracking(self) -> dict[str, Any]:
        noon = datetime(2026, 11, 15, 12)
        return {"worker_counts": {noon: 7}, "worker_cores": {"w": [(noon, 28)]}}

    def create_span(self, name: str) -> Any:
        return {"context": nullcontext("id"), "name": name}

    def get_span_metrics(self, span_info: Any) -> dict[Any, Any]:
        return {("execute", "Counting", "thread-cpu", "seconds"): np.int64(30)}

    def supports_fine_metrics(self) -> bool:
        return True


def summary_of(collector: MetricsCollector, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    collector.print_summary()
    return capsys.readouterr().out


def test_the_summary_shows_what_was_given_by_hand(capsys: pytest.CaptureFixture[str]) -> None:
    with MetricsCollector() as collector:
        collector.set_coffea_report({"entries": 20, "chunks": 2})
    assert "Mean Chunk Time" not in summary_of(collector, capsys)
    records = [chunk_record(0), chunk_record(10)]
    collector.extract_metrics_from_output({"__roastcoffea_metrics__": records})
    assert "Mean Chunk Time" in summary_of(collector, capsys)
    collector.record_section_metrics({"name": "selection", "duration": 2.0})
    assert "selection" in summary_of(collector, capsys)
    assert "selection" in collector._repr_html_()
    collector.metrics = {"total_events": 54_321}  # type: ignore[assignment]
    assert "54,321" in summary_of(collector, capsys)


def test_the_summary_shows_what_a_back_end_without_runs_tells(
    capsys: pytest.CaptureFixture[str],
) -> None:
    collector = MetricsCollector(processor_instance=Counting())
    collector.metrics_backend = PlainBackend()
    for _ in range(2):  # it stays the collector's
        with collector:
            collector.set_coffea_report({"entries": 20, "chunks": 2})
        metrics = collector.get_metrics()
        assert (metrics["avg_workers"], metrics["total_cores"]) == (7.0, 28.0)
        assert metrics["processor_cpu_time_seconds"] == 30.0
        shown = summary_of(collector, capsys)
        assert "28.0" in shown
        assert "30.0s" in shown


def test_an_aggregator_of_ones_own_is_used(capsys: pytest.CaptureFixture[str]) -> None:
    class Mine(MetricsAggregator):
        def aggregate(self, *args: Any, **kwargs: Any) -> Any:
            return {**super().aggregate(*args, **kwargs), "total_events": 54_321}

    collector = MetricsCollector()
    collector.aggregator = Mine("dask")
    with collector:
        collector.set_coffea_report({"entries": 20})
    assert collector.metrics is not None
    assert collector.metrics["total_events"] == 54_321
    assert "54,321" in summary_of(collector, capsys)
    with MetricsCollector() as collector:
        pass
    collector.set_coffea_report({"entries": 20})
    with (
        patch.object(collector.aggregator, "aggregate", return_value=None),
        pytest.raises(RuntimeError, match="Metrics aggregation failed"),
    ):
        collector.get_metrics()
    assert collector.get_metrics()["total_events"] == 20


def test_leaving_a_block_that_was_not_entered_changes_nothing() -> None:
    outside = MetricsCollector()
    outside.__exit__(None, None, None)
    assert outside.t_end is None
    for _ in range(2):  # and it measures afterwards
        with MetricsCollector() as collector:
            assert "__roastcoffea_metrics__" in Counting().process([1, 2])
            collector.set_coffea_report({"entries": 20})
        end = collector.t_end
        collector.__exit__(None, None, None)
        assert collector.t_end == end
        assert collector.get_metrics()["total_events"] == 20
        assert Counting().process([1, 2]) == {"n": 2}
    assert not collecting.active()


@pytest.mark.parametrize(
    "custom",
    [
        {},
        {"A": None},
        {"A": 5, "B": {"entries": 3}},
        {"A": {"performance_counters": None}},
        {"A": {"entries": 3, "performance_counters": [1]}, "B": {"entries": 4}},
        {"A": {"entries": "many"}},
    ],
)
def test_custom_metrics_of_any_kind_count_as_in_the_aggregation(custom: Any) -> None:
    report = {"entries": 20, "bytesread": 10, "processtime": 2.0, "chunks": 2}
    with MetricsCollector() as collector:
        collector.set_coffea_report(report, custom)
    metrics = collector.get_metrics()
    plain = aggregate_workflow_metrics(report, 0.0, 1.0, custom)
    for key in ("total_events", "total_bytes_read", "total_cpu_time", "num_chunks"):
        assert metrics[key] == plain[key], key
        assert metrics.absent.get(key) == plain.absent.get(key), key


def test_what_custom_metrics_do_not_tell_is_absent() -> None:
    with MetricsCollector() as collector:
        collector.set_coffea_report({"bytesread": 10}, {"A": {"entries": 3}})
    metrics = collector.get_metrics()
    assert metrics["total_events"] == 3
    assert metrics["total_bytes_read"] == 0, "as documented"
    assert {"total_bytes_read", "total_cpu_time", "data_rate_gbps"} <= metrics.absent.keys()


def test_a_back_end_that_returns_nothing_is_no_fault() -> None:
    collector = MetricsCollector()
    collector.metrics_backend = backend = PlainBackend()
    with (
        patch.object(backend, "stop_tracking", return_value=None),
        patch.object(backend, "get_span_metrics", return_value=None),
        collector,
    ):
        collector.set_coffea_report({"entries": 20})
    assert collector.span_metrics is None
    assert collector.tracking_data is None
    assert collector.get_metrics()["monitoring_faults"] == 0


def test_records_that_are_appended_to_the_list_are_kept() -> None:
    collector = MetricsCollector()
    assert collector.chunk_metrics == []
    collector.record_chunk_metrics(chunk_record(0))
    with collector:
        collector.chunk_metrics.append(chunk_record(10))
        Counting().process([1, 2])
        collector.chunk_metrics.extend([chunk_record(20)])
        assert len(collector.chunk_metrics) >= 3
        collector.set_coffea_report({"entries": 40})
    assert sorted(record["num_events"] for record in collector.chunk_metrics) == [2, 10, 10, 10]
    assert collector.get_metrics()["num_chunks"] == 4
    with collector:
        pass
    assert len(collector.chunk_metrics) == 0


def test_the_summary_of_a_run_needs_none_of_its_records(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with MetricsCollector(output_dir=tmp_path, measurement_name="one") as collector:
        Counting().process([1, 2])
        collector.set_coffea_report({"entries": 2})
    again = MetricsCollector.from_run(tmp_path / "one.roast")
    assert "Mean Chunk Time" in summary_of(again, capsys)
    assert again.metrics is None


def test_what_was_given_is_in_every_answer(tmp_path: Path) -> None:
    with MetricsCollector(output_dir=tmp_path, measurement_name="run") as collector:
        Counting().process([1, 2])
        collector.set_coffea_report({"entries": 20, "processtime": 2.0})
    assert collector.get_metrics()["num_chunks"] == 1
    collector.chunk_metrics = [chunk_record(0), chunk_record(10), chunk_record(20)]
    collector.tracking_data = PlainBackend().stop_tracking()
    collector.span_metrics = {("execute", "X", "thread-cpu", "seconds"): 12.5}
    metrics = collector.get_metrics()
    assert metrics["num_chunks"] == 3
    assert (metrics["avg_workers"], metrics["total_cores"]) == (7.0, 28.0)
    assert metrics["processor_cpu_time_seconds"] == 12.5
    assert metrics["tracking_data"] is collector.tracking_data
    assert metrics["raw_chunk_metrics"] is collector.chunk_metrics
    assert metrics["raw_span_metrics"] is collector.span_metrics
    summary = collector.summary().metrics()
    for key in ("num_chunks", "avg_workers", "total_cores", "processor_cpu_time_seconds"):
        assert summary[key] == metrics[key]
    saved = open_run(collector.save_measurement(tmp_path, "saved")).metrics
    assert saved["num_chunks"] == 3
    assert saved["processor_cpu_time_seconds"] == 12.5
    assert open_run(tmp_path / "run.roast").metrics["num_chunks"] == 1, "the file is what was"


def test_what_was_given_counts_for_a_run_that_was_read(tmp_path: Path) -> None:
    with MetricsCollector(output_dir=tmp_path, measurement_name="run") as collector:
        Counting().process([1, 2])
        collector.set_coffea_report({"entries": 20})
    again = MetricsCollector.from_run(tmp_path / "run.roast")
    assert again.get_metrics()["total_events"] == 20
    again.set_coffea_report({"entries": 30})
    again.record_chunk_metrics(chunk_record(0))
    assert again.get_metrics()["total_events"] == 30
    assert again.get_metrics()["num_chunks"] == 2


def test_records_appended_by_the_user_and_by_a_call_are_each_kept_once() -> None:
    with MetricsCollector() as collector:
        collector.chunk_metrics.append(chunk_record(0))
        collector.record_chunk_metrics(chunk_record(10))
        collector.set_coffea_report({"entries": 20})
    assert [record["entry_start"] for record in collector.chunk_metrics] == [0, 10]
    collector.chunk_metrics.append(chunk_record(20))
    collector.record_chunk_metrics(chunk_record(30))
    assert [record["entry_start"] for record in collector.chunk_metrics] == [0, 10, 20, 30]
    assert collector.get_metrics()["num_chunks"] == 4
