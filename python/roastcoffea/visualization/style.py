"""The one style of the plots: a context, so that a user's own settings stay as they are.

Colours are those of Okabe and Ito (2008), which people with any kind of colour blindness can
distinguish; where a colour carries meaning, a dash or a hatch carries it too, for print in grey.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import matplotlib
from cycler import cycler

BLUE = "#0072B2"
ORANGE = "#E69F00"
GREEN = "#009E73"
VERMILLION = "#D55E00"
PURPLE = "#CC79A7"
SKY = "#56B4E9"
YELLOW = "#F0E442"
GREY = "#999999"
INK = "#222222"

CYCLE = (BLUE, ORANGE, GREEN, VERMILLION, PURPLE, SKY, YELLOW)
HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx", "----", "++++")

GRID_ALPHA = 0.3
SAVE_DPI = 150
SMALL = 9.0

_STYLE: dict[str, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": "#555555",
    "axes.facecolor": "white",
    "axes.formatter.useoffset": False,
    "axes.grid": False,
    "axes.labelcolor": INK,
    "axes.labelsize": 10.0,
    "axes.linewidth": 0.8,
    "axes.prop_cycle": cycler(color=CYCLE),
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": INK,
    "axes.titlepad": 8.0,
    "axes.titlesize": 12.0,
    "axes.titleweight": "bold",
    "figure.facecolor": "white",
    "figure.max_open_warning": 0,
    "font.family": ["sans-serif"],
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 10.0,
    "grid.color": "#b0b0b0",
    "grid.linestyle": "-",
    "grid.linewidth": 0.8,
    "hatch.color": "white",
    "hatch.linewidth": 0.6,
    "legend.fontsize": SMALL,
    "legend.frameon": False,
    "lines.linewidth": 1.5,
    "text.color": INK,
    "text.usetex": False,
    "xtick.color": "#555555",
    "xtick.labelcolor": INK,
    "xtick.labelsize": SMALL,
    "ytick.color": "#555555",
    "ytick.labelcolor": INK,
    "ytick.labelsize": SMALL,
}

P = ParamSpec("P")
R = TypeVar("R")


@contextmanager
def style() -> Iterator[None]:
    """Draw in the style of this package inside the block; nothing is changed outside it.

    >>> import matplotlib
    >>> before = matplotlib.rcParams["axes.spines.top"]
    >>> with style():
    ...     matplotlib.rcParams["axes.spines.top"]
    False
    >>> matplotlib.rcParams["axes.spines.top"] == before
    True
    """
    context: Any = matplotlib.rc_context
    with context(_STYLE):
        yield


def styled(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function draw in :func:`style`."""

    @wraps(function)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        with style():
            return function(*args, **kwargs)

    return wrapper
