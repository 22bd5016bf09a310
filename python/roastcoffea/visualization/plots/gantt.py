"""Which chunk ran when and where, and what the end of the run waited for."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.patches import Patch

from roastcoffea.visualization.figure import note, plot, whole_numbers
from roastcoffea.visualization.names import name_ticks, plain_legend, shown
from roastcoffea.visualization.records import Record, colours_of, failed, names, require, spans
from roastcoffea.visualization.series import Floats, epochs
from roastcoffea.visualization.style import BLUE, CYCLE, GREY, INK, ORANGE
from roastcoffea.visualization.timeline import day_numbers
from roastcoffea.visualization.utils import setup_timeline_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["plot_chunk_gantt", "plot_tail"]

NO_CHUNKS = "No chunk metrics available"
NO_TIMES = "No chunk times available"

#: More workers, or chunks of the tail, than this are not named one by one.
NAMED = 40


@plot((12, 6), "Chunks by Worker")
def plot_chunk_gantt(ax: Axes, chunk_metrics: Iterable[Record] | None) -> None:
    """Plot when each chunk ran on which worker, coloured by dataset; failed ones are black.

    Where records do not tell their worker, chunks that overlap are put on rows of their own.

    Example
    -------
    >>> fig, ax = plot_chunk_gantt([{"t_start": 0.0, "t_end": 1.0, "worker": "w1"}])
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['w1']
    """
    records, start, end = spans(require(chunk_metrics, NO_CHUNKS))
    if not records:
        raise ValueError(NO_TIMES)
    known = any(record.get("worker") is not None for record in records)
    workers = names(records, "worker")
    rows = sorted(set(workers), key=_natural)
    bottom, top = np.empty(len(records)), np.empty(len(records))
    if known:
        place = {worker: row for row, worker in enumerate(rows)}
        row_of = np.array([place[worker] for worker in workers])
        order = np.argsort(row_of, kind="stable")
        edges = np.searchsorted(row_of[order], np.arange(len(rows) + 1))
        for row in range(len(rows)):
            here = order[edges[row] : edges[row + 1]]
            lane, n = _lanes(start[here], end[here])
            bottom[here] = row - 0.4 + 0.8 * lane / n
            top[here] = bottom[here] + 0.8 / n
    else:
        lane, n = _lanes(start, end)
        bottom, top = lane - 0.4, lane + 0.4
        rows = [f"{i + 1}" for i in range(n)]
    colours = colours_of(names(records, "dataset"))
    _draw_spans(ax, start, end, bottom, top, records, colours)
    if len(rows) <= NAMED:
        name_ticks(ax.yaxis, rows)
    else:
        whole_numbers(ax.yaxis)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    setup_timeline_axes(ax, ylabel="Worker" if known else "Chunks at once")
    ax.grid(visible=False, axis="y")


def _two_axes(fig: Figure) -> Sequence[Axes]:
    axes: Sequence[Axes] = fig.subplots(2, 1, sharex=True, height_ratios=[2, 3])
    return axes


@plot((12, 7), "Tail: the Last 10 % of Chunks", axes=_two_axes)
def plot_tail(axes: Sequence[Axes], chunk_metrics: Iterable[Record] | None) -> None:
    """Plot how many chunks ran at once, and below it the last 10 % of chunks one by one.

    The axes that are returned are the upper ones; the lower ones are ``fig.axes[1]``.
    """
    records, start, end = spans(require(chunk_metrics, NO_CHUNKS))
    if not records:
        raise ValueError(NO_TIMES)
    ax, below = axes
    n = max(1, len(records) // 10)
    last = np.argsort(end, kind="stable")[-n:]
    rest = np.setdiff1d(np.arange(len(records)), last)
    begin = float(end[rest].max()) if len(rest) else float(start.min())
    times, running = _running(start, end)
    ax.fill_between(times, running, step="post", color=BLUE, alpha=0.4, linewidth=0)
    ax.step(times, running, where="post", color=BLUE, linewidth=1.2)
    ax.set_ylim(0, float(running.max()) * 1.1)
    whole_numbers(ax.yaxis)
    stretch = day_numbers(epochs([begin, end.max()]))
    for each in axes:
        each.axvspan(*stretch, color=ORANGE, alpha=0.15, linewidth=0)
    whole, tail = float(end.max() - start.min()), float(end.max() - begin)
    share = 100 * tail / whole if whole > 0 else 0.0
    chunks = f"{n:,} chunks" if n != 1 else "chunk"
    words = f"The last {chunks} took {tail:.3g} s of {whole:.3g} s ({share:.0f} %)"
    note(below, words, y=0.04, va="bottom")
    tail_records = [records[i] for i in last]
    y = np.arange(n, dtype=float)
    colours = colours_of(names(records, "dataset"))
    _draw_spans(below, start[last], end[last], y - 0.4, y + 0.4, tail_records, colours)
    below.set_ylim(-0.6, max(n, 6) - 0.4)  # a single chunk is no wall
    if n <= NAMED // 2:
        name_ticks(below.yaxis, [_name(record) for record in tail_records])
    else:
        whole_numbers(below.yaxis)
    setup_timeline_axes(below, ylabel="Chunk, by end")
    setup_timeline_axes(ax, xlabel="", ylabel="Chunks Running")
    ax.set_xlim(*day_numbers(epochs([start.min() - 0.01 * whole, end.max() + 0.01 * whole])))
    ax.tick_params(axis="x", labelbottom=False)
    ax.xaxis.get_offset_text().set_visible(False)


def _natural(name: str) -> tuple[int, str]:
    """Sort ``w2`` before ``w10``."""
    return len(name), name


def _name(record: Record) -> str:
    file = str(record.get("file") or "unknown").rsplit("/", 1)[-1]
    entries = (record.get("entry_start"), record.get("entry_stop"))
    return file if None in entries else f"{shown(file, 24)} {entries[0]}–{entries[1]}"


def _lanes(start: Floats, end: Floats) -> tuple[Any, int]:
    """Put spans on as few lanes as they need so as not to overlap; return lanes and their number.

    >>> lanes, n = _lanes(np.array([0.0, 1.0, 2.0]), np.array([2.0, 3.0, 4.0]))
    >>> lanes.tolist(), n
    ([0, 1, 0], 2)
    """
    lane = np.zeros(len(start), dtype=np.intp)
    busy: list[tuple[float, int]] = []
    free: list[int] = []
    n = 0
    for i in np.argsort(start, kind="stable").tolist():
        while busy and busy[0][0] <= start[i]:
            heapq.heappush(free, heapq.heappop(busy)[1])
        if free:
            lane[i] = heapq.heappop(free)
        else:
            lane[i] = n
            n += 1
        heapq.heappush(busy, (float(end[i]), int(lane[i])))
    return lane, max(n, 1)


def _running(start: Floats, end: Floats) -> tuple[Any, Floats]:
    """Return the times at which a chunk starts or ends, and how many run from then on."""
    at = np.concatenate([start, end])
    change = np.concatenate([np.ones(len(start)), -np.ones(len(end))])
    order = np.lexsort((change, at))
    return day_numbers(epochs(at[order])), np.cumsum(change[order])


def _draw_spans(
    ax: Axes,
    start: Floats,
    end: Floats,
    bottom: Floats,
    top: Floats,
    records: Sequence[Record],
    colours: Mapping[str, str],
) -> None:
    """Draw a box for each chunk, in the colour of its dataset; white edges where there is room.

    The axis knows of no units: Matplotlib would convert each of 100,000 boxes by itself.
    """
    x0, x1 = day_numbers(epochs(start)), day_numbers(epochs(end))
    corners = np.stack(
        [np.stack(pair, axis=-1) for pair in ((x0, bottom), (x1, bottom), (x1, top), (x0, top))],
        axis=1,
    )
    datasets = names(records, "dataset")
    bad = failed(records)
    faces = [INK if b else colours[d] for d, b in zip(datasets, bad, strict=True)]
    rows = float(top.max() - bottom.min()) / float(np.median(top - bottom))
    edges = rows <= 80 and len(records) <= 2000
    shapes: Any = corners
    boxes = PolyCollection(
        shapes,
        facecolors=faces,
        edgecolors="white" if edges else "none",
        linewidths=0.6 if edges else 0,
        rasterized=len(records) > 2000,
    )
    ax.add_collection(boxes, autolim=True)
    ax.autoscale_view()
    seen = set(datasets)
    shown_colours = {name: colour for name, colour in colours.items() if name in seen}
    _name_colours(ax, shown_colours, any_failed=bool(bad.any()))


def _name_colours(ax: Axes, colours: dict[str, str], *, any_failed: bool) -> None:
    shown_names = list(colours)[: len(CYCLE)]
    handles = [Patch(color=colours[name], label=shown(name, 30)) for name in shown_names]
    if len(colours) > len(CYCLE):
        others = len(colours) - len(CYCLE)
        handles.append(Patch(color=GREY, label=f"{others:,} more"))
    if any_failed:
        handles.append(Patch(color=INK, label="Failed"))
    if list(colours) == ["unknown"] and not any_failed:
        return
    legend_at: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0)}
    plain_legend(ax.legend(handles=handles, borderaxespad=0.0, **legend_at))
