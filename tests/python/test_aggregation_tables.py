"""The documented tables, of plain metrics dicts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from io import StringIO
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from roastcoffea.aggregation.workflow import aggregate_workflow_metrics
from roastcoffea.export.reporter import (
    _format_bytes,
    _format_time,
    format_chunk_metrics_table,
    format_event_processing_table,
    format_fine_metrics_table,
    format_resources_table,
    format_throughput_table,
    format_timing_table,
)

DOT = "  \N{BULLET} "


def rows(table: Any) -> list[tuple[str, str]]:
    """The table's cells as text."""
    cells = [[getattr(cell, "plain", cell) for cell in column._cells] for column in table.columns]
    return list(zip(*cells, strict=True))


def labels(table: Any) -> list[str]:
    return [label for label, _ in rows(table)]


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0.00 B"),
        (512, "512.00 B"),
        (1536, "1.50 KB"),
        (1024**2, "1.00 MB"),
        (3 * 1024**3, "3.00 GB"),
        (1024**4, "1.00 TB"),
        (2.5 * 1024**5, "2.50 PB"),
        (5000 * 1024**5, "5000.00 PB"),
    ],
)
def test_bytes_by_powers_of_1024(number: float, text: str) -> None:
    assert _format_bytes(number) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0.0s"),
        (0.5, "0.5s"),
        (12.34, "12.3s"),
        (59.94, "59.9s"),
        (60, "1m 0s"),
        (187.9, "3m 7s"),
        (3600, "1h 0m 0s"),
        (3723.9, "1h 2m 3s"),
        (0.012, "12.0ms"),
        (0.0000042, "4.2us"),
    ],
)
def test_times_to_a_tenth_and_finer_below(seconds: float, text: str) -> None:
    assert _format_time(seconds) == text


@pytest.mark.parametrize(
    ("make", "title", "n_rows"),
    [
        (format_throughput_table, "Throughput Metrics", 1),
        (format_event_processing_table, "Event Processing Metrics", 4),
        (format_resources_table, "Resource Utilization", 8),
        (format_timing_table, "Timing Breakdown", 2),
    ],
)
def test_tables_of_nothing(
    make: Callable[[Mapping[str, Any]], Any], title: str, n_rows: int
) -> None:
    table = make({})
    assert table.title == title
    assert [column.header for column in table.columns] == ["Metric", "Value"]
    assert table.columns[0].no_wrap
    assert table.row_count == n_rows
    assert format_fine_metrics_table({}) is None
    assert format_chunk_metrics_table({}) is None
    assert format_chunk_metrics_table({"num_chunks": 0}) is None


def test_a_data_rate_alone_gives_both_units() -> None:
    assert rows(format_throughput_table({"data_rate_gbps": 8.0})) == [
        ("Data Rate", "8.00 Gbps (1000.0 MB/s)")
    ]


def test_the_efficiency_ratio_is_divided_by_the_cores() -> None:
    metrics = {
        "total_events": 1000,
        "event_rate_elapsed_khz": 90.0,
        "event_rate_cpu_total_khz": 100.0,
        "event_rate_core_khz": 45.0,
        "total_cores": 2.0,
    }
    assert rows(format_event_processing_table(metrics))[-1] == ("Efficiency Ratio", "45.0%")
    del metrics["total_cores"]
    assert rows(format_event_processing_table(metrics))[-1] == ("Efficiency Ratio", "45.0%")
    del metrics["event_rate_core_khz"]
    assert rows(format_event_processing_table(metrics))[-1] == (
        "Efficiency Ratio",
        "N/A (no worker tracking)",
    )
    metrics["event_rate_elapsed_khz"] = 0
    assert len(rows(format_event_processing_table(metrics))) == 4


def test_rows_of_the_fine_table() -> None:
    metrics = {
        "processor_cpu_time_seconds": 8.0,
        "processor_io_wait_time_seconds": 2.0,
        "processor_cpu_percent": 80.0,
        "processor_io_wait_percent": 20.0,
    }
    table = format_fine_metrics_table(metrics)
    assert labels(table) == [
        "Processor CPU Time",
        "Processor I/O & Waiting Time",
        "  CPU %",
        "  I/O & Wait %",
    ]
    metrics |= {"disk_read_bytes": 10, "disk_write_bytes": 10}
    metrics |= {"total_compression_overhead_seconds": 3.0, "compression_time_seconds": 1.0}
    metrics |= {"decompression_time_seconds": 2.0}
    metrics |= {"total_serialization_overhead_seconds": 3.0, "serialization_time_seconds": 3.0}
    metrics |= {"deserialization_time_seconds": 0.0}
    assert labels(format_fine_metrics_table(metrics))[4:] == [
        "Disk Read",
        "Disk Write",
        "Compression Overhead",
        DOT + "Compress",
        DOT + "Decompress",
        "Serialization Overhead",
        DOT + "Serialize",
    ]


