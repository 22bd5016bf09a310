"""Metrics of the user's own, computed from the others."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from roastcoffea.recording import number

if TYPE_CHECKING:
    from roastcoffea._roast import Run
    from roastcoffea.metrics import Metrics

logger = logging.getLogger(__name__)

Function = Callable[[Mapping[str, Any]], float | None]

BETTER = ("more", "less", "neutral")


class Custom(NamedTuple):
    """A registered metric."""

    key: str
    unit: str
    function: Function
    better: str
    title: str


_registered: dict[str, Custom] = {}


def register_metric(
    key: str, unit: str, function: Function, *, better: str = "neutral", title: str | None = None
) -> None:
    """Add a metric of your own: it is computed for every run, and kept in the run file.

    It is then in ``get_metrics()``, in the tables, in JSON and wherever else metrics are shown or
    compared, also by ``roast`` on the saved file.

    Parameters
    ----------
    key
        its key: letters, digits and underscores; one that is registered already is replaced
    unit
        its unit; one of the units of ``docs/metrics.md`` is shown as such: ``"s"``, ``"B"``, ...
    function
        called with the metrics; returns a number, or None where it is not known. If it raises,
        the metric is absent, for that reason.
    better
        which direction is an improvement: ``"more"``, ``"less"`` or ``"neutral"``
    title
        for people; the key if none is given

    Example
    -------
    >>> register_metric(
    ...     "events_per_worker",
    ...     "events/worker",
    ...     lambda metrics: metrics["total_events"] / metrics["avg_workers"],
    ...     better="more",
    ... )
    >>> unregister_metric("events_per_worker")
    """
    from roastcoffea.metrics import registry

    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", key):
        raise ValueError(f"a metric's key has letters, digits and underscores, not {key!r}")
    if any(key == row[0] or key in row[8] for row in registry()):
        raise ValueError(f"there is a metric {key!r} already")
    if better not in BETTER:
        raise ValueError(f"better is one of {', '.join(BETTER)}, not {better!r}")
    if not callable(function):
        raise TypeError(f"the function of a metric must be callable, not {function!r}")
    _registered[key] = Custom(key, unit, function, better, title or key)


def unregister_metric(key: str) -> None:
    """Forget a metric; it is no error if there is none of that key."""
    _registered.pop(key, None)


def _value(custom: Custom, metrics: Mapping[str, Any]) -> tuple[float | None, str]:
    try:
        result = custom.function(metrics)
    except Exception as error:
        logger.warning("the metric %s: %s: %s", custom.key, type(error).__name__, error)
        return None, f"{type(error).__name__}: {error}"[:200]
    value = number(result)
    if value is None:
        return None, "not known" if result is None else "not a number"
    if not math.isfinite(value):
        return None, "not finite"
    return value, ""


def add_custom(metrics: Metrics, run: Run | None = None) -> None:
    """Compute the registered metrics, put them among the others, and note them in the run."""
    noted = run.facts() if run is not None and _registered else {}
    for custom in tuple(_registered.values()):
        value, reason = _value(custom, metrics)
        metrics.custom[custom.key] = {
            "title": custom.title,
            "unit": custom.unit,
            "better": custom.better,
        }
        if value is None:
            metrics.pop(custom.key, None)
            metrics.absent[custom.key] = reason
        else:
            metrics[custom.key] = value
            metrics.absent.pop(custom.key, None)
        if run is None:
            continue
        facts = {f".{name}": text for name, text in metrics.custom[custom.key].items()}
        for part, fact in {"": value, **facts}.items():
            name = f"metric.{custom.key}{part}"
            if name not in noted or noted[name] != fact:
                run.fact(name, fact, reason)
    if run is not None and _registered:
        run.commit()
