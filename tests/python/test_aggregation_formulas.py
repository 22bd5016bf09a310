"""Every formula of the aggregation against a naive Python version of it, on random input.

Inputs are ordinary, zero, missing, huge, NaN, infinite, negative, None or no numbers at all. What
is no finite number is not known; the naive versions below say what follows from that.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from random_input import (
    MISSING,
    figure,
    number,
    on_random_input,
    ratio,
    same,
    usable,
    without_missing,
)

from roastcoffea.aggregation.backends.dask import (
    DaskTrackingDataParser,
    calculate_average_memory_per_worker,
    calculate_peak_memory,
    calculate_time_averaged_workers,
)
from roastcoffea.aggregation.efficiency import calculate_efficiency_metrics
from roastcoffea.aggregation.fine_metrics import parse_fine_metrics
from roastcoffea.aggregation.workflow import aggregate_workflow_metrics

# -- workflow ------------------------------------------------------------------------------


def naive_workflow(
    report: Mapping[str, Any], elapsed: float, custom: Mapping[str, Any]
) -> dict[str, Any]:
    events, size = usable(report.get("entries")), usable(report.get("bytesread"))
    cpu, chunks = usable(report.get("processtime")), usable(report.get("chunks"))
    if custom:
        datasets = [value for value in custom.values() if isinstance(value, dict)]

        def total(*values: Any) -> float:
            return sum(usable(value) or 0 for value in values)

        events = total(*(d.get("entries") for d in datasets))
        cpu = total(*(d.get("duration") for d in datasets))
        counters = [d.get("performance_counters") for d in datasets]
        size = total(*(c.get("num_requested_bytes") for c in counters if isinstance(c, dict)))
    elif cpu is None and (events is not None or size is not None):
        cpu = elapsed
    bits = None if size is None else float(size) * 8 / 1e9
    return {
        "elapsed_time_seconds": elapsed,
        "total_events": events or 0,
        "total_bytes_read": size or 0,
        "total_cpu_time": cpu or 0.0,
        "data_rate_gbps": ratio(bits, elapsed) or 0.0,
        "event_rate_elapsed_khz": ratio(events, elapsed, 1000) or 0.0,
        "event_rate_cpu_total_khz": ratio(events, cpu, 1000) or 0.0,
        "num_chunks": chunks or 0,
        "avg_cpu_time_per_chunk": ratio(cpu, chunks) or 0.0,
    }


def random_report(rng: random.Random) -> dict[str, Any]:
    return without_missing(
        {
            "entries": figure(rng, 1e9, whole=True),
            "bytesread": figure(rng, 1e12, whole=True),
            "processtime": figure(rng, 1e5),
            "chunks": figure(rng, 1e4, whole=True),
        }
    )


def random_custom(rng: random.Random) -> dict[str, Any]:
    if rng.random() < 0.5:
        return {}
    return {
        f"dataset {i}": rng.choice((None, 7, "x"))
        if rng.random() < 0.1
        else without_missing(
            {
                "entries": figure(rng, 1e9, whole=True),
                "duration": figure(rng, 1e5),
                "performance_counters": rng.choice(
                    (MISSING, None, without_missing({"num_requested_bytes": figure(rng, 1e12)}))
                ),
            }
        )
        for i in range(rng.randint(1, 4))
    }


@on_random_input
def test_workflow_metrics(rng: random.Random) -> None:
    report, custom = random_report(rng), random_custom(rng)
    start = rng.uniform(-1e9, 1e9)
    end = start + rng.choice((0.0, -1.0, 1e-9, rng.uniform(0, 1e5)))
    got = aggregate_workflow_metrics(report, start, end, custom)
    expected = naive_workflow(report, end - start, custom)
    assert set(got) == set(expected)
    for key, value in expected.items():
        same(got[key], value, key)


# -- efficiency ----------------------------------------------------------------------------


@on_random_input
def test_efficiency_metrics(rng: random.Random) -> None:
    workflow = without_missing(
        {
            "elapsed_time_seconds": figure(rng, 1e4),
            "total_cpu_time": figure(rng, 1e6),
            "total_events": figure(rng, 1e9, whole=True),
        }
    )
    worker = without_missing({"total_cores": figure(rng, 1e4)})
    elapsed, cpu, events = (number(workflow.get(key)) for key in workflow_keys)
    cores = number(worker.get("total_cores"))
    got = calculate_efficiency_metrics(workflow, worker)
    fallback = 0.0 if worker.get("total_cores") else None

    def over_cores(part: float | None, *more: float) -> float | None:
        value = ratio(part, elapsed, cores, *more)
        return fallback if value is None else value

    same(got["core_efficiency"], over_cores(cpu), "core_efficiency")
    same(got["event_rate_core_khz"], over_cores(events, 1000), "event_rate_core_khz")
    same(got["speedup_factor"], ratio(cpu, elapsed) or 0.0, "speedup_factor")


workflow_keys = ("elapsed_time_seconds", "total_cpu_time", "total_events")


# -- fine metrics --------------------------------------------------------------------------

ACTIVITIES = {
    "memory-read": ("total_bytes_memory_read", "bytes"),
    "disk-read": ("disk_read_bytes", "bytes"),
    "disk-write": ("disk_write_bytes", "bytes"),
    "compress": ("compression_time_seconds", "seconds"),
    "decompress": ("decompression_time_seconds", "seconds"),
    "serialize": ("serialization_time_seconds", "seconds"),
    "deserialize": ("deserialization_time_seconds", "seconds"),
}
THREAD = {"thread-cpu": "cpu", "thread-noncpu": "io_wait"}


def naive_fine(spans: Mapping[Any, Any], name: str | None) -> dict[str, float]:
    result = dict.fromkeys((key for key, _ in ACTIVITIES.values()), 0.0)
    for owner in ("processor", "overhead"):
        for kind in THREAD.values():
            result[f"{owner}_{kind}_time_seconds"] = 0.0
    for key, value in spans.items():
        if not isinstance(key, tuple) or len(key) < 3 or number(value) is None:
            continue
        prefix, activity, unit = key[1], key[2], key[3] if len(key) > 3 else "seconds"
        if activity in THREAD and unit == "seconds":
            owner = "processor" if name is None or prefix == name[:50] else "overhead"
            result[f"{owner}_{THREAD[activity]}_time_seconds"] += value
        elif activity in ACTIVITIES and unit == ACTIVITIES[activity][1]:
            result[ACTIVITIES[activity][0]] += value
    cpu, wait = result["processor_cpu_time_seconds"], result["processor_io_wait_time_seconds"]
    whole = cpu + wait
    result["processor_cpu_percent"] = cpu / whole * 100 if 0 < whole < math.inf else 0.0
    result["processor_io_wait_percent"] = wait / whole * 100 if 0 < whole < math.inf else 0.0
    for name in ("compression", "serialization"):
        result[f"total_{name}_overhead_seconds"] = (
            result[f"{name}_time_seconds"] + result[f"de{name}_time_seconds"]
        )
    return result


@on_random_input
def test_fine_metrics(rng: random.Random) -> None:
    prefixes = ("MyProcessor", "reduce", "lambda", "P" * 50, "N/A")
    spans: dict[Any, Any] = {}
    for _ in range(rng.randint(0, 40)):
        activity = rng.choice((*ACTIVITIES, *THREAD, "executor"))
        key: Any = ("execute", rng.choice(prefixes), activity)
        if rng.random() < 0.9:
            key = (*key, rng.choice(("seconds", "bytes", "count")))
        value = figure(rng, 1e6, whole=key[-1] == "bytes")
        spans[key] = None if value is MISSING else abs(value) if number(value) else value
    spans["text"] = spans[("execute", "short")] = spans[()] = 5.0
    name = rng.choice((None, "MyProcessor", "P" * 60, "Nobody"))
    got, expected = parse_fine_metrics(spans, name), naive_fine(spans, name)
    assert set(got) == set(expected)
    for key, value in expected.items():
        same(got[key], value, key)


# -- workers -------------------------------------------------------------------------------


def naive_average(samples: Iterable[tuple[float, Any]]) -> float | None:
    known = sorted((t, v) for t, v in samples if number(v) is not None)
    if not known:
        return None
    span = known[-1][0] - known[0][0]
    if span == 0:
        return known[-1][1]
    return math.fsum((t1 - t0) / span * (v0 / 2 + v1 / 2) for (t0, v0), (t1, v1) in pairwise(known))


def random_series(rng: random.Random, ticks: list[float]) -> list[tuple[float, Any]]:
    chosen = rng.sample(ticks, rng.randint(0, len(ticks)))
    values = (figure(rng, 1e10, whole=True) for _ in chosen)
    return [(t, None if v is MISSING else v) for t, v in zip(chosen, values, strict=True)]


@on_random_input
def test_averages_over_time_and_peaks(rng: random.Random) -> None:
    ticks = [round(rng.uniform(0, 1e4), 6) for _ in range(rng.randint(1, 30))]
    zero = datetime(2026, 11, 15, 20, 0)
    series = {f"worker {i}": random_series(rng, ticks) for i in range(rng.randint(0, 5))}
    dated = {
        worker: [(zero + timedelta(seconds=t), value) for t, value in samples]
        for worker, samples in series.items()
    }
    means = [mean for s in series.values() if (mean := naive_average(s)) is not None]
    values = [v for s in series.values() for _, v in s if number(v) is not None]
    for given in (series, dated):
        same(
            calculate_average_memory_per_worker(given),
            statistics.fmean(means) if means else 0.0,
            "memory",
        )
        peak = calculate_peak_memory(given)
        assert peak == (largest := max(values, default=0.0)) or peak == int(float(largest)) > 2**63
    counts = {t: rng.randint(0, 100) for t in ticks}
    same(calculate_time_averaged_workers(counts), naive_average(counts.items()), "workers")


@on_random_input
def test_cores_are_integrated_over_time(rng: random.Random) -> None:
    """Workers of different size come and go on a common grid of ticks."""
    ticks = sorted({round(rng.uniform(0, 1e3), 3) for _ in range(rng.randint(1, 30))})
    cores: dict[str, list[tuple[float, Any]]] = {}
    for i in range(rng.randint(0, 6)):
        size = rng.randint(1, 64)
        here = [t for t in ticks if rng.random() < 0.6]
        cores[f"worker {i}"] = [(t, size) for t in here]
    there = {t: [dict(s)[t] for s in cores.values() if t in dict(s)] for t in ticks}
    counts = {t: len(there[t]) for t in ticks}
    shuffled = {w: rng.sample(s, len(s)) for w, s in cores.items()}
    got = DaskTrackingDataParser().parse_tracking_data(
        {"worker_counts": counts, "worker_cores": shuffled}
    )
    same(got["avg_workers"], naive_average(counts.items()), "avg_workers")
    assert got["peak_workers"] == max(counts.values())
    if any(counts.values()):
        total = naive_average((t, sum(there[t])) for t in ticks)
        same(got["total_cores"], total, "total_cores")
        assert total is not None
        same(got["cores_per_worker"], total / got["avg_workers"], "cores_per_worker")
    else:
        assert got["total_cores"] is None
        assert got["cores_per_worker"] is None
