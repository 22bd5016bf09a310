"""Tasks and data rate over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from roastcoffea.visualization.figure import plot, whole_numbers
from roastcoffea.visualization.series import Floats, Times, epochs, read_counts, read_series
from roastcoffea.visualization.style import BLUE, ORANGE, SMALL
from roastcoffea.visualization.timeline import draw_workers
from roastcoffea.visualization.utils import setup_timeline_axes, validate_tracking_data

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "plot_throughput_timeline",
    "plot_total_active_tasks_timeline",
    "plot_worker_activity_timeline",
]

NO_TASKS = "No worker active tasks data available"

#: Stretches of time over which the data rate is averaged.
STRETCHES = 400


@plot((12, 6), "Worker Activity Over Time")
def plot_worker_activity_timeline(
    ax: Axes, tracking_data: Mapping[str, Any] | None, max_legend_entries: int = 5
) -> None:
    """Plot how many tasks each worker had over time."""
    table = read_series(validate_tracking_data(tracking_data, "worker_active_tasks", NO_TASKS))
    draw_workers(ax, table, max_legend_entries)
    ax.set_ylim(bottom=0)
    whole_numbers(ax.yaxis)
    setup_timeline_axes(ax, ylabel="Number of Active Tasks")


@plot((10, 5), "Total Active Tasks Over Time")
def plot_total_active_tasks_timeline(ax: Axes, tracking_data: Mapping[str, Any] | None) -> None:
    """Plot how many tasks all workers together had over time.

    Example
    -------
    >>> from datetime import datetime
    >>> now = datetime(2026, 11, 15)
    >>> data = {"worker_active_tasks": {"w1": [(now, 2)], "w2": [(now, 3)]}}
    >>> fig, ax = plot_total_active_tasks_timeline(data)
    >>> ax.lines[0].get_ydata().tolist()
    [5.0]
    """
    table = read_series(validate_tracking_data(tracking_data, "worker_active_tasks", NO_TASKS))
    total = np.nansum(table.values, axis=0)
    ax.plot(table.times, total, color=BLUE, marker="o" if len(total) == 1 else "")
    ax.fill_between(table.times, total, color=BLUE, alpha=0.25, linewidth=0)
    ax.set_ylim(0, max(float(total.max()) * 1.05, 1.0))
    whole_numbers(ax.yaxis)
    setup_timeline_axes(ax, ylabel="Total Active Tasks")


@plot((12, 6), "Data Throughput Over Time")
def plot_throughput_timeline(
    ax: Axes,
    chunk_info: Mapping[Any, Sequence[float]] | None,
    tracking_data: Mapping[str, Any] | None = None,
) -> None:
    """Plot the rate at which chunks read data over time, and the number of workers.

    A chunk's bytes count evenly over its time. The rate is the mean over each of 400 stretches of
    time, so that the area under it is what was read, however long the run.

    Parameters
    ----------
    chunk_info
        ``{(file, start, stop): (t_start, t_end, bytes)}``, as ``metrics["chunk_info"]`` holds it
    tracking_data
        what the workers did over time; with it, their number is drawn too

    Example
    -------
    >>> fig, ax = plot_throughput_timeline({("a.root", 0, 10): (0.0, 2.0, 10**9)})
    >>> ax.get_ylabel()
    'Data Rate (Gbps)'
    """
    if not chunk_info:
        raise ValueError("No chunk_info provided")
    chunks = np.array([tuple(chunk)[:3] for chunk in chunk_info.values()], dtype=np.float64)
    chunks = chunks[np.isfinite(chunks).all(axis=1)]
    if not len(chunks):
        raise ValueError("No chunk_info provided")
    times, rate = _rate(*chunks.T)
    ax.fill_between(times, rate, step="post", color=ORANGE, alpha=0.45, linewidth=0)
    ax.step(times, rate, where="post", color=ORANGE, linewidth=1.2)
    ax.set_ylim(0, float(rate.max()) * 1.08 or 1.0)
    setup_timeline_axes(ax, ylabel="Data Rate (Gbps)")
    counts = (tracking_data or {}).get("worker_counts")
    if counts:
        _draw_worker_count(ax, times, *read_counts(counts))


def _rate(start: Floats, end: Floats, size: Floats) -> tuple[Times, Floats]:
    """Return times and the Gbit/s from each of them until the next."""
    origin = float(start.min())
    start, end = start - origin, end - origin
    end = np.maximum(end, start + 1e-3)  # a chunk of no time at all still has read its bytes
    edges = np.linspace(0.0, float(end.max()), STRETCHES + 1)
    slope = size / (end - start)
    read = _ramps(edges, start, slope) - _ramps(edges, end, slope)
    rate = np.maximum(np.diff(read), 0.0) * 8 / 1e9 / np.diff(edges)
    rate[rate < 1e-9 * rate.max()] = 0.0
    return epochs(origin + edges), np.append(rate, rate[-1])


def _ramps(at: Floats, start: Floats, slope: Floats) -> Floats:
    """Return the sum of ramps, each of which rises with its slope from its start on."""
    order = np.argsort(start)
    slopes = np.concatenate(([0.0], np.cumsum(slope[order])))
    offsets = np.concatenate(([0.0], np.cumsum(slope[order] * start[order])))
    begun = np.searchsorted(start[order], at, side="right")
    return np.asarray(at * slopes[begun] - offsets[begun])


def _draw_worker_count(ax: Axes, chunk_times: Times, times: Times, numbers: Floats) -> None:
    times = times - _clock_shift(chunk_times, times)
    right = ax.twinx()
    right.spines["right"].set_visible(True)
    right.step(times, numbers, where="post", color=BLUE, linewidth=1.8, linestyle="--")
    right.set_ylim(0, float(numbers.max()) * 1.1 or 1.0)
    whole_numbers(right.yaxis)
    right.set_ylabel("Number of Workers", color=BLUE)
    right.tick_params(axis="y", labelcolor=BLUE, labelsize=SMALL)
    ax.yaxis.label.set_color("#9a6a00")  # the orange of the area, dark enough to read
    setup_timeline_axes(ax, ylabel=ax.get_ylabel(), title=ax.get_title())


def _clock_shift(chunk_times: Times, times: Times) -> np.timedelta64:
    """Return what to take off samples that are in local time, while chunks are in UTC.

    Measurements of version 0.1 are such. Zones differ by quarters of an hour.
    """
    none = np.timedelta64(0, "us")
    if times.min() <= chunk_times.max() and chunk_times.min() <= times.max():
        return none
    quarter = 15 * 60 * 10**6
    apart = int((times.max() - chunk_times.max()).astype(np.int64))
    quarters = round(apart / quarter)
    near = abs(apart - quarters * quarter) < quarter // 3 and abs(quarters) <= 14 * 4
    return np.timedelta64(quarters * quarter, "us") if near else none
