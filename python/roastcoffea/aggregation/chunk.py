"""Statistics of chunk and section records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from roastcoffea._roast import Run
from roastcoffea.metrics import Metrics

ChunkKey = tuple[Any, Any, Any]
ChunkValue = tuple[Any, Any, Any]


_RANGE = ("mean", "min", "max", "std")
_STATISTICS = (
    "num_chunks",
    "num_successful_chunks",
    "num_failed_chunks",
    *(f"chunk_duration_{which}" for which in (*_RANGE, "p50", "p90", "p95", "p99")),
    *(f"chunk_mem_delta_{which}_mb" for which in _RANGE),
    "total_events_from_chunks",
    *(f"chunk_events_{which}" for which in _RANGE[:3]),
    *(f"{what}_per_event_{which}" for what in ("time", "memory") for which in _RANGE),
)


#: What the statistics are made of
_KEYS = (
    "duration",
    "mem_delta_mb",
    "num_events",
    "dataset",
    "outcome",
    "error",
    "timing",
    "memory",
    "bytes",
    "sections",
    "memory_sections",
)


def add_records(
    run: Run,
    records: Sequence[Mapping[str, Any]],
    *,
    timed: bool = False,
    keys: tuple[str, ...] | None = None,
) -> None:
    """Add chunk records to a run; those that a collector hands out unchanged stay encoded.

    ``timed``: one that finished without a duration is a KeyError. ``keys``: which ones are read.
    """
    packed = getattr(records, "records", None)
    run.add_records(records if packed is None else packed, exact=True, timed=timed, keys=keys)


def aggregate_chunk_metrics(
    chunk_metrics: Sequence[Mapping[str, Any]] | None,
    section_metrics: Sequence[Mapping[str, Any]] | None = None,
) -> Metrics:
    """Return statistics of the chunks, by dataset and by section.

    Parameters
    ----------
    chunk_metrics
        chunk records; one with the key ``error`` failed
    section_metrics
        section records: ``name``, ``type``, ``duration``, ``mem_delta_mb``. Sections inside the
        chunk records (``timing``, ``memory``, ``bytes``) count too, unless a section record has
        their name.

    Raises
    ------
    KeyError
        a record that did not fail has no ``duration``

    Example
    -------
    >>> records = [
    ...     {"duration": 1.0, "num_events": 100, "dataset": "A"},
    ...     {"duration": 3.0, "num_events": 100, "dataset": "A"},
    ... ]
    >>> metrics = aggregate_chunk_metrics(records)
    >>> metrics["chunk_duration_mean"], metrics["per_dataset"]["A"]["total_events"]
    (2.0, 200)
    """
    if chunk_metrics is None or not len(chunk_metrics):
        return Metrics({"num_chunks": 0})
    run = Run.create(None)
    add_records(run, chunk_metrics, timed=True, keys=_KEYS)
    run.add_sections(section_metrics)
    summary = run.summary()
    known = summary.metrics()
    result = Metrics({key: known[key] for key in _STATISTICS if key in known})
    per_dataset, sections = summary.documented()
    if per_dataset:
        result["per_dataset"] = per_dataset
    if sections:
        result["sections"] = sections
    return result


def build_chunk_info(chunk_metrics: Sequence[Mapping[str, Any]]) -> dict[ChunkKey, ChunkValue]:
    """Return ``{(file, entry_start, entry_stop): (t_start, t_end, bytes_read)}``.

    Records that lack one of the first five are left out; of records of the same chunk the last
    counts.

    Example
    -------
    >>> build_chunk_info(
    ...     [{"file": "a.root", "entry_start": 0, "entry_stop": 9, "t_start": 1.0, "t_end": 2.0}]
    ... )
    {('a.root', 0, 9): (1.0, 2.0, 0)}
    """
    info: dict[ChunkKey, ChunkValue] = {}
    for record in chunk_metrics:
        get = record.get
        key = (get("file"), get("entry_start"), get("entry_stop"))
        value = (get("t_start"), get("t_end"), get("bytes_read", 0))
        if None not in key and None not in value[:2]:
            info[key] = value
    return info
