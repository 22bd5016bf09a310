"""Figures: how they are made, saved and let go.

A figure belongs to pyplot, so that ``plt.show()``, ``plt.gcf()`` and notebooks see it. pyplot never
lets go of a figure by itself; where it cannot be shown anyway (a script on a batch node), it is
told to forget all but our last few. A forgotten figure can still be changed and saved.
"""

from __future__ import annotations

import os
import weakref
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from roastcoffea.visualization.style import SAVE_DPI, SMALL

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.text import Text

PathLike = str | os.PathLike[str]
Size = tuple[float, float]

#: How many of our figures pyplot keeps where it cannot show them.
KEPT = 10

_SHOWS_NOTHING = frozenset({"agg", "cairo", "pdf", "pgf", "ps", "svg", "template"})

_kept: deque[weakref.ref[Figure]] = deque()
_detached: ContextVar[bool] = ContextVar("roastcoffea_detached_figures", default=False)


@contextmanager
def detached() -> Iterator[None]:
    """Make figures that pyplot never hears of inside the block: they go when nobody holds them."""
    token = _detached.set(True)
    try:
        yield
    finally:
        _detached.reset(token)


def new_figure(figsize: Size) -> Figure:
    """Return an empty figure."""
    if _detached.get():
        return Figure(figsize=figsize, layout="constrained")
    import matplotlib.pyplot as plt

    figure: Figure = plt.figure(figsize=figsize, layout="constrained")
    if plt.get_backend().lower() in _SHOWS_NOTHING:
        _kept.append(weakref.ref(figure))
        while len(_kept) > KEPT:
            oldest = _kept.popleft()()
            if oldest is not None:
                plt.close(oldest)
    return figure


def new_plot(figsize: Size) -> tuple[Figure, Axes]:
    """Return a figure with one pair of axes."""
    figure = new_figure(figsize)
    return figure, figure.subplots()


def label_axes(ax: Axes, title: str = "", xlabel: str = "", ylabel: str = "") -> None:
    """Set the words of a pair of axes."""
    ax.set_title(title, wrap=True)
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    # Ticks are made when they are drawn, which may be outside the style.
    ax.tick_params(labelsize=SMALL)


def whole_numbers(axis: Axis) -> None:
    """Put ticks at whole numbers only."""
    axis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10], min_n_ticks=1))


def note(ax: Axes, text: str, **where: Any) -> Text:
    """Write a remark into a corner of the axes; top left if nothing else is said."""
    place: dict[str, Any] = {"x": 0.01, "y": 0.98, "ha": "left", "va": "top"} | where
    box = {"boxstyle": "round,pad=0.35", "facecolor": "white", "edgecolor": "#cccccc", "alpha": 0.9}
    x, y = place.pop("x"), place.pop("y")
    return ax.text(x, y, text, transform=ax.transAxes, fontsize=SMALL, bbox=box, zorder=9, **place)


def finish(figure: Figure, output_path: PathLike | None) -> None:
    """Save a figure where a path is given."""
    if output_path is not None:
        figure.savefig(output_path, dpi=SAVE_DPI, bbox_inches="tight")
