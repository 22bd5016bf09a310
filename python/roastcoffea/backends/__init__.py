"""Back ends: where samples, chunk records and fine metrics come from."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from roastcoffea.backends.base import AbstractMetricsBackend

_HOMES = {
    "dask": ("roastcoffea.backends.dask", "DaskMetricsBackend"),
    "local": ("roastcoffea.backends.local", "LocalMetricsBackend"),
}
_factories: dict[str, Callable[[Any], AbstractMetricsBackend]] = {}


def register_backend(name: str, factory: Callable[[Any], AbstractMetricsBackend]) -> None:
    """Let ``MetricsCollector(client, backend=name)`` use another back end.

    Parameters
    ----------
    name
        its name; one that is registered already is replaced
    factory
        called with the client: a subclass of
        :class:`~roastcoffea.backends.base.AbstractMetricsBackend`

    Example
    -------
    >>> from roastcoffea.backends.local import LocalMetricsBackend
    >>> register_backend("mine", LocalMetricsBackend)
    >>> registered()
    ['dask', 'local', 'mine']
    >>> unregister_backend("mine")
    """
    if not callable(factory):
        raise TypeError(f"the factory of a back end must be callable, not {factory!r}")
    _factories[name] = factory


def unregister_backend(name: str) -> None:
    """Forget a back end; it is no error if there is none of that name."""
    _factories.pop(name, None)


def registered() -> list[str]:
    """Return the names of the back ends."""
    return sorted({*_HOMES, *_factories})


def make_backend(name: str, client: Any) -> AbstractMetricsBackend:
    """Make the back end of that name."""
    from importlib import import_module

    if name in _factories:
        return _factories[name](client)
    if name not in _HOMES:
        raise ValueError(f"Unsupported backend: {name}. Available: {registered()}")
    module, attribute = _HOMES[name]
    backend: AbstractMetricsBackend = getattr(import_module(module), attribute)(client)
    return backend
