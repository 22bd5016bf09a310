"""What Dask's spans tell about each kind of task."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from roastcoffea.visualization.figure import label_axes, note, plot
from roastcoffea.visualization.names import name_ticks
from roastcoffea.visualization.style import BLUE, GREEN, GRID_ALPHA, HATCHES, ORANGE, SKY, YELLOW
from roastcoffea.visualization.timeline import slant

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "extract_per_task_metrics",
    "plot_per_task_bytes_read",
    "plot_per_task_cpu_io",
    "plot_per_task_overhead",
]

#: Prefix under which Dask books what belongs to no task.
NO_TASK = "N/A"

Tasks = dict[str, dict[tuple[str, str], float]]


def extract_per_task_metrics(
    span_metrics: Mapping[Any, float] | None,
) -> dict[str, dict[str, float]]:
    """Return ``{task prefix: {activity: value}}``.

    An activity that is known in several units is given in bytes if it moves data
    (``disk-read``, ``memory-read``, ...), in seconds otherwise.

    >>> extract_per_task_metrics({
    ...     ("execute", "sum", "disk-read", "bytes"): 5e9,
    ...     ("execute", "sum", "disk-read", "seconds"): 2.0,
    ...     ("execute", "sum", "thread-cpu", "seconds"): 1.5,
    ... })
    {'sum': {'disk-read': 5000000000.0, 'thread-cpu': 1.5}}
    """
    result: dict[str, dict[str, float]] = {}
    for prefix, values in _by_task(span_metrics).items():
        result[prefix] = {}
        for activity in dict.fromkeys(activity for activity, _ in values):
            moves = activity.endswith(("-read", "-write"))
            units = ("bytes", "", "seconds") if moves else ("seconds", "", "bytes")
            known = {unit: value for (name, unit), value in values.items() if name == activity}
            unit = next((unit for unit in units if unit in known), next(iter(known)))
            result[prefix][activity] = known[unit]
    return result


@plot((12, 6), "CPU vs I/O Time per Task", title_first=True)
def plot_per_task_cpu_io(ax: Axes, span_metrics: Mapping[Any, float] | None) -> None:
    """Plot for each kind of task the seconds on the CPU and the seconds of waiting.

    Parameters
    ----------
    span_metrics
        ``{("execute", prefix, activity, unit): value}``, as ``collector.span_metrics`` holds it

    Example
    -------
    >>> fig, ax = plot_per_task_cpu_io({("execute", "sum", "thread-cpu", "seconds"): 1.5})
    >>> [label.get_text() for label in ax.get_xticklabels()]
    ['sum']
    """
    table = _table(span_metrics, ("thread-cpu", "thread-noncpu"), "seconds")
    if not table:
        raise ValueError("No per-task CPU/IO metrics found")
    values = np.array(list(table.values()))
    x = np.arange(len(table))
    cpu = ax.bar(x - 0.2, values[:, 0], 0.4, color=BLUE, label="CPU Time")
    wait = ax.bar(x + 0.2, values[:, 1], 0.4, color=ORANGE, hatch=HATCHES[1], label="I/O Time")
    for bars in (cpu, wait):
        ax.bar_label(bars, fmt="{:.3g}", fontsize=8, padding=1)
    ax.legend(loc="best")
    _finish(ax, table, "Time (seconds)")


@plot((12, 6), "Bytes Read per Task", title_first=True)
def plot_per_task_bytes_read(ax: Axes, span_metrics: Mapping[Any, float] | None) -> None:
    """Plot for each kind of task the bytes that Dask read back from disk, having spilled them.

    Input files are not among them.
    """
    table = _table(span_metrics, ("disk-read",), "bytes")
    if not table:
        raise ValueError("No per-task disk-read metrics found")
    values = np.array(list(table.values()))[:, 0] / 1e9
    ax.bar(np.arange(len(table)), values, 0.6, color=BLUE)
    ax.set_ylim(0, float(values.max()) * 1.15)
    note(ax, "Spilled data that Dask read back from disk; input files are not in this")
    _finish(ax, table, "Bytes Read (GB)")


@plot((12, 6), "Compression & Serialization Overhead per Task", title_first=True)
def plot_per_task_overhead(ax: Axes, span_metrics: Mapping[Any, float] | None) -> None:
    """Plot for each kind of task the seconds of (de)compressing and (de)serializing."""
    activities = ("decompress", "compress", "deserialize", "serialize")
    table = _table(span_metrics, activities, "seconds")
    if not table:
        raise ValueError("No per-task overhead metrics found")
    values = np.array(list(table.values()))
    x = np.arange(len(table))
    looks = ((BLUE, ""), (SKY, HATCHES[1]), (GREEN, ""), (YELLOW, HATCHES[3]))
    for i, (activity, (colour, hatch)) in enumerate(zip(activities, looks, strict=True)):
        base = values[:, i - 1] if i % 2 else None
        ax.bar(
            x + (0.2 if i >= 2 else -0.2),
            values[:, i],
            0.36,
            bottom=base,
            color=colour,
            hatch=hatch,
            label=activity.capitalize(),
        )
    ax.legend(loc="best")
    _finish(ax, table, "Time (seconds)")


def _by_task(span_metrics: Mapping[Any, float] | None) -> Tasks:
    """Sort the metrics of tasks by prefix; keys from a file may be tuples written as text."""
    result: Tasks = {}
    for key, value in (span_metrics or {}).items():
        parts = _parts(key)
        if len(parts) < 3 or parts[0] != "execute" or not isinstance(value, Real):
            continue
        prefix, activity, unit = str(parts[1]), str(parts[2]), str(parts[3]) if parts[3:] else ""
        values = result.setdefault(prefix, {})
        values[activity, unit] = values.get((activity, unit), 0) + value
    return result


def _parts(key: Any) -> tuple[Any, ...]:
    if isinstance(key, str) and key.startswith("("):
        try:
            key = ast.literal_eval(key)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return ()
    return key if isinstance(key, tuple) else ()


def _table(
    span_metrics: Mapping[Any, float] | None, activities: tuple[str, ...], unit: str
) -> dict[str, list[float]]:
    """Return a row of values for each task that has any of the activities, in order of names."""
    tasks = _by_task(span_metrics)
    rows = {
        prefix: [tasks[prefix].get((a, unit), tasks[prefix].get((a, ""), 0.0)) for a in activities]
        for prefix in sorted(tasks)
        if prefix != NO_TASK
    }
    return {prefix: row for prefix, row in rows.items() if any(row)}


def _finish(ax: Axes, table: Mapping[str, Any], ylabel: str) -> None:
    name_ticks(ax.xaxis, table, 30)
    slant(ax)
    ax.set_xlim(-0.7, max(len(table), 3) - 0.3)
    ax.grid(visible=True, axis="y", alpha=GRID_ALPHA)
    label_axes(ax, "Task", ylabel)
