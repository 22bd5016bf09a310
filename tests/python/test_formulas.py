"""Every formula of the registry against a naive version, on random base figures.

Base figures are zero, missing, huge, infinite or NaN now and then. A formula over something that
is not known, or that would divide by nothing, is absent.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from random_input import on_random_input, ratio, same

from roastcoffea._roast import Run

ROOT = Path(__file__).resolve().parents[2]

Known = dict[str, float]
Value = float | None


def total(known: Known, *keys: str) -> Value:
    """Return a sum of which every part is known."""
    return sum(known[key] for key in keys) if all(key in known for key in keys) else None


def share(known: Known, part: str, rest: str) -> Value:
    """Return a percentage of two parts; of nothing at all it is 0."""
    whole = total(known, part, rest)
    if whole is None:
        return None
    return 0.0 if whole == 0 else scaled(ratio(known[part], whole), 100)


def scaled(value: Value, factor: float) -> Value:
    return None if value is None else value * factor


def cpu_time(known: Known) -> Value:
    if "processor_cpu_time_seconds" in known:
        return total(known, "processor_cpu_time_seconds", "overhead_cpu_time_seconds")
    return known.get("total_cpu_time")


def efficiency_ratio(known: Known) -> Value:
    if "event_rate_core_khz" in known:
        return ratio(known["event_rate_core_khz"], known.get("event_rate_cpu_total_khz"))
    return ratio(
        known.get("event_rate_elapsed_khz"),
        known.get("event_rate_cpu_total_khz"),
        known.get("total_cores"),
    )


def border(known: Known) -> Value:
    needed, again = known.get("bytes_needed"), known.get("bytes_needed_again")
    return None if not needed or again is None else ratio(needed, needed - again)


def monitoring(known: Known) -> Value:
    parts = [known[k] for k in ("monitoring_seconds", "monitoring_sampler_seconds") if k in known]
    scheduler = known.get("monitoring_scheduler_seconds", 0)
    whole = known.get("worker_cpu_seconds", known.get("chunk_cpu_seconds"))
    return scaled(ratio(sum(parts) + scheduler, whole), 100) if parts else None


NAIVE: dict[str, Callable[[Known], Value]] = {
    "data_rate_gbps": lambda k: scaled(
        ratio(k.get("total_bytes_read"), k.get("elapsed_time_seconds")), 8e-9
    ),
    "data_rate_mb_per_s": lambda k: scaled(k.get("data_rate_gbps"), 125),
    "event_rate_elapsed_khz": lambda k: ratio(
        k.get("total_events"), k.get("elapsed_time_seconds"), 1000
    ),
    "event_rate_cpu_total_khz": lambda k: ratio(
        k.get("total_events"), k.get("total_cpu_time"), 1000
    ),
    "cores_per_worker": lambda k: ratio(k.get("total_cores"), k.get("avg_workers")),
    "processor_cpu_percent": lambda k: share(
        k, "processor_cpu_time_seconds", "processor_io_wait_time_seconds"
    ),
    "processor_io_wait_percent": lambda k: share(
        k, "processor_io_wait_time_seconds", "processor_cpu_time_seconds"
    ),
    "total_compression_overhead_seconds": lambda k: total(
        k, "compression_time_seconds", "decompression_time_seconds"
    ),
    "total_serialization_overhead_seconds": lambda k: total(
        k, "serialization_time_seconds", "deserialization_time_seconds"
    ),
    "core_efficiency": lambda k: ratio(
        cpu_time(k), k.get("elapsed_time_seconds"), k.get("total_cores")
    ),
    "speedup_factor": lambda k: ratio(cpu_time(k), k.get("elapsed_time_seconds")),
    "event_rate_core_hz": lambda k: ratio(
        k.get("total_events"), k.get("elapsed_time_seconds"), k.get("total_cores")
    ),
    "event_rate_core_khz": lambda k: ratio(
        k.get("total_events"), k.get("elapsed_time_seconds"), k.get("total_cores"), 1000
    ),
    "efficiency_ratio": efficiency_ratio,
    "io_overhead": lambda k: ratio(
        total(k, "processor_io_wait_time_seconds", "overhead_io_wait_time_seconds"),
        k.get("elapsed_time_seconds"),
    ),
    "io_overhead_pct": lambda k: scaled(k.get("io_overhead"), 100),
    "touched_branches_percent": lambda k: scaled(
        ratio(k.get("touched_branches"), k.get("tree_branches")), 100
    ),
    "touched_bytes_percent": lambda k: scaled(
        ratio(k.get("touched_bytes"), k.get("tree_bytes")), 100
    ),
    "border_amplification": border,
    "request_amplification": lambda k: ratio(k.get("bytes_requested"), k.get("bytes_needed")),
    "kernel_amplification": lambda k: ratio(k.get("bytes_kernel_read"), k.get("bytes_requested")),
    "storage_amplification": lambda k: ratio(k.get("bytes_storage_read"), k.get("bytes_requested")),
    "monitoring_percent": monitoring,
    "total_bytes_uncompressed": lambda k: ratio(
        k.get("total_bytes_read"), k.get("compression_ratio")
    ),
}

BASE_TEXT = """
total_bytes_read elapsed_time_seconds total_events total_cpu_time total_cores avg_workers
processor_cpu_time_seconds processor_io_wait_time_seconds overhead_cpu_time_seconds
overhead_io_wait_time_seconds compression_time_seconds decompression_time_seconds
serialization_time_seconds deserialization_time_seconds touched_branches tree_branches
touched_bytes tree_bytes bytes_needed bytes_needed_again bytes_requested bytes_kernel_read
bytes_storage_read monitoring_seconds monitoring_sampler_seconds worker_cpu_seconds
chunk_cpu_seconds compression_ratio
"""
BASE = BASE_TEXT.split()


WHOLE = {"total_bytes_uncompressed"}  # shown as a count


def formulas() -> set[str]:
    """Return the metrics of the registry that have a formula."""
    text = (ROOT / "libroast/metrics/metrics.def").read_text()
    rows = re.findall(r'^METRIC\(\w+, "(\w+)", \w+, \w+, \w+, \w+, \w+, (\w+),', text, re.M)
    return {key for key, function in rows if function != "NULL"}


def test_every_formula_has_a_naive_version() -> None:
    assert formulas() == set(NAIVE)


COUNTS = {key for key in BASE if "bytes" in key or "branches" in key or "events" in key}


def figure(rng: random.Random, key: str) -> float:
    if key in COUNTS:
        return rng.choice((0, 1, rng.randint(0, 10**6), rng.randint(0, 2**53)))
    if rng.random() < 0.2:
        return rng.choice((0.0, 1e200, 1e-30, 1.0))
    return rng.uniform(0, 10 ** rng.randint(0, 9))


@on_random_input
def test_formulas_agree_with_their_naive_versions(rng: random.Random) -> None:
    given: dict[str, Any] = {key: figure(rng, key) for key in BASE if rng.random() < 0.85}
    if rng.random() < 0.3 and given:
        given[rng.choice(list(given))] = rng.choice((math.nan, math.inf, -math.inf, None))
    found = Run.from_metrics(given).summary().metrics()
    base = {key: float(value) for key, value in found.items() if key not in NAIVE}
    assert set(base) <= set(given), "nothing is known that was not given"
    known: Known = {**base, **{key: float(value) for key, value in found.items() if key in NAIVE}}
    for key, naive in NAIVE.items():
        expected = naive(known)
        if expected is not None and not math.isfinite(expected):
            expected = None
        if key in WHOLE and expected is not None:
            assert abs(found[key] - expected) <= max(1, 1e-9 * expected), key
        else:
            same(found.get(key), expected, key)
