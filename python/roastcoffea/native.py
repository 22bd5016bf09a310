"""The native parts that workers use, or what stands in for them.

A worker on a platform for which there is no ``_probe`` measures less, but runs.
"""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence

try:
    from roastcoffea._probe import (
        Chunk,
        Records,
        chunk_of,
        expect_containers,
        set_utc_offset,
        take_faults,
        track_bytes,
        track_memory,
        track_time,
    )
except ImportError:
    from roastcoffea._pure import (  # type: ignore[assignment]
        Chunk,
        Records,
        chunk_of,
        expect_containers,
        set_utc_offset,
        take_faults,
        track_bytes,
        track_memory,
        track_time,
    )

MutableMapping.register(Chunk)
Sequence.register(Records)

__all__ = [
    "Chunk",
    "Records",
    "chunk_of",
    "expect_containers",
    "set_utc_offset",
    "take_faults",
    "track_bytes",
    "track_memory",
    "track_time",
]
