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


class Hoarder(DimuonProcessor):
    """Returns arrays beside the histograms: so many that workers cannot keep them."""

    megabytes = 60

    @track_metrics
    def process(self, events: Any) -> dict[str, dict[str, Any]]:
        result = super().process(events)
        noise = np.random.default_rng(events.metadata["entrystart"])
        result["arrays"] = {
            f"{events.metadata['filename']}:{events.metadata['entrystart']}": noise.random(
                self.megabytes * 125_000
            )
        }
        return result
