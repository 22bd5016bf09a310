"""Figures: how they are made, saved and let go.

A figure belongs to pyplot, so that ``plt.show()``, ``plt.gcf()`` and notebooks see it. pyplot never
lets go of a figure by itself; where it cannot be shown anyway (a script on a batch node), it is
made to forget all but our last few. A forgotten figure can still be changed and saved.
"""

from __future__ import annotations

import inspect
import os
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import TYPE_CHECKING, Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from roastcoffea.visualization.style import SAVE_DPI, SMALL, style

if TYPE_CHECKING:
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


def _close(figure: Figure) -> None:
    """Let pyplot forget a figure that was not finished."""
    if not _detached.get():
        import matplotlib.pyplot as plt

        plt.close(figure)


def new_plot(figsize: Size) -> tuple[Figure, Axes]:
    """Return a figure with one pair of axes."""
    figure = new_figure(figsize)
    return figure, figure.subplots()


def label_axes(ax: Axes, xlabel: str = "", ylabel: str = "", title: str = "") -> None:
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


#: What the parameters of plots mean; a plot's own text may say more of one.
_PARAMETERS = {
    "tracking_data": "what the workers did over time, as ``collector.tracking_data`` holds it",
    "chunk_metrics": "the chunk records, as ``collector.chunk_metrics`` holds them",
    "metrics": "the metrics, as ``collector.get_metrics()`` returns them",
    "span_metrics": "Dask's fine metrics, as ``collector.span_metrics`` holds them",
    "output_path": "where to save the figure; its ending selects the format",
    "figsize": "width and height in inches",
    "title": "the title",
    "max_legend_entries": "up to so many workers are named in a legend; more are only counted",
    "bins": "the number of bins",
}
#: Those that hold what is plotted: they come first.
_DATA = ("tracking_data", "chunk_metrics", "chunk_info", "metrics", "span_metrics")
_RESULT = """
Returns
-------
tuple[Figure, Axes]
    the figure and its axes; of several, the main ones

Raises
------
ValueError
    there is nothing to plot
"""


def plot(
    figsize: Size,
    title: str,
    *,
    titled: bool = True,
    title_first: bool = False,
    axes: Callable[[Figure], Any] = Figure.subplots,
) -> Callable[[Callable[..., None]], Callable[..., tuple[Figure, Axes]]]:
    """Make a plot of a function that draws data into axes.

    The plot takes the function's parameters, but for the axes, and ``output_path``, ``figsize``
    and ``title`` behind the data; it returns figure and axes.

    Parameters
    ----------
    figsize, title
        the defaults of the plot
    titled
        whether the plot has a parameter ``title``
    title_first
        whether ``title`` stands before ``figsize``
    axes
        makes the axes of a figure; of several, the first are those that are returned
    """
    common = {"output_path": None, "figsize": figsize, "title": title}
    if not titled:
        del common["title"]
    elif title_first:
        common = {name: common[name] for name in ("output_path", "title", "figsize")}

    def make(draw: Callable[..., None]) -> Callable[..., tuple[Figure, Axes]]:
        _, *own = inspect.signature(draw).parameters.values()
        data = [p for p in own if p.name in _DATA]
        either = inspect.Parameter.POSITIONAL_OR_KEYWORD
        shared = [inspect.Parameter(name, either, default=given) for name, given in common.items()]
        options = [p for p in own if p not in data]
        signature = inspect.Signature([*data, *shared, *options])

        @wraps(draw)
        def plotted(*args: Any, **kwargs: Any) -> tuple[Figure, Axes]:
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            given = dict(bound.arguments)
            path, size = given.pop("output_path"), given.pop("figsize")
            heading = given.pop("title", title)
            with style():
                figure = new_figure(size)
                try:
                    made = axes(figure)
                    draw(made, **given)
                    main: Axes = made if isinstance(made, Axes) else made[0]
                    main.set_title(heading, wrap=True)
                    finish(figure, path)
                except BaseException:
                    _close(figure)
                    raise
            return figure, main

        plotted.__signature__ = signature  # type: ignore[attr-defined]
        del plotted.__wrapped__  # whose parameters are others
        plotted.__doc__ = _documented(draw.__doc__ or "", signature)
        return plotted

    return make


def _documented(text: str, signature: inspect.Signature) -> str:
    """Add to the text of a plot what every plot takes, returns and raises."""
    text, _, example = inspect.cleandoc(text).partition("Example\n-------\n")
    heading = "Parameters\n----------\n"
    about, _, parameters = text.partition(heading)
    parameters = parameters.strip()
    for name in signature.parameters:
        if f"\n{name}\n" not in f"\n{parameters}\n":
            parameters += f"\n{name}\n    {_PARAMETERS[name]}"
    text = f"{about.strip()}\n\n{heading}{parameters.strip()}\n{_RESULT}"
    return f"{text}\nExample\n-------\n{example}" if example else text
