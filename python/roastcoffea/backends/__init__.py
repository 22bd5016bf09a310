"""Back ends: where samples, chunk records and fine metrics come from."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from roastcoffea.aggregation.backends import AbstractTrackingDataParser
    from roastcoffea.backends.base import AbstractMetricsBackend

_HOMES = {
    "dask": ("roastcoffea.backends.dask", "DaskMetricsBackend"),
    "local": ("roastcoffea.backends.local", "LocalMetricsBackend"),
    "taskvine": ("roastcoffea.backends.taskvine", "TaskVineMetricsBackend"),
}
_factories: dict[str, Callable[[Any], AbstractMetricsBackend]] = {}

#: Packages that bring a back end name it in this group of entry points.
ENTRY_POINTS = "roastcoffea.backends"


def register_backend(
    name: str,
    factory: Callable[[Any], AbstractMetricsBackend],
    parser: Callable[[], AbstractTrackingDataParser] | None = None,
) -> None:
    """Let ``MetricsCollector(client, backend=name)`` use another back end.

    A package can do the same by an entry point in the group ``roastcoffea.backends``, named as
    the back end and leading to its class; the class attribute ``parser`` is then its parser.

    Parameters
    ----------
    name
        its name; one that is registered already is replaced
    factory
        called with the client: a subclass of
        :class:`~roastcoffea.backends.base.AbstractMetricsBackend`
    parser
        makes the parser of its tracking data; without one they have the documented keys

    Example
    -------
    >>> from roastcoffea.backends.local import LocalMetricsBackend
    >>> register_backend("mine", LocalMetricsBackend)
    >>> registered()
    ['dask', 'local', 'mine', 'taskvine']
    >>> unregister_backend("mine")
    """
    if not callable(factory):
        raise TypeError(f"the factory of a back end must be callable, not {factory!r}")
    _factories[name] = factory
    parser = parser or getattr(factory, "parser", None)
    if parser is not None:
        from roastcoffea.aggregation.backends import register_parser

        register_parser(name, parser)


def unregister_backend(name: str) -> None:
    """Forget a back end and its parser; it is no error if there is none of that name."""
    if _factories.pop(name, None) is not None:
        from roastcoffea.aggregation.backends import unregister_parser

        unregister_parser(name)


def _entry_points() -> dict[str, Any]:
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=ENTRY_POINTS)}


def registered() -> list[str]:
    """Return the names of the back ends."""
    return sorted({*_HOMES, *_factories, *_entry_points()})


def make_backend(name: str, client: Any) -> AbstractMetricsBackend:
    """Make the back end of that name."""
    from importlib import import_module

    if name not in _factories and name not in _HOMES and name in _entry_points():
        register_backend(name, _entry_points()[name].load())
    if name in _factories:
        return _factories[name](client)
    if name not in _HOMES:
        raise ValueError(f"Unsupported backend: {name}. Available: {registered()}")
    module, attribute = _HOMES[name]
    backend: AbstractMetricsBackend = getattr(import_module(module), attribute)(client)
    return backend
