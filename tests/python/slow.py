"""Chunks that take a moment, for tests on clusters: imported by the workers too."""

from __future__ import annotations

import os
import time
from typing import Any

from distributed import Client, get_worker

from roastcoffea import track_metrics


class Slow:
    """A processor whose chunks take a moment."""

    @track_metrics
    def process(self, events: Any) -> dict[str, Any]:
        time.sleep(0.05)
        return {"worker": get_worker().address, "pid": os.getpid()}


def work(client: Client, n: int = 8) -> list[dict[str, Any]]:
    futures = [client.submit(Slow().process, [i], pure=False) for i in range(n)]
    return client.gather(futures)  # type: ignore[no-any-return]
