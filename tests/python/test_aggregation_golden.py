"""What we compute from the raw data of a v1 measurement, key by key beside its old figures."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from oracles import GOLDEN

from roastcoffea.aggregation.core import MetricsAggregator
from roastcoffea.export.measurements import load_measurement

#: The old figure was wrong: what is right, and why.
DIFFERENT = {
    "core_efficiency": (
        0.6441688671972501,
        "(8.520 + 0.242) s of thread-cpu / (6.801 s x 2 cores); the old one took the wall time of "
        "process(), 6.171 s, for CPU time, which leaves out reading, unpickling and the reduction",
    ),
    "speedup_factor": (
        1.2883377343945002,
        "the same CPU time over the elapsed time",
    ),
}

#: Keys that the old figures did not have
NEW = {
    "sections": "sections of the chunk records, which the old package never summed",
    "mean_workers": "the documented plain mean",
    "data_rate_mb_per_s": "printed, but not in the dict",
    "event_rate_core_hz": "documented in Hz",
    "efficiency_ratio": "printed, as 90.7 %: not divided by the cores",
    **{
        f"{what}_per_event_{statistic}": "documented, and never computed"
        for what in ("time", "memory")
        for statistic in ("mean", "min", "max", "std")
    },
    **{f"chunk_duration_p{p}": "asked for" for p in (50, 90, 95, 99)},
    **{
        f"{which}_{what}_utilization_percent": "documented, and drawn, but not in the dict"
        for which in ("avg", "min", "peak")
        for what in ("memory", "cpu")
    },
    "num_files": "asked for",
    **dict.fromkeys(("files", "branches", "bytes_per_dataset"), "of a run, and plain data are one"),
    "chunk_branches_read_percent_mean": "documented for files, asked for chunks",
    "chunk_bytes_read_percent_mean": "documented for files, asked for chunks",
    "compression_ratio": "documented, and never computed",
    "total_bytes_uncompressed": "documented, and never computed",
    "io_overhead": "documented",
    "num_retried_chunks": "attempts are counted, not only chunks",
    **dict.fromkeys(
        (
            "bytes_requested",
            "touched_branches",
            "touched_branches_percent",
            "touched_bytes",
            "touched_bytes_percent",
            "tree_branches",
            "tree_bytes",
        ),
        "where the bytes went: the chunk records tell it",
    ),
    "io_overhead_pct": "documented",
}


#: New keys of a dataset and of a file
FINER = {"time_per_event", "memory_per_event", "accessed_branches"}


def golden() -> tuple[dict[str, Any], dict[str, Any]]:
    old, start, end = load_measurement(GOLDEN / "measurement")
    report = json.loads((GOLDEN / "coffea_report.json").read_text())
    new = MetricsAggregator("dask").aggregate(
        report,
        old["tracking_data"],
        start,
        end,
        span_metrics=old["raw_span_metrics"],
        processor_name="SectionProc",
        chunk_metrics=old["raw_chunk_metrics"],
    )
    return old, new


def same(new: Any, old: Any) -> bool:
    """Equal, of the same type, and floats to the last few bits."""
    if isinstance(old, float) and isinstance(new, float):
        return math.isclose(new, old, rel_tol=1e-13)
    if isinstance(old, dict) and isinstance(new, dict):
        names = [key for key in new if key not in FINER or key in old]
        return list(old) == names and all(same(new[key], old[key]) for key in old)
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(same, new, old))
    return type(new) is type(old) and bool(new == old)


def test_figures_differ_only_where_the_old_one_was_wrong() -> None:
    old, new = golden()
    assert [key for key in old if key not in new] == []
    assert {key for key in old if not same(new[key], old[key])} == set(DIFFERENT)
    for key, (value, why) in DIFFERENT.items():
        assert new[key] == pytest.approx(value, rel=1e-12), why


def test_what_is_new_is_another_name_or_was_promised() -> None:
    from roastcoffea.metrics import registry

    old, new = golden()
    aliases = {alias for row in registry() for alias in row[-1]}
    assert set(new) - set(old) - aliases == set(NEW)
    assert new["efficiency_ratio"] == pytest.approx(0.907346197342063 / 2)
    assert new["mean_workers"] == 2.0


def test_sections_of_the_chunk_records_are_summed() -> None:
    old, new = golden()
    records = old["raw_chunk_metrics"]
    for name, section in new["sections"].items():
        times = [record["timing"][name] for record in records if name in record["timing"]]
        deltas = [record["memory"][name] for record in records if name in record["memory"]]
        sizes = [record["bytes"][name] for record in records if name in record["bytes"]]
        assert section["count"] == len(times or deltas or sizes)
        assert section["total_duration"] == pytest.approx(sum(times))
        if deltas:
            assert section["mean_mem_delta_mb"] == pytest.approx(sum(deltas) / len(deltas))
        if sizes:
            assert section["total_bytes"] == sum(sizes)


def test_only_what_the_earlier_package_did_not_measure_is_absent() -> None:
    old, new = golden()
    assert set(new.absent) & set(old) == set()  # type: ignore[attr-defined]
    assert {"num_lost_chunks", "chunk_gil_seconds"} <= set(new.absent)  # type: ignore[attr-defined]
    assert "chunk_duration_mean" in new
    assert set(new.estimated) == {"total_bytes_uncompressed"}  # type: ignore[attr-defined]


def test_utilisation_and_compression_are_those_of_the_raw_data() -> None:
    old, new = golden()
    tracking = old["tracking_data"]
    shares = [
        100 * value / dict(tracking["worker_memory_limit"][worker])[time]
        for worker, samples in tracking["worker_memory"].items()
        for time, value in samples
    ]
    assert new["peak_memory_utilization_percent"] == pytest.approx(max(shares))
    assert new["min_memory_utilization_percent"] == pytest.approx(min(shares))
    assert min(shares) < new["avg_memory_utilization_percent"] < max(shares)
    used = [value for samples in tracking["worker_cpu"].values() for _, value in samples]
    assert new["peak_cpu_utilization_percent"] == pytest.approx(max(used))  # one thread each
    records = old["raw_chunk_metrics"]
    compressed = sum(record["accessed_bytes"] for record in records)
    whole = sum(record["accessed_uncompressed_bytes"] for record in records)
    assert new["compression_ratio"] == pytest.approx(compressed / whole)
    assert new["total_bytes_uncompressed"] == pytest.approx(
        old["total_bytes_read"] * whole / compressed, rel=1e-6
    )
