"""Aggregating 100,000 chunk records that are plain dicts, as a share of a loop in Python.

The loop is what the earlier package did: it asks each record for its keys, makes lists of them,
and keeps a dict for each dataset. `with sections`: two in each record, which the loop adds up too.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from result import Figure, best, ratio, row
from roastcoffea.aggregation.chunk import aggregate_chunk_metrics

N = 100_000
MAX_SHARE = 1.0

Record = dict[str, Any]


def records(*, sections: bool) -> list[Record]:
    """Make the records of a run with ten datasets."""
    return [
        {
            "t_start": 1e9 + i,
            "t_end": 1e9 + i + 1.5,
            "duration": 1.5 + i % 7 * 0.1,
            "mem_before_mb": 100.0,
            "mem_after_mb": 100.0 + i % 5 * 0.5,
            "mem_delta_mb": i % 5 * 0.5,
            "bytes_read": 1000 * i,
            "timestamp": 1e9 + i,
            "num_events": 1000 + i % 13,
            "dataset": f"dataset {i % 10}",
            "file": f"/store/data/file_{i // 20}.root",
            "uuid": None,
            "entry_start": i % 20 * 1000,
            "entry_stop": i % 20 * 1000 + 1000,
            "timing": {"load": 0.5, "fill": 0.25} if sections else {},
            "memory": {"load": 1.5} if sections else {},
            "bytes": {},
        }
        for i in range(N)
    ]


def spread_of(values: list[float]) -> dict[str, float]:
    """Return mean, range and deviation."""
    mean = sum(values) / len(values)
    variance = sum((value - mean) ** 2 for value in values) / (len(values) - 1)
    return {"mean": mean, "min": min(values), "max": max(values), "std": variance**0.5}


def loop(chunks: list[Record]) -> dict[str, Any]:
    """Aggregate in plain Python."""
    good = [chunk for chunk in chunks if "error" not in chunk]
    events = [chunk["num_events"] for chunk in good if "num_events" in chunk]
    datasets: dict[str, dict[str, float]] = {}
    for chunk in good:
        name = chunk.get("dataset", "unknown")
        if name not in datasets:
            datasets[name] = {"num_chunks": 0, "total_duration": 0.0, "total_events": 0}
        datasets[name]["num_chunks"] += 1
        datasets[name]["total_duration"] += chunk["duration"]
        datasets[name]["total_events"] += chunk.get("num_events", 0)
    sections: dict[str, dict[str, float]] = {}
    for chunk in good:
        for key in ("timing", "memory", "bytes"):
            for name, value in chunk.get(key, {}).items():
                section = sections.setdefault(name, {"count": 0, "total": 0.0})
                section["count"] += key == "timing"
                section["total"] += value
    return {
        "duration": spread_of([chunk["duration"] for chunk in good]),
        "memory": spread_of([chunk["mem_delta_mb"] for chunk in good if "mem_delta_mb" in chunk]),
        "events": sum(events),
        "per_dataset": datasets,
        "sections": sections,
    }


def measure(function: Callable[[list[Record]], Any], chunks: list[Record]) -> float:
    """Return the CPU time of a call."""
    begin = time.process_time()
    function(chunks)
    return time.process_time() - begin


def bench(name: str, chunks: list[Record]) -> None:
    """Compare the two, in turns."""
    ours, theirs = [], []
    for _ in range(7):
        theirs.append(measure(loop, chunks))
        ours.append(measure(aggregate_chunk_metrics, chunks))
    row(name, best(ours), "s")
    share: Figure = ratio(best(ours), best(theirs))
    row(f"{name}, as a share", share, of="a loop in Python", at_most=MAX_SHARE)


if __name__ == "__main__":
    bench("100,000 plain records", records(sections=False))
    bench("100,000 plain records with sections", records(sections=True))
