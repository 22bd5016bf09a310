"""How many workers there were."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from roastcoffea.visualization.figure import plot, whole_numbers
from roastcoffea.visualization.series import read_counts
from roastcoffea.visualization.style import BLUE
from roastcoffea.visualization.utils import setup_timeline_axes, validate_tracking_data

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_worker_count_timeline"]


@plot((10, 4), "Worker Count Over Time")
def plot_worker_count_timeline(ax: Axes, tracking_data: Mapping[str, Any] | None) -> None:
    """Plot how many workers there were over time.

    Example
    -------
    >>> from datetime import datetime
    >>> counts = {datetime(2026, 11, 15, 12, 0, s): 2 + s for s in range(3)}
    >>> fig, ax = plot_worker_count_timeline({"worker_counts": counts})
    >>> ax.get_ylabel()
    'Number of Workers'
    """
    counts = validate_tracking_data(tracking_data, "worker_counts", "No worker count data")
    times, numbers = read_counts(counts)
    # Markers show the samples as long as they can be told apart.
    ax.plot(
        times,
        numbers,
        color=BLUE,
        drawstyle="steps-post",
        marker="o",
        markersize=4 if len(times) <= 150 else 0,
    )
    ax.set_ylim(0, max(float(numbers.max()) * 1.1, 1.0))
    whole_numbers(ax.yaxis)
    setup_timeline_axes(ax, ylabel="Number of Workers")
