"""Clusters on this machine, as the tests start them."""

from __future__ import annotations

from typing import Any

from distributed import LocalCluster

#: How often a collector lets workers sample where a test is short
INTERVAL_S = 0.1


def local_cluster(n_workers: int = 2, **options: Any) -> LocalCluster:
    """Return a cluster of workers with a thread each, unless other options are given."""
    settings = {"threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "silence_logs": 50}
    return LocalCluster(n_workers=n_workers, **settings | options)
