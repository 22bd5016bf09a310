"""Which branches, and how much of each file, were read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from roastcoffea._roast import Run
from roastcoffea.aggregation.chunk import add_records
from roastcoffea.metrics import Metrics, metrics_of_run

_SUFFIX = "-data"
_ALWAYS = (
    "file_metadata",
    "compression_ratios",
    "file_read_metrics",
    "bytes_read_percent_per_file",
    "avg_branches_read_percent",
    "avg_bytes_read_percent",
    "total_branches_read",
)
_IF_KNOWN = (
    "num_files",
    "chunk_branches_read_percent_mean",
    "chunk_bytes_read_percent_mean",
    "compression_ratio",
)


def parse_accessed_branches(columns: Iterable[Any] | None) -> set[str]:
    """Return the branches among the columns of coffea's report.

    >>> sorted(parse_accessed_branches(["Jet_pt-data", "nJet-offsets", "MET_pt-data"]))
    ['Jet_pt', 'MET_pt']
    """
    return {
        column.removesuffix(_SUFFIX)
        for column in columns or ()
        if isinstance(column, str) and column.endswith(_SUFFIX)
    }


def aggregate_branch_coverage(
    chunk_metrics: Sequence[Mapping[str, Any]] | None,
    coffea_report: Mapping[str, Any] | None = None,
) -> Metrics:
    """Return what was read of each file, and in all.

    Chunks of one file may touch different branches: a file's figures are of all of them together,
    in whatever order they come. Where only the report tells of branches, they are counted from its
    ``columns``.

    Parameters
    ----------
    chunk_metrics
        chunk records with ``file``, ``accessed_branches``, ``accessed_bytes``,
        ``branches_read_percent``, ``bytes_read_percent`` and ``file_metadata``; none: the result
        is empty
    coffea_report
        coffea's report

    Example
    -------
    >>> file = {"filename": "a.root", "total_branches": 4, "total_tree_bytes": 1000}
    >>> said = {"accessed_bytes": 100, "branches_read_percent": 25.0, "bytes_read_percent": 10.0}
    >>> coverage = aggregate_branch_coverage(
    ...     [
    ...         {"file": "a.root", "file_metadata": file, "accessed_branches": ["x"], **said},
    ...         {"file": "a.root", "file_metadata": file, "accessed_branches": ["y"], **said},
    ...     ]
    ... )
    >>> coverage["file_read_metrics"]["a.root"]["branches_read_percent"]
    50.0
    """
    if chunk_metrics is None or not len(chunk_metrics):
        return Metrics()
    run = Run.create(None)
    add_records(run, chunk_metrics)
    known = metrics_of_run(run, with_workers=False)
    result = Metrics()
    for key in (*_ALWAYS, *_IF_KNOWN):
        if key in known and (key in _ALWAYS or key not in known.absent):
            result[key] = dict.__getitem__(known, key)
            for reasons, said in ((result.absent, known.absent), (result.estimated, known.estimated)):
                if key in said:
                    reasons[key] = said[key]
    if not result["total_branches_read"]:
        result.update(branches_of_report(coffea_report))
    return result


def branches_of_report(coffea_report: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the branches that the report tells of, where it tells of any."""
    branches = parse_accessed_branches((coffea_report or {}).get("columns"))
    if not branches:
        return {}
    return {"accessed_branches": sorted(branches), "total_branches_read": len(branches)}
