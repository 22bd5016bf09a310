"""What stands in for ``_probe`` where it cannot be loaded: less is measured, nothing fails.

A record is a plain dict with the documented keys; as bytes it is JSON, which
``Records.from_bytes`` of the native module on the client understands.
"""

from __future__ import annotations

import json
import resource
import threading
import time
from types import TracebackType
from typing import Any

CURRENT = "_roastcoffea_current_chunk"
MIB = 2**20

_active: dict[int, list[Chunk]] = {}
_utc_offset_ns: int | None = None


def rss_mb() -> float:
    """Return the resident memory in MiB; 0 where the system does not tell."""
    try:
        with open("/proc/self/statm", encoding="ascii") as statm:
            return int(statm.read().split()[1]) * resource.getpagesize() / MIB
    except (OSError, ValueError, IndexError):
        return 0.0


def take_faults() -> tuple[int, str] | None:
    """Return the faults inside sections: there are none here."""
    return None


def expect_containers() -> None:
    """Do nothing: sections look for containers anyway."""


def set_utc_offset(ns: int) -> None:
    """Note how far UTC is ahead of the monotonic clock, from now on."""
    global _utc_offset_ns
    _utc_offset_ns = ns


def chunk_of(processor: Any) -> Chunk | None:
    """Return the chunk that this thread, or any one alone, runs for a processor."""
    if processor is None:
        own = [c for cs in _active.values() for c in cs if c.thread == threading.get_ident()]
        return own[-1] if own else None
    chunks = list(_active.get(id(processor), ()))
    thread = threading.get_ident()
    for chunk in reversed(chunks):
        if chunk.thread == thread:
            return chunk
    return chunks[0] if len({id(chunk) for chunk in chunks}) == 1 else None


class Chunk(dict[str, Any]):
    """One chunk while it runs, as the documented dict."""

    def __init__(self, processor: Any) -> None:
        super().__init__(timing={}, memory={}, bytes={})
        self.made_ns = time.thread_time_ns()
        self.processor = processor
        self.thread = threading.get_ident()
        self.guests: list[Any] = []
        self.record: dict[str, Any] = {}

    def begin(self) -> None:
        """Take the readings."""
        _active.setdefault(id(self.processor), []).append(self)
        self.memory = rss_mb()
        self.start = (
            time.time() if _utc_offset_ns is None else (time.monotonic_ns() + _utc_offset_ns) / 1e9
        )
        self.cpu = time.thread_time()
        self.clock = time.monotonic()
        self.spent_ns = time.thread_time_ns() - self.made_ns

    def end(self) -> None:
        """Take the readings again."""
        duration = time.monotonic() - self.clock
        self.ended_ns = time.thread_time_ns()
        cpu = time.thread_time() - self.cpu
        after = rss_mb()
        self.leave(self.processor)
        self.record = {
            "t_start": self.start,
            "t_end": self.start + duration,
            "duration": duration,
            "mem_before_mb": self.memory,
            "mem_after_mb": after,
            "mem_delta_mb": after - self.memory,
            "timestamp": self.start + duration,
            "cpu_time": cpu,
        }

    def leave(self, processor: Any) -> None:
        """Be no longer the chunk of a processor."""
        chunks = _active.get(id(processor), [])
        for i in range(len(chunks) - 1, -1, -1):
            if chunks[i] is self:
                del chunks[i]
                break
        if not chunks:
            _active.pop(id(processor), None)

    def lend(self, processor: Any) -> None:
        """Count the sections of this processor, too."""
        self.guests.append(processor)
        _active.setdefault(id(processor), []).append(self)

    def take_back(self) -> None:
        """No longer count those of the one lent to last."""
        if self.guests:
            self.leave(self.guests.pop())

    def encode(self, fields: dict[str, Any]) -> bytes:
        """Return the record as JSON."""
        branches = fields.get("branches", [])
        record = {"outcome": "finished", **self.record, **fields, **self}
        record["bytes_read"] = record.pop("requested_bytes", 0)
        record["accessed_branches"] = [name for name, _ in branches]
        record["branch_bytes"] = dict(branches)
        record["sections"] = [
            {"section_name": name, "time_delta": value} for name, value in self["timing"].items()
        ]
        record.pop("branches", None)
        if "error_message" in record:
            record["error"] = record["error_message"]
        record["probe_ns"] = self.spent_ns + time.thread_time_ns() - self.ended_ns
        return json.dumps(record, default=plain).encode()

    def sent(self) -> None:
        """Do nothing: what sending takes is not told here."""


def plain(value: Any) -> Any:
    """Return what JSON can hold instead of a value that it cannot."""
    for way in ("item", "tolist"):
        if hasattr(value, way):
            try:
                return getattr(value, way)()
            except Exception:
                continue
    return str(value)


class Records(list[dict[str, Any]]):
    """Chunk records as a plain list."""

    @classmethod
    def from_bytes(cls, data: bytes) -> Records:
        """Return the records in bytes that a chunk of this module gave."""
        value = json.loads(data)
        return cls(value if isinstance(value, list) else [value])

    def to_bytes(self) -> bytes:
        """Return all records as JSON."""
        return json.dumps(list(self), default=plain).encode()

    def identity(self) -> Records:
        """Return no records, for coffea's accumulators."""
        return Records()

    def add(self, other: list[dict[str, Any]]) -> None:
        """Do the same as extend(), for coffea's accumulators."""
        self.extend(other)


class _Section:
    def __init__(self, processor: Any, kind: str, name: str, events: Any = None) -> None:
        self.processor = processor
        self.kind = kind
        self.name = name
        self.events = events
        self.open: list[tuple[Any, float]] = []

    def read(self) -> float:
        if self.kind == "timing":
            return time.monotonic()
        if self.kind == "memory":
            return rss_mb()
        from roastcoffea.inputs import requested_bytes, source_of

        return requested_bytes(source_of(self.events))

    def __enter__(self) -> None:
        chunk = chunk_of(self.processor)
        if chunk is None and self.processor is not None:
            chunk = getattr(self.processor, CURRENT, None)
        self.open.append((chunk, 0 if chunk is None else self.read()))

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        chunk, before = self.open.pop()
        if chunk is not None:
            values = chunk.setdefault(self.kind, {})
            values[self.name] = values.get(self.name, 0) + self.read() - before


def track_time(processor_self: Any, section_name: str) -> _Section:
    """Measure the wall time of a part of process()."""
    return _Section(processor_self, "timing", section_name)


def track_memory(processor_self: Any, section_name: str) -> _Section:
    """Measure by how much a part of process() changes the resident memory."""
    return _Section(processor_self, "memory", section_name)


def track_bytes(processor_self: Any, events: Any, section_name: str) -> _Section:
    """Count the bytes that are requested from the file of the events."""
    return _Section(processor_self, "bytes", section_name, events)