def test_the_chunk_table_shows_datasets_and_sections() -> None:
    metrics = {
        "num_chunks": 5,
        "num_successful_chunks": 4,
        "num_failed_chunks": 1,
        "per_dataset": {
            "A": {"num_chunks": 3, "total_duration": 9.0, "mean_duration": 3.0},
            "B": {"num_chunks": 1, "mean_duration": 2.0},
        },
        "sections": {
            **{
                f"s{i}": {"count": 2, "total_duration": float(i), "type": "section"}
                for i in range(1, 7)
            },
            "m": {
                "count": 4,
                "total_duration": 40.0,
                "type": "memory",
                "mean_mem_delta_mb": 1e6 / 2**20,
            },
        },
    }
    assert rows(format_chunk_metrics_table(metrics)) == [
        ("Total Chunks", "5"),
        (DOT + "Successful", "4"),
        (DOT + "Failed", "1"),
        ("", ""),
        ("Per-Dataset Breakdown", ""),
        ("  A", "3 chunks, 3.0s avg"),
        ("  B", "1 chunks, 2.0s avg"),
        ("", ""),
        ("Section Timing", ""),
        ("  m", "40.0s (4x), 1.00 MB avg"),
        ("  s6", "6.0s (2x)"),
        ("  s5", "5.0s (2x)"),
        ("  s4", "4.0s (2x)"),
        ("  s3", "3.0s (2x)"),
    ]


def test_one_dataset_has_no_breakdown() -> None:
    metrics = {"num_chunks": 5, "per_dataset": {"A": {"num_chunks": 5, "mean_duration": 1.0}}}
    assert labels(format_chunk_metrics_table(metrics)) == ["Total Chunks"]


def test_an_absent_figure_shows_its_reason_not_its_fallback() -> None:
    metrics = aggregate_workflow_metrics({}, 0.0, 10.0)
    assert metrics["data_rate_gbps"] == 0
    assert rows(format_throughput_table(metrics)) == [
        ("Data Rate", "N/A (the report has no 'bytesread')")
    ]


def test_the_timing_table_of_a_plain_dict_has_the_documented_rows_alone() -> None:
    times = {"elapsed_time_seconds": 12.34, "total_cpu_time": 20.0}
    assert labels(format_timing_table(times)) == ["Elapsed Time", "Total CPU Time"]
    chunks = {"num_chunks": 10, "avg_cpu_time_per_chunk": 2.0}
    assert labels(format_timing_table(times | chunks))[2:] == [
        "Number of Chunks",
        "Avg CPU Time/Chunk",
    ]


def test_an_array_where_a_number_is_wanted_is_no_number() -> None:
    metrics = {"data_rate_gbps": np.array([1, 2]), "total_events": np.array([3.5, 4.5])}
    assert rows(format_throughput_table(metrics))[0][1].startswith("N/A")
    assert rows(format_event_processing_table(metrics))[0] == ("Total Events", "N/A (not a number)")
    assert aggregate_workflow_metrics({"entries": np.array([1, 2])}, 0.0, 1.0)["total_events"] == 0


def test_cells_are_strings_unless_rich_would_read_something_into_them() -> None:
    table = format_throughput_table({"data_rate_gbps": 8.0})
    assert [list(column.cells) for column in table.columns] == [
        ["Data Rate"],
        ["8.00 Gbps (1000.0 MB/s)"],
    ]
    names = ["[bold]A[/bold]", ":coffee:"]
    metrics = {"num_chunks": 2, "per_dataset": {name: {"num_chunks": 1} for name in names}}
    console = Console(width=80, record=True, file=StringIO())
    console.print(format_chunk_metrics_table(metrics))
    text = console.export_text()
    assert all(name in text for name in names)
