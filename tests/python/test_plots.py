"""The plots: what they draw, say and refuse."""

from __future__ import annotations

import doctest
import inspect
import pkgutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import test_plots_data as plot_data
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from test_plots_data import OF_WORKERS, data_of, draw, strict  # noqa: F401

from roastcoffea import visualization
from roastcoffea.visualization import figure, plots, utils

# function: (title, y label, message without data, what to pass as "no data")
DOCUMENTED: dict[str, tuple[str, str, str, tuple[Any, ...]]] = {
    "plot_worker_count_timeline": (
        "Worker Count Over Time",
        "Number of Workers",
        "No worker count data",
        ({}, {"worker_counts": {}}),
    ),
    "plot_worker_activity_timeline": (
        "Worker Activity Over Time",
        "Number of Active Tasks",
        "No worker active tasks data available",
        ({}, {"worker_active_tasks": {}}, {"worker_active_tasks": {"w": []}}),
    ),
    "plot_total_active_tasks_timeline": (
        "Total Active Tasks Over Time",
        "Total Active Tasks",
        "No worker active tasks data available",
        ({}, {"worker_active_tasks": {}}),
    ),
    "plot_occupancy_timeline": (
        "Worker Occupancy Over Time",
        "Occupancy (saturation)",
        "No worker occupancy data available",
        ({}, {"worker_occupancy": {}}),
    ),
    "plot_executing_tasks_timeline": (
        "Executing Tasks Per Worker Over Time",
        "Number of Executing Tasks",
        "No worker executing tasks data available",
        ({}, {"worker_executing": {}}),
    ),
    "plot_cpu_utilization_per_worker_timeline": (
        "CPU Utilization Per Worker Over Time",
        "CPU Utilization (%)",
        "No worker CPU data available",
        ({}, {"worker_cpu": {}}),
    ),
    "plot_cpu_utilization_mean_timeline": (
        "CPU Utilization Over Time",
        "CPU Utilization (%)",
        "No worker CPU data available",
        ({}, {"worker_cpu": {}}),
    ),
    "plot_memory_utilization_mean_timeline": (
        "Memory Utilization Over Time",
        "Memory Utilization (%)",
        "Memory or memory limit data not available",
        ({}, {"worker_memory": {"w": [(plot_data.START, 1)]}}),
    ),
    "plot_memory_utilization_per_worker_timeline": (
        "Memory Utilization Per Worker Over Time",
        "Memory Utilization (%)",
        "Memory or memory limit data not available",
        ({}, {"worker_memory": {"w": [(plot_data.START, 1)]}}),
    ),
    "plot_memory_limit": (
        "Worker Memory Against Its Limit",
        "Memory per Worker (GB)",
        "Memory or memory limit data not available",
        ({}, {"worker_memory": {"w": [(plot_data.START, 1)]}}),
    ),
    "plot_throughput_timeline": (
        "Data Throughput Over Time",
        "Data Rate (Gbps)",
        "No chunk_info provided",
        (None, {}),
    ),
    "plot_efficiency_summary": (
        "Efficiency Metrics Summary",
        "Value",
        "No efficiency metrics available",
        ({}, {"core_efficiency": None, "speedup_factor": None}),
    ),
    "plot_resource_utilization": (
        "Resource Utilization Summary",
        "Value",
        "No resource metrics available",
        ({}, {"total_cores": None}),
    ),
    "plot_time_ledger": (
        "Where Worker Time Went",
        "Worker",
        "No time ledger data available",
        (None, {}, {"total_events": 3}, {"time_ledger": {"idle": 0.0}}),
    ),
    "plot_per_task_cpu_io": (
        "CPU vs I/O Time per Task",
        "Time (seconds)",
        "No per-task CPU/IO metrics found",
        (None, {}, {("execute", "N/A", "thread-cpu", "seconds"): 1.0}),
    ),
    "plot_per_task_bytes_read": (
        "Bytes Read per Task",
        "Bytes Read (GB)",
        "No per-task disk-read metrics found",
        (None, {}, {("execute", "x", "disk-read", "seconds"): 1.0}),
    ),
    "plot_per_task_overhead": (
        "Compression & Serialization Overhead per Task",
        "Time (seconds)",
        "No per-task overhead metrics found",
        (None, {}, {("execute", "x"): 1.0}),
    ),
    "plot_runtime_distribution": (
        "Chunk Runtime Distribution",
        "Number of Chunks",
        "No chunk metrics available",
        (None, []),
    ),
    "plot_runtime_vs_events": (
        "Chunk Runtime vs Number of Events",
        "Runtime (seconds)",
        "No chunk metrics available",
        (None, []),
    ),
    "plot_chunk_gantt": ("Chunks by Worker", "Worker", "No chunk metrics available", (None, [])),
    "plot_tail": (
        "Tail: the Last 10 % of Chunks",
        "Chunks Running",
        "No chunk metrics available",
        (None, []),
    ),
    "plot_wall_split": (
        "Wall Time of Chunks by Dataset",
        "Dataset",
        "No wall-time split in chunk metrics",
        ([{"duration": 1.0}], [{"wall_split": {"cpu": None}}]),
    ),
    "plot_compression_ratio_distribution": (
        "Compression Ratio Distribution Across Files",
        "Number of Files",
        "No compression ratio data available",
        (None, {}, {"compression_ratios": []}),
    ),
    "plot_data_access_percentage": (
        "Bytes Read Percentage Distribution",
        "Number of Files",
        "No bytes read percentage data available",
        (None, {}, {"bytes_read_percent_per_file": []}),
    ),
    "plot_branch_access_per_chunk": (
        "Branches Accessed Per Chunk",
        "Branches Accessed",
        "No chunk metrics data available",
        (None, []),
    ),
    "plot_bytes_accessed_per_chunk": (
        "Bytes Accessed Per Chunk (Compressed vs Uncompressed)",
        "Bytes (MB)",
        "No chunk metrics data available",
        (None, []),
    ),
    "plot_bytes_reconciliation": (
        "Bytes Needed, Requested and Read",
        "",
        "No bytes of chunks in the metrics",
        (None, {}, {"bytes_per_dataset": {"DY": {"bytes_needed": None}}}),
    ),
    "plot_branch_treemap": (
        "Bytes Read by Branch",
        "",
        "No branch bytes in chunk metrics",
        ([{"duration": 1.0}], {}),
    ),
}


