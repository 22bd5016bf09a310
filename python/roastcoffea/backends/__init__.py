"""Back ends: where samples, chunk records and fine metrics come from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from roastcoffea.backends.base import AbstractMetricsBackend

_HOMES = {
    "dask": ("roastcoffea.backends.dask", "DaskMetricsBackend"),
    "local": ("roastcoffea.backends.local", "LocalMetricsBackend"),
}


def registered() -> list[str]:
    """Return the names of the back ends."""
    return sorted(_HOMES)


def make_backend(name: str, client: Any) -> AbstractMetricsBackend:
    """Make the back end of that name."""
    from importlib import import_module

    if name not in _HOMES:
        raise ValueError(f"Unsupported backend: {name}. Available: {registered()}")
    module, attribute = _HOMES[name]
    backend: AbstractMetricsBackend = getattr(import_module(module), attribute)(client)
    return backend
