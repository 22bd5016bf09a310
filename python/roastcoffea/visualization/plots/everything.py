"""Every plot of a run at once."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from roastcoffea.visualization.figure import detached
from roastcoffea.visualization.plots import (
    branches,
    chunks,
    cpu,
    gantt,
    io,
    ledger,
    memory,
    per_task,
    reconciliation,
    scaling,
    throughput,
    workers,
)
from roastcoffea.visualization.records import column

__all__ = ["Plots", "plot_all"]

logger = logging.getLogger(__name__)

Plot = Callable[..., Any]

# Plots by what they are drawn from
_OF_WORKERS: tuple[Plot, ...] = (
    workers.plot_worker_count_timeline,
    throughput.plot_worker_activity_timeline,
    throughput.plot_total_active_tasks_timeline,
    cpu.plot_occupancy_timeline,
    cpu.plot_executing_tasks_timeline,
    cpu.plot_cpu_utilization_per_worker_timeline,
    cpu.plot_cpu_utilization_mean_timeline,
    memory.plot_memory_utilization_mean_timeline,
    memory.plot_memory_utilization_per_worker_timeline,
    memory.plot_memory_limit,
)
_OF_METRICS: tuple[Plot, ...] = (
    scaling.plot_efficiency_summary,
    scaling.plot_resource_utilization,
    ledger.plot_time_ledger,
    io.plot_compression_ratio_distribution,
    io.plot_data_access_percentage,
    reconciliation.plot_bytes_reconciliation,
)
_OF_SPANS: tuple[Plot, ...] = (
    per_task.plot_per_task_cpu_io,
    per_task.plot_per_task_bytes_read,
    per_task.plot_per_task_overhead,
)
_OF_CHUNKS: tuple[Plot, ...] = (
    chunks.plot_runtime_distribution,
    chunks.plot_runtime_vs_events,
    gantt.plot_chunk_gantt,
    gantt.plot_tail,
    ledger.plot_wall_split,
    io.plot_branch_access_per_chunk,
    io.plot_bytes_accessed_per_chunk,
    branches.plot_branch_treemap,
)


class Plots(list[Path]):
    """The files that :func:`plot_all` wrote.

    Attributes
    ----------
    absent
        why a plot was not drawn, by its name
    """

    def __init__(self) -> None:
        super().__init__()
        self.absent: dict[str, str] = {}


def plot_all(
    metrics_or_collector: Any, directory: str | os.PathLike[str], format: str = "png"
) -> Plots:
    """Write every plot that there is data for.

    Parameters
    ----------
    metrics_or_collector
        a collector, metrics, or what ``load_measurement`` returns
    directory
        where to put them; made where it is missing
    format
        the ending of the files: ``png``, ``pdf``, ``svg``

    Returns
    -------
    Plots
        the paths that were written; ``absent`` tells of the other plots why they were not, and so
        does the log at level INFO

    Example
    -------
    >>> import tempfile
    >>> written = plot_all({"core_efficiency": 0.5}, tempfile.mkdtemp())
    >>> [path.name for path in written]
    ['efficiency_summary.png']
    >>> written.absent["worker_count_timeline"]
    'tracking_data cannot be None'
    """
    place = Path(directory)
    place.mkdir(parents=True, exist_ok=True)
    written = Plots()
    with detached():
        for function, data in _plots(metrics_or_collector):
            name = function.__name__.removeprefix("plot_")
            path = place / f"{name}.{format}"
            try:
                function(*data, output_path=path)
            except ValueError as error:  # nothing to plot
                written.absent[name] = str(error)
                logger.info("no plot of %s: %s", name, error)
            else:
                written.append(path)
    return written


def _plots(source: Any) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """Yield every plot with what it is drawn from."""
    metrics, tracking_data, spans, records = _data(source)
    for function in _OF_WORKERS:
        yield function, (tracking_data,)
    yield throughput.plot_throughput_timeline, (_chunk_info(metrics, records), tracking_data)
    for function in _OF_METRICS:
        yield function, (metrics,)
    for function in _OF_SPANS:
        yield function, (spans,)
    for function in _OF_CHUNKS:
        yield function, (records,)


def _data(source: Any) -> tuple[Mapping[str, Any], Any, Any, list[Mapping[str, Any]]]:
    """Return metrics, tracking data, span metrics and chunk records."""
    if isinstance(source, tuple):  # metrics, t0, t1
        source = tuple.__getitem__(source, 0)
    if isinstance(source, Mapping):
        records = source.get("raw_chunk_metrics") or []
        return source, source.get("tracking_data"), source.get("raw_span_metrics"), list(records)
    try:
        metrics = source.get_metrics()
    except RuntimeError as error:  # in the middle of a run, or without a report
        logger.info("no metrics to plot: %s", error)
        metrics = {}
    return metrics, source.tracking_data, source.span_metrics, list(source.chunk_metrics)


def _chunk_info(metrics: Mapping[str, Any], records: list[Mapping[str, Any]]) -> Any:
    """Return the times and bytes of chunks; from their records if the metrics lack them."""
    if metrics.get("chunk_info"):
        return metrics["chunk_info"]
    keys = ("t_start", "t_end", "bytes_read")
    rows = zip(*(column(records, key) for key in keys), strict=True)
    return {i: row for i, row in enumerate(rows) if row[0] == row[0] and row[1] == row[1]}
