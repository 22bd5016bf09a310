"""The documented metrics dict, made from a run's summary."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from roastcoffea import _roast
from roastcoffea.lazy import Later, LazyDict, RecordList

if TYPE_CHECKING:
    from roastcoffea._roast import MetricRow, Run, Summary


class Metrics(LazyDict):
    """The flat dict of metrics, with the reasons of what is missing beside it.

    What may be very large (``chunk_info``, ``tracking_data``, ``raw_chunk_metrics``, ...) is made
    when it is looked at.

    Attributes
    ----------
    absent
        why a metric is not known, by key; the dict holds the documented fallback (0 or None),
        or nothing, for it
    estimated
        how a metric was estimated, by key
    custom
        which keys are metrics of the user's own: ``{key: {"title", "unit", "better"}}``
    run
        the run that they are of, if it is known
    """

    def __init__(
        self,
        values: Mapping[str, Any] | Iterable[tuple[str, Any]] = (),
        absent: Mapping[str, str] | None = None,
        estimated: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(values)
        self.absent = dict(absent or {})
        self.estimated = dict(estimated or {})
        self.custom: dict[str, dict[str, str]] = {}
        self.run: Run | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        state = {"absent": self.absent, "estimated": self.estimated, "custom": self.custom}
        return type(self), (dict(self),), state


@cache
def registry() -> list[MetricRow]:
    """Return the registry of metrics: a row for each."""
    return _roast.metrics()


FALLBACKS = {"zero": 0, "none": None}


def metrics_of(summary: Summary, *, with_workers: bool) -> Metrics:
    """Return the scalars of a summary under their keys and aliases.

    ``with_workers`` says whether worker tracking was on: its keys are there even if it saw
    nothing.
    """
    known = summary.metrics()
    result = Metrics((), summary.absent(), summary.estimated())
    for key, group, _, _, _, fallback, _, _, aliases in registry():
        if key in known:
            value: Any = known[key]
        elif fallback in FALLBACKS:
            value = FALLBACKS[fallback]
        elif with_workers and group == "worker":
            value = None if key in ("total_cores", "cores_per_worker") else 0
        else:
            continue
        for name in (key, *aliases):
            result[name] = value
    ledger, estimated = summary.ledger()
    if ledger:
        result["time_ledger"] = ledger
        if estimated:
            result.estimated["time_ledger"] = f"estimated of each worker: {', '.join(estimated)}"
    for key, row in summary.custom().items():
        result.custom[key] = {name: row[name] for name in ("title", "unit", "better")}
        if row["reason"] is None:
            result[key] = row["value"]
        else:
            result.absent[key] = row["reason"]
    return result


def metrics_of_run(run: Run, *, with_workers: bool | None = None) -> Metrics:
    """Return the documented metrics dict of a run; what is large is made when it is asked for.

    ``with_workers`` says whether worker tracking was on: its keys are there even if it saw
    nothing. None: as the run says.
    """
    from roastcoffea.aggregation.branch_coverage import branches_of_report
    from roastcoffea.aggregation.documented import merge
    from roastcoffea.opened import report_of, tracking_of_run
    from roastcoffea.shapes import chunk_shapes

    tracking_data = tracking_of_run(run)
    summary = run.summary()
    follows = tracking_data is not None if with_workers is None else with_workers
    metrics = metrics_of(summary, with_workers=follows)
    report = report_of(run.facts())
    if "total_cpu_time" in metrics.absent:
        _take_fallbacks(metrics, report, bool(run.facts().get("custom.given")))
    if "num_successful_chunks" in metrics:
        merge(metrics, chunk_shapes(run, summary, metrics))
        metrics["raw_chunk_metrics"] = Later(lambda: RecordList.of_run(run))
    if not metrics.get("total_branches_read"):
        metrics.update(branches_of_report(report))
    metrics.update(parts_of(summary))
    metrics["tracking_data"] = tracking_data
    spans = run.spans()
    if spans:
        metrics["raw_span_metrics"] = spans
    metrics.run = run
    return metrics


def _take_fallbacks(metrics: Metrics, report: Mapping[str, Any], custom: bool) -> None:
    """Without a process time the documented dict counts with the elapsed time."""
    from roastcoffea.aggregation.workflow import aggregate_workflow_metrics

    elapsed_s = metrics["elapsed_time_seconds"]
    documented = aggregate_workflow_metrics(report, 0.0, elapsed_s, {"": None} if custom else None)
    for key in ("total_cpu_time", "event_rate_cpu_total_khz", "avg_cpu_time_per_chunk"):
        metrics[key] = documented[key]


def parts_of(summary: Summary) -> dict[str, Any]:
    """Return what a summary has of files, branches, failures and the datasets' bytes, if any.

    ``bytes_per_dataset`` is by the dataset's name; the others are lists, the largest first.
    """
    parts: dict[str, Any] = {
        "files": summary.files(),
        "branches": summary.branches(),
        "failures": summary.failures(),
        "bytes_per_dataset": {row["name"]: row["bytes"] for row in summary.datasets()},
    }
    return {key: part for key, part in parts.items() if part}
