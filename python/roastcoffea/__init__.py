"""roastcoffea measures coffea analyses where they run and turns that into answers.

>>> from roastcoffea import MetricsCollector, track_metrics, track_time

A :class:`MetricsCollector` around a coffea run measures the workflow; ``@track_metrics`` on
``process()`` measures its chunks; ``track_time`` and its siblings measure sections of a chunk.
Nothing is imported before it is used.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from roastcoffea._roast import __version__
    from roastcoffea.answers import explain, predict
    from roastcoffea.backends import register_backend
    from roastcoffea.collector import MetricsCollector
    from roastcoffea.comparison import compare, scaling
    from roastcoffea.custom import register_metric
    from roastcoffea.decorator import track_metrics
    from roastcoffea.export.measurements import load_measurement, save_measurement
    from roastcoffea.instrumentation import (
        BaseInstrumentationContext,
        track_bytes,
        track_memory,
        track_section,
        track_time,
    )
    from roastcoffea.opened import open_run
    from roastcoffea.rootfile import inspect
    from roastcoffea.visualization.plots import *  # noqa: F403

__all__ = [
    "BaseInstrumentationContext",
    "MetricsCollector",
    "__version__",
    "compare",
    "explain",
    "inspect",
    "load_measurement",
    "open_run",
    "predict",
    "register_backend",
    "register_metric",
    "save_measurement",
    "scaling",
    "track_bytes",
    "track_memory",
    "track_metrics",
    "track_section",
    "track_time",
]

_HOMES = {
    "BaseInstrumentationContext": "instrumentation",
    "MetricsCollector": "collector",
    "__version__": "_roast",
    "compare": "comparison",
    "explain": "answers",
    "inspect": "rootfile",
    "load_measurement": "export.measurements",
    "open_run": "opened",
    "predict": "answers",
    "register_backend": "backends",
    "register_metric": "custom",
    "save_measurement": "export.measurements",
    "scaling": "comparison",
    "track_bytes": "instrumentation",
    "track_memory": "instrumentation",
    "track_metrics": "decorator",
    "track_section": "instrumentation",
    "track_time": "instrumentation",
}


def __getattr__(name: str) -> object:
    home = "visualization.plots" if name.startswith("plot_") else _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
