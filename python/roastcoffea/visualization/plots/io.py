"""What was read: files, branches, bytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from roastcoffea.visualization.bars import histogram, mark_centre, per_record
from roastcoffea.visualization.figure import label_axes, plot
from roastcoffea.visualization.records import Record, column, require
from roastcoffea.visualization.series import Floats
from roastcoffea.visualization.style import BLUE, ORANGE, VERMILLION

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "plot_branch_access_per_chunk",
    "plot_bytes_accessed_per_chunk",
    "plot_compression_ratio_distribution",
    "plot_data_access_percentage",
]

NO_CHUNKS = "No chunk metrics data available"


@plot((10, 6), "Compression Ratio Distribution Across Files")
def plot_compression_ratio_distribution(
    ax: Axes, metrics: Mapping[str, Any] | None, bins: int = 20
) -> None:
    """Plot how well files are compressed, as a histogram with mean and median.

    Example
    -------
    >>> fig, ax = plot_compression_ratio_distribution({"compression_ratios": [0.25, 0.75]})
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['Mean: 0.500', 'Median: 0.500']
    """
    ratios = _numbers(metrics, "compression_ratios", "No compression ratio data available")
    histogram(ax, ratios, bins)
    mark_centre(ax, ratios, "{:.3f}".format)
    label_axes(ax, "Compression Ratio (compressed/uncompressed)", "Number of Files")


@plot((10, 6), "Bytes Read Percentage Distribution")
def plot_data_access_percentage(
    ax: Axes, metrics: Mapping[str, Any] | None, bins: int = 20
) -> None:
    """Plot which share of their bytes was read of files, as a histogram with mean and median."""
    message = "No bytes read percentage data available"
    shares = _numbers(metrics, "bytes_read_percent_per_file", message)
    top = min(100.0, 1.1 * float(shares.max())) or 100.0
    histogram(ax, shares, bins, over=(0.0, top))
    ax.set_xlim(0, top)
    mark_centre(ax, shares, "{:.1f}%".format)
    label_axes(ax, "Bytes Read (%)", "Number of Files")


@plot((12, 6), "Branches Accessed Per Chunk")
def plot_branch_access_per_chunk(ax: Axes, chunk_metrics: Iterable[Record] | None) -> None:
    """Plot how many branches each chunk read, in the order of the records, and their mean."""
    records = require(chunk_metrics, NO_CHUNKS)
    branches = column(records, "num_branches_accessed", 0.0)
    if not branches.any():
        raise ValueError("No branch access data in chunk metrics")
    per_record(ax, {"": branches}, [BLUE])
    mean = float(branches.mean())
    ax.axhline(mean, color=VERMILLION, linestyle="--", label=f"Mean: {mean:.1f}")
    ax.set_ylim(0, float(branches.max()) * 1.15)
    ax.legend(loc="upper right")
    label_axes(ax, "Chunk Index", "Branches Accessed")


@plot((12, 6), "Bytes Accessed Per Chunk (Compressed vs Uncompressed)")
def plot_bytes_accessed_per_chunk(ax: Axes, chunk_metrics: Iterable[Record] | None) -> None:
    """Plot the bytes that each chunk read, in the order of the records, before and after inflating.

    These are a chunk's own bytes, also for records that tell only those of the whole file.

    Example
    -------
    >>> whole_file = {"accessed_bytes": 40e6, "accessed_uncompressed_bytes": 80e6}
    >>> fig, ax = plot_bytes_accessed_per_chunk([{**whole_file, "bytes_read": 4_000_000}])
    >>> [float(bar.get_height()) for bar in ax.patches]
    [4.0, 8.0]
    """
    records = require(chunk_metrics, NO_CHUNKS)
    compressed = column(records, "accessed_bytes", 0.0)
    uncompressed = column(records, "accessed_uncompressed_bytes", 0.0)
    if not compressed.any() and not uncompressed.any():
        raise ValueError("No bytes access data in chunk metrics")
    share = _share_of_file(records, compressed)
    heights = {
        "Compressed (on-disk)": compressed * share / 1e6,
        "Uncompressed (in-memory)": uncompressed * share / 1e6,
    }
    per_record(ax, heights, [BLUE, ORANGE])
    ax.set_ylim(0, max(float(values.max()) for values in heights.values()) * 1.15)
    ax.legend(loc="upper right", ncols=2)
    label_axes(ax, "Chunk Index", "Bytes (MB)")


def _numbers(metrics: Mapping[str, Any] | None, key: str, message: str) -> Floats:
    values = (metrics or {}).get(key)
    if values is None or len(values) == 0:
        raise ValueError(message)
    return np.asarray(values, dtype=np.float64)


def _share_of_file(records: list[Record], accessed: Floats) -> Floats:
    """Return which share of its accessed bytes a chunk has read.

    Records of version 0.1 hold the bytes of the whole file; those that have ``branch_bytes`` hold
    the chunk's own. What was read is known; where it is not, the chunks of a file share evenly.
    """
    read = column(records, "bytes_read", 0.0)
    chunks = Counter(record.get("file") for record in records)
    share = np.ones(len(records))
    for i, record in enumerate(records):
        if record.get("branch_bytes"):
            continue
        if read[i] > 0 and accessed[i] > 0:
            share[i] = min(read[i] / accessed[i], 1.0)
        elif record.get("file") is not None:
            share[i] = 1.0 / chunks[record["file"]]
    return share
