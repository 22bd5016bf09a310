"""The documented tracking data, read from a run when it is looked at."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from roastcoffea.lazy import Later, LazyDict

if TYPE_CHECKING:
    from roastcoffea._roast import Run

#: Documented series and the sampled columns that they are made of
_SAMPLED = {
    "worker_memory": "rss_bytes",
    "worker_active_tasks": "dask_active_tasks",
    "worker_nbytes": "dask_managed_bytes",
    "worker_executing": "dask_executing",
    "worker_spilled_bytes": "dask_spilled_bytes",
}
#: Of these the run keeps integers: what they are divided by.
_SCALED = {
    "worker_cpu": ("dask_cpu_millipercent", 1000),
    "worker_last_seen": ("dask_seen_ms", 1000),
}
_FROM_EVENTS = {"worker_cores": "threads", "worker_memory_limit": "memory_limit_bytes"}


def tracking_data(run: Run, start_utc_ns: int, end_utc_ns: int, interval_s: float) -> LazyDict:
    """Return the documented series on one grid of UTC times; each is made when it is asked for."""
    step_ns = int(interval_s * 1e9)
    n = max(1, (end_utc_ns - start_utc_ns) // step_ns + 1)
    grid = (start_utc_ns, step_ns, n)

    @cache
    def times() -> list[datetime]:
        return [
            datetime.fromtimestamp((start_utc_ns + i * step_ns) / 1e9, UTC).replace(tzinfo=None)
            for i in range(n)
        ]

    def counts() -> dict[datetime, int]:
        threads = run.resample_workers("threads", *grid)
        present = list(zip(*threads.values(), strict=True)) or [()] * n
        return {
            t: sum(v is not None for v in here) for t, here in zip(times(), present, strict=True)
        }

    def series(
        read: Callable[..., dict[str, list[int | None]]], column: str, unit: int = 1
    ) -> Later:
        def make() -> dict[str, list[tuple[datetime, float]]]:
            return {
                worker: [
                    (t, v if unit == 1 else v / unit)
                    for t, v in zip(times(), values, strict=True)
                    if v is not None
                ]
                for worker, values in read(column, *grid).items()
            }

        return Later(make)

    data: dict[str, Any] = {"worker_counts": Later(counts)}
    for key, column in _FROM_EVENTS.items():
        data[key] = series(run.resample_workers, column)
    for key, column in _SAMPLED.items():
        data[key] = series(run.resample, column)
    for key, (column, unit) in _SCALED.items():
        data[key] = series(run.resample, column, unit)
    data["worker_occupancy"] = {}  # an estimate of the scheduler's, too dear to ask for
    return LazyDict(data)
