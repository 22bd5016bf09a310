"""The documented aggregation functions, on the plain dicts that users give them."""

from __future__ import annotations

import copy
import importlib
import sys
from datetime import datetime, timedelta
from typing import Any

import pytest

from roastcoffea.aggregation.backends import (
    AbstractTrackingDataParser,
    DaskMetricsParser,
    DaskTrackingDataParser,
    get_parser,
    register_parser,
    unregister_parser,
)
from roastcoffea.aggregation.backends.dask import (
    calculate_average_memory_per_worker,
    calculate_peak_memory,
    calculate_time_averaged_workers,
)
from roastcoffea.aggregation.branch_coverage import (
    aggregate_branch_coverage,
    parse_accessed_branches,
)
from roastcoffea.aggregation.chunk import aggregate_chunk_metrics, build_chunk_info
from roastcoffea.aggregation.core import MetricsAggregator
from roastcoffea.aggregation.efficiency import calculate_efficiency_metrics
from roastcoffea.aggregation.fine_metrics import parse_fine_metrics
from roastcoffea.aggregation.workflow import aggregate_workflow_metrics

NOON = datetime(2026, 11, 15, 12)


def at(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


REPORT = {"bytesread": 10**9, "entries": 500_000, "processtime": 80.0, "chunks": 10}
TRACKING = {
    "worker_counts": {at(0): 2, at(10): 2, at(20): 4},
    "worker_cores": {
        "a": [(at(0), 4), (at(10), 4), (at(20), 4)],
        "b": [(at(0), 4), (at(10), 4), (at(20), 4)],
        "c": [(at(20), 4)],
        "d": [(at(20), 4)],
    },
    "worker_memory": {"a": [(at(0), 100), (at(10), 300)], "b": [(at(0), 400)]},
}
SPANS = {
    ("execute", "Mine", "thread-cpu", "seconds"): 100.0,
    ("execute", "Mine", "thread-noncpu", "seconds"): 25.0,
    ("execute", "reduce", "thread-cpu", "seconds"): 5.0,
    ("execute", "N/A", "idle or other spans", "seconds"): 1000.0,
}
CHUNKS = [
    {
        "duration": 2.0,
        "num_events": 100,
        "dataset": "A",
        "file": "a.root",
        "entry_start": 0,
        "entry_stop": 100,
        "t_start": 1.0,
        "t_end": 3.0,
        "timing": {"load": 0.5},
    },
    {"duration": 4.0, "num_events": 300, "dataset": "B", "error": "OSError"},
]


# -- what is missing -----------------------------------------------------------------------


def test_an_empty_report_gives_zeros_and_says_why() -> None:
    metrics = aggregate_workflow_metrics({}, 0.0, 10.0)
    assert metrics["elapsed_time_seconds"] == 10.0
    for key in ("total_events", "total_bytes_read", "total_cpu_time", "num_chunks"):
        assert metrics[key] == 0
        assert metrics.absent[key].startswith("the report has no ")


def test_a_report_without_bytes_still_tells_of_events() -> None:
    """Parquet: coffea's report has no ``bytesread``."""
    metrics = aggregate_workflow_metrics({"entries": 40_000, "processtime": 4.0}, 0.0, 2.0)
    assert metrics["total_events"] == 40_000
    assert metrics["event_rate_elapsed_khz"] == 20.0
    assert metrics["event_rate_cpu_total_khz"] == 10.0
    assert metrics["data_rate_gbps"] == 0
    assert metrics.absent["data_rate_gbps"] == "the report has no 'bytesread'"


def test_a_missing_process_time_is_the_elapsed_time() -> None:
    metrics = aggregate_workflow_metrics({"bytesread": 10, "entries": 10, "chunks": 4}, 3.0, 11.0)
    assert metrics["total_cpu_time"] == 8.0
    assert metrics["avg_cpu_time_per_chunk"] == 2.0
    assert "total_cpu_time" in metrics.estimated


def test_custom_metrics_replace_the_report_except_its_chunks() -> None:
    custom = {
        "A": {
            "entries": 10,
            "duration": 1.0,
            "performance_counters": {"num_requested_bytes": 125_000_000},
        },
        "B": {"entries": 20, "duration": 2.0},
        "note": "not a dict",
    }
    metrics = aggregate_workflow_metrics(REPORT, 0.0, 1.0, custom)
    assert metrics["total_events"] == 30
    assert metrics["total_bytes_read"] == 125_000_000
    assert metrics["data_rate_gbps"] == 1.0
    assert metrics["total_cpu_time"] == 3.0
    assert metrics["num_chunks"] == 10


def test_efficiency_without_cores_or_time() -> None:
    workflow = {"elapsed_time_seconds": 10.0, "total_cpu_time": 20.0, "total_events": 1000}
    none = {"core_efficiency": None, "speedup_factor": 2.0, "event_rate_core_khz": None}
    assert calculate_efficiency_metrics(workflow, {}) == none
    assert calculate_efficiency_metrics(workflow, {"total_cores": None}) == none
    workflow["elapsed_time_seconds"] = 0.0
    zero = {"core_efficiency": 0.0, "speedup_factor": 0.0, "event_rate_core_khz": 0.0}
    assert calculate_efficiency_metrics(workflow, {"total_cores": 4}) == zero


def test_fine_metrics_of_nothing_are_zeros() -> None:
    metrics = parse_fine_metrics({})
    assert len(metrics) == 15
    assert set(metrics.values()) == {0}


def test_units_of_one_activity_do_not_mix() -> None:
    metrics = parse_fine_metrics(
        {
            ("execute", "Mine", "compress", "seconds"): 2.0,
            ("execute", "Mine", "compress", "bytes"): 10**9,
            ("execute", "Mine", "disk-read", "seconds"): 3.0,
            ("execute", "Mine", "disk-read", "bytes"): 7,
            ("execute", "Mine", "disk-read", "count"): 1,
        }
    )
    assert metrics["compression_time_seconds"] == 2.0
    assert metrics["disk_read_bytes"] == 7


def test_a_processor_that_coffea_wraps_is_found() -> None:
    """DaskExecutor(compression=None): the tasks are named ``automatic_retries``."""
    wrapped = {
        ("execute", "automatic_retries", "thread-cpu", "seconds"): 9.0,
        ("execute", "reduce", "thread-cpu", "seconds"): 1.0,
    }
    metrics = parse_fine_metrics(wrapped, "Mine")
    assert metrics["processor_cpu_time_seconds"] == 9.0
    assert metrics["overhead_cpu_time_seconds"] == 1.0
    assert "automatic_retries" in metrics.estimated["processor_cpu_time_seconds"]
    wrapped["execute", "Other", "thread-cpu", "seconds"] = 50.0  # it is not most of the time
    assert parse_fine_metrics(wrapped, "Mine")["processor_cpu_time_seconds"] == 0.0


# -- workers -------------------------------------------------------------------------------


def test_tracking_data_of_nothing() -> None:
    assert get_parser("dask").parse_tracking_data({}) == {
        "avg_workers": 0.0,
        "peak_workers": 0,
        "total_cores": None,
        "cores_per_worker": None,
        "peak_memory_bytes": 0.0,
        "avg_memory_per_worker_bytes": 0.0,
    }


def test_a_worker_without_samples_counts_for_nothing() -> None:
    samples = [(0.0, 100), (10.0, 300)]
    series = {"a": samples, "b": None, "c": []}
    assert calculate_peak_memory(series) == 300  # type: ignore[arg-type]
    assert calculate_average_memory_per_worker(series) == 200.0  # type: ignore[arg-type]
    data = {"worker_counts": {0.0: 1, 10.0: 1}, "worker_cores": series, "worker_memory": series}
    assert DaskTrackingDataParser().parse_tracking_data(data)["peak_memory_bytes"] == 300


def test_workers_that_come_late_count_from_then_on() -> None:
    metrics = DaskTrackingDataParser().parse_tracking_data(TRACKING)
    assert metrics["avg_workers"] == 2.5
    assert metrics["total_cores"] == 10.0
    assert metrics["cores_per_worker"] == 4.0
    assert metrics["peak_workers"] == 4
    assert metrics["peak_memory_bytes"] == 400
    assert metrics["avg_memory_per_worker_bytes"] == 300.0


def test_restarted_workers_are_not_counted_twice() -> None:
    """Two workers of one core, restarted twice: six ids, two cores."""
    ticks = range(30)
    cores = {f"{t // 10} {i}": [] for t in ticks for i in range(2)}
    for t in ticks:
        for i in range(2):
            cores[f"{t // 10} {i}"].append((at(t), 1))
    counts = {at(t): 2 for t in ticks}
    metrics = DaskTrackingDataParser().parse_tracking_data(
        {"worker_counts": counts, "worker_cores": cores}
    )
    assert metrics["total_cores"] == 2.0


def test_workers_that_are_sampled_at_different_times_are_there_between_samples() -> None:
    cores = {"a": [(t, 4) for t in range(0, 100, 2)], "b": [(t, 8) for t in range(1, 100, 2)]}
    metrics = DaskTrackingDataParser().parse_tracking_data({"worker_cores": cores})
    assert metrics["total_cores"] == pytest.approx(12, rel=0.02)
    assert metrics["cores_per_worker"] == pytest.approx(6, rel=0.02)


def test_cores_that_are_known_once_hold_for_the_run() -> None:
    counts = {at(0): 2, at(10): 2}
    cores = {"a": [(at(0), 4)], "b": [(at(0), 8)]}
    metrics = DaskTrackingDataParser().parse_tracking_data(
        {"worker_counts": counts, "worker_cores": cores}
    )
    assert metrics["total_cores"] == 12.0
    assert metrics["cores_per_worker"] == 6.0


def test_time_without_workers_counts_as_such() -> None:
    counts = {0.0: 2, 10.0: 2, 20.0: 0, 30.0: 0}
    cores = {"a": [(0.0, 3), (10.0, 3)], "b": [(0.0, 3), (10.0, 3)]}
    metrics = DaskTrackingDataParser().parse_tracking_data(
        {"worker_counts": counts, "worker_cores": cores}
    )
    assert metrics["total_cores"] == pytest.approx(3.0)
    assert metrics["avg_workers"] == pytest.approx(1.0)


def test_order_of_samples_does_not_matter() -> None:
    assert calculate_time_averaged_workers({at(10): 3, at(0): 1}) == 2.0
    assert calculate_average_memory_per_worker({"a": [(at(9), 3), (at(0), 1)], "b": []}) == 2.0
    assert calculate_time_averaged_workers({at(0): 7}) == 7.0
    assert calculate_time_averaged_workers({}) == 0.0
    assert calculate_peak_memory({"a": []}) == 0.0


def test_parsers_of_other_back_ends_can_be_added() -> None:
    class Parser(AbstractTrackingDataParser):
        def parse_tracking_data(self, tracking_data: Any) -> dict[str, Any]:
            return {"total_cores": tracking_data["cores"]}

    register_parser("mine", Parser)
    try:
        metrics = MetricsAggregator("mine").aggregate(REPORT, {"cores": 16}, 0.0, 10.0)
        assert metrics["core_efficiency"] == 0.5
        with pytest.raises(ValueError, match=r"Available: \['dask', 'mine', 'taskvine'\]"):
            get_parser("other")
    finally:
        unregister_parser("mine")
    with pytest.raises(
        ValueError, match=r"Unsupported backend: mine. Available: \['dask', 'taskvine'\]"
    ):
        MetricsAggregator("mine")
    assert isinstance(get_parser("dask"), DaskMetricsParser)
    with pytest.raises(TypeError):
        AbstractTrackingDataParser()  # type: ignore[abstract]


# -- records -------------------------------------------------------------------------------


def test_no_records() -> None:
    assert aggregate_chunk_metrics([]) == {"num_chunks": 0}
    assert build_chunk_info([]) == {}
    assert aggregate_branch_coverage(None) == {}
    assert aggregate_branch_coverage([], {"columns": ["x-data"]}) == {}


def test_a_successful_record_without_duration_is_an_error() -> None:
    with pytest.raises(KeyError, match="duration"):
        aggregate_chunk_metrics([{"num_events": 1}])
    assert aggregate_chunk_metrics([{"error": "x"}]) == {
        "num_chunks": 1,
        "num_successful_chunks": 0,
        "num_failed_chunks": 1,
    }


def test_attempts_that_were_lost_or_built_a_graph_are_no_chunks() -> None:
    records = [
        {"outcome": "finished", "duration": 1.0},
        {"outcome": "skipped"},
        {"outcome": "lost"},
        {"outcome": "graph", "duration": 9.0},
    ]
    metrics = aggregate_chunk_metrics(records)
    assert metrics["num_chunks"] == 2
    assert metrics["num_failed_chunks"] == 1
    assert metrics["chunk_duration_max"] == 1.0


def test_the_last_record_of_a_chunk_counts_in_chunk_info() -> None:
    record = {"file": "a", "entry_start": 0, "entry_stop": 5, "t_start": 1.0, "t_end": 2.0}
    assert build_chunk_info([record, {**record, "bytes_read": 7}, {"file": "b"}]) == {
        ("a", 0, 5): (1.0, 2.0, 7)
    }


def test_only_data_columns_are_branches() -> None:
    assert parse_accessed_branches(["x-data", "nx-offsets", 5, "y"]) == {"x"}
    assert parse_accessed_branches([]) == set()


def test_a_file_is_covered_by_all_its_chunks_in_whatever_order_they_come() -> None:
    file = {
        "filename": "a.root",
        "compression_ratio": 0.5,
        "total_branches": 64,
        "total_tree_bytes": 1000,
    }

    def record(branches: list[str], size: int) -> dict[str, Any]:
        return {
            "file": "a.root",
            "file_metadata": file,
            "accessed_branches": branches,
            "accessed_bytes": size,
            "branches_read_percent": 100 * len(branches) / 64,
            "bytes_read_percent": size / 10,
        }

    records = [record(["a"], 100), record(["a", "b", "c", "d"], 400), record(["e"], 50)]
    for order in (records, records[::-1]):
        coverage = aggregate_branch_coverage(order)
        assert coverage["file_read_metrics"]["a.root"] == {
            "total_branches": 64,
            "branches_read_percent": 100 * 5 / 64,
            "total_tree_bytes": 1000,
            "bytes_read": 450,
            "bytes_read_percent": 45.0,
            "accessed_branches": ["a", "b", "c", "d", "e"],
        }
        assert not coverage.estimated
    overlapping = [record(["a", "b"], 200), record(["b", "c"], 300)]
    forth, back = (aggregate_branch_coverage(o) for o in (overlapping, overlapping[::-1]))
    assert forth == back
    assert forth["file_read_metrics"]["a.root"]["bytes_read"] == 400
    assert "file_read_metrics" in forth.estimated
    sized = {**file, "branch_bytes": {"a": 50, "b": 150, "c": 150}}
    exact = aggregate_branch_coverage([{**r, "file_metadata": sized} for r in overlapping])
    assert exact["file_read_metrics"]["a.root"]["bytes_read"] == 350
    assert not exact.estimated


def test_one_record_of_a_file_is_taken_at_its_word() -> None:
    record = {
        "file": "a.root",
        "accessed_branches": ["x"],
        "accessed_bytes": 10,
        "branches_read_percent": 50.0,
        "bytes_read_percent": 25.0,
        "file_metadata": {"filename": "a.root", "total_branches": 3, "total_tree_bytes": 100},
    }
    coverage = aggregate_branch_coverage([record])
    assert coverage["avg_branches_read_percent"] == 50.0
    assert coverage["bytes_read_percent_per_file"] == [25.0]


# -- all together --------------------------------------------------------------------------


def test_everything_merges_into_one_flat_dict_and_inputs_stay_as_they_are() -> None:
    inputs = (REPORT, TRACKING, SPANS, CHUNKS)
    before = copy.deepcopy(inputs)
    metrics = MetricsAggregator("dask").aggregate(
        REPORT, TRACKING, 0.0, 20.0, None, SPANS, "Mine", CHUNKS, [{"name": "s", "duration": 1.0}]
    )
    assert inputs == before
    assert metrics["num_chunks"] == 2
    assert metrics["num_failed_chunks"] == 1
    assert metrics["chunk_info"] == {("a.root", 0, 100): (1.0, 3.0, 0)}
    assert set(metrics["sections"]) == {"s", "load"}
    assert metrics["per_dataset"]["A"]["total_events"] == 100
    assert metrics["tracking_data"] is TRACKING
    assert metrics["raw_chunk_metrics"] is CHUNKS
    assert metrics["raw_span_metrics"] is SPANS
    assert metrics["raw_section_metrics"] == [{"name": "s", "duration": 1.0}]
    # thread-cpu of all tasks, not the wall time of process(); cores over time
    assert metrics["core_efficiency"] == 105.0 / (20 * 10)
    assert metrics["speedup_factor"] == 105.0 / 20
    assert metrics["efficiency_ratio"] == pytest.approx(80.0 / 20 / 10)
    assert metrics["cpu_efficiency"] == metrics["core_efficiency"]
    assert metrics["wall_time"] == 20.0
    assert metrics["mean_workers"] == pytest.approx(8 / 3)
    assert metrics["io_overhead"] == 25.0 / 20


def test_parts_that_are_not_given_are_not_there() -> None:
    metrics = MetricsAggregator("dask").aggregate(REPORT, None, 0.0, 20.0)
    assert metrics["tracking_data"] is None
    for key in ("avg_workers", "processor_cpu_time_seconds", "file_metadata", "chunk_info"):
        assert key not in metrics
    assert not [key for key in metrics if key.startswith("raw_")]
    assert metrics["core_efficiency"] is None
    assert metrics["speedup_factor"] == 4.0
    assert "no fine metrics" in metrics.estimated["speedup_factor"]
    assert metrics["data_rate_gbps"] == 0.4


def test_without_a_report_the_chunks_tell_of_events() -> None:
    metrics = MetricsAggregator("dask").aggregate({}, None, 0.0, 2.0, chunk_metrics=CHUNKS)
    assert metrics["total_events"] == 100
    assert metrics["event_rate_elapsed_khz"] == 0.05
    assert metrics.estimated["total_events"] == "from the chunk records: no report"


def test_branches_come_from_the_report_where_nothing_is_decorated() -> None:
    report = {**REPORT, "columns": ["y-data", "x-data", "nx-offsets"]}
    metrics = MetricsAggregator("dask").aggregate(report, None, 0.0, 2.0)
    assert metrics["accessed_branches"] == ["x", "y"]
    assert metrics["total_branches_read"] == 2


def test_process_memory_needs_no_psutil(monkeypatch: pytest.MonkeyPatch) -> None:
    from roastcoffea import utils

    assert 1 < utils.get_process_memory() < 1e6
    monkeypatch.setitem(sys.modules, "psutil", None)
    assert importlib.reload(utils).get_process_memory() == 0.0
