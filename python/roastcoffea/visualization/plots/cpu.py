"""CPU use, occupancy and running tasks of workers over time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from roastcoffea.visualization.figure import plot, whole_numbers
from roastcoffea.visualization.series import Table, read_series
from roastcoffea.visualization.style import INK, SMALL
from roastcoffea.visualization.timeline import draw_mean, draw_workers, percent_limits
from roastcoffea.visualization.utils import setup_timeline_axes, validate_tracking_data

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "plot_cpu_utilization_mean_timeline",
    "plot_cpu_utilization_per_worker_timeline",
    "plot_executing_tasks_timeline",
    "plot_occupancy_timeline",
]

NO_CPU = "No worker CPU data available"


@plot((12, 6), "Worker Occupancy Over Time")
def plot_occupancy_timeline(
    ax: Axes, tracking_data: Mapping[str, Any] | None, max_legend_entries: int = 5
) -> None:
    """Plot the occupancy of each worker over time: the seconds of work that Dask expects of it."""
    table = read_series(
        validate_tracking_data(
            tracking_data, "worker_occupancy", "No worker occupancy data available"
        )
    )
    draw_workers(ax, table, max_legend_entries)
    ax.set_ylim(bottom=0)
    setup_timeline_axes(ax, ylabel="Occupancy (saturation)")


@plot((12, 6), "Executing Tasks Per Worker Over Time")
def plot_executing_tasks_timeline(
    ax: Axes, tracking_data: Mapping[str, Any] | None, max_legend_entries: int = 5
) -> None:
    """Plot how many tasks each worker executed over time."""
    table = read_series(
        validate_tracking_data(
            tracking_data, "worker_executing", "No worker executing tasks data available"
        )
    )
    draw_workers(ax, table, max_legend_entries)
    ax.set_ylim(bottom=0)
    whole_numbers(ax.yaxis)
    setup_timeline_axes(ax, ylabel="Number of Executing Tasks")


@plot((12, 6), "CPU Utilization Per Worker Over Time")
def plot_cpu_utilization_per_worker_timeline(
    ax: Axes, tracking_data: Mapping[str, Any] | None, max_legend_entries: int = 5
) -> None:
    """Plot the CPU use of each worker over time; 100 % is one busy core.

    More than 50 workers are drawn as bands of quantiles.

    Example
    -------
    >>> from datetime import datetime
    >>> samples = [(datetime(2026, 11, 15, 12, 0, s), 90.0) for s in range(3)]
    >>> fig, ax = plot_cpu_utilization_per_worker_timeline({"worker_cpu": {"w1": samples}})
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['w1']
    """
    table = read_series(validate_tracking_data(tracking_data, "worker_cpu", NO_CPU))
    draw_workers(ax, table, max_legend_entries)
    _finish_percent(ax, table, tracking_data)


@plot((10, 4), "CPU Utilization Over Time")
def plot_cpu_utilization_mean_timeline(ax: Axes, tracking_data: Mapping[str, Any] | None) -> None:
    """Plot the mean CPU use of the workers over time, and its range; 100 % is one busy core."""
    table = read_series(validate_tracking_data(tracking_data, "worker_cpu", NO_CPU))
    draw_mean(ax, table.times, table.values)
    _finish_percent(ax, table, tracking_data)


def _finish_percent(ax: Axes, table: Table, tracking_data: Mapping[str, Any] | None) -> None:
    percent_limits(ax, table.values)
    setup_timeline_axes(ax, ylabel="CPU Utilization (%)")
    _mark_all_cores(ax, tracking_data)


def _mark_all_cores(ax: Axes, tracking_data: Mapping[str, Any] | None) -> None:
    """Say what a worker with all of its threads busy would use, where that exceeds 100 %."""
    series = (tracking_data or {}).get("worker_cores") or {}
    last = [samples[-1][1] for samples in series.values() if samples]
    cores = float(np.median(last)) if last else 1.0
    top = ax.get_ylim()[1]
    if top <= 100 or cores <= 1:
        return
    ax.set_ylim(0, max(top, 105 * cores))
    ax.axhline(100 * cores, color=INK, linestyle=":", linewidth=1)
    ax.text(
        0.995,
        100 * cores,
        f"all {cores:g} threads busy",
        transform=ax.get_yaxis_transform(),
        ha="right",
        va="bottom",
        fontsize=SMALL,
    )
