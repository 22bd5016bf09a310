"""The back end for executors without a cluster: chunk records come through the output."""

from __future__ import annotations

from typing import Any

from roastcoffea.backends.base import AbstractMetricsBackend


class LocalMetricsBackend(AbstractMetricsBackend):
    """Knows no workers: an analysis in this process or in a pool of its children."""

    def __init__(self, client: Any = None) -> None:
        self.client = client

    def start_tracking(self, interval: float) -> None:
        """There is nothing to follow."""

    def stop_tracking(self) -> dict[str, Any]:
        """There is nothing to return."""
        return {}

    def create_span(self, name: str) -> None:
        """There are no spans."""

    def get_span_metrics(self, span_info: Any) -> dict[Any, Any]:
        """There are no spans."""
        return {}

    def supports_fine_metrics(self) -> bool:
        """There are no spans."""
        return False
