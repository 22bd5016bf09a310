"""Parsers of tracking data, by back end."""

from __future__ import annotations

from collections.abc import Callable

from roastcoffea.aggregation.backends.base import AbstractTrackingDataParser
from roastcoffea.aggregation.backends.dask import DaskMetricsParser, DaskTrackingDataParser
from roastcoffea.aggregation.backends.taskvine import TaskVineMetricsParser

__all__ = [
    "AbstractTrackingDataParser",
    "DaskMetricsParser",
    "DaskTrackingDataParser",
    "TaskVineMetricsParser",
    "get_parser",
    "register_parser",
]

_BUILT_IN: dict[str, Callable[[], AbstractTrackingDataParser]] = {
    "dask": DaskTrackingDataParser,
    "taskvine": TaskVineMetricsParser,
}
_factories = dict(_BUILT_IN)


def register_parser(name: str, factory: Callable[[], AbstractTrackingDataParser]) -> None:
    """Let :func:`get_parser` know the parser of another back end.

    Parameters
    ----------
    name
        the back end's name; one that is known already gets the new parser
    factory
        the parser's class, or anything that makes one when called

    Example
    -------
    >>> class NoWorkers(AbstractTrackingDataParser):
    ...     def parse_tracking_data(self, tracking_data):
    ...         return {"avg_workers": 0.0}
    >>> register_parser("no-workers", NoWorkers)
    >>> get_parser("no-workers").parse_tracking_data({})
    {'avg_workers': 0.0}
    >>> unregister_parser("no-workers")
    """
    if not callable(factory):
        raise TypeError(f"the factory of a parser must be callable, not {factory!r}")
    _factories[name] = factory


def unregister_parser(name: str) -> None:
    """Forget a parser; it is no error if there is none of that name."""
    _factories.pop(name, None)
    if name in _BUILT_IN:
        _factories[name] = _BUILT_IN[name]


def get_parser(backend: str) -> AbstractTrackingDataParser:
    """Return a parser of the back end's tracking data.

    Raises
    ------
    ValueError
        there is none for that name
    """
    if backend not in _factories:
        raise ValueError(f"Unsupported backend: {backend}. Available: {sorted(_factories)}")
    return _factories[backend]()
