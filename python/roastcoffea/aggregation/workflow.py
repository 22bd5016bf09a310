"""The workflow as a whole, from coffea's report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from roastcoffea._roast import Run
from roastcoffea.aggregation.documented import documented
from roastcoffea.metrics import Metrics

_FALLBACKS = {
    "elapsed_time_seconds": 0.0,
    "total_events": 0,
    "total_bytes_read": 0,
    "total_cpu_time": 0.0,
    "data_rate_gbps": 0.0,
    "event_rate_elapsed_khz": 0.0,
    "event_rate_cpu_total_khz": 0.0,
    "num_chunks": 0,
    "avg_cpu_time_per_chunk": 0.0,
}


def aggregate_workflow_metrics(
    coffea_report: Mapping[str, Any] | None,
    t_start: float,
    t_end: float,
    custom_metrics: Mapping[str, Any] | None = None,
) -> Metrics:
    """Return volumes, rates and times of the workflow.

    Parameters
    ----------
    coffea_report
        coffea's report; figures that it lacks are 0, and a missing ``processtime`` is the elapsed
        time, with the reason in ``.absent`` or ``.estimated``
    t_start, t_end
        seconds
    custom_metrics
        ``{dataset: {"entries", "duration", "performance_counters": {"num_requested_bytes"}}}``:
        replaces the report's sums

    Example
    -------
    >>> report = {"bytesread": 5_000_000, "entries": 1000, "processtime": 8.0, "chunks": 4}
    >>> metrics = aggregate_workflow_metrics(report, 10.0, 14.0)
    >>> metrics["data_rate_gbps"], metrics["event_rate_elapsed_khz"]
    (0.01, 0.25)
    >>> aggregate_workflow_metrics({}, 10.0, 14.0).absent["total_events"]
    "the report has no 'entries'"
    """
    run = Run.create(None)
    run.add_times(t_start, t_end)
    run.add_report(coffea_report, custom_metrics, fallback=True)
    return documented(run.summary(), _FALLBACKS)
