"""The interface between tracking data and its metrics."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any


class AbstractTrackingDataParser(ABC):
    """What a parser of tracking data must offer: subclass it for another back end."""

    @abstractmethod
    def parse_tracking_data(self, tracking_data: Mapping[str, Any]) -> dict[str, Any]:
        """Return the workers' metrics: ``avg_workers``, ``total_cores``, ..."""
