"""Series of workers as arrays.

``tracking_data`` holds, for each worker, a list of ``(time, value)``; a plot wants a matrix of
workers x times. Times are datetimes (naive ones are UTC), ISO strings or seconds since 1970.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Times = NDArray[np.datetime64]

#: More columns than this are more than a plot has pixels.
COLUMNS = 2000


@dataclass(frozen=True)
class Table:
    """Values of workers over time; NaN where a worker has none."""

    times: Times
    workers: list[str]
    values: Floats  # workers x times


def instant(time: Any) -> datetime:
    """Return a time as a naive datetime in UTC.

    >>> instant("2026-11-15T19:52:52.5+01:00").isoformat(), instant(0.5).isoformat()
    ('2026-11-15T18:52:52.500000', '1970-01-01T00:00:00.500000')
    """
    if isinstance(time, str):
        time = datetime.fromisoformat(time)
    elif not isinstance(time, datetime):
        time = datetime.fromtimestamp(float(time), UTC)
    when: datetime = time
    return when.astimezone(UTC).replace(tzinfo=None) if when.tzinfo is not None else when


def instants(times: Iterable[Any]) -> Times:
    """Return times as an array."""
    return np.array([instant(time) for time in times], dtype="datetime64[us]")


def epochs(seconds: Any) -> Times:
    """Return seconds since 1970 as an array of times."""
    us = np.round(np.asarray(seconds, dtype=np.float64) * 1e6)
    return us.astype(np.int64).astype("datetime64[us]")


def read_counts(counts: Mapping[Any, Any]) -> tuple[Times, Floats]:
    """Return ``{time: number}`` as two arrays in order of time."""
    times = instants(counts)
    order = np.argsort(times, kind="stable")
    return times[order], np.array(list(counts.values()), dtype=np.float64)[order]


def read_series(series: Mapping[Any, Sequence[Any]]) -> Table:
    """Return ``{worker: [(time, value), ...]}`` as a table; workers without samples are left out.

    Samples of one tick share their time. Where workers have times of their own, they are brought
    to a common grid, on which a value holds until the next one.
    """
    columns = {
        str(worker): list(zip(*samples, strict=True))
        for worker, samples in series.items()
        if samples is not None
    }
    columns = {worker: column for worker, column in columns.items() if column}
    ticks = set().union(*(column[0] for column in columns.values()))
    longest = max((len(column[0]) for column in columns.values()), default=0)
    raw = list(ticks)
    stamps = instants(raw)
    order = np.argsort(stamps, kind="stable")
    place = dict(zip(raw, np.argsort(order).tolist(), strict=True))
    times = stamps[order]
    where = [
        np.fromiter(map(place.__getitem__, stamps_), np.intp, len(stamps_))
        for stamps_, _ in columns.values()
    ]
    values = [np.array(value, dtype=np.float64) for _, value in columns.values()]
    if len(times) > 4 * max(longest, 16):
        own = [times[index] for index in where]
        return Table(*_common_grid(own, list(columns), values, longest))
    matrix = np.full((len(columns), len(times)), np.nan)
    for row, index, value in zip(matrix, where, values, strict=True):
        row[index] = value
    return Table(times, list(columns), matrix)


def _common_grid(
    times: list[Times], workers: list[str], values: list[Floats], longest: int
) -> tuple[Times, list[str], Floats]:
    first = min(time.min() for time in times).astype(np.int64)
    last = max(time.max() for time in times).astype(np.int64)
    n = min(max(longest, 2), COLUMNS)
    grid = np.linspace(first, last, n).astype(np.int64)
    step = (last - first) // (n - 1)
    matrix = np.full((len(workers), n), np.nan)
    for row, time, value in zip(matrix, times, values, strict=True):
        order = np.argsort(time, kind="stable")
        time_us = time[order].astype(np.int64)
        before = np.searchsorted(time_us, grid, side="right") - 1
        seen = (before >= 0) & (grid <= time_us[-1] + step)
        row[seen] = value[order][before[seen]]
    return grid.astype("datetime64[us]"), workers, matrix


def on_times(table: Table, times: Times, workers: Sequence[str]) -> Floats:
    """Return a table's values at other times and for other workers: the last one known."""
    result = np.full((len(workers), len(times)), np.nan)
    rows = {worker: row for row, worker in enumerate(table.workers)}
    for target, worker in zip(result, workers, strict=True):
        if worker not in rows:
            continue
        source = table.values[rows[worker]]
        known = np.flatnonzero(~np.isnan(source))
        if len(known) == 0:
            continue
        before = np.searchsorted(table.times[known], times, side="right") - 1
        target[:] = source[known[np.maximum(before, 0)]]
    return result


def quantiles(values: Floats, shares: Sequence[float]) -> list[Floats]:
    """Return quantiles over the rows of a matrix, NaNs left out.

    >>> quantiles(np.array([[1.0], [np.nan], [3.0]]), [0.5])
    [array([2.])]
    """
    ordered = np.sort(values, axis=0)  # NaNs last
    last = np.maximum((~np.isnan(values)).sum(axis=0) - 1, 0)
    column = np.arange(values.shape[1])
    result = []
    for share in shares:
        position = share * last
        low = np.floor(position).astype(np.intp)
        high = np.minimum(low + 1, last)
        a, b = ordered[low, column], ordered[high, column]
        result.append(a + (b - a) * (position - low))
    return result


def mean(values: Floats) -> Floats:
    """Return the mean over the rows of a matrix; NaN where a column has nothing."""
    known = ~np.isnan(values)
    count = known.sum(axis=0)
    total = np.where(known, values, 0.0).sum(axis=0)
    result: Floats = np.divide(total, count, out=np.full(len(total), np.nan), where=count > 0)
    return result


def fold(times: Times, values: Floats, columns: int = COLUMNS) -> tuple[Times, Floats]:
    """Put neighbouring columns on top of each other until there are no more than ``columns``.

    Quantiles and extremes of the result are those of all that was seen in a stretch of time.
    """
    rows, n = values.shape
    size = -(-n // columns)
    if size <= 1:
        return times, values
    m = -(-n // size)
    padded = np.full((rows, m * size), np.nan)
    padded[:, :n] = values
    return times[::size], padded.reshape(rows, m, size).transpose(0, 2, 1).reshape(-1, m)
