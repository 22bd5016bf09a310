"""Bars and histograms, as several plots draw them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from roastcoffea.visualization.figure import whole_numbers
from roastcoffea.visualization.series import Floats
from roastcoffea.visualization.style import BLUE, GREEN, GRID_ALPHA, HATCHES, VERMILLION

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: More bars than this are drawn as one outline.
SEPARATE = 300


def seconds(value: float) -> str:
    """Return seconds with two decimals, and with three digits where two decimals are too few.

    >>> seconds(2.5), seconds(0.01234), seconds(0)
    ('2.50s', '0.0123s', '0.00s')
    """
    return f"{value:.3g}s" if 0 < abs(value) < 0.1 else f"{value:.2f}s"


def size_text(size: float) -> str:
    """Return bytes as people say it.

    >>> size_text(3e6), size_text(812)
    ('3 MB', '812 B')
    """
    for scale, unit in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= scale:
            return f"{size / scale:.3g} {unit}"
    return f"{size:.0f} B"


def histogram(ax: Axes, values: Floats, bins: int, over: tuple[float, float] | None = None) -> None:
    """Draw a histogram; values that are all alike get a bar, not a scale that shows noise."""
    values = values[np.isfinite(values)]
    if over is None:
        low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
        room = max(0.0, (0.05 * abs(high) or 1.0) - (high - low)) / 2
        over = low - room, high + room
    ax.hist(values, bins=bins, range=over, color=BLUE, alpha=0.8, edgecolor="white")
    whole_numbers(ax.yaxis)
    ax.grid(visible=True, alpha=GRID_ALPHA)


def mark_centre(ax: Axes, values: Floats, text: Callable[[float], str]) -> None:
    """Draw the lines of mean and median with their values in the legend, as ``text`` says them."""
    mean, median = float(values.mean()), float(np.median(values))
    ax.axvline(mean, color=VERMILLION, linestyle="--", label=f"Mean: {text(mean)}")
    dots = (0, (1, 1))
    ax.axvline(median, color=GREEN, linestyle=dots, linewidth=2, label=f"Median: {text(median)}")
    ax.legend(loc="best")


def stacked(
    ax: Axes,
    parts: Mapping[str, Floats],
    colours: Sequence[str],
    *,
    at: Floats | None = None,
    height: float = 0.75,
    labels: bool = False,
) -> None:
    """Draw horizontal bars, one for each row, made of parts; ``labels`` writes shares into them."""
    position = at if at is not None else np.arange(len(next(iter(parts.values()))), dtype=float)
    left = np.zeros(len(position))
    total = np.sum(list(parts.values()), axis=0)
    widest = float(np.max(total)) or 1.0
    for i, (name, values) in enumerate(parts.items()):
        ax.barh(
            position,
            values,
            height,
            left=left,
            color=colours[i],
            hatch=HATCHES[i % len(HATCHES)],
            edgecolor="white",
            linewidth=0.5,
            label=name,
        )
        if labels:
            for y, x, value, whole in zip(position, left, values, total, strict=True):
                if whole > 0 and value > 0.06 * widest:
                    box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "linewidth": 0}
                    ax.text(
                        x + value / 2,
                        y,
                        f"{100 * value / whole:.0f} %",
                        ha="center",
                        va="center",
                        fontsize=8,
                        bbox=box,
                    )
        left = left + values


def per_record(ax: Axes, heights: Mapping[str, Floats], colours: Sequence[str]) -> None:
    """Draw a group of bars for each record; outlines where there are very many records."""
    n = len(next(iter(heights.values())))
    width = 0.8 / len(heights)
    for i, (name, values) in enumerate(heights.items()):
        if n <= SEPARATE:
            x = np.arange(n) + (i - (len(heights) - 1) / 2) * width
            ax.bar(x, values, width, color=colours[i], label=name or None, linewidth=0)
        else:
            edges, tops = _envelope(values)
            ax.stairs(
                tops, edges, fill=True, color=colours[i], zorder=2 - i / 10, label=name or None
            )
    ax.set_xlim(-0.75, n - 0.25)
    whole_numbers(ax.xaxis)
    ax.grid(visible=True, axis="y", alpha=GRID_ALPHA)


def _envelope(values: Floats, columns: int = 2000) -> tuple[Floats, Floats]:
    """Return the edges of columns and the highest value in each."""
    starts = np.unique(np.linspace(0, len(values), columns + 1).astype(np.intp)[:-1])
    edges = np.append(starts, len(values)) - 0.5
    return edges, np.maximum.reduceat(values, starts)
