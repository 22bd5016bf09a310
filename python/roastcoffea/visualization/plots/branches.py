"""Which branches the bytes belong to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.patches import Rectangle

from roastcoffea.visualization.bars import size_text
from roastcoffea.visualization.figure import label_axes, plot
from roastcoffea.visualization.names import plain, shown
from roastcoffea.visualization.records import Record, require
from roastcoffea.visualization.style import CYCLE, GREY, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_branch_treemap"]

#: Branches that are drawn one by one; the rest is one tile.
TILES = 150

Box = tuple[float, float, float, float]  # x, y, width, height in inches


@plot((12, 7), "Bytes Read by Branch")
def plot_branch_treemap(
    ax: Axes, chunk_metrics: Iterable[Record] | Mapping[str, float] | None
) -> None:
    """Plot the bytes of each branch as areas, those of a collection (``Jet_*``) side by side.

    Parameters
    ----------
    chunk_metrics
        the chunk records; ``branch_bytes`` of a record is ``{branch: bytes}``. Such a mapping
        itself is taken too.

    Example
    -------
    >>> fig, ax = plot_branch_treemap({"Jet_pt": 3e6, "Jet_eta": 2e6, "MET_pt": 1e6})
    >>> ax.texts[0].get_text()
    'Jet_pt\\n3 MB'
    """
    sizes = _sizes(chunk_metrics)
    if not sizes:
        raise ValueError("No branch bytes in chunk metrics")
    total = sum(sizes.values())
    groups = _groups(sizes)
    figure: Any = ax.figure  # a whole one
    width, height = figure.get_size_inches() - (0.3, 0.7)
    boxes = squarify([sum(group.values()) for group in groups.values()], (0, 0, width, height))
    for i, (group, box) in enumerate(zip(groups.values(), boxes, strict=True)):
        colour = CYCLE[i] if i < len(CYCLE) else GREY
        for (name, size), tile in zip(
            group.items(), squarify(list(group.values()), box), strict=True
        ):
            ax.add_patch(Rectangle(tile[:2], *tile[2:], facecolor=colour, edgecolor="white"))
            _write(ax, tile, name, size, total, colour)
        ax.add_patch(Rectangle(box[:2], *box[2:], facecolor="none", edgecolor="white", linewidth=3))
    ax.set_xlim(0, width)
    ax.set_ylim(height, 0)
    ax.axis("off")
    branches = f"{len(sizes):,} branches" if len(sizes) != 1 else "1 branch"
    label_axes(ax)
    ax.text(
        1.0,
        1.01,
        f"{size_text(total)} in {branches}",
        transform=ax.transAxes,
        ha="right",
        va="bottom",
    )


def squarify(sizes: Sequence[float], box: Box) -> list[Box]:
    """Divide a box into tiles with areas in the ratio of ``sizes``, as square as can be.

    Sizes fall. After Bruls, Huizing and van Wijk, "Squarified treemaps" (2000).

    >>> squarify([2.0, 1.0, 1.0], (0, 0, 2, 1))
    [(0, 0.0, 1.0, 1.0), (1.0, 0.0, 1.0, 0.5), (1.0, 0.5, 1.0, 0.5)]
    """
    x, y, width, height = box
    total = float(sum(sizes))
    if total <= 0 or not sizes:
        return [(x, y, 0.0, 0.0)] * len(sizes)
    areas = [size * width * height / total for size in sizes]
    tiles: list[Box] = []
    first = 0
    while first < len(areas):
        side = min(width, height)
        last = first + 1
        while last < len(areas) and _worst(areas[first : last + 1], side) <= _worst(
            areas[first:last], side
        ):
            last += 1
        thick = sum(areas[first:last]) / side if side > 0 else 0.0
        at = 0.0
        for area in areas[first:last]:
            long = area / thick if thick > 0 else 0.0
            tiles.append((x, y + at, thick, long) if height <= width else (x + at, y, long, thick))
            at += long
        if height <= width:
            x, width = x + thick, width - thick
        else:
            y, height = y + thick, height - thick
        first = last
    return tiles


def _worst(row: Sequence[float], side: float) -> float:
    """Return the worst ratio of sides among tiles in a row along a side."""
    total = sum(row)
    if total <= 0 or row[-1] <= 0 or side <= 0:
        return float("inf")
    return max(side**2 * row[0] / total**2, total**2 / (side**2 * row[-1]))


def _sizes(chunks: Iterable[Record] | Mapping[str, float] | None) -> dict[str, float]:
    """Return the bytes of each branch over all chunks, the largest first."""
    if isinstance(chunks, Mapping):
        parts: Iterable[Mapping[str, Any]] = [chunks]
    else:
        parts = [r.get("branch_bytes") or {} for r in require(chunks, "No chunk metrics available")]
    sizes: dict[str, float] = {}
    for part in parts:
        for name, size in part.items():
            if size:
                sizes[name] = sizes.get(name, 0.0) + float(size)
    return dict(sorted(sizes.items(), key=lambda item: -item[1]))


def _groups(sizes: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """Sort branches into collections, the largest first; the smallest branches become one tile."""
    groups: dict[str, dict[str, float]] = {}
    for i, (name, size) in enumerate(sizes.items()):
        if i < TILES:
            groups.setdefault(name.split("_", 1)[0], {})[name] = size
        else:
            rest = groups.setdefault("", {})
            rest["rest"] = rest.get("rest", 0.0) + size
    if "" in groups and len(sizes) > TILES:
        groups[""] = {f"{len(sizes) - TILES:,} others": groups[""]["rest"]}
    return dict(sorted(groups.items(), key=lambda item: -sum(item[1].values())))


def _write(ax: Axes, tile: Box, name: str, size: float, total: float, colour: str) -> None:
    """Write a branch's name and bytes into its tile, as large as fits; nothing in a small one."""
    x, y, width, height = tile
    label = shown(name)
    inch_per_point = 1 / 72
    points = min(
        14.0,
        (width - 0.06) / (0.62 * inch_per_point * max(len(label), 6)),
        (height - 0.06) / (1.3 * inch_per_point),
    )
    if points < 6:
        return
    if height > 2.8 * points * inch_per_point:
        label = f"{label}\n{size_text(size)}"
    light = np.dot(to_rgb(colour), (0.299, 0.587, 0.114)) > 0.5
    text = ax.text(
        x + width / 2,
        y + height / 2,
        label,
        ha="center",
        va="center",
        fontsize=points,
        color=INK if light else "white",
        clip_on=True,
    )
    plain([text])
