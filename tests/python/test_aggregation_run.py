"""The aggregation of what a collector hands out agrees with the collector's own figures."""

from __future__ import annotations

import pytest
from analysing import Measured

from roastcoffea.aggregation.core import MetricsAggregator
from roastcoffea.metrics import registry

#: The run knows when workers came and went; plain data have samples at the ticks of a grid.
SAMPLED = {
    "avg_workers",
    "mean_workers",
    "total_cores",
    "cores_per_worker",
    "peak_memory_bytes",
    "avg_memory_per_worker_bytes",
    "avg_memory_utilization_percent",
    "compression_ratio",  # of whole bytes in a record's dict
    "total_bytes_uncompressed",
    "min_memory_utilization_percent",
    "peak_memory_utilization_percent",
    "core_efficiency",
    "event_rate_core_khz",
    "event_rate_core_hz",
    "efficiency_ratio",
}


def test_plain_data_and_the_run_tell_the_same(measured: Measured) -> None:
    collector = measured[0]
    own = collector.get_metrics()
    assert collector.coffea_report is not None
    assert collector.t_start is not None
    assert collector.t_end is not None
    plain = MetricsAggregator("dask").aggregate(
        collector.coffea_report,
        collector.tracking_data,
        collector.t_start,
        collector.t_end,
        collector.custom_metrics,
        collector.span_metrics,
        collector.processor_name,
        collector.chunk_metrics,
        collector.section_metrics,
    )
    compared = 0
    for key, *_ in registry():
        if "cpu_utilization" in key:
            continue  # the run has the kernel's count, plain data have Dask's samples of it
        if key == "monitoring_percent":
            continue  # of what monitoring costs, plain data have the chunks' own probes alone
        if own.get(key) is not None and key in plain:
            tolerance = 0.2 if key in SAMPLED else 1e-6
            assert plain[key] == pytest.approx(own[key], rel=tolerance, abs=1e-9), key
            compared += 1
    assert compared > 40
    assert plain["num_chunks"] == 6
    assert len(plain["chunk_info"]) == 6
    assert {name: d["total_events"] for name, d in plain["per_dataset"].items()} == {
        name: d["total_events"] for name, d in own["per_dataset"].items()
    }
    assert plain["total_branches_read"] > 0
    assert len(plain["file_read_metrics"]) == 2
    for name, section in own["sections"].items():
        assert plain["sections"][name]["total_duration"] == pytest.approx(section["total_duration"])
    for name, figures in own["file_read_metrics"].items():
        told = plain["file_read_metrics"][name]["accessed_branches"]
        assert figures["accessed_branches"] == told != []
    for figures in plain["file_read_metrics"].values():  # all chunks touch the same branches
        share = figures["bytes_read"] / figures["total_tree_bytes"]
        assert figures["bytes_read_percent"] == pytest.approx(100 * share)
        assert figures["bytes_read"] > max(r["accessed_bytes"] for r in collector.chunk_metrics)
