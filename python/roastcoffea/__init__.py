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

_PLOTS = (
    "plot_all",
    "plot_branch_access_per_chunk",
    "plot_branch_treemap",
    "plot_bytes_accessed_per_chunk",
    "plot_bytes_reconciliation",
    "plot_chunk_gantt",
    "plot_compression_ratio_distribution",
    "plot_cpu_utilization_mean_timeline",
    "plot_cpu_utilization_per_worker_timeline",
    "plot_data_access_percentage",
    "plot_efficiency_summary",
    "plot_executing_tasks_timeline",
    "plot_memory_limit",
    "plot_memory_utilization_mean_timeline",
    "plot_memory_utilization_per_worker_timeline",
    "plot_occupancy_timeline",
    "plot_per_task_bytes_read",
    "plot_per_task_cpu_io",
    "plot_per_task_overhead",
    "plot_resource_utilization",
    "plot_runtime_distribution",
    "plot_runtime_vs_events",
    "plot_tail",
    "plot_throughput_timeline",
    "plot_time_ledger",
    "plot_total_active_tasks_timeline",
    "plot_wall_split",
    "plot_worker_activity_timeline",
    "plot_worker_count_timeline",
)

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
_HOMES |= dict.fromkeys(_PLOTS, "visualization.plots")


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
