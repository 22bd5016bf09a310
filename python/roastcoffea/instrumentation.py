"""Sections of ``process()``: how long, how much memory, how many bytes.

All of them are context managers. They may be nested and repeated, in threads and
generators too; outside of a measured chunk they do nothing, at nearly no cost.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any

from roastcoffea.native import chunk_of, track_bytes, track_memory, track_time

# Workers without _probe find their stand-ins under the same name.
for _tracker in (track_time, track_memory, track_bytes):
    _tracker.__module__ = __name__

track_section = track_time

__all__ = [
    "BaseInstrumentationContext",
    "track_bytes",
    "track_memory",
    "track_section",
    "track_time",
]


class BaseInstrumentationContext:
    """The base of a user's own section: what ``record_metric`` gets is in the chunk's record.

    Parameters
    ----------
    processor_self
        The processor whose chunk is measured; by default the chunk that this thread runs.
    name
        Names the section; kept as ``self.name``.

    Examples
    --------
    >>> class Selected(BaseInstrumentationContext):
    ...     def __exit__(self, exc_type, exc_val, exc_tb):
    ...         self.record_metric("selected", 42)
    >>> class Processor:
    ...     _roastcoffea_current_chunk = {}
    >>> with Selected(Processor(), "jets"):
    ...     pass
    >>> Processor._roastcoffea_current_chunk
    {'custom_metrics': {'selected': 42}}
    """

    def __init__(self, processor_self: Any = None, name: str | None = None) -> None:
        self.processor = processor_self
        self.name = name

    def __enter__(self) -> Any:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> bool | None:
        return None

    def record_metric(self, name: str, value: Any) -> None:
        """Add a value to ``custom_metrics`` of the current chunk, if there is one."""
        try:
            chunk = (
                chunk_of(None)
                if self.processor is None
                else getattr(self.processor, "_roastcoffea_current_chunk", None)
            )
            if chunk is not None:
                chunk.setdefault("custom_metrics", {})[name] = value
        except Exception as error:  # no dict, or one with rules of its own
            from roastcoffea.collecting import note_fault

            note_fault("custom metric", error)
