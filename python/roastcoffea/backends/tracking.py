"""``tracking_data``: the documented series of a run, on one common grid of UTC times."""

from __future__ import annotations

import functools
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from roastcoffea._roast import Run
from roastcoffea.lazy import Later, LazyDict

#: The series of the workers' comings and goings.
_FROM_EVENTS = {"worker_cores": "threads", "worker_memory_limit": "memory_limit_bytes"}
#: The sampled series as they are ...
_SAMPLED = {
    "worker_memory": "rss_bytes",
    "worker_active_tasks": "dask_active_tasks",
    "worker_nbytes": "dask_managed_bytes",
    "worker_executing": "dask_executing",
    "worker_spilled_bytes": "dask_spilled_bytes",
}
#: ... those of which the run keeps integers, and what these are divided by ...
_SCALED = {
    "worker_occupancy": ("dask_occupancy_ms", 1_000),
    "worker_last_seen": ("dask_seen_ms", 1_000),
    "worker_cpu": ("dask_cpu_millipercent", 1_000),
    "worker_gil_contention": ("dask_gil_millipercent", 1_000),
    "worker_event_loop_lag": ("dask_loop_lag_us", 1_000_000),
}
#: ... and those that are rates of a counter, in bytes per second, of the worker's host.
_RATES = {
    "worker_host_net_read": "host_net_recv_bytes",
    "worker_host_net_write": "host_net_sent_bytes",
    "worker_host_disk_read": "host_disk_read_bytes",
    "worker_host_disk_write": "host_disk_write_bytes",
}

Series = dict[str, list[tuple[datetime, Any]]]


def tracking_data(run: Run, start_utc_ns: int, end_utc_ns: int, interval_s: float) -> LazyDict:
    """Return the series of a run between two instants, with a value every ``interval_s``.

    One time stamp object serves all workers and series of a tick. A value holds until the next
    sample; before a worker's first and after its last sample it has none.
    """
    step_ns = int(interval_s * 1e9)
    n = max(1, (end_utc_ns - start_utc_ns) // step_ns + 1)
    grid = (start_utc_ns, step_ns, n)

    @functools.cache
    def times() -> list[datetime]:
        return [
            datetime.fromtimestamp((start_utc_ns + i * step_ns) / 1e9, UTC).replace(tzinfo=None)
            for i in range(n)
        ]

    def counts() -> dict[datetime, int]:
        threads = run.resample_workers("threads", *grid)
        present = list(zip(*threads.values(), strict=True)) or [()] * n
        return {
            t: sum(value is not None for value in here)
            for t, here in zip(times(), present, strict=True)
        }

    def series(resample: Callable[..., Any], column: str, unit: int = 1) -> Series:
        return {
            worker: [
                (t, value / unit if unit > 1 else value)
                for t, value in zip(times(), values, strict=True)
                if value is not None
            ]
            for worker, values in resample(column, *grid).items()
        }

    makers: dict[str, Callable[[], Any]] = {"worker_counts": counts}
    for key, column in _FROM_EVENTS.items():
        makers[key] = functools.partial(series, run.resample_workers, column)
    for key, column in _SAMPLED.items():
        makers[key] = functools.partial(series, run.resample, column)
    for key, (column, unit) in _SCALED.items():
        makers[key] = functools.partial(series, run.resample, column, unit)
    for key, column in _RATES.items():
        makers[key] = functools.partial(series, run.resample_rate, column)
    return LazyDict({key: Later(make) for key, make in makers.items()})
