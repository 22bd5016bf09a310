"""What timelines have in common: the clock below them, and lines or bands of workers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import dates as matplotlib_dates
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from roastcoffea.visualization.figure import note
from roastcoffea.visualization.names import plain_legend, shown
from roastcoffea.visualization.series import Floats, Table, Times, fold, instants, mean, quantiles
from roastcoffea.visualization.style import BLUE, CYCLE, SMALL

if TYPE_CHECKING:
    from matplotlib.axes import Axes

dates: Any = matplotlib_dates  # it has no types

#: With more workers than this, bands tell more than lines.
LINES = 50

DASHES = ("-", "--", "-.", ":")


class ClockFormatter(dates.DateFormatter):
    """Shows ``%H:%M:%S``, with a fraction where ticks are that close, and the day once."""

    def __init__(self) -> None:
        super().__init__("%H:%M:%S")
        self._days = ""

    def format_ticks(self, values: Sequence[float]) -> list[str]:
        """Return the labels of all ticks."""
        times = [dates.num2date(value) for value in values]
        days = sorted({time.strftime("%Y-%m-%d") for time in times})
        self._days = " – ".join(dict.fromkeys((days[0], days[-1]))) if days else ""
        if all(not 500 < time.microsecond < 999_500 for time in times):  # whole seconds, rounded
            return [super(ClockFormatter, self).__call__(value) for value in values]
        return [time.strftime("%H:%M:%S.%f")[:-4] for time in times]

    def get_offset(self) -> str:
        """Return the day, or the first and the last."""
        return self._days


def day_numbers(times: Any) -> Any:
    """Return times as Matplotlib's numbers of days."""
    return dates.date2num(times)


def times_of(numbers: Any) -> Times:
    """Return Matplotlib's numbers of days as times."""
    return instants(dates.num2date(numbers))


def set_clock(ax: Axes, times: Times) -> None:
    """Give the x axis clock times and room for what lies between the first and the last."""
    if len(times):
        first, last = day_numbers(times.min()), day_numbers(times.max())
        room = (last - first) * 0.01 or 5 / 86400
        ax.set_xlim(first - room, last + room)
    ax.xaxis.set_major_locator(dates.AutoDateLocator(minticks=4, maxticks=12))
    ax.xaxis.set_major_formatter(ClockFormatter())
    ax.xaxis.get_offset_text().set_fontsize(SMALL)
    slant(ax)


def slant(ax: Axes) -> None:
    """Rotate the labels of the x axis so that they end at their ticks."""
    ax.tick_params(axis="x", labelrotation=45)
    for label in ax.get_xticklabels():
        label.set(ha="right", rotation_mode="anchor")


def draw_workers(ax: Axes, table: Table, max_legend_entries: int) -> None:
    """Draw a line for each worker, or quantile bands where there are too many of them."""
    n = len(table.workers)
    if n > max(LINES, max_legend_entries):
        draw_bands(ax, table.times, table.values)
    else:
        _draw_lines(ax, table, few=n <= max_legend_entries)
    if n > max_legend_entries:
        note(ax, f"Showing {n} workers")
    else:
        legend = ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0)
        plain_legend(legend)


def _draw_lines(ax: Axes, table: Table, *, few: bool) -> None:
    single: dict[str, Any] = {"marker": "o", "markersize": 4}
    look: dict[str, Any] = {} if few else {"linewidth": 0.8, "alpha": 0.7}
    for i, (worker, row) in enumerate(zip(table.workers, table.values, strict=True)):
        known = ~np.isnan(row)
        ax.plot(
            table.times[known],
            row[known],
            color=CYCLE[i % len(CYCLE)],
            # Few lines differ in their dashes, so that one that hides another lets it through.
            linestyle=DASHES[i % len(DASHES)] if few else "-",
            label=shown(worker),
            **look,
            **(single if known.sum() == 1 else {}),
        )


def draw_bands(ax: Axes, times: Times, values: Floats) -> None:
    """Draw the median of workers, the middle 50 % and 90 % of them, and the extremes."""
    times, values = fold(times, values)
    low, p5, p25, p50, p75, p95, high = quantiles(values, (0, 0.05, 0.25, 0.5, 0.75, 0.95, 1))
    shades = (0.12, 0.25, 0.45)
    for (bottom, top), alpha in zip(((low, high), (p5, p95), (p25, p75)), shades, strict=True):
        ax.fill_between(times, bottom, top, color=BLUE, alpha=alpha, linewidth=0)
    ax.plot(times, p50, color="black", linewidth=1.6)
    handles: list[Line2D | Patch] = [Line2D([], [], color="black", linewidth=1.6)]
    # The bands lie on top of each other: what is seen is the sum of their shades.
    seen = 1 - np.cumprod(1 - np.array(shades))
    handles += [Patch(facecolor=BLUE, alpha=float(alpha), linewidth=0) for alpha in seen[::-1]]
    words = ["Median worker", "Middle 50 %", "Middle 90 %", "All workers"]
    ax.figure.legend(handles, words, loc="outside lower center", ncols=4)


def draw_mean(ax: Axes, times: Times, values: Floats) -> None:
    """Draw the mean of workers and the band between the lowest and the highest."""
    times, values = fold(times, values)
    low, high = quantiles(values, (0.0, 1.0))
    marker: dict[str, Any] = {"marker": "o", "markersize": 4} if len(times) == 1 else {}
    ax.fill_between(times, low, high, color=BLUE, alpha=0.25, linewidth=0, label="Min-Max Range")
    ax.plot(times, mean(values), color=BLUE, label="Mean", **marker)
    ax.legend(loc="best")


def percent_limits(ax: Axes, values: Floats) -> None:
    """Show 0 to 100 %, and more where there is more."""
    highest = float(np.nanmax(values)) if np.isfinite(values).any() else 0.0
    ax.set_ylim(0, 100 if highest <= 100 else highest * 1.05)
