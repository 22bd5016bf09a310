"""All metrics of plain data, in one flat dict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from roastcoffea._roast import Summary, aggregate_tracking, worker_share
from roastcoffea.aggregation import branch_coverage, chunk, efficiency, fine_metrics, workflow
from roastcoffea.aggregation.backends import get_parser
from roastcoffea.aggregation.documented import documented, merge
from roastcoffea.custom import add_custom
from roastcoffea.metrics import Metrics, registry

_FALLBACKS = {"zero": 0, "none": None}


class MetricsAggregator:
    """Turns a report, tracking data, spans and chunk records into metrics.

    Parameters
    ----------
    backend
        whose parser reads the tracking data: ``"dask"``, or one that
        :func:`roastcoffea.aggregation.backends.register_parser` knows

    Raises
    ------
    ValueError
        there is no such back end

    Example
    -------
    >>> report = {"bytesread": 5_000_000, "entries": 1000, "processtime": 8.0, "chunks": 4}
    >>> metrics = MetricsAggregator("dask").aggregate(report, None, 0.0, 4.0)
    >>> metrics["speedup_factor"], metrics["core_efficiency"]
    (2.0, None)
    """

    def __init__(self, backend: str) -> None:
        self.backend = backend
        self.parser = get_parser(backend)

    def aggregate(
        self,
        coffea_report: Mapping[str, Any] | None,
        tracking_data: Mapping[str, Any] | None,
        t_start: float,
        t_end: float,
        custom_metrics: Mapping[str, Any] | None = None,
        span_metrics: Mapping[Any, Any] | None = None,
        processor_name: str | None = None,
        chunk_metrics: Sequence[Mapping[str, Any]] | None = None,
        section_metrics: Sequence[Mapping[str, Any]] | None = None,
    ) -> Metrics:
        """Return the metrics; the arguments are not changed.

        The parameters are those of :mod:`roastcoffea.aggregation`'s functions. Where there are
        fine metrics, core efficiency and speed-up rest on their CPU time, else on the report's
        process time, which is noted in ``.estimated``.
        """
        metrics = workflow.aggregate_workflow_metrics(coffea_report, t_start, t_end, custom_metrics)
        records = aggregate_records(chunk_metrics, section_metrics, coffea_report)
        if "total_events" in metrics.absent and "total_events_from_chunks" in records:
            metrics["total_events"] = records["total_events_from_chunks"]
            del metrics.absent["total_events"]
            metrics.estimated["total_events"] = "from the chunk records: no report"
        worker: Mapping[str, Any] = {}
        if tracking_data is not None:
            worker = self.parser.parse_tracking_data(tracking_data)
            merge(metrics, _mean_workers(tracking_data))
            merge(metrics, _utilization(tracking_data))
            merge(metrics, worker)
        merge(metrics, efficiency.calculate_efficiency_metrics(metrics, worker))
        if span_metrics:
            merge(metrics, fine_metrics.parse_fine_metrics(span_metrics, processor_name))
        merge(metrics, records)
        _complete(metrics)
        metrics["tracking_data"] = tracking_data
        for key, raw in (
            ("raw_chunk_metrics", chunk_metrics),
            ("raw_section_metrics", section_metrics),
            ("raw_span_metrics", span_metrics),
        ):
            if raw is not None and len(raw):
                metrics[key] = raw
        add_custom(metrics)
        return metrics


def _mean_workers(tracking_data: Mapping[str, Any]) -> Metrics:
    """Return the documented other average of the workers: the plain mean of their counts."""
    counts = tracking_data.get("worker_counts")
    if not isinstance(counts, Mapping):
        counts = {}
    return documented(aggregate_tracking(counts, {}), {"mean_workers": 0.0})


#: Utilisation of what, as a share of what: name, values, wholes, scale to percent
_SHARES = (
    ("memory", "worker_memory", "worker_memory_limit", 100.0),
    ("cpu", "worker_cpu", "worker_cores", 1.0),  # in percent already, of one core
)


def _utilization(tracking_data: Mapping[str, Any]) -> Metrics:
    """Return how much of their memory limits and of their cores the workers used."""
    result = Metrics()
    for name, values, wholes, scale in _SHARES:
        given = tracking_data.get(values), tracking_data.get(wholes)
        if not all(isinstance(series, Mapping) for series in given):
            continue
        share = worker_share(*given, scale)  # type: ignore[arg-type]
        for which, value in zip(("avg", "min", "peak"), share or (), strict=False):
            result[f"{which}_{name}_utilization_percent"] = value
    return result


def aggregate_records(
    chunk_metrics: Sequence[Mapping[str, Any]] | None,
    section_metrics: Sequence[Mapping[str, Any]] | None = None,
    coffea_report: Mapping[str, Any] | None = None,
) -> Metrics:
    """Return what chunk records tell: statistics, datasets, sections, chunk info, coverage.

    Without records, the branches that the report tells of.
    """
    if chunk_metrics is None or not len(chunk_metrics):
        return Metrics(branch_coverage.branches_of_report(coffea_report))
    result = chunk.aggregate_chunk_metrics(chunk_metrics, section_metrics)
    info = chunk.build_chunk_info(chunk_metrics)
    if info:
        result["chunk_info"] = info
    merge(result, branch_coverage.aggregate_branch_coverage(chunk_metrics, coffea_report))
    return result


#: What is better computed from everything than from its own part
_FROM_ALL = ("core_efficiency", "speedup_factor")


def _complete(metrics: Metrics) -> None:
    """Add what follows from several parts, and the other names of everything."""
    plain = Metrics(metrics, metrics.absent, metrics.estimated)
    for key in _FROM_ALL:
        if plain.pop(key, None) is not None:
            plain.estimated.pop(key, None)
    summary = Summary.from_metrics(plain)
    known, absent, estimated = summary.metrics(), summary.absent(), summary.estimated()
    for key, _, _, _, _, fallback, _, _, aliases in registry():
        fresh = key not in metrics or key in metrics.absent or key in _FROM_ALL
        if fresh and key in known:
            metrics[key] = known[key]
            metrics.absent.pop(key, None)
            if key in estimated:
                metrics.estimated[key] = estimated[key]
            else:
                metrics.estimated.pop(key, None)
        elif key not in metrics:
            if fallback in _FALLBACKS:
                metrics[key] = _FALLBACKS[fallback]
            metrics.absent.setdefault(key, absent.get(key, "not known"))
        if key in metrics:
            for alias in aliases:
                metrics.setdefault(alias, metrics[key])
