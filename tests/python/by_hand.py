"""Chunks that are begun and ended by hand, as the tests of sections measure them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from roastcoffea._probe import Chunk, Records

ANY_FIELDS = {"outcome": 0}


class Processor:
    """An undecorated processor."""


def measure(work: Callable[[Processor], None]) -> dict[str, Any]:
    """Run work(processor) in a chunk and return its record."""
    processor = Processor()
    chunk = Chunk(processor)
    chunk.begin()
    try:
        work(processor)
    finally:
        chunk.end()
    return Records.from_bytes(chunk.encode(ANY_FIELDS))[0]


def sections(record: dict[str, Any]) -> dict[str, Any]:
    """Return the sections of a record by name."""
    return {section["section_name"]: section for section in record["sections"]}
