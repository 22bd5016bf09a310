"""Bytes by their sources: needed by baskets, requested by uproot, read by the kernel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from roastcoffea.visualization.bars import size_text
from roastcoffea.visualization.figure import label_axes, plot
from roastcoffea.visualization.names import plain, shown
from roastcoffea.visualization.style import (
    BLUE,
    GREEN,
    GREY,
    GRID_ALPHA,
    HATCHES,
    ORANGE,
    VERMILLION,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_bytes_reconciliation"]

#: Datasets that have bars of their own; the rest is one group.
GROUPS = 12

# What is drawn: key, label, colour, and the key of what its ratio is of
_SOURCES = (
    ("bytes_needed", "Needed by baskets", BLUE, None),
    ("bytes_requested", "Requested by uproot", ORANGE, "bytes_needed"),
    ("bytes_kernel_read", "Read by the processes", GREEN, "bytes_requested"),
    ("bytes_storage_read", "Read from storage", GREY, "bytes_requested"),
)
_AGAIN = "bytes_needed_again"

Figures = dict[str, float]


@plot((12, 6), "Bytes Needed, Requested and Read")
def plot_bytes_reconciliation(ax: Axes, metrics: Mapping[str, Any] | None) -> None:
    """Plot the bytes of each dataset by their sources, with the ratios between them.

    The part of the needed bytes that lies in baskets which a border between two chunks cuts, and
    which are therefore read twice, is hatched.

    Example
    -------
    >>> dy = {"bytes_needed": 2e6, "bytes_needed_again": 5e5, "bytes_requested": 3e6}
    >>> fig, ax = plot_bytes_reconciliation({"bytes_per_dataset": {"DY": dy}})
    >>> [text.get_text() for text in ax.texts]
    ['2 MB', '3 MB, 1.50x needed']
    """
    groups = _groups((metrics or {}).get("bytes_per_dataset") or {})
    if not groups:
        raise ValueError("No bytes of chunks in the metrics")
    widest = max(max(figures.values()) for figures in groups.values())
    present = [row for row in _SOURCES if any(row[0] in figures for figures in groups.values())]
    height = 0.8 / len(present)
    for i, (key, label, colour, of) in enumerate(present):
        for group, figures in enumerate(groups.values()):
            value = figures.get(key)
            if value is None:
                continue
            y = group + (i - (len(present) - 1) / 2) * height
            ax.barh(y, value, height * 0.92, color=colour, label=_once(ax, label))
            if key == "bytes_needed" and figures.get(_AGAIN):
                _hatch(ax, y, value, figures[_AGAIN], height * 0.92)
            ax.text(value + widest * 0.008, y, _words(value, figures, of), va="center", fontsize=8)
    ax.set_yticks(np.arange(len(groups)), [shown(name) for name in groups])
    plain(ax.get_yticklabels())
    ax.invert_yaxis()
    ax.set_xlim(0, widest * 1.25)
    ax.xaxis.set_major_formatter(lambda value, _: size_text(value))
    ax.grid(visible=True, axis="x", alpha=GRID_ALPHA)
    ax.figure.legend(loc="outside lower center", ncols=len(present) + 1)
    label_axes(ax, "Bytes of Chunks That Finished")


def _hatch(ax: Axes, y: float, needed: float, again: float, height: float) -> None:
    """Mark the part of the needed bytes that another chunk needs too."""
    ax.barh(
        y,
        again,
        height,
        left=needed - again,
        color=VERMILLION,
        hatch=HATCHES[1],
        edgecolor="white",
        linewidth=0,
        label=_once(ax, "Of these again: cut by borders of chunks"),
    )


def _once(ax: Axes, label: str) -> str | None:
    """Return a label for the first of several bars of a kind."""
    return None if label in ax.get_legend_handles_labels()[1] else label


def _words(value: float, figures: Figures, of: str | None) -> str:
    whole = figures.get(of, 0.0) if of else 0.0
    ratio = f", {value / whole:.2f}x {of.removeprefix('bytes_')}" if of and whole > 0 else ""
    return size_text(value) + ratio


def _groups(per_dataset: Mapping[Any, Mapping[str, Any]]) -> dict[str, Figures]:
    """Return the known bytes by dataset, the largest first; the smallest ones become one group."""
    keys = (*(row[0] for row in _SOURCES), _AGAIN)
    known = {
        "(no dataset)" if name is None else str(name): {
            key: float(figures[key]) for key in keys if figures.get(key) is not None
        }
        for name, figures in per_dataset.items()
    }
    rows = sorted(
        ((name, figures) for name, figures in known.items() if any(figures.values())),
        key=lambda row: -max(row[1].values()),
    )
    groups = dict(rows[:GROUPS])
    rest = rows[GROUPS:]
    if rest:
        sums: Figures = {}
        for _, figures in rest:
            for key, value in figures.items():
                sums[key] = sums.get(key, 0.0) + value
        groups[f"{len(rest):,} others"] = sums
    return groups
