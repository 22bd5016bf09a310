"""Parts for timelines of one's own, as the plots of this package use them."""

from __future__ import annotations

from collections.abc import Mapping, Sized
from typing import TYPE_CHECKING, Any

import numpy as np

from roastcoffea.visualization.figure import PathLike, finish, label_axes, note
from roastcoffea.visualization.style import GRID_ALPHA
from roastcoffea.visualization.timeline import set_clock, times_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "add_worker_count_annotation",
    "finalize_timeline_plot",
    "setup_timeline_axes",
    "validate_tracking_data",
]


def validate_tracking_data(
    tracking_data: Mapping[str, Any] | None, data_key: str, error_msg: str
) -> dict[Any, Any]:
    """Return one series of the tracking data.

    Raises
    ------
    ValueError
        ``tracking_data cannot be None``, or ``error_msg`` where the series is missing or empty

    Example
    -------
    >>> validate_tracking_data({"worker_counts": {}}, "worker_counts", "No worker count data")
    Traceback (most recent call last):
    ValueError: No worker count data
    """
    if tracking_data is None:
        raise ValueError("tracking_data cannot be None")
    series = tracking_data.get(data_key)
    workers = series.values() if isinstance(series, Mapping) else [series]
    if not series or all(_is_empty(samples) for samples in workers):
        raise ValueError(error_msg)
    result: dict[Any, Any] = series
    return result


def _is_empty(samples: Any) -> bool:
    return samples is None or (isinstance(samples, Sized) and len(samples) == 0)


def setup_timeline_axes(
    ax: Axes,
    xlabel: str = "Time",
    ylabel: str = "",
    title: str = "",
    ylim: tuple[float, float] | None = None,
    grid_alpha: float = GRID_ALPHA,
) -> None:
    """Give axes their words, a grid and clock times below; call it when the data is drawn."""
    label_axes(ax, xlabel, ylabel, title)
    if ylim is not None:
        ax.set_ylim(*ylim)
    ax.grid(visible=True, alpha=grid_alpha)
    drawn = ax.dataLim.intervalx
    set_clock(ax, times_of(drawn[np.isfinite(drawn)]))


def finalize_timeline_plot(fig: Figure, ax: Axes, output_path: PathLike | None = None) -> None:
    """Arrange a figure and save it where a path is given."""
    if fig.get_layout_engine() is None:
        fig.tight_layout()
    finish(fig, output_path)


def add_worker_count_annotation(ax: Axes, num_workers: int) -> None:
    """Write ``Showing N workers`` into the axes, where a legend would be too long."""
    note(ax, f"Showing {num_workers} workers")
