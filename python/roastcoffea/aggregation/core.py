"""All metrics of plain data, in one flat dict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from roastcoffea._roast import Run
from roastcoffea.aggregation.backends import (
    AbstractTrackingDataParser,
    DaskTrackingDataParser,
    TaskVineMetricsParser,
    get_parser,
)
from roastcoffea.aggregation.backends.dask import FALLBACKS
from roastcoffea.aggregation.branch_coverage import aggregate_branch_coverage, branches_of_report
from roastcoffea.aggregation.chunk import add_records, aggregate_chunk_metrics, build_chunk_info
from roastcoffea.aggregation.documented import merge
from roastcoffea.custom import add_custom
from roastcoffea.metrics import Metrics, metrics_of_run


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
        run = Run.create(None)
        run.add_times(t_start, t_end)
        run.add_report(coffea_report, custom_metrics, fallback=True)
        add_tracking(run, tracking_data, self.parser)
        if span_metrics:
            if processor_name is not None:
                run.fact("processor.name", processor_name)
            run.add_spans(span_metrics)
        has_records = chunk_metrics is not None and bool(len(chunk_metrics))
        if chunk_metrics is not None and has_records:
            add_records(run, chunk_metrics, timed=True)
            run.add_sections(section_metrics)
        metrics = metrics_of_run(run, with_workers=False)
        if tracking_data is not None:
            for key, fallback in FALLBACKS.items():
                metrics.setdefault(key, fallback)
        if has_records:
            metrics.pop("chunk_info", None)
            if info := build_chunk_info(chunk_metrics or ()):
                metrics["chunk_info"] = info
        if not metrics.get("total_branches_read"):
            metrics.update(branches_of_report(coffea_report))
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


def add_tracking(
    run: Run, tracking_data: Mapping[str, Any] | None, parser: AbstractTrackingDataParser
) -> None:
    """Add the workers to a run, as a parser of the user's own reads them where there is one."""
    if type(parser) in (DaskTrackingDataParser, TaskVineMetricsParser):
        run.add_tracking(tracking_data)
    elif tracking_data is not None:
        run.add_metrics(parser.parse_tracking_data(tracking_data))


def aggregate_records(
    chunk_metrics: Sequence[Mapping[str, Any]] | None,
    section_metrics: Sequence[Mapping[str, Any]] | None = None,
    coffea_report: Mapping[str, Any] | None = None,
) -> Metrics:
    """Return what chunk records tell: statistics, datasets, sections, chunk info, coverage.

    Without records, the branches that the report tells of.
    """
    if chunk_metrics is None or not len(chunk_metrics):
        return Metrics(branches_of_report(coffea_report))
    result = aggregate_chunk_metrics(chunk_metrics, section_metrics)
    info = build_chunk_info(chunk_metrics)
    if info:
        result["chunk_info"] = info
    merge(result, aggregate_branch_coverage(chunk_metrics, coffea_report))
    return result
