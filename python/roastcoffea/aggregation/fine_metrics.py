"""Dask's fine metrics: what tasks did with their time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from roastcoffea._roast import Run
from roastcoffea.aggregation.documented import documented
from roastcoffea.metrics import Metrics

_FALLBACKS = {
    "processor_cpu_time_seconds": 0.0,
    "processor_io_wait_time_seconds": 0.0,
    "processor_cpu_percent": 0.0,
    "processor_io_wait_percent": 0.0,
    "overhead_cpu_time_seconds": 0.0,
    "overhead_io_wait_time_seconds": 0.0,
    "total_bytes_memory_read": 0,
    "disk_read_bytes": 0,
    "disk_write_bytes": 0,
    "decompression_time_seconds": 0.0,
    "compression_time_seconds": 0.0,
    "total_compression_overhead_seconds": 0.0,
    "deserialization_time_seconds": 0.0,
    "serialization_time_seconds": 0.0,
    "total_serialization_overhead_seconds": 0.0,
}


def parse_fine_metrics(
    cumulative_worker_metrics: Mapping[Any, Any], processor_name: str | None = None
) -> Metrics:
    """Sum Dask's fine metrics by what they mean.

    Parameters
    ----------
    cumulative_worker_metrics
        ``{("execute", task prefix, activity, unit): number}``, as a Dask span holds them; keys
        shorter than three are passed over
    processor_name
        class of the processor: its tasks are the processor's, all others overhead; without it
        every task is the processor's

    Example
    -------
    >>> spans = {
    ...     ("execute", "MyProcessor", "thread-cpu", "seconds"): 9.0,
    ...     ("execute", "MyProcessor", "thread-noncpu", "seconds"): 1.0,
    ...     ("execute", "reduce", "thread-cpu", "seconds"): 0.5,
    ... }
    >>> metrics = parse_fine_metrics(spans, "MyProcessor")
    >>> metrics["processor_cpu_percent"], metrics["overhead_cpu_time_seconds"]
    (90.0, 0.5)
    """
    run = Run.create(None)
    if processor_name is not None:
        run.fact("processor.name", processor_name)
    run.add_spans(cumulative_worker_metrics)
    return documented(run.summary(), _FALLBACKS)