@pytest.fixture(scope="module")
def demo() -> plot_data.Data:
    return plot_data.make_metrics()


# -- the documented surface ------------------------------------------------------------------


def test_every_plot_is_in_the_table_above_and_at_the_top_level() -> None:
    import roastcoffea

    assert set(plots.__all__) == {*DOCUMENTED, "plot_all"}
    assert set(visualization.__all__) == set(plots.__all__)
    assert all(getattr(roastcoffea, name) is getattr(plots, name) for name in plots.__all__)
    assert not hasattr(roastcoffea, "plot_nothing")


@pytest.mark.parametrize("name", DOCUMENTED)
def test_a_plot_returns_figure_and_axes_with_the_documented_words(
    name: str, demo: plot_data.Data
) -> None:
    title, ylabel, _, _ = DOCUMENTED[name]
    fig, ax = draw(name, data_of(name, demo))
    assert isinstance(fig, Figure)
    assert isinstance(ax, Axes)
    assert ax.get_title() == title
    assert ax.get_ylabel() == ylabel


@pytest.mark.parametrize(
    ("name", "data"), [(name, data) for name, row in DOCUMENTED.items() for data in row[3]]
)
def test_a_plot_without_data_says_so(name: str, data: Any) -> None:
    with pytest.raises(ValueError, match=DOCUMENTED[name][2].replace("(", r"\(")):
        getattr(plots, name)(data)


@pytest.mark.parametrize("name", OF_WORKERS)
def test_a_timeline_of_no_tracking_data_says_so(name: str) -> None:
    with pytest.raises(ValueError, match="tracking_data cannot be None"):
        getattr(plots, name)(None)


@pytest.mark.parametrize("name", ["plot_efficiency_summary", "plot_resource_utilization"])
def test_a_summary_of_no_metrics_says_so(name: str) -> None:
    with pytest.raises(ValueError, match="metrics cannot be None"):
        getattr(plots, name)(None)


def test_chunks_without_what_a_plot_needs_are_refused_with_the_documented_words() -> None:
    nothing = [{"duration": 1.0}]
    for name, message in (
        ("plot_runtime_vs_events", "No runtime vs events data available"),
        ("plot_branch_access_per_chunk", "No branch access data in chunk metrics"),
        ("plot_bytes_accessed_per_chunk", "No bytes access data in chunk metrics"),
        ("plot_chunk_gantt", "No chunk times available"),
    ):
        with pytest.raises(ValueError, match=message):
            getattr(plots, name)(nothing)


def test_parameters_come_in_the_documented_order() -> None:
    def parameters(name: str) -> list[str]:
        return list(inspect.signature(getattr(plots, name)).parameters)[1:]

    for name in DOCUMENTED:
        expected = ["output_path", "figsize", "title"]
        if name.startswith("plot_per_task"):
            expected = ["output_path", "title", "figsize"]
        elif name in ("plot_efficiency_summary", "plot_resource_utilization"):
            expected = ["output_path", "figsize"]
        elif name == "plot_throughput_timeline":
            expected = ["tracking_data", *expected]
        assert parameters(name)[: len(expected)] == expected, name
    assert parameters("plot_runtime_distribution")[-1] == "bins"


@pytest.mark.parametrize("name", OF_WORKERS)
def test_time_axes_show_the_clock(name: str, demo: plot_data.Data) -> None:
    _, ax = draw(name, demo["tracking_data"])
    labels = [label.get_text() for label in ax.get_xticklabels() if label.get_text()]
    assert ax.get_xlabel() == "Time"
    assert "12:01:00" in labels
    assert {label.get_rotation() for label in ax.get_xticklabels()} == {45.0}


