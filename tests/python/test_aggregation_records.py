"""Statistics of chunk records against a naive Python version of it, on random input.

Inputs are ordinary, zero, missing, huge, NaN, infinite, negative, None or no numbers at all. What
is no finite number is not known; the naive versions below say what follows from that.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Mapping
from typing import Any

import pytest
from random_input import (
    MISSING,
    figure,
    number,
    on_random_input,
    same,
    without_missing,
)

from roastcoffea.aggregation.branch_coverage import aggregate_branch_coverage
from roastcoffea.aggregation.chunk import aggregate_chunk_metrics, build_chunk_info

# -- chunks --------------------------------------------------------------------------------


def random_chunk(rng: random.Random) -> dict[str, Any]:
    duration = figure(rng, 100)
    record = {
        "duration": None if duration is MISSING else duration,
        "mem_delta_mb": rng.choice((MISSING, rng.uniform(-50, 50), math.nan)),
        "num_events": rng.choice((MISSING, rng.randint(0, 10**6))),
        "dataset": rng.choice((MISSING, None, "A", "B")),
        "error": rng.choice((MISSING, MISSING, MISSING, "it failed")),
        "file": rng.choice((MISSING, None, "a.root", "b.root")),
        "entry_start": rng.choice((MISSING, 0, 1000)),
        "entry_stop": 2000,
        "t_start": rng.choice((MISSING, 0.0)),
        "t_end": rng.uniform(0, 10),
        "bytes_read": rng.choice((MISSING, rng.randint(0, 10**9))),
        "timing": {name: rng.uniform(0, 1) for name in rng.sample("xyz", rng.randint(0, 3))},
        "memory": {name: rng.uniform(-5, 5) for name in rng.sample("xyz", rng.randint(0, 2))},
    }
    return without_missing(record)


def random_section(rng: random.Random) -> dict[str, Any]:
    return without_missing(
        {
            "name": rng.choice((MISSING, "x", "load")),
            "type": rng.choice((MISSING, "time", "memory")),
            "duration": figure(rng, 10),
            "mem_delta_mb": rng.choice((MISSING, rng.uniform(-5, 5))),
        }
    )


def check_range(got: Mapping[str, Any], keys: tuple[str, ...], values: list[float]) -> None:
    if not values or max(values) > 1e150:
        return
    expected = (statistics.fmean(values), min(values), max(values))
    for key, value in zip(keys, expected, strict=False):
        same(got[key], value, key)
    if len(keys) > 3:
        deviation = statistics.stdev(values) if len(values) > 1 else 0.0
        assert got[keys[3]] == pytest.approx(deviation, rel=1e-6, abs=1e-9)


def check_percentile(got: Mapping[str, Any], percent: int, values: list[float]) -> None:
    key = f"chunk_duration_p{percent}"
    if not values:
        assert key not in got
        return
    ranked = sorted(map(float, values))
    rank = percent / 100 * (len(ranked) - 1)
    low = int(rank)
    high = ranked[min(low + 1, len(ranked) - 1)]
    same(got[key], ranked[low] + (high - ranked[low]) * (rank - low), key)


@on_random_input
def test_chunk_metrics(rng: random.Random) -> None:
    records = [random_chunk(rng) for _ in range(rng.randint(1, 30))]
    good = [record for record in records if "error" not in record]
    got = aggregate_chunk_metrics(records)
    assert got["num_chunks"] == len(records)
    assert got["num_successful_chunks"] == len(good)
    assert got["num_failed_chunks"] == len(records) - len(good)

    def known(key: str) -> list[float]:
        return [record[key] for record in good if number(record.get(key)) is not None]

    names = [f"chunk_duration_{s}" for s in ("mean", "min", "max", "std")]
    check_range(got, tuple(names), known("duration"))
    for percent in (50, 90, 95, 99):
        check_percentile(got, percent, known("duration"))
    assert ("chunk_duration_mean" in got) == bool(known("duration"))
    names = [f"chunk_mem_delta_{s}_mb" for s in ("mean", "min", "max", "std")]
    check_range(got, tuple(names), known("mem_delta_mb"))
    assert ("chunk_mem_delta_mean_mb" in got) == bool(known("mem_delta_mb"))
    check_range(
        got, ("chunk_events_mean", "chunk_events_min", "chunk_events_max"), known("num_events")
    )
    assert got.get("total_events_from_chunks", 0) == sum(known("num_events"))

    eventful = [record for record in good if record.get("num_events", 0) > 0]
    for what, key, unit in (("time", "duration", 1), ("memory", "mem_delta_mb", 2**20)):
        ratios = [
            record[key] * unit / record["num_events"]
            for record in eventful
            if number(record.get(key)) is not None
        ]
        names = [f"{what}_per_event_{s}" for s in ("mean", "min", "max", "std")]
        check_range(got, tuple(names), ratios)
        assert (names[0] in got) == bool(ratios)

    datasets = {record.get("dataset", "unknown") for record in good}
    assert set(got.get("per_dataset", {})) == datasets
    for name in datasets:
        mine = [record for record in good if record.get("dataset", "unknown") == name]
        total = math.fsum(number(record["duration"]) or 0 for record in mine)
        events = sum(record.get("num_events", 0) for record in mine)
        entry = got["per_dataset"][name]
        assert entry["num_chunks"] == len(mine)
        assert entry["total_events"] == events
        same(entry["total_duration"], total, "total_duration")
        timed = [record for record in mine if number(record["duration"]) is not None]
        same(entry["mean_duration"], total / len(timed) if timed else 0.0, "mean_duration")
        assert ("mean_events_per_chunk" in entry) == (events > 0)
        grown = math.fsum(number(record.get("mem_delta_mb")) or 0 for record in mine) * 2**20
        if events:
            events_timed = sum(record.get("num_events", 0) for record in timed)
            expected = total / events_timed if events_timed else None
            same(entry["time_per_event"], expected, "time_per_event")
            told = [record for record in mine if number(record.get("mem_delta_mb")) is not None]
            events_told = sum(record.get("num_events", 0) for record in told)
            expected = grown / events_told if events_told else None
            same(entry["memory_per_event"], expected, "memory_per_event")
        same(entry.get("mean_events_per_chunk", 0), events / len(mine), "mean_events_per_chunk")


@on_random_input
def test_section_metrics(rng: random.Random) -> None:
    chunks = [{"duration": 1.0}, *(random_chunk(rng) for _ in range(rng.randint(0, 20)))]
    listed = [random_section(rng) for _ in range(rng.randint(0, 20))]
    got = aggregate_chunk_metrics(chunks, listed).get("sections", {})
    names = {record.get("name", "unknown") for record in listed}
    for name in names:
        mine = [record for record in listed if record.get("name", "unknown") == name]
        total = math.fsum(number(record.get("duration")) or 0 for record in mine)
        same(got[name]["total_duration"], total, "total_duration")
        same(got[name]["mean_duration"], total / len(mine), "mean_duration")
        assert got[name]["count"] == len(mine)
        assert got[name]["type"] == mine[0].get("type", "section")
        deltas = [
            record["mem_delta_mb"]
            for record in mine
            if record.get("type") == "memory" and "mem_delta_mb" in record
        ]
        keys = ("mean_mem_delta_mb", "min_mem_delta_mb", "max_mem_delta_mb")
        check_range(got[name], keys, deltas)
        assert ("mean_mem_delta_mb" in got[name]) == bool(deltas)
    for name in set("xyz") - names:
        times = [c["timing"][name] for c in chunks if name in c.get("timing", {})]
        deltas = [c["memory"][name] for c in chunks if name in c.get("memory", {})]
        assert (name in got) == bool(times or deltas)
        if name in got:
            assert got[name]["count"] == (len(times) or len(deltas))
            same(got[name]["total_duration"], math.fsum(times), "total_duration")
            assert got[name]["type"] == ("memory" if deltas else "time")
            check_range(got[name], ("mean_mem_delta_mb", "min_mem_delta_mb"), deltas)


@on_random_input
def test_chunk_info(rng: random.Random) -> None:
    records = [random_chunk(rng) for _ in range(rng.randint(0, 30))]
    expected = {}
    for r in records:
        needed = [r.get(k) for k in ("file", "entry_start", "entry_stop", "t_start", "t_end")]
        if all(value is not None for value in needed):
            expected[tuple(needed[:3])] = (needed[3], needed[4], r.get("bytes_read", 0))
    assert build_chunk_info(records) == expected


# -- branches ------------------------------------------------------------------------------


@on_random_input
def test_coverage_of_nested_and_disjoint_sets_of_branches(rng: random.Random) -> None:
    """Each chunk reads whole blocks of branches, of which bytes are known."""
    sizes = {f"branch {i}": rng.randint(1, 10**6) for i in range(12)}
    files = [f"{i}.root" for i in range(rng.randint(1, 4))]
    total = sum(sizes.values())
    records, union = [], {file: set[str]() for file in files}
    for file in files:
        blocks = [[f"branch {i}" for i in range(j, j + 3)] for j in range(0, 12, 3)]
        metadata = {
            "filename": file,
            "total_branches": len(sizes),
            "total_tree_bytes": total,
            "compression_ratio": rng.choice((0.0, rng.uniform(0.1, 1))),
        }
        for block in rng.sample(blocks, rng.randint(1, 4)):
            for chosen in (block, block[:2]):
                size = sum(sizes[name] for name in chosen)
                union[file] |= set(block)
                records.append(
                    {
                        "file": file,
                        "file_metadata": metadata,
                        "accessed_branches": rng.sample(chosen, len(chosen)),
                        "accessed_bytes": size,
                        "branches_read_percent": 100 * len(chosen) / len(sizes),
                        "bytes_read_percent": 100 * size / total,
                    }
                )
    rng.shuffle(records)
    got = aggregate_branch_coverage(records)
    for file in files:
        size = sum(sizes[name] for name in union[file])
        entry = got["file_read_metrics"][file]
        assert entry["bytes_read"] == size
        same(entry["branches_read_percent"], 100 * len(union[file]) / len(sizes), "branches")
        same(entry["bytes_read_percent"], 100 * size / total, "bytes")
    assert not got.estimated
    percents = [entry["bytes_read_percent"] for entry in got["file_read_metrics"].values()]
    same(got["avg_bytes_read_percent"], statistics.fmean(percents), "avg")
    assert got["bytes_read_percent_per_file"] == percents
    assert got["total_branches_read"] == len(set().union(*union.values()))
    ratios = [m["compression_ratio"] for m in got["file_metadata"].values()]
    assert got["compression_ratios"] == [ratio for ratio in ratios if ratio > 0]
