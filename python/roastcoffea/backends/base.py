"""The interface between the collector and an executor."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from roastcoffea._roast import Run


class AbstractMetricsBackend(ABC):
    """What a back end must offer.

    Subclass it for another executor. The collector calls :meth:`start_tracking` when it is
    entered and :meth:`stop_tracking` when it is left. A back end that knows about runs also
    overrides :meth:`attach` and writes what it learns into the run as it comes.
    """

    #: Faults of the monitor itself that the back end heard of, by place
    faults: Mapping[str, int] = MappingProxyType({})

    def attach(self, run: Run) -> None:  # noqa: B027  (optional)
        """Take the run that is being written; called before :meth:`start_tracking`."""

    def open_channel(self) -> None:  # noqa: B027  (optional)
        """Let chunk records come to the run; instead of :meth:`start_tracking`, without samples."""

    def close_channel(self) -> None:  # noqa: B027  (optional)
        """Wait for the records on their way, and leave."""

    @abstractmethod
    def start_tracking(self, interval: float) -> None:
        """Begin to follow the workers, with a sample every ``interval`` seconds."""

    @abstractmethod
    def stop_tracking(self) -> dict[str, Any]:
        """Stop, and return the tracking data."""

    @abstractmethod
    def create_span(self, name: str) -> Any:
        """Return ``{"context": context manager, "name": name}``, or None without spans."""

    @abstractmethod
    def get_span_metrics(self, span_info: Any) -> dict[Any, Any]:
        """Return the fine metrics of a span that has ended."""

    @abstractmethod
    def supports_fine_metrics(self) -> bool:
        """Whether :meth:`get_span_metrics` can return anything."""