def test_a_figure_is_saved_where_a_path_is_given(tmp_path: Path, demo: plot_data.Data) -> None:
    for path in (tmp_path / "a.png", str(tmp_path / "b.pdf"), tmp_path / "c.svg"):
        plots.plot_tail(demo["raw_chunk_metrics"], path)
        assert Path(path).stat().st_size > 1000


MODULES = [
    module.name
    for module in pkgutil.walk_packages(visualization.__path__, "roastcoffea.visualization.")
]


@pytest.mark.parametrize("module", MODULES)
def test_examples_in_docstrings_run(module: str) -> None:
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert doctest.testmod(import_module(module), optionflags=flags).failed == 0


@pytest.mark.parametrize("name", plots.__all__)
def test_every_plot_says_what_it_takes(name: str) -> None:
    function = getattr(plots, name)
    text = inspect.getdoc(function) or ""
    assert "as of every plot" not in text
    if "Parameters are those of" not in text:
        assert "Returns" in text
        assert [p for p in inspect.signature(function).parameters if f"\n{p}" not in text] == []


# -- figures and pyplot ----------------------------------------------------------------------


def test_figures_do_not_pile_up_in_pyplot(demo: plot_data.Data) -> None:
    import matplotlib.pyplot as plt

    plt.close("all")
    figures = [plots.plot_tail(demo["raw_chunk_metrics"])[0] for _ in range(25)]
    assert len(plt.get_fignums()) == figure.KEPT
    assert plt.gcf() is figures[-1]
    figures[0].canvas.draw()  # a forgotten one can still be used
    plt.figure()
    plt.close("all")


def test_where_figures_can_be_shown_all_of_them_stay(
    demo: plot_data.Data, monkeypatch: pytest.MonkeyPatch
) -> None:
    import matplotlib.pyplot as plt

    plt.close("all")
    monkeypatch.setattr(plt, "get_backend", lambda: "qtagg")
    for _ in range(25):
        plots.plot_efficiency_summary(demo)
    assert len(plt.get_fignums()) == 25
    plt.close("all")


def test_plot_all_leaves_no_figures_and_says_what_is_missing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, demo: plot_data.Data
) -> None:
    import matplotlib.pyplot as plt

    plt.close("all")
    some = {key: demo[key] for key in ("core_efficiency", "total_cores", "raw_span_metrics")}
    with caplog.at_level("INFO"):
        written = plots.plot_all(some, tmp_path / "new" / "place")
    assert [path.name for path in written] == [
        "efficiency_summary.png",
        "resource_utilization.png",
        "per_task_cpu_io.png",
        "per_task_bytes_read.png",
        "per_task_overhead.png",
    ]
    assert all(path.exists() for path in written)
    assert len(written) + len(written.absent) == len(DOCUMENTED)
    assert "no plot of tail: No chunk metrics available" in caplog.text
    assert plt.get_fignums() == []


@pytest.mark.slow
def test_plot_all_takes_a_collector(tmp_path: Path, demo: plot_data.Data) -> None:
    class Collector:
        tracking_data = demo["tracking_data"]
        span_metrics = None
        chunk_metrics = demo["raw_chunk_metrics"]

        def get_metrics(self) -> Any:
            raise RuntimeError("Coffea report not set")

    written = plots.plot_all(Collector(), tmp_path, format="svg")
    assert tmp_path / "throughput_timeline.svg" in written
    assert "efficiency_summary" in written.absent


def test_importing_the_package_does_not_import_matplotlib() -> None:
    code = "import sys, roastcoffea; sys.exit('matplotlib' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
    code = "import sys, roastcoffea.visualization; sys.exit('matplotlib.pyplot' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_matplotlib_it_is_said_what_to_install() -> None:
    code = """
import sys
sys.modules["matplotlib"] = None
try:
    import roastcoffea.visualization.plots
except ImportError as error:
    assert str(error).endswith("pip install matplotlib"), error
else:
    raise AssertionError
"""
    subprocess.run([sys.executable, "-c", code], check=True)


# -- parts for plots of one's own ------------------------------------------------------------


def test_the_parts_of_timelines_can_be_used_alone(tmp_path: Path) -> None:
    import matplotlib.pyplot as plt
    from matplotlib.dates import DateFormatter

    fig, ax = plt.subplots()
    utils.setup_timeline_axes(ax, ylabel="y", title="t", ylim=(0, 7))
    assert isinstance(ax.xaxis.get_major_formatter(), DateFormatter)
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title()) == ("Time", "y", "t")
    assert ax.get_ylim() == (0, 7)
    utils.add_worker_count_annotation(ax, 12)
    assert ax.texts[0].get_text() == "Showing 12 workers"
    utils.finalize_timeline_plot(fig, ax, tmp_path / "own.png")
    assert (tmp_path / "own.png").exists()
    plt.close(fig)
