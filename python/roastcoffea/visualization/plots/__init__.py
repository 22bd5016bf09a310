"""The plots, by topic: each returns its figure and axes, and saves them where a path is given."""

from __future__ import annotations

from roastcoffea.visualization.plots.branches import plot_branch_treemap
from roastcoffea.visualization.plots.chunks import plot_runtime_distribution, plot_runtime_vs_events
from roastcoffea.visualization.plots.cpu import (
    plot_cpu_utilization_mean_timeline,
    plot_cpu_utilization_per_worker_timeline,
    plot_executing_tasks_timeline,
    plot_occupancy_timeline,
)
from roastcoffea.visualization.plots.everything import plot_all
from roastcoffea.visualization.plots.gantt import plot_chunk_gantt, plot_tail
from roastcoffea.visualization.plots.io import (
    plot_branch_access_per_chunk,
    plot_bytes_accessed_per_chunk,
    plot_compression_ratio_distribution,
    plot_data_access_percentage,
)
from roastcoffea.visualization.plots.ledger import plot_time_ledger, plot_wall_split
from roastcoffea.visualization.plots.memory import (
    plot_memory_limit,
    plot_memory_utilization_mean_timeline,
    plot_memory_utilization_per_worker_timeline,
)
from roastcoffea.visualization.plots.per_task import (
    plot_per_task_bytes_read,
    plot_per_task_cpu_io,
    plot_per_task_overhead,
)
from roastcoffea.visualization.plots.reconciliation import plot_bytes_reconciliation
from roastcoffea.visualization.plots.scaling import (
    plot_efficiency_summary,
    plot_resource_utilization,
)
from roastcoffea.visualization.plots.throughput import (
    plot_throughput_timeline,
    plot_total_active_tasks_timeline,
    plot_worker_activity_timeline,
)
from roastcoffea.visualization.plots.workers import plot_worker_count_timeline

__all__ = [
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
]
