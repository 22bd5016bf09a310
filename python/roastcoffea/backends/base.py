"""The interface between the collector and an executor."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from roastcoffea._roast import Run
    from roastcoffea.progress import Arrived


#: Kinds of a worker's event in the run, as docs/format.md says: here at the start, came, went
PRESENT, CAME, WENT = 1, 2, 3


class AbstractMetricsBackend(ABC):
    """What a back end must offer.

    Subclass it for another executor. The collector calls :meth:`start_tracking` when it is
    entered and :meth:`stop_tracking` when it is left. A back end that knows about runs also
    overrides :meth:`attach` and writes what it learns into the run as it comes. One that can
    do its work without blocking an event loop overrides the ``_async`` methods, which
    ``async with`` uses.
    """

    #: Faults of the monitor itself that the back end heard of, by place
    faults: Mapping[str, int] = MappingProxyType({})
    #: Running sums over what arrives, if somebody wants to show them
    arrived: Arrived | None = None
    #: What following cost: ``client_ns``, ``scheduler_ns``, ``events`` and ``bytes`` that came
    cost: Mapping[str, int] = MappingProxyType({})

    def attach(self, run: Run) -> None:  # noqa: B027  (optional)
        """Take the run that is being written; called before :meth:`start_tracking`."""

    def open_channel(self) -> None:  # noqa: B027  (optional)
        """Let chunk records come to the run; instead of :meth:`start_tracking`, without samples."""

    def close_channel(self) -> None:  # noqa: B027  (optional)
        """Wait for the records on their way, and leave."""

    def take_records(self) -> None:  # noqa: B027  (optional)
        """Write chunk records into the run that have come and wait somewhere."""

    @abstractmethod
    def start_tracking(self, interval: float) -> None:
        """Begin to follow the workers, with a sample every ``interval`` seconds."""

    @abstractmethod
    def stop_tracking(self) -> dict[str, Any]:
        """Stop, and return the tracking data."""

    async def open_async(self, interval: float | None) -> None:
        """As :meth:`start_tracking`, or :meth:`open_channel` without an interval, but awaited."""
        if interval is None:
            self.open_channel()
        else:
            self.start_tracking(interval=interval)

    async def close_async(self, tracked: bool) -> dict[str, Any] | None:
        """As :meth:`stop_tracking`, or :meth:`close_channel` if no worker was followed."""
        if tracked:
            return self.stop_tracking()
        self.close_channel()
        return None

    async def get_span_metrics_async(self, span_info: Any) -> dict[Any, Any]:
        """As :meth:`get_span_metrics`, but awaited."""
        return self.get_span_metrics(span_info)

    @abstractmethod
    def create_span(self, name: str) -> Any:
        """Return ``{"context": context manager, "name": name}``, or None without spans."""

    @abstractmethod
    def get_span_metrics(self, span_info: Any) -> dict[Any, Any]:
        """Return the fine metrics of a span that has ended."""

    @abstractmethod
    def supports_fine_metrics(self) -> bool:
        """Whether :meth:`get_span_metrics` can return anything."""
