"""How well the resources were used, in a few bars."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from matplotlib.ticker import FuncFormatter

from roastcoffea.visualization.figure import label_axes, plot, whole_numbers
from roastcoffea.visualization.names import name_ticks
from roastcoffea.visualization.style import BLUE, GREEN, GRID_ALPHA, ORANGE, SMALL

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_efficiency_summary", "plot_resource_utilization"]


@plot((10, 6), "Efficiency Metrics Summary", titled=False)
def plot_efficiency_summary(ax: Axes, metrics: Mapping[str, Any] | None) -> None:
    """Plot core efficiency and speed-up, each on a scale of its own.

    The scale of the speed-up ends at the number of cores, where that is known: 100 % of one is
    100 % of the other.

    Example
    -------
    >>> fig, ax = plot_efficiency_summary({"core_efficiency": 0.5, "speedup_factor": 4.0})
    >>> [text.get_text() for text in ax.texts]
    ['50.0 %']
    """
    if metrics is None:
        raise ValueError("metrics cannot be None")
    efficiency, speedup = metrics.get("core_efficiency"), metrics.get("speedup_factor")
    if efficiency is None and speedup is None:
        raise ValueError("No efficiency metrics available")
    cores = metrics.get("total_cores")
    bars = []
    if efficiency is not None:
        top = max(100.0, 100 * efficiency)
        bars.append(("Core Efficiency", 100 * efficiency, top, BLUE, "{:g} %", "{:.1f} %"))
    if speedup is not None:
        full = cores if efficiency is not None and cores else speedup
        top = max(float(full), speedup, 0.01)
        if efficiency is not None and cores:
            top = max(top, efficiency * cores)
        bars.append(("Speedup Factor", speedup, top, ORANGE, "{:g}×", "{:.1f}×"))
    _draw(ax, bars)
    label_axes(ax, "", "Value")


@plot((10, 6), "Resource Utilization Summary", titled=False)
def plot_resource_utilization(ax: Axes, metrics: Mapping[str, Any] | None) -> None:
    """Plot average workers, cores and peak memory; counts and memory have scales of their own."""
    if metrics is None:
        raise ValueError("metrics cannot be None")
    workers, cores = metrics.get("avg_workers"), metrics.get("total_cores")
    memory = metrics.get("peak_memory_bytes")
    if workers is None and cores is None and memory is None:
        raise ValueError("No resource metrics available")
    count = max(workers or 0.0, cores or 0.0, 1.0)
    bars = []
    if workers is not None:
        bars.append(("Avg Workers", workers, count, BLUE, "{:g}", "{:.1f}"))
    if cores is not None:
        bars.append(("Total Cores", cores, count, GREEN, "{:g}", "{:.1f}"))
    if memory is not None:
        gb = memory / 1e9
        text = "{:.1f} GB" if gb >= 1 or gb == 0 else "{:.2g} GB"
        bars.append(("Peak Memory (GB)", gb, gb or 1.0, ORANGE, "{:g} GB", text))
    _draw(ax, bars)
    label_axes(ax, "", "Value")


def _draw(ax: Axes, bars: list[tuple[str, float, float, str, str, str]]) -> None:
    """Draw bars (name, value, top of scale, colour, format of ticks and of the value).

    Bars that share the first one's tick format stand on the left scale, the others on the right.
    """
    left_format = bars[0][4]
    right: Axes | None = None
    for x, (_, value, top, colour, ticks, text) in enumerate(bars):
        on = ax
        if ticks != left_format:
            if right is None:
                right = ax.twinx()
                right.spines["right"].set_visible(True)
            on = right
        on.bar(x, value, 0.55, color=colour)
        on.annotate(
            text.format(value),
            (x, value),
            xytext=(0, 3),
            textcoords="offset points",
            ha="center",
            fontweight="bold",
        )
        on.set_ylim(0, top * 1.12)
        on.yaxis.set_major_formatter(FuncFormatter(lambda v, _, ticks=ticks: ticks.format(v)))
        on.tick_params(axis="y", labelsize=SMALL)
        if ticks == "{:g}":
            whole_numbers(on.yaxis)
    name_ticks(ax.xaxis, [bar[0] for bar in bars])
    ax.set_xlim(-0.6, len(bars) - 0.4)
    ax.grid(visible=True, axis="y", alpha=GRID_ALPHA)
