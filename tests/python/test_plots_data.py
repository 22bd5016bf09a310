"""Data for the tests and benchmarks of plots: a real measurement, and runs of any size."""

from __future__ import annotations

import inspect
import json
import math
import random
import warnings
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from oracles import GOLDEN

from roastcoffea.visualization import plots
from roastcoffea.visualization.plots.per_task import extract_per_task_metrics
from roastcoffea.visualization.utils import validate_tracking_data

START = datetime(2026, 11, 15, 12, 0, 0)
EPOCH = 1794744000.0  # START in UTC

Data = dict[str, Any]

SERIES = (
    "worker_memory",
    "worker_memory_limit",
    "worker_active_tasks",
    "worker_cores",
    "worker_occupancy",
    "worker_executing",
    "worker_cpu",
)
PARTS = ("cpu", "runqueue", "throttled", "block_io", "gil", "other")
BRANCHES = ("Jet_pt", "Jet_eta", "Jet_phi", "Jet_mass", "Muon_pt", "Muon_eta", "MET_pt", "nJet")


def real_metrics() -> Data:
    """The metrics of a real run, as the file holds them: times and tuple keys are text."""
    metrics: Data = json.loads((GOLDEN / "measurement/metrics.json").read_text(encoding="utf-8"))
    return metrics


def make_tracking_data(workers: int, samples: int, *, threads: int = 1, seed: int = 1) -> Data:
    """Tracking data in the documented shape: one time object a tick."""
    rng = random.Random(seed)
    times = [START + timedelta(seconds=i) for i in range(samples)]
    data: Data = {"worker_counts": dict.fromkeys(times, workers)}
    data |= {key: {} for key in SERIES}
    for w in range(workers):
        name = f"tcp://10.0.{w // 250}.{w % 250}:{40000 + w}"
        base, phase = rng.uniform(0.5e9, 2.5e9), rng.uniform(0, 6)
        waves = [math.sin(i / 40 + phase) for i in range(samples)]
        data["worker_memory"][name] = [
            (t, int(base * (1.2 + 0.3 * wave))) for t, wave in zip(times, waves, strict=True)
        ]
        data["worker_memory_limit"][name] = [(t, 4_000_000_000) for t in times]
        tasks = [max(0, round(3 + 2 * wave + rng.random())) for wave in waves]
        data["worker_active_tasks"][name] = list(zip(times, tasks, strict=True))
        data["worker_executing"][name] = [
            (t, min(n, threads)) for t, n in zip(times, tasks, strict=True)
        ]
        data["worker_occupancy"][name] = [(t, 0.4 * n) for t, n in zip(times, tasks, strict=True)]
        data["worker_cores"][name] = [(t, threads) for t in times]
        data["worker_cpu"][name] = [
            (t, threads * (80 + 15 * wave + rng.random()))
            for t, wave in zip(times, waves, strict=True)
        ]
    return data


