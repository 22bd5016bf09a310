"""``tracking_data``: the documented series of a run, on one common grid of UTC times."""

from __future__ import annotations

import functools
from collections.abc import Callable
from datetime import datetime
from typing import Any

from roastcoffea._roast import SERIES, Run, utc_times
from roastcoffea.lazy import Later, LazyDict


def tracking_data(run: Run, start_utc_ns: int, end_utc_ns: int, interval_s: float) -> LazyDict:
    """Return the series of a run between two instants, with a value every ``interval_s``.

    One time stamp object serves all workers and series of a tick. A value holds until the next
    sample; before a worker's first and after its last sample it has none.
    """
    step_ns = int(interval_s * 1e9)
    return _on_grid(run, start_utc_ns, step_ns, max(1, (end_utc_ns - start_utc_ns) // step_ns + 1))


def tracking_of_run(run: Run) -> LazyDict | None:
    """Return the series of a whole run; None: workers were not followed."""
    grid = run.grid()
    return None if grid is None else _on_grid(run, *grid)


def _on_grid(run: Run, start_utc_ns: int, step_ns: int, n: int) -> LazyDict:
    @functools.cache
    def times() -> list[datetime]:
        return utc_times(start_utc_ns, step_ns, n)

    def maker(key: str) -> Callable[[], Any]:
        return lambda: run.tracking(key, start_utc_ns, step_ns, times())

    return LazyDict({key: Later(maker(key)) for key in SERIES})
