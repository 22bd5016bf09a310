"""Which branches, and how much of each file, were read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from roastcoffea._roast import aggregate_coverage
from roastcoffea.metrics import Metrics

_SUFFIX = "-data"


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
    coverage, estimated = aggregate_coverage(chunk_metrics)
    result = Metrics(coverage)
    if not result["total_branches_read"]:
        result.update(branches_of_report(coffea_report))
    if estimated:
        reason = f"chunks read overlapping sets of branches of {len(estimated)} files"
        result.estimated = dict.fromkeys(("file_read_metrics", "avg_bytes_read_percent"), reason)
    return result


def branches_of_report(coffea_report: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the branches that the report tells of, where it tells of any."""
    branches = parse_accessed_branches((coffea_report or {}).get("columns"))
    if not branches:
        return {}
    return {"accessed_branches": sorted(branches), "total_branches_read": len(branches)}
