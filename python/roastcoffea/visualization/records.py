"""Chunk records as columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from roastcoffea.visualization.series import Floats
from roastcoffea.visualization.style import CYCLE, GREY

Record = Mapping[str, Any]


def require(records: Iterable[Record] | None, message: str) -> list[Record]:
    """Return the records as a list, without those of building a graph, which are no chunks.

    Raises
    ------
    ValueError
        with the message, if there are none
    """
    result = [r for r in records if r.get("outcome") != "graph"] if records is not None else []
    if not result:
        raise ValueError(message)
    return result


def column(records: Iterable[Record], key: str, missing: float = np.nan) -> Floats:
    """Return one number of each record.

    >>> column([{"duration": 2}, {"duration": None}, {}], "duration", 0.0)
    array([2., 0., 0.])
    """
    values = (record.get(key) for record in records)
    return np.array([missing if value is None else value for value in values], dtype=np.float64)


def names(records: Iterable[Record], key: str) -> list[str]:
    """Return one name of each record, ``unknown`` where there is none."""
    return ["unknown" if (name := record.get(key)) is None else str(name) for record in records]


def spans(records: Sequence[Record]) -> tuple[list[Record], Floats, Floats]:
    """Return the records that tell when they ran, with the seconds of start and end."""
    start, end = column(records, "t_start"), column(records, "t_end")
    end = np.where(np.isnan(end), start + column(records, "duration"), end)
    known = np.isfinite(start) & np.isfinite(end)
    kept = [record for record, keep in zip(records, known, strict=True) if keep]
    return kept, start[known], np.maximum(end[known], start[known])


def failed(records: Iterable[Record]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Tell which records are of chunks that gave no result."""
    without = ("failed", "lost", "skipped")
    return np.array(
        ["error" in record or record.get("outcome") in without for record in records], dtype=bool
    )


def colours_of(labels: Sequence[str]) -> dict[str, str]:
    """Return a colour for each name, the most frequent ones first; grey for the rare rest.

    >>> list(colours_of(["b", "a", "b"]))
    ['b', 'a']
    """
    found, counts = np.unique(np.array(labels, dtype=object).astype(str), return_counts=True)
    ranked = [str(name) for name in found[np.argsort(-counts, kind="stable")]]
    return {name: CYCLE[i] if i < len(CYCLE) else GREY for i, name in enumerate(ranked)}
