"""Measurement directories in place of run files."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from command import roast
from oracles import GOLDEN

from roastcoffea._roast import Run

MEASUREMENT = GOLDEN / "measurement"

#: What we compute ourselves from the raw data and the earlier package had otherwise, and why.
DIFFERENT = {
    "core_efficiency": "it divided the wall time of process(), not the CPU time",
    "speedup_factor": "the same",
    "avg_memory_per_worker_bytes": "times of samples are kept in ms",
}


def show(path: Path) -> Any:
    result = roast("show", "--format", "json", path)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_a_real_measurement_gives_its_metrics_back() -> None:
    old = json.loads((MEASUREMENT / "metrics.json").read_text())
    shown = show(MEASUREMENT)
    assert set(shown["estimated"]) <= {"total_bytes_uncompressed"}
    compared = 0
    for key, value in old.items():
        if isinstance(value, int | float) and key in shown["metrics"] and key not in DIFFERENT:
            assert shown["metrics"][key] == pytest.approx(value, rel=1e-7), key
            compared += 1
    assert compared > 40
    fine = old["processor_cpu_time_seconds"] + old["overhead_cpu_time_seconds"]
    elapsed = old["elapsed_time_seconds"]
    assert shown["metrics"]["speedup_factor"] == pytest.approx(fine / elapsed)
    assert shown["metrics"]["core_efficiency"] == pytest.approx(fine / elapsed / 2)
    key = "avg_memory_per_worker_bytes"
    assert shown["metrics"][key] == pytest.approx(old[key], rel=1e-4)
    table = next(table for table in shown["tables"] if table["name"] == "sections")
    sections = {row["section"]: row for row in table["rows"]}
    for name in ("jet_load", "muon_load", "dimuon"):
        total = sum(chunk["timing"][name] for chunk in old["raw_chunk_metrics"])
        assert sections[name]["total_s"] == pytest.approx(total)


def test_python_opens_a_measurement_as_a_run() -> None:
    run = Run.open(MEASUREMENT)
    assert run.facts()["processor.name"] == "SectionProc"
    old = json.loads((MEASUREMENT / "metrics.json").read_text())
    start = int(old["raw_chunk_metrics"][0]["t_start"])
    samples = run.resample("rss_bytes", start * 10**9, 10**9, 1)
    assert set(samples) == set(old["tracking_data"]["worker_memory"])
    assert all(len(values) == 1 and values[0] > 10**8 for values in samples.values())


def test_a_measurement_without_its_smaller_files_is_shown(tmp_path: Path) -> None:
    shutil.copy(MEASUREMENT / "metrics.json", tmp_path)
    assert show(tmp_path)["metrics"] == show(MEASUREMENT)["metrics"]


def test_every_verb_says_what_a_directory_lacks(tmp_path: Path) -> None:
    for verb in ("show", "check"):
        result = roast(verb, tmp_path)
        assert result.returncode == 2
        assert "neither run.roast nor metrics.json" in result.stderr


def test_deep_and_broken_json_is_refused(tmp_path: Path) -> None:
    for text in ("[" * 100_000, '{"a":' * 100_000, "{", "", '{"total_events": 1e}', "\x00"):
        (tmp_path / "metrics.json").write_text(text)
        result = roast("show", tmp_path)
        assert result.returncode == 2
        assert "metrics.json: is not valid JSON" in result.stderr
