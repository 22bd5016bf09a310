"""How long chunks take."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from roastcoffea.visualization.bars import histogram, mark_centre, seconds
from roastcoffea.visualization.figure import label_axes, note, plot
from roastcoffea.visualization.records import column, require
from roastcoffea.visualization.series import Floats
from roastcoffea.visualization.style import BLUE, GRID_ALPHA, VERMILLION

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axes import Axes

    from roastcoffea.visualization.records import Record

__all__ = ["plot_runtime_distribution", "plot_runtime_vs_events"]

NO_CHUNKS = "No chunk metrics available"


@plot((10, 6), "Chunk Runtime Distribution")
def plot_runtime_distribution(
    ax: Axes, chunk_metrics: Iterable[Record] | None, bins: int = 30
) -> None:
    """Plot how long chunks took, as a histogram with mean and median.

    Example
    -------
    >>> fig, ax = plot_runtime_distribution([{"duration": 1.0}, {"duration": 2.0}])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['Mean: 1.50s', 'Median: 1.50s']
    """
    runtimes = column(require(chunk_metrics, NO_CHUNKS), "duration", 0.0)
    histogram(ax, runtimes, bins)
    mark_centre(ax, runtimes, seconds)
    label_axes(ax, "Runtime (seconds)", "Number of Chunks")


@plot((10, 6), "Chunk Runtime vs Number of Events")
def plot_runtime_vs_events(ax: Axes, chunk_metrics: Iterable[Record] | None) -> None:
    """Plot how long chunks took against their number of events, with a straight line through them.

    Chunks that all have the same number of events have no trend; then no line is drawn.

    """
    records = require(chunk_metrics, NO_CHUNKS)
    events, runtimes = column(records, "num_events"), column(records, "duration")
    usable = (events > 0) & (runtimes > 0)
    if not usable.any():
        raise ValueError("No runtime vs events data available")
    events, runtimes = events[usable], runtimes[usable]
    crowd = float(np.clip(2000 / len(events), 0.08, 0.6))
    ax.scatter(
        events,
        runtimes,
        s=28 if len(events) < 2000 else 8,
        color=BLUE,
        alpha=crowd,
        linewidths=0,
        rasterized=len(events) > 5000,
    )
    _draw_trend(ax, events, runtimes)
    ax.set_ylim(0, float(runtimes.max()) * 1.08)
    ax.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    ax.grid(visible=True, alpha=GRID_ALPHA)
    label_axes(ax, "Number of Events", "Runtime (seconds)")


def _draw_trend(ax: Axes, events: Floats, runtimes: Floats) -> None:
    low, high = float(events.min()), float(events.max())
    if high - low < 0.01 * high:  # one size, but for a few events: no lever for a line
        ax.set_xlim(low * 0.9, high * 1.1)
        ax.xaxis.set_major_locator(MaxNLocator(5, integer=True, steps=[1, 2, 5, 10]))
        if len(events) > 1:
            note(ax, f"All {len(events):,} chunks have about {high:,.0f} events: no trend to fit")
        return
    centre = events.mean()
    lever = events - centre
    slope = float(lever @ (runtimes - runtimes.mean()) / (lever @ lever))
    offset = float(runtimes.mean() - slope * centre)
    x = np.array([low, high])
    sign = "-" if offset < 0 else "+"
    ax.plot(
        x,
        slope * x + offset,
        color=VERMILLION,
        linestyle="--",
        label=f"Linear fit: y = {slope:.2e}x {sign} {abs(offset):.3g}",
    )
    ax.legend(loc="best")
