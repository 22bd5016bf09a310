"""The demo's processor with a problem in it: imported by the workers too."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from analysis import DimuonProcessor
from roastcoffea import track_metrics, track_time


class Sleepy(DimuonProcessor):
    """Sleeps in one section, as one that asks a slow service does."""

    @track_metrics
    def process(self, events: Any) -> dict[str, dict[str, Any]]:
        with track_time(self, "corrections"):
            time.sleep(2.0)
        return super().process(events)


class Samples:
    """Random numbers, of which only the count is left when two are added."""

    def __init__(self, megabytes: int, seed: int = 0) -> None:
        self.count = megabytes * 125_000
        self.values = np.random.default_rng(seed).random(self.count)

    def __add__(self, other: Samples) -> Samples:
        both = Samples(0)
        both.count = self.count + other.count
        return both


class Hoarder(DimuonProcessor):
    """Returns arrays beside the histograms: so many that workers cannot keep them."""

    megabytes = 100

    @track_metrics
    def process(self, events: Any) -> dict[str, Any]:
        result: dict[str, Any] = super().process(events)
        result["samples"] = Samples(self.megabytes, events.metadata["entrystart"])
        return result
