"""How well the cores were used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from roastcoffea._roast import Run
from roastcoffea.aggregation.documented import documented
from roastcoffea.metrics import Metrics

_FROM_WORKFLOW = ("elapsed_time_seconds", "total_cpu_time", "total_events")


def calculate_efficiency_metrics(
    workflow_metrics: Mapping[str, Any], worker_metrics: Mapping[str, Any] | None
) -> Metrics:
    """Return core efficiency, speed-up and the event rate of a core.

    Parameters
    ----------
    workflow_metrics
        ``elapsed_time_seconds``, ``total_cpu_time`` and ``total_events`` are used
    worker_metrics
        ``total_cores`` is used; without it, what needs cores is None

    Example
    -------
    >>> workflow = {"elapsed_time_seconds": 10.0, "total_cpu_time": 60.0, "total_events": 80_000}
    >>> calculate_efficiency_metrics(workflow, {"total_cores": 8})
    {'core_efficiency': 0.75, 'speedup_factor': 6.0, 'event_rate_core_khz': 1.0}
    """
    cores = (worker_metrics or {}).get("total_cores")
    base = Metrics(
        {key: workflow_metrics[key] for key in _FROM_WORKFLOW if key in workflow_metrics},
        getattr(workflow_metrics, "absent", None),
    )
    base["total_cores"] = cores
    of_cores = 0.0 if cores else None
    fallbacks = {
        "core_efficiency": of_cores,
        "speedup_factor": 0.0,
        "event_rate_core_khz": of_cores,
    }
    return documented(Run.from_metrics(base).summary(), fallbacks)
