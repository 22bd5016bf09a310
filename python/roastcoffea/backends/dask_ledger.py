"""Attempts at tasks, as Dask's workers and scheduler see them: rows of table ``task``."""

from __future__ import annotations

from typing import Any

from roastcoffea.inputs import clean_url

#: What became of an attempt, as docs/format.md numbers it
FINISHED, FAILED, LOST, SKIPPED, CANCELLED = 0, 1, 2, 3, 5

#: Names and messages that are longer are cut.
TEXT_MAX = 1000


def text(value: Any) -> str:
    """Return something as text that every encoding of ours takes."""
    return str(value)[:TEXT_MAX].encode("utf-8", "replace").decode().replace("\0", " ")


def work_item(spec: Any, depth: int = 2) -> Any:
    """Return coffea's WorkItem among the arguments of a task, or None."""
    for argument in getattr(spec, "args", ()):
        if hasattr(argument, "entrystart") and hasattr(argument, "filename"):
            return argument
        if depth and (found := work_item(argument, depth - 1)) is not None:
            return found
    return None


def chunk_of(item: Any) -> tuple[Any, ...]:
    """Return which chunk a WorkItem is: the last columns of a row."""
    if item is None:
        return (None, None, None, None, -1, -1)
    uuid = item.fileuuid.hex() if isinstance(item.fileuuid, bytes) else item.fileuuid
    return (
        text(item.dataset), text(clean_url(str(item.filename))), text(item.treename), text(uuid),
        int(item.entrystart), int(item.entrystop),
    )  # fmt: skip


def task_row(
    key: str,
    prefix: str | None,
    outcome: int,
    *,
    attempt: int = -1,
    start_utc_ns: int = -1,
    stop_utc_ns: int = -1,
    compute_start_utc_ns: int = -1,
    compute_ns: int = -1,
    transfer_ns: int = -1,
    deserialize_ns: int = -1,
    disk_ns: int = -1,
    result_bytes: int = -1,
    transfer_bytes: int = -1,
    error: BaseException | None = None,
    item: Any = None,
) -> tuple[Any, ...]:
    """Return a row as ``Run.add_tasks`` takes it; -1 and None stand for what is not known."""
    return (
        text(key), None if prefix is None else text(prefix), attempt, outcome,
        start_utc_ns, stop_utc_ns, compute_start_utc_ns, compute_ns,
        transfer_ns, deserialize_ns, disk_ns, result_bytes, transfer_bytes,
        None if error is None else text(type(error).__name__),
        None if error is None else text(error),
        *chunk_of(item),
    )  # fmt: skip
