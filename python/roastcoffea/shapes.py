"""What the documented dict holds of the chunks of a run, beside single figures."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from roastcoffea.lazy import Later
from roastcoffea.metrics import Metrics

if TYPE_CHECKING:
    from roastcoffea._roast import Run, Summary

_NULL = -(2**63)
_OF_CHUNK_INFO = (
    "file_text",
    "entry_start",
    "entry_stop",
    "start_utc_ns",
    "wall_ns",
    "requested_bytes",
    "outcome",
)
#: Outcomes of rows that are no chunks: lost with a worker, a graph that was built
_NO_CHUNKS = (2, 4)


def chunk_info(run: Run) -> dict[tuple[str, int, int], tuple[float, float, int]]:
    """Return ``{(file, entry_start, entry_stop): (t_start, t_end, bytes_read)}``."""
    texts = run.texts()
    columns = run.columns("chunk", _OF_CHUNK_INFO)
    rows = zip(*(memoryview(columns[name]).cast("q") for name in _OF_CHUNK_INFO), strict=True)
    info = {}
    for file, start, stop, begin, wall, size, outcome in rows:
        if _NULL in (file, start, stop, begin, wall) or outcome in _NO_CHUNKS:
            continue
        t_start = begin / 1e9
        info[texts[file - 1], start, stop] = (
            t_start,
            t_start + wall / 1e9,
            0 if size == _NULL else size,
        )
    return info


def branches_of_files(run: Run) -> dict[str, list[str]]:
    """Return the branches that the chunks of each file touched."""
    texts = run.texts()
    chunks = run.columns("chunk", ("file_text", "outcome"))
    files, outcomes = (memoryview(chunks[key]).cast("q") for key in ("file_text", "outcome"))
    parts = run.columns("branch", ("chunk_id", "name_text"))
    found: dict[int, set[int]] = {}
    for chunk, name in zip(
        *(memoryview(parts[key]).cast("q") for key in ("chunk_id", "name_text")), strict=True
    ):
        file = files[chunk - 1]
        if file != _NULL and outcomes[chunk - 1] not in _NO_CHUNKS:
            found.setdefault(file, set()).add(name)
    return {
        texts[file - 1]: sorted(texts[name - 1] for name in names) for file, names in found.items()
    }


_COVERAGE = (
    "total_branches",
    "branches_read_percent",
    "total_tree_bytes",
    "bytes_read",
    "bytes_read_percent",
)


def coverage_shapes(run: Run, summary: Summary, metrics: Metrics) -> Metrics:
    """Return what was read of the files; what is large is made later.

    ``metrics`` are the run's single figures: a documented 0 stands for what is not known.
    """

    @cache
    def files() -> list[dict[str, Any]]:
        return [file for file in summary.files() if file["bytes_read"] is not None]

    def read_metrics() -> dict[str, dict[str, Any]]:
        branches = branches_of_files(run)
        return {
            file["name"]: {
                **{key: file[key] or 0 for key in _COVERAGE},
                "accessed_branches": branches.get(file["name"], []),
            }
            for file in files()
        }

    def positive(key: str) -> Later:
        return Later(lambda: [file[key] for file in files() if file[key]])

    result = Metrics(())
    result["file_metadata"] = Later(summary.file_metadata)
    result["compression_ratios"] = positive("compression_ratio")
    result["file_read_metrics"] = Later(read_metrics)
    result["bytes_read_percent_per_file"] = positive("bytes_read_percent")
    for key, fallback in (
        ("avg_branches_read_percent", 0.0),
        ("avg_bytes_read_percent", 0.0),
        ("total_branches_read", 0),
    ):
        if key in metrics.absent:
            result[key] = fallback
            result.absent[key] = metrics.absent[key]
        else:
            result[key] = metrics[key]
    if "avg_bytes_read_percent" in metrics.estimated:
        reason = metrics.estimated["avg_bytes_read_percent"]
        result.estimated = dict.fromkeys(("file_read_metrics", "avg_bytes_read_percent"), reason)
    return result


def chunk_shapes(run: Run, summary: Summary, metrics: Metrics) -> Metrics:
    """Return datasets, sections, chunk info and coverage; what is large is made later.

    ``metrics`` are the run's single figures.
    """
    result = coverage_shapes(run, summary, metrics)
    per_dataset, sections = summary.documented()
    result["chunk_info"] = Later(lambda: chunk_info(run))
    if per_dataset:
        result["per_dataset"] = per_dataset
    if sections:
        result["sections"] = sections
    return result
