"""Names from outside (workers, datasets, tasks, branches) as text on a plot.

A name is shown as it is: not read as a formula, on one line, cut in its middle when it is long,
because names of files and hosts differ at their ends.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axis import Axis
    from matplotlib.legend import Legend
    from matplotlib.text import Text

LENGTH = 40


def shown(name: object, length: int = LENGTH) -> str:
    r"""Return a name as it is shown.

    >>> shown("tcp://127.0.0.1:8786")
    'tcp://127.0.0.1:8786'
    >>> shown("root://somewhere.example//store/data/nano_1.root", 24)
    'root://somew…nano_1.root'
    >>> shown("two\nlines"), shown(None)
    ('two?lines', 'unknown')
    """
    text = "unknown" if name is None else str(name)
    text = "".join(c if c.isprintable() else "?" for c in text) or "(no name)"
    if len(text) > length:
        head = length // 2
        text = f"{text[:head]}…{text[len(text) - (length - head - 1) :]}"
    # Matplotlib leaves out of a legend what starts with an underscore.
    return f" {text}" if text.startswith("_") else text


def plain(texts: Iterable[Text]) -> None:
    """Show texts as they are, dollar signs included."""
    for text in texts:
        text.set_parse_math(False)


def name_ticks(axis: Axis, names: Iterable[object], length: int = LENGTH, **style: Any) -> None:
    """Put a tick with a name at 0, 1, 2, ..."""
    labels = [shown(name, length) for name in names]
    axis.set_ticks(range(len(labels)), labels=labels, **style)
    plain(axis.get_ticklabels())


def plain_legend(legend: Legend) -> Legend:
    """Show the names in a legend as they are."""
    plain(legend.get_texts())
    return legend
