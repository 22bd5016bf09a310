"""Tracking data of Dask: samples of workers over time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from roastcoffea._roast import Run
from roastcoffea.aggregation.backends.base import AbstractTrackingDataParser
from roastcoffea.aggregation.documented import documented

Samples = Iterable[tuple[Any, float]]

#: What stands for workers of which nothing is known
FALLBACKS: dict[str, float | None] = {
    "avg_workers": 0.0,
    "peak_workers": 0,
    "total_cores": None,
    "cores_per_worker": None,
    "peak_memory_bytes": 0.0,
    "avg_memory_per_worker_bytes": 0.0,
}


def _known(tracking_data: Mapping[str, Any]) -> dict[str, Any]:
    run = Run.create(None)
    run.add_tracking(tracking_data)
    return documented(run.summary(), FALLBACKS)


class DaskTrackingDataParser(AbstractTrackingDataParser):
    """Reads ``worker_counts``, ``worker_cores`` and ``worker_memory``."""

    def parse_tracking_data(self, tracking_data: Mapping[str, Any]) -> dict[str, Any]:
        """Return workers, cores and memory, averaged over time.

        Cores are added up at each instant and averaged over time, so that workers that come, go or
        differ in size count for as long as they were there.

        Parameters
        ----------
        tracking_data
            series by name; one that is missing is empty

        Example
        -------
        >>> tracking_data = {
        ...     "worker_counts": {0.0: 1, 10.0: 2},
        ...     "worker_cores": {"a": [(0.0, 4), (10.0, 4)], "b": [(10.0, 2)]},
        ... }
        >>> metrics = DaskTrackingDataParser().parse_tracking_data(tracking_data)
        >>> metrics["avg_workers"], metrics["peak_workers"], metrics["total_cores"]
        (1.5, 2, 5.0)
        """
        return _known(tracking_data)


DaskMetricsParser = DaskTrackingDataParser


def calculate_time_averaged_workers(worker_counts: Mapping[Any, float]) -> float:
    """Return the average of the counts over time, by the trapezoidal rule; 0.0 without any.

    >>> calculate_time_averaged_workers({0.0: 2, 5.0: 2, 10.0: 4})
    2.5
    """
    return float(_known({"worker_counts": worker_counts})["avg_workers"])


def calculate_peak_memory(worker_memory: Mapping[Any, Samples]) -> float:
    """Return the largest sample of any worker; 0.0 without any.

    >>> calculate_peak_memory({"a": [(0.0, 100), (1.0, 300)], "b": [(0.0, 200)]})
    300
    """
    return _known({"worker_memory": worker_memory})["peak_memory_bytes"]  # type: ignore[no-any-return]


def calculate_average_memory_per_worker(worker_memory: Mapping[Any, Samples]) -> float:
    """Return the mean over workers of their averages over time; 0.0 without any.

    >>> calculate_average_memory_per_worker({"a": [(0.0, 100), (1.0, 300)], "b": [(0.0, 400)]})
    300.0
    """
    return float(_known({"worker_memory": worker_memory})["avg_memory_per_worker_bytes"])
