"""What a collector may have left behind: on the scheduler, on the workers, in the client."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from distributed import Client


async def left_on_scheduler(dask_scheduler: Any) -> list[str]:
    """Return what a collector may have left on the scheduler."""
    names = [*dask_scheduler.plugins, *dask_scheduler.worker_plugins]
    names += list(dask_scheduler._broker._topics)
    return [name for name in names if "roastcoffea" in str(name)]


async def left_on_worker(dask_worker: Any) -> list[str]:
    """Return what a collector may have left in a worker's process: plugins, sinks, threads."""
    from roastcoffea import collecting

    left = [name for name in dask_worker.plugins if "roastcoffea" in name]
    left += [str(name) for name in collecting._sinks]
    for task in Path("/proc/self/task").iterdir():
        name = (task / "comm").read_text().strip()
        if name == "roast-sampler" or name.startswith("roastcoffea"):
            left.append(name)
    return left


def left(client: Client) -> list[str]:
    """Return everything that is left, also in the client."""
    names = client.run_on_scheduler(left_on_scheduler)
    for here in client.run(left_on_worker).values():
        names += here
    names += [topic for topic in client._event_handlers if "roastcoffea" in topic]
    return [*names, *(["the environment"] if "ROAST_COLLECT" in os.environ else [])]
