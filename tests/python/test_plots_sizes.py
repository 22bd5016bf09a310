"""Plots of real, tiny, huge and hostile data."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
import test_plots_data as plot_data
from test_plots_data import (
    OF_CHUNKS,
    OF_WORKERS,
    PER_WORKER,
    PLOTS,
    data_of,
    draw,
    needs_golden,
    strict,  # noqa: F401
    texts,
)

from roastcoffea.visualization import plots

pytestmark = pytest.mark.slow


@needs_golden
def test_a_real_measurement_is_drawn_as_its_file_holds_it(tmp_path: Path) -> None:
    written = plots.plot_all(plot_data.real_metrics(), tmp_path)
    assert set(written.absent) == {
        "per_task_bytes_read",  # it did not spill
        "per_task_overhead",
        "wall_split",  # version 0.1 did not measure these
        "branch_treemap",
        "bytes_reconciliation",
    }
    assert len(written) == 23


@needs_golden
def test_a_loaded_measurement_has_its_cpu_and_task_plots() -> None:
    pytest.importorskip("roastcoffea._roast")
    from roastcoffea import load_measurement

    metrics = load_measurement(plot_data.GOLDEN)["metrics"]
    draw("plot_cpu_utilization_mean_timeline", metrics["tracking_data"])
    draw("plot_cpu_utilization_per_worker_timeline", metrics["tracking_data"])
    draw("plot_per_task_cpu_io", metrics["raw_span_metrics"])


@pytest.mark.parametrize("name", OF_WORKERS)
def test_one_sample_of_one_worker_is_seen(name: str) -> None:
    _, ax = draw(name, plot_data.make_tracking_data(1, 1))
    left, right = ax.get_xlim()
    assert 0 < (right - left) * 86400 < 60
    assert any(line.get_marker() not in ("", "None", None) for line in ax.lines)


@pytest.mark.parametrize("name", OF_CHUNKS)
def test_one_chunk_is_drawn(name: str) -> None:
    draw(name, plot_data.make_chunks(1, workers=1, datasets=1))


@pytest.mark.parametrize("workers", [200, 2000])
def test_many_workers_are_drawn_as_bands(workers: int) -> None:
    data = plot_data.make_tracking_data(workers, 5)
    for name in PER_WORKER:
        fig, ax = draw(name, data)
        assert f"Showing {workers} workers" in texts(fig)
        assert ax.get_legend() is None
        assert len(ax.lines) <= 2
        assert "Middle 90 %" in texts(fig)


@pytest.mark.parametrize("name", PER_WORKER)
def test_up_to_max_legend_entries_workers_are_named(name: str) -> None:
    data = plot_data.make_tracking_data(6, 5)
    fig, ax = draw(name, data)
    assert "Showing 6 workers" in texts(fig)
    assert ax.get_legend() is None
    assert len(ax.lines) == 6
    fig, ax = draw(name, data, max_legend_entries=6)
    legend = ax.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == list(data["worker_cpu"])


@pytest.mark.parametrize("name", OF_CHUNKS)
def test_many_chunks_on_many_workers_are_drawn(name: str) -> None:
    draw(name, plot_data.make_chunks(4000, workers=2000, datasets=60))


def test_a_ledger_of_many_workers_is_drawn() -> None:
    fig, _ = draw("plot_time_ledger", plot_data.make_metrics(2000, 1, 10))
    assert "2,000 workers,\nbusiest on top" in texts(fig)


def test_what_a_split_does_not_tell_of_a_chunk_is_other_waits() -> None:
    split = {"cpu": 3.0, "runqueue": None, "other": None}
    _, ax = draw("plot_wall_split", [{"dataset": "zmm", "duration": 4.0, "wall_split": split}])
    assert [text.get_text() for text in ax.texts] == ["75 %", "25 %", "4 s, 1 chunk"]


def test_a_short_run_has_fractions_of_seconds_on_its_clock() -> None:
    times = [plot_data.START + timedelta(milliseconds=100 * i) for i in range(10)]
    _, ax = draw("plot_worker_count_timeline", {"worker_counts": dict.fromkeys(times, 2)})
    labels = [label.get_text() for label in ax.get_xticklabels()]
    assert "12:00:00.20" in labels
    assert len(set(labels)) == len(labels)


def test_a_run_over_midnight_names_both_days() -> None:
    times = [plot_data.START + timedelta(hours=3 * i) for i in range(10)]
    _, ax = draw("plot_worker_count_timeline", {"worker_counts": dict.fromkeys(times, 2)})
    assert ax.xaxis.get_offset_text().get_text() == "2026-11-15 – 2026-11-16"


def test_workers_with_clocks_of_their_own_are_brought_together() -> None:
    data = {
        "worker_active_tasks": {
            f"w{w}": [
                (plot_data.START + timedelta(seconds=i, milliseconds=w), 2) for i in range(50)
            ]
            for w in range(20)
        }
    }
    _, ax = draw("plot_total_active_tasks_timeline", data)
    total = np.asarray(ax.lines[0].get_ydata())
    assert len(total) == 50
    assert np.median(total) == 40


HOSTILE = ("<b>bold</b>", "$x$", r"$\frac{", "_hidden", "line\nbreak", "x" * 500, "", "a&b%#~^\\")


@pytest.mark.parametrize("name", PLOTS)
def test_hostile_names_are_shown_as_they_are(name: str) -> None:
    metrics = plot_data.make_metrics(len(HOSTILE), 3, 40)
    metrics["tracking_data"] = {
        key: series if key == "worker_counts" else dict(zip(HOSTILE, series.values(), strict=True))
        for key, series in metrics["tracking_data"].items()
    }
    metrics["time_ledger"] = dict(zip(HOSTILE, metrics["time_ledger"].values(), strict=True))
    for i, record in enumerate(metrics["raw_chunk_metrics"]):
        hostile = HOSTILE[i % len(HOSTILE)]
        record |= {"dataset": hostile, "worker": hostile, "file": hostile}
        record["branch_bytes"] = dict.fromkeys(HOSTILE, 1000)
    metrics["raw_span_metrics"] = {
        ("execute", hostile, activity, unit): 1
        for hostile in HOSTILE
        for activity, unit in (
            ("thread-cpu", "seconds"),
            ("compress", "seconds"),
            ("disk-read", "bytes"),
        )
    }
    options = {"max_legend_entries": 20} if name in PER_WORKER else {}
    fig, _ = draw(name, data_of(name, metrics), **options)
    if options or name in ("plot_chunk_gantt", "plot_per_task_cpu_io", "plot_wall_split"):
        assert {"<b>bold</b>", "$x$", r"$\frac{", " _hidden", "line?break", "(no name)"} <= set(
            texts(fig)
        )


@pytest.mark.parametrize("name", PLOTS)
def test_a_very_long_title_fits(name: str) -> None:
    if "title" in plot_data.parameters(name):
        title = "a title as long as a sentence " * 12
        draw(name, data_of(name, plot_data.make_metrics(2, 3, 10)), title=title)


@pytest.mark.parametrize("name", OF_WORKERS)
def test_samples_without_a_value_are_gaps(name: str) -> None:
    data = plot_data.make_tracking_data(3, 10)
    for series in data.values():
        for samples in list(series.values())[:2] if series is not data["worker_counts"] else ():
            samples[4] = (samples[4][0], None)
    draw(name, data)
