"""Where the time went: of workers, and of chunks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.transforms import ScaledTranslation

from roastcoffea.visualization.bars import stacked
from roastcoffea.visualization.figure import label_axes, plot
from roastcoffea.visualization.names import name_ticks, plain, shown
from roastcoffea.visualization.records import Record, column, names, require
from roastcoffea.visualization.series import Floats
from roastcoffea.visualization.style import (
    BLUE,
    GREEN,
    GREY,
    GRID_ALPHA,
    ORANGE,
    PURPLE,
    SKY,
    SMALL,
    VERMILLION,
    YELLOW,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend

__all__ = ["plot_time_ledger", "plot_wall_split"]

#: The parts of worker time, in the order in which they are drawn.
LEDGER_PARTS = {
    "processor_cpu": ("Processor CPU", GREEN),
    "processor_wait": ("Processor waiting", ORANGE),
    "processor": ("Processor", "#8cbf4f"),
    "tasks_cpu": ("Tasks CPU", GREEN),
    "tasks_wait": ("Tasks waiting", ORANGE),
    "tasks": ("Tasks", "#8cbf4f"),
    "overhead": ("Other tasks", PURPLE),
    "serialize": ("Serialize", BLUE),
    "compress": ("Compress", SKY),
    "transfer": ("Transfer", YELLOW),
    "spill": ("Spill", VERMILLION),
    "idle": ("Idle", "#dddddd"),
    "gone": ("Gone", "#777777"),
}

#: The parts of a chunk's wall time.
WALL_PARTS = {
    "cpu": ("CPU", GREEN),
    "runqueue": ("Waiting for a core", ORANGE),
    "throttled": ("Throttled by quota", VERMILLION),
    "block_io": ("Disk", BLUE),
    "gil": ("Waiting for the GIL", PURPLE),
    "other": ("Other waits (network, locks)", GREY),
}

#: What the ticks and the label of the axis below take, in points.
LABELLED = 34

#: More bars than this are drawn as areas, or left out.
ROWS = 40


@plot((12, 6), "Where Worker Time Went")
def plot_time_ledger(ax: Axes, metrics: Mapping[str, Any] | None) -> None:
    """Plot where the time of all worker threads went, as stacked bars.

    Parameters
    ----------
    metrics
        the metrics; ``metrics["time_ledger"]``, or the argument itself, is ``{part: seconds}`` or
        ``{worker: {part: seconds}}`` with the parts ``processor_cpu``, ``processor_wait``,
        ``overhead``, ``serialize``, ``compress``, ``transfer``, ``spill``, ``idle``, ``gone``, and
        for what could not be told apart ``processor``, ``tasks_cpu``, ``tasks_wait``, ``tasks``. In
        metrics without a ledger the parts come from the fine metrics, and what is left of
        cores x elapsed time is idle.

    Example
    -------
    >>> fig, ax = plot_time_ledger({"processor_cpu": 30.0, "idle": 10.0})
    >>> [text.get_text() for text in ax.texts]
    ['75 %', '25 %', '40 s']
    """
    rows = _ledger(metrics)
    if len(rows) > 1 and "total" not in rows:
        parts = dict.fromkeys(part for row in rows.values() for part in row)
        rows = {"total": {p: sum(row.get(p) or 0.0 for row in rows.values()) for p in parts}} | rows
    found = dict.fromkeys(part for row in rows.values() for part, value in row.items() if value)
    if not found:
        raise ValueError("No time ledger data available")
    order = [p for p in LEDGER_PARTS if p in found] + [p for p in found if p not in LEDGER_PARTS]
    table = {p: np.array([row.get(p) or 0.0 for row in rows.values()]) for p in order}
    whole = np.sum(list(table.values()), axis=0)
    percent = 100 / np.where(whole > 0, whole, 1.0)
    shares = {part: seconds * percent for part, seconds in table.items()}
    look = [LEDGER_PARTS.get(part, (shown(part, 20), GREY)) for part in order]
    named = {label: shares[part] for part, (label, _) in zip(order, look, strict=True)}
    colours = [colour for _, colour in look]
    if len(rows) <= ROWS:
        _draw_rows(ax, named, colours, list(rows), [_hours(seconds) for seconds in whole])
    else:
        _draw_areas(ax, named, colours)
    ax.set_xlim(0, 100)
    plain(_legend_below(ax, 5).get_texts())
    label_axes(ax, "Share of Worker Thread Time (%)", "Worker" if len(rows) > 1 else "")


@plot((12, 6), "Wall Time of Chunks by Dataset")
def plot_wall_split(ax: Axes, chunk_metrics: Iterable[Record] | None) -> None:
    """Plot where the wall time of chunks went, for each dataset, as stacked bars.

    Of more than 40 datasets the ones that took longest are shown. What a record does not tell of
    its duration counts as other waits.

    Parameters
    ----------
    chunk_metrics
        the chunk records; ``wall_split`` of a record is ``{cpu, runqueue, throttled, block_io,
        gil, other}`` in seconds

    Example
    -------
    >>> fig, ax = plot_wall_split([{"dataset": "zmm", "wall_split": {"cpu": 3.0, "gil": 1.0}}])
    >>> [text.get_text() for text in ax.texts]
    ['75 %', '25 %', '4 s, 1 chunk']
    """
    records = require(chunk_metrics, "No chunk metrics available")
    splits: list[Record] = [record.get("wall_split") or {} for record in records]
    columns = {part: column(splits, part, 0.0) for part in WALL_PARTS}
    whole = np.sum(list(columns.values()), axis=0)
    if not whole.any():
        raise ValueError("No wall-time split in chunk metrics")
    rest = np.where(whole > 0, column(records, "duration", 0.0) - whole, 0.0)
    columns["other"] += np.where(rest > 1e-9, rest, 0.0)  # beyond rounding
    whole = np.sum(list(columns.values()), axis=0)
    datasets, index = np.unique(np.array(names(records, "dataset")), return_inverse=True)
    seconds = np.bincount(index, whole)
    chunks = np.bincount(index, whole > 0).astype(int)
    kept = np.argsort(-seconds, kind="stable")[:ROWS]
    kept = kept[seconds[kept] > 0]
    shares = {
        label: 100 * np.bincount(index, columns[part])[kept] / seconds[kept]
        for part, (label, _) in WALL_PARTS.items()
    }
    shares = {label: values for label, values in shares.items() if values.any()}
    colours = [colour for label, colour in WALL_PARTS.values() if label in shares]
    sizes = [
        f"{_hours(seconds[i])}, {chunks[i]:,} chunk{'s' if chunks[i] != 1 else ''}" for i in kept
    ]
    _draw_rows(ax, shares, colours, [str(datasets[i]) for i in kept], sizes)
    ax.set_xlim(0, 100)
    _legend_below(ax, 3)
    label_axes(ax, "Share of Wall Time (%)", "Dataset")


def _ledger(metrics: Mapping[str, Any] | None) -> dict[str, Mapping[str, float]]:
    """Return the rows of the ledger: one for all workers, or one for each."""
    if not metrics:
        return {}
    ledger: Mapping[str, Any] | None = metrics.get("time_ledger")
    if ledger is None:
        known = [value for key, value in metrics.items() if key in LEDGER_PARTS]
        nested = all(isinstance(value, Mapping) for value in metrics.values())
        ledger = metrics if known or nested else _from_fine_metrics(metrics)
    if not ledger:
        return {}
    rows: Mapping[str, Any] = ledger
    if not all(isinstance(row, Mapping) for row in rows.values()):
        rows = {"total": ledger}
    return {str(worker): row for worker, row in rows.items()}


def _from_fine_metrics(metrics: Mapping[str, Any]) -> dict[str, float]:
    def get(*keys: str) -> float:
        return sum(float(metrics.get(key) or 0.0) for key in keys)

    parts = {
        "processor_cpu": get("processor_cpu_time_seconds"),
        "processor_wait": get("processor_io_wait_time_seconds"),
        "overhead": get("overhead_cpu_time_seconds", "overhead_io_wait_time_seconds"),
        "serialize": get("total_serialization_overhead_seconds"),
        "compress": get("total_compression_overhead_seconds"),
    }
    busy = sum(parts.values())
    if busy <= 0:
        return {}
    parts["idle"] = max(get("total_cores") * get("elapsed_time_seconds") - busy, 0.0)
    return parts


def _draw_rows(
    ax: Axes, parts: Mapping[str, Floats], colours: list[str], rows: list[str], sizes: list[str]
) -> None:
    stacked(ax, parts, colours, labels=len(rows) <= 20)
    name_ticks(ax.yaxis, rows)
    ax.set_ylim(len(rows) - 0.4 if len(rows) > 1 else 0.9, -0.6 if len(rows) > 1 else -0.9)
    for y, size in enumerate(sizes):
        ax.text(101, y, size, va="center", fontsize=SMALL)
    ax.grid(visible=True, axis="x", alpha=GRID_ALPHA)


def _draw_areas(ax: Axes, parts: Mapping[str, Floats], colours: list[str]) -> None:
    """Draw all workers as areas, the busiest on top, with the total as a bar above them."""
    total = {name: values[:1] for name, values in parts.items()}
    stacked(ax, total, colours, at=np.array([-0.07]), height=0.08, labels=True)
    rest = np.array([v[1:] for v in parts.values()])
    rest = rest[:, np.lexsort(-rest[::-1])]
    y = np.linspace(0, 1, rest.shape[1] + 1)
    left = np.zeros(rest.shape[1])
    for values, colour in zip(rest, colours, strict=True):
        right = left + values
        inner, outer = np.append(left, left[-1]), np.append(right, right[-1])
        ax.fill_betweenx(y, inner, outer, step="post", color=colour, linewidth=0)
        left = right
    ax.set_ylim(1, -0.13)
    ax.set_yticks([-0.07, 0.5], labels=["total", f"{rest.shape[1]:,} workers,\nbusiest on top"])


def _legend_below(ax: Axes, columns: int) -> Legend:
    """Put the legend below the label of the axis, which is as high in a low figure as in any."""
    below = ScaledTranslation(0, -LABELLED / 72, ax.figure.dpi_scale_trans)
    place = {"bbox_to_anchor": (0.5, 0.0), "bbox_transform": ax.transAxes + below}
    return ax.legend(loc="upper center", ncols=columns, **place)


def _hours(seconds: float) -> str:
    """Return seconds as people say it.

    >>> _hours(0.5), _hours(42), _hours(400), _hours(86400)
    ('0.5 s', '42 s', '6.67 min', '24 h')
    """
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return (
                f"{seconds / size:.3g} {unit}"
                if seconds < 1000 * size
                else f"{seconds / size:,.0f} {unit}"
            )
    return f"{seconds:.3g} s"
