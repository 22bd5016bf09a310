"""The figures that plots show mislead nobody."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest
import test_plots_data as plot_data
from test_plots_data import draw, strict, texts  # noqa: F401

from roastcoffea.visualization.plots import per_task


@pytest.fixture(scope="module")
def demo() -> plot_data.Data:
    return plot_data.make_metrics()


def test_cpu_above_100_percent_is_not_cut_off() -> None:
    data = plot_data.make_tracking_data(3, 20, threads=4)
    for name in ("plot_cpu_utilization_mean_timeline", "plot_cpu_utilization_per_worker_timeline"):
        fig, ax = draw(name, data)
        assert ax.get_ylim()[1] >= 400
        assert "all 4 threads busy" in texts(fig)
    _, ax = draw("plot_cpu_utilization_mean_timeline", plot_data.make_tracking_data(3, 20))
    assert ax.get_ylim() == (0, 100)


def test_memory_is_a_share_of_each_workers_own_limit() -> None:
    t = plot_data.START
    data = {
        "worker_memory": {"a": [(t, 1e9)], "b": [(t, 1e9)], "c": [(t, 5e9)]},
        "worker_memory_limit": {"a": [(t, 2e9)], "b": [(t, 4e9)], "c": [(t, 0)]},
    }
    _, ax = draw("plot_memory_utilization_per_worker_timeline", data)
    assert [float(line.get_ydata()[0]) for line in ax.lines] == [50.0, 25.0]
    _, ax = draw("plot_memory_utilization_mean_timeline", data)
    assert np.asarray(ax.lines[0].get_ydata()).tolist() == [37.5]


def test_times_without_any_limit_count_as_no_use() -> None:
    t = plot_data.START
    data = {"worker_memory": {"a": [(t, 1e9)]}, "worker_memory_limit": {"a": [(t, 0)]}}
    _, ax = draw("plot_memory_utilization_mean_timeline", data)
    assert np.asarray(ax.lines[0].get_ydata()).tolist() == [0.0]


def test_equal_chunk_sizes_give_no_trend() -> None:
    chunks = [{"num_events": 20_000, "duration": 1.0 + i / 10} for i in range(10)]
    fig, ax = draw("plot_runtime_vs_events", chunks)
    assert not ax.lines
    assert ax.get_legend() is None
    assert "All 10 chunks have about 20,000 events: no trend to fit" in texts(fig)


def test_a_trend_is_that_of_the_chunks() -> None:
    chunks = [{"num_events": n, "duration": 0.5 + 2e-5 * n} for n in (1000, 20_000, 50_000)]
    _, ax = draw("plot_runtime_vs_events", chunks)
    legend = ax.get_legend()
    assert legend is not None
    assert [t.get_text() for t in legend.get_texts()] == ["Linear fit: y = 2.00e-05x + 0.5"]


def test_the_area_under_the_throughput_is_what_was_read() -> None:
    for chunks, workers in ((7, 2), (3000, 100)):
        info = plot_data.make_metrics(workers, 2, chunks)["chunk_info"]
        _, ax = draw("plot_throughput_timeline", info)
        line = ax.lines[0]
        rate = np.asarray(line.get_ydata(orig=True))[:-1]
        times = np.asarray(line.get_xdata(orig=True))
        seconds = np.diff(times).astype("timedelta64[us]").astype(float) / 1e6
        read = sum(size for _, _, size in info.values())
        assert float(rate @ seconds) * 1e9 / 8 == pytest.approx(read, rel=1e-3)


def test_chunks_that_read_nothing_have_a_throughput_of_zero(demo: plot_data.Data) -> None:
    info = {i: (plot_data.EPOCH + i, plot_data.EPOCH + i + 1, 0) for i in range(5)}
    fig, ax = draw("plot_throughput_timeline", info, demo["tracking_data"])
    assert ax.get_ylim() == (0, 1)
    assert fig.axes[1].get_ylabel() == "Number of Workers"
    draw("plot_throughput_timeline", {0: (5.0, 5.0, 100)})  # no time at all


def test_samples_in_local_time_are_brought_to_the_clock_of_the_chunks() -> None:
    info = {0: (plot_data.EPOCH, plot_data.EPOCH + 60, 10**9)}
    local = {plot_data.START + timedelta(hours=2, seconds=s): 4 for s in range(60)}
    fig, _ = draw("plot_throughput_timeline", info, {"worker_counts": local})
    worker_times = np.asarray(fig.axes[1].lines[0].get_xdata())
    assert worker_times.min() == np.datetime64(plot_data.START, "us")


def test_units_of_one_activity_do_not_overwrite_each_other() -> None:
    spans = {
        ("execute", "sum", "disk-read", "bytes"): 5_000_000_000,
        ("execute", "sum", "disk-read", "count"): 7,
        ("execute", "sum", "disk-read", "seconds"): 2.0,
    }
    fig, ax = draw("plot_per_task_bytes_read", spans)
    assert [float(bar.get_height()) for bar in ax.patches] == [5.0]
    assert any("Spilled data" in text for text in texts(fig))
    assert per_task.extract_per_task_metrics(spans) == {"sum": {"disk-read": 5_000_000_000}}


def test_span_keys_may_be_text_or_have_no_unit() -> None:
    spans = {
        "('execute', 'a', 'thread-cpu', 'seconds')": 1.0,
        ("execute", "b", "thread-cpu"): 2.0,
        ("execute", "c"): 3.0,
        ("gather-dep", "d", "thread-cpu", "seconds"): 4.0,
        "(broken": 5.0,
    }
    _, ax = draw("plot_per_task_cpu_io", spans)
    assert [label.get_text() for label in ax.get_xticklabels()] == ["a", "b"]


def test_bytes_of_a_chunk_are_its_own_not_its_files() -> None:
    chunks = plot_data.real_metrics()["raw_chunk_metrics"]
    _, ax = draw("plot_bytes_accessed_per_chunk", chunks)
    heights = [float(bar.get_height()) for bar in ax.patches]
    read = sum(chunk["bytes_read"] for chunk in chunks) / 1e6
    assert sum(heights[: len(chunks)]) == pytest.approx(read)
    assert read < 100  # the files' sums would be 811 MB


def test_chunks_of_a_file_share_its_bytes_where_their_own_are_unknown() -> None:
    chunk = {"file": "a", "accessed_bytes": 40e6, "accessed_uncompressed_bytes": 80e6}
    _, ax = draw("plot_bytes_accessed_per_chunk", [chunk] * 4)
    assert {float(bar.get_height()) for bar in ax.patches} == {10.0, 20.0}


def test_percent_ratio_counts_and_bytes_have_scales_of_their_own(demo: plot_data.Data) -> None:
    for name, left, right in (
        ("plot_efficiency_summary", "%", "×"),
        ("plot_resource_utilization", "", "GB"),
    ):
        fig, ax = draw(name, demo)
        assert len(fig.axes) == 2
        labels = [[t.get_text() for t in axes.get_yticklabels()] for axes in fig.axes]
        assert all(label.endswith(left) for label in labels[0])
        assert all(label.endswith(right) for label in labels[1])
    assert "0.72" not in texts(fig)
    _, ax = draw("plot_efficiency_summary", {"core_efficiency": 0.5, "speedup_factor": None})
    assert [text.get_text() for text in ax.texts] == ["50.0 %"]


def test_short_runtimes_are_told_with_enough_digits() -> None:
    _, ax = draw("plot_runtime_distribution", [{"duration": 0.0123}, {"duration": 0.0123}])
    legend = ax.get_legend()
    assert legend is not None
    assert legend.get_texts()[0].get_text() == "Mean: 0.0123s"


def test_the_ledger_of_a_run_without_one_comes_from_its_fine_metrics() -> None:
    metrics = {
        "processor_cpu_time_seconds": 50.0,
        "processor_io_wait_time_seconds": 20.0,
        "total_cores": 2.0,
        "elapsed_time_seconds": 50.0,
    }
    fig, _ = draw("plot_time_ledger", metrics)
    assert {"50 %", "20 %", "30 %", "Idle"} <= set(texts(fig))


def test_building_a_graph_is_no_chunk() -> None:
    chunks = [{"duration": 1.0, "outcome": "finished"}, {"duration": 9.0, "outcome": "graph"}]
    _, ax = draw("plot_runtime_distribution", chunks)
    legend = ax.get_legend()
    assert legend is not None
    assert legend.get_texts()[0].get_text() == "Mean: 1.00s"
    with pytest.raises(ValueError, match="No chunk metrics available"):
        draw("plot_runtime_distribution", chunks[1:])


def test_chunks_that_gave_no_result_are_marked() -> None:
    chunks = plot_data.make_chunks(10)
    chunks[3]["outcome"] = "lost"
    fig, _ = draw("plot_chunk_gantt", chunks)
    assert "Failed" in texts(fig)


def test_the_tail_tells_how_long_the_last_chunks_took() -> None:
    chunks = [{"t_start": i, "t_end": i + 1.0} for i in range(18)]
    chunks += [{"t_start": 10.0, "t_end": 28.0}, {"t_start": 10.0, "t_end": 38.0}]
    fig, _ = draw("plot_tail", chunks)
    assert "The last 2 chunks took 20 s of 38 s (53 %)" in texts(fig)


def test_tiles_of_the_treemap_are_as_large_as_their_branches() -> None:
    from roastcoffea.visualization.plots.branches import squarify

    sizes = sorted((float(i * i % 97 + 1) for i in range(200)), reverse=True)
    tiles = squarify(sizes, (0, 0, 12, 7))
    areas = np.array([width * height for _, _, width, height in tiles])
    assert areas == pytest.approx(np.array(sizes) * 84 / sum(sizes))
    assert all(x + w <= 12.001 and y + h <= 7.001 for x, y, w, h in tiles)
