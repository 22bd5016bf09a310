"""The other documented name of roastcoffea: the same names, the same objects."""

from __future__ import annotations

import roastcoffea
from roastcoffea import __all__  # noqa: F401


def __getattr__(name: str) -> object:
    try:
        value: object = getattr(roastcoffea, name)
    except AttributeError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return dir(roastcoffea)
