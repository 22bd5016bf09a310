"""Memory of workers over time, against their limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from roastcoffea.visualization.figure import plot
from roastcoffea.visualization.series import Floats, Table, fold, on_times, quantiles, read_series
from roastcoffea.visualization.style import BLUE, INK, ORANGE, SMALL, VERMILLION
from roastcoffea.visualization.timeline import draw_mean, draw_workers, percent_limits
from roastcoffea.visualization.utils import setup_timeline_axes, validate_tracking_data

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "plot_memory_limit",
    "plot_memory_utilization_mean_timeline",
    "plot_memory_utilization_per_worker_timeline",
]

NO_MEMORY = "Memory or memory limit data not available"

#: What Dask does at which share of the limit, with its default settings.
THRESHOLDS = ((0.7, "spill"), (0.8, "pause"), (0.95, "kill"))


@plot((10, 4), "Memory Utilization Over Time")
def plot_memory_utilization_mean_timeline(
    ax: Axes, tracking_data: Mapping[str, Any] | None
) -> None:
    """Plot the mean share of their memory limit that workers use over time, and its range."""
    table, limits = _read(tracking_data)
    shares = _shares(table.values, limits)
    shares[:, np.isnan(shares).all(axis=0)] = 0.0  # nobody had a limit then
    draw_mean(ax, table.times, shares)
    percent_limits(ax, shares)
    setup_timeline_axes(ax, ylabel="Memory Utilization (%)")


@plot((12, 6), "Memory Utilization Per Worker Over Time")
def plot_memory_utilization_per_worker_timeline(
    ax: Axes, tracking_data: Mapping[str, Any] | None, max_legend_entries: int = 5
) -> None:
    """Plot the share of its memory limit that each worker uses over time.

    Workers without a limit are left out. More than 50 workers are drawn as bands of quantiles.

    Example
    -------
    >>> from datetime import datetime
    >>> now = datetime(2026, 11, 15)
    >>> data = {"worker_memory": {"w1": [(now, 1e9)]}, "worker_memory_limit": {"w1": [(now, 4e9)]}}
    >>> fig, ax = plot_memory_utilization_per_worker_timeline(data)
    >>> ax.lines[0].get_ydata().tolist()
    [25.0]
    """
    table, limits = _read(tracking_data)
    shares = _shares(table.values, limits)
    limited = np.asarray(np.isfinite(shares).any(axis=1))
    if not limited.any():
        raise ValueError(NO_MEMORY)
    workers = [worker for worker, keep in zip(table.workers, limited, strict=True) if keep]
    draw_workers(ax, Table(table.times, workers, shares[limited]), max_legend_entries)
    percent_limits(ax, shares)
    setup_timeline_axes(ax, ylabel="Memory Utilization (%)")


@plot((10, 5), "Worker Memory Against Its Limit")
def plot_memory_limit(ax: Axes, tracking_data: Mapping[str, Any] | None) -> None:
    """Plot the memory of the fullest and of the median worker, below the limit of workers.

    Dotted lines tell where Dask starts to spill, pauses a worker and kills it, unless it was
    configured otherwise; where limits differ, the lowest one counts.
    """
    table, limits = _read(tracking_data)
    if not (limits > 0).any() or not np.isfinite(table.values).any():
        raise ValueError(NO_MEMORY)
    times, memory = fold(table.times, table.values / 1e9)
    low, median, high = quantiles(memory, (0.0, 0.5, 1.0))
    limit = float(limits[limits > 0].min()) / 1e9
    peak = float(np.nanmax(high))
    fullest = f"Fullest worker (peak {peak:.3g} GB, {100 * peak / limit:.0f} % of the limit)"
    marker = "o" if len(times) == 1 else ""
    ax.fill_between(times, low, high, color=BLUE, alpha=0.2, linewidth=0, label="All workers")
    ax.plot(times, high, color=VERMILLION, marker=marker, label=fullest)
    ax.plot(times, median, color=BLUE, marker=marker, linestyle="--", label="Median worker")
    ax.axhline(limit, color=INK, linewidth=2, label=f"Limit: {limit:.3g} GB")
    ax.set_ylim(0, max(limit, peak) * 1.06)
    for share, what in THRESHOLDS:
        ax.axhline(share * limit, color=ORANGE, linestyle=":", linewidth=1.2)
        ax.text(
            1.005,
            share * limit,
            f"{what} ({share:.0%})",
            transform=ax.get_yaxis_transform(),
            va="center",
            fontsize=SMALL,
        )
    ax.figure.legend(loc="outside lower center", ncols=4)
    setup_timeline_axes(ax, ylabel="Memory per Worker (GB)")


def _read(tracking_data: Mapping[str, Any] | None) -> tuple[Table, Floats]:
    """Return the memory of workers, and their limits at the same times."""
    memory = read_series(validate_tracking_data(tracking_data, "worker_memory", NO_MEMORY))
    limits = read_series(validate_tracking_data(tracking_data, "worker_memory_limit", NO_MEMORY))
    return memory, on_times(limits, memory.times, memory.workers)


def _shares(memory: Floats, limits: Floats) -> Floats:
    """Return the percentage of its limit that a worker uses; NaN without a limit."""
    return 100 * memory / np.where(limits > 0, limits, np.nan)