def make_chunks(n: int, *, workers: int = 4, datasets: int = 3, seed: int = 2) -> list[Data]:
    """Chunk records of a run: each worker takes the next chunk when it is free."""
    rng = random.Random(seed)
    free = [rng.uniform(0, 0.5) for _ in range(workers)]
    records = []
    for i in range(n):
        worker = min(range(workers), key=free.__getitem__) if workers < 50 else i % workers
        dataset = i * datasets // n
        events = rng.choice((20_000, 20_000, 20_000, rng.randrange(5_000, 20_000)))
        wall = events * 5e-5 * (1 + dataset / 2) * rng.lognormvariate(0, 0.2)
        start = free[worker]
        free[worker] = start + wall * 1.05
        read = events * 60
        shares = [rng.uniform(0, s) for s in (8, 1, 0.3, 2, 0.7 * dataset, 0.5)]
        record: Data = {
            "t_start": EPOCH + start,
            "t_end": EPOCH + start + wall,
            "duration": wall,
            "mem_delta_mb": rng.uniform(0, 5),
            "bytes_read": read,
            "num_events": events,
            "dataset": f"dataset_{dataset}",
            "file": f"/store/nano_{i // 10}.root",
            "entry_start": (i % 10) * 20_000,
            "entry_stop": (i % 10) * 20_000 + events,
            "accessed_branches": list(BRANCHES),
            "num_branches_accessed": len(BRANCHES) - i % 3,
            "accessed_bytes": read,
            "accessed_uncompressed_bytes": int(read * 1.8),
            "branch_bytes": {b: read // (k + 2) for k, b in enumerate(BRANCHES)},
            "wall_split": {p: wall * s / sum(shares) for p, s in zip(PARTS, shares, strict=True)}
            | {"samples": 20},
            "worker": f"tcp://10.0.0.1:{40000 + worker}",
        }
        if i % 37 == 36:
            record |= {"error": "OSError: no such file", "outcome": "failed"}
        records.append(record)
    return records


def make_spans() -> Data:
    """Span metrics with several units of one activity, seconds last."""
    spans: Data = {}
    for prefix, scale in (("MyProcessor", 100.0), ("reduce", 4.0), ("automatic_retries", 1.0)):
        for activity, share in (
            ("thread-cpu", 1.0),
            ("thread-noncpu", 0.4),
            ("deserialize", 0.02),
            ("serialize", 0.03),
            ("compress", 0.01),
            ("decompress", 0.015),
        ):
            spans["execute", prefix, activity, "seconds"] = scale * share
        spans["execute", prefix, "disk-read", "bytes"] = int(scale * 5e7)
        spans["execute", prefix, "disk-read", "count"] = int(scale)
        spans["execute", prefix, "disk-read", "seconds"] = scale * 0.001
    spans["execute", "N/A", "idle or other spans", "seconds"] = 40.0
    return spans


def make_metrics(workers: int = 4, samples: int = 120, chunks: int = 80) -> Data:
    """Everything that a run knows."""
    records = make_chunks(chunks, workers=workers)
    ledger = {
        f"tcp://10.0.0.1:{40000 + w}": {
            "processor_cpu": 60 - w % 40 / 2,
            "processor_wait": 15 + w % 7,
            "overhead": 2.0,
            "serialize": 1.0,
            "compress": 0.5,
            "transfer": 6.0,
            "spill": w % 4,
            "idle": 10 + w % 40 / 2,
            "gone": 20.0 if w % 10 == 9 else 0.0,
        }
        for w in range(workers)
    }
    return {
        "core_efficiency": 0.72,
        "speedup_factor": 0.72 * 2 * workers,
        "total_cores": 2.0 * workers,
        "avg_workers": workers - 0.4,
        "peak_memory_bytes": 3_100_000_000,
        "elapsed_time_seconds": 120.0,
        "compression_ratios": [0.55 + 0.01 * (i % 9) for i in range(40)],
        "bytes_read_percent_per_file": [12 + (i % 11) for i in range(40)],
        "bytes_per_dataset": {
            f"dataset_{i}": {
                "bytes_needed": 4e9 / (i + 1),
                "bytes_needed_again": 3e8 * i,
                "bytes_requested": 4.4e9 / (i + 1),
                "bytes_kernel_read": 5.1e9 / (i + 1) if i else None,
                "bytes_storage_read": 1.3e9 / (i + 1) if i else None,
            }
            for i in range(3)
        },
        "time_ledger": ledger,
        "tracking_data": make_tracking_data(workers, samples, threads=2),
        "raw_chunk_metrics": records,
        "raw_span_metrics": make_spans(),
        "chunk_info": {
            (r["file"], r["entry_start"], r["entry_stop"]): (
                r["t_start"],
                r["t_end"],
                r["bytes_read"],
            )
            for r in records
        },
    }


# -- what tests of plots share ---------------------------------------------------------------

PLOTS = [name for name in plots.__all__ if name != "plot_all"]


def parameters(name: str) -> list[str]:
    return list(inspect.signature(getattr(plots, name)).parameters)


OF_WORKERS = [name for name in PLOTS if parameters(name)[0] == "tracking_data"]
OF_CHUNKS = [name for name in PLOTS if parameters(name)[0] == "chunk_metrics"]
PER_WORKER = [name for name in OF_WORKERS if "max_legend_entries" in parameters(name)]


@pytest.fixture(autouse=True)
def strict() -> Iterator[None]:
    """No plot warns, and none changes the settings of others."""
    mpl.use("agg")
    before = dict(mpl.rcParams)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield
    assert dict(mpl.rcParams) == before


def data_of(name: str, metrics: Data) -> Any:
    """What a plot is drawn from."""
    first = parameters(name)[0]
    key = {"chunk_metrics": "raw_chunk_metrics", "span_metrics": "raw_span_metrics"}.get(first)
    return metrics if first == "metrics" else metrics[key or first]


def draw(name: str, *data: Any, **options: Any) -> tuple[Figure, Axes]:
    """Call a plot and render it as a user would see it."""
    function: Callable[..., tuple[Figure, Axes]] = getattr(plots, name)
    fig, ax = function(*data, **options)
    fig.set_dpi(40)
    fig.canvas.draw()
    return fig, ax


def texts(fig: Figure) -> list[str]:
    """Everything that is written on a figure."""
    return [text.get_text() for text in fig.findobj(Text)]


def test_the_data_for_the_other_tests_has_the_documented_shapes() -> None:
    metrics = make_metrics(3, 4, 10)
    for key in SERIES:
        assert [len(samples) for samples in metrics["tracking_data"][key].values()] == [4, 4, 4]
    for record in metrics["raw_chunk_metrics"]:
        split = sum(record["wall_split"][part] for part in PARTS)
        assert split == pytest.approx(record["duration"])


def test_fine_metrics_may_be_numbers_of_numpy() -> None:
    spans = {
        ("execute", "sum", "disk-read", "bytes"): np.int64(5_000_000_000),
        ("execute", "sum", "thread-cpu", "seconds"): np.float32(1.5),
    }
    _, ax = plots.plot_per_task_bytes_read(spans)
    assert [bar.get_height() for bar in ax.patches] == [5.0]
    assert extract_per_task_metrics(spans) == {"sum": {"disk-read": 5e9, "thread-cpu": 1.5}}


@pytest.mark.parametrize("series", [{"w": [1]}, {"w": 5}, {"w": []} | {"v": [1]}, [1, 2]])
def test_data_of_ones_own_are_handed_on_as_they_are(series: Any) -> None:
    assert validate_tracking_data({"mine": series}, "mine", "nothing of mine") is series
    for nothing in ({}, {"w": []}, {"w": [], "v": None}, [], None):
        with pytest.raises(ValueError, match="nothing of mine"):
            validate_tracking_data({"mine": nothing}, "mine", "nothing of mine")


def test_a_worker_without_samples_is_no_line() -> None:
    samples = [(datetime(2026, 11, 15), 50.0)]
    _, ax = plots.plot_cpu_utilization_per_worker_timeline(
        {"worker_cpu": {"a": samples, "b": None, "c": []}}
    )
    assert [line.get_label() for line in ax.lines] == ["a"]
