"""The back end for coffea's TaskVine executor: what the manager writes into its own log."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from roastcoffea.aggregation.backends.taskvine import TaskVineMetricsParser
from roastcoffea.backends.base import AbstractMetricsBackend

#: Documented series of the cluster as a whole, and the columns of the log that tell them
_COLUMNS = {"worker_counts": "workers_connected", "total_cores": "total_cores"}


class TaskVineMetricsBackend(AbstractMetricsBackend):
    """Follows a TaskVine manager through its performance log.

    Nothing is asked of the manager while it works: it writes the log anyway, and the log is read
    when the run has ended.

    Parameters
    ----------
    taskvine_manager
        an ``ndcctools.taskvine.Manager``, or the directory of its logs
    """

    parser = TaskVineMetricsParser

    def __init__(self, taskvine_manager: Any) -> None:
        if taskvine_manager is None:
            raise ValueError("taskvine_manager cannot be None")
        self.manager = taskvine_manager
        self._start_s = 0.0

    @property
    def performance_log(self) -> Path:
        """Where the manager writes."""
        directory = getattr(self.manager, "logging_directory", self.manager)
        logs = Path(directory)
        inner = logs / "vine-logs" / "performance"
        return inner if inner.exists() else logs / "performance"

    def start_tracking(self, interval: float) -> None:
        """Note when the run begins: what the log told before belongs to another."""
        self._start_s = time.time()

    def stop_tracking(self) -> dict[str, Any]:
        """Return the number of workers, and of their cores, over time."""
        with self.performance_log.open(encoding="utf-8") as lines:
            return read_performance(lines, self._start_s)

    def create_span(self, name: str) -> None:
        """There are no spans."""

    def get_span_metrics(self, span_info: Any) -> dict[Any, Any]:
        """There are no spans."""
        return {}

    def supports_fine_metrics(self) -> bool:
        """There are no spans."""
        return False


def read_performance(lines: Iterable[str], start_s: float = 0.0) -> dict[str, Any]:
    """Return series of a performance log: ``{"worker_counts": {time: n}, "total_cores": ...}``.

    Columns are known by their names, for their number differs between versions.

    >>> log = ["# timestamp workers_connected total_cores", "1000000 2 8", "2000000 3 12"]
    >>> [*read_performance(log)["worker_counts"].values()]
    [2, 3]
    """
    names: list[str] = []
    series: dict[str, dict[datetime, int]] = {key: {} for key in _COLUMNS}
    for line in lines:
        fields = line.split()
        if line.startswith("#"):
            names = fields[1:]
            continue
        row = dict(zip(names, fields, strict=False))
        try:
            seconds = int(row["timestamp"]) / 1e6
            values = {key: int(row[column]) for key, column in _COLUMNS.items() if column in row}
        except (KeyError, ValueError):  # a line that was cut
            continue
        if seconds < start_s:
            continue
        instant = datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None)
        for key, value in values.items():
            series[key][instant] = value
    return dict(_known(series))


def _known(series: Mapping[str, Mapping[Any, Any]]) -> Iterable[tuple[str, Mapping[Any, Any]]]:
    return ((key, values) for key, values in series.items() if values)
