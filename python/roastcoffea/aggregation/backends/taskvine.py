"""Tracking data of TaskVine: workers and cores of the whole cluster over time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from roastcoffea._roast import Run
from roastcoffea.aggregation.backends.base import AbstractTrackingDataParser
from roastcoffea.aggregation.documented import documented


class TaskVineMetricsParser(AbstractTrackingDataParser):
    """Reads ``worker_counts`` and ``total_cores``, both ``{time: number}``."""

    def parse_tracking_data(self, tracking_data: Mapping[str, Any]) -> dict[str, Any]:
        """Return workers and cores, averaged over time.

        Example
        -------
        >>> tracking_data = {"worker_counts": {0.0: 1, 10.0: 3}, "total_cores": {0.0: 4, 10.0: 12}}
        >>> TaskVineMetricsParser().parse_tracking_data(tracking_data)["cores_per_worker"]
        4.0
        """
        run = Run.create(None)
        run.add_tracking(tracking_data)
        fallbacks = {"avg_workers": 0.0, "peak_workers": 0}
        fallbacks |= {"total_cores": None, "cores_per_worker": None}  # type: ignore[dict-item]
        return documented(run.summary(), fallbacks)
