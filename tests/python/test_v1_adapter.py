"""Format v1: ``save_measurement`` and ``roast export -f v1`` write the same directory."""

from __future__ import annotations

import json
import os
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest
from analysing import Measured

from roastcoffea import load_measurement, open_run, save_measurement
from roastcoffea._probe import Records, encode_block
from roastcoffea._roast import Run
from roastcoffea.metrics import Metrics, metrics_of_run

ROOT = Path(__file__).parents[2]
ROAST = os.environ.get("ROAST") or ROOT / ".venv" / "bin" / "roast"
SECOND = 1_000_000_000
START = 1_794_772_988 * SECOND
OUTCOMES = (None, "finished", "finished", "failed", "skipped", "lost", "graph")
NAMES = ("Jet_pt", "nJet", "Muon_eta", "it's", 'a"b', "tab\t", "é\udc80")


def sometimes(rng: random.Random, value: Any) -> Any:
    return value if rng.random() < 0.7 else None


def chunk(rng: random.Random, i: int) -> dict[str, Any]:
    file = sometimes(rng, f"/data/{rng.choice(NAMES)}-{i % 5}.root")
    outcome = rng.choice(OUTCOMES)
    record: dict[str, Any] = {
        "t_start": sometimes(rng, START / 1e9 + i * 0.7),
        "duration": sometimes(rng, rng.random()),
        "mem_before_mb": sometimes(rng, 100.0),
        "mem_after_mb": sometimes(rng, 100.0 + i),
        "bytes_read": sometimes(rng, rng.randrange(10**6)),
        "num_events": sometimes(rng, rng.randrange(1000)),
        "dataset": sometimes(rng, rng.choice(["A", "B", *NAMES])),
        "file": file,
        "entry_start": sometimes(rng, 100 * i),
        "entry_stop": sometimes(rng, 100 * i + 100),
        "accessed_branches": rng.sample(NAMES, rng.randrange(4)),
        "timing": {name: rng.random() for name in rng.sample(NAMES, 2)},
        "memory": {"fill": rng.random()},
        "worker": rng.choice(["tcp://a:1", "tcp://b:1"]),
        "pid": sometimes(rng, 7),
        "outcome": outcome,
        "metadata": sometimes(rng, {"year": 2018, "tags": ["x", None, 1.5]}),
        "custom_metrics": sometimes(rng, {"n": 3}),
        "mine": sometimes(rng, {"deep": [1, {"er": True}]}),
        "chunk_id": 7,
    }
    if file and rng.random() < 0.5:
        record["file_metadata"] = {
            "filename": file, "compression_ratio": 0.4, "total_branches": 9,
            "total_tree_bytes": 10**6,
        }  # fmt: skip
        record["accessed_bytes"], record["branches_read_percent"] = 10**5, 20.0
        record["bytes_read_percent"] = 10.0
    if outcome == "failed":
        record["error"] = "it broke"
    return {key: value for key, value in record.items() if value is not None}


def write_run(path: Path, seed: int) -> None:
    """Write a run of anything that a collector may have written, and of less."""
    rng = random.Random(seed)
    run = Run.create(path)
    run.fact("run.name", f"run {seed}")
    if rng.random() < 0.9:
        run.fact("run.start_utc_ns", START)
    if rng.random() < 0.8:
        run.fact("run.end_utc_ns", START + rng.randrange(3 * SECOND, 20 * SECOND))
        run.fact("run.elapsed_ns", 9 * SECOND)
    run.fact("backend.interval_s", rng.choice([0.25, 1.0, 2.5]))
    for name in ("bytesread", "entries", "processtime", "chunks"):
        if rng.random() < 0.7:
            run.fact(f"report.{name}", rng.randrange(10**6))
    if rng.random() < 0.5:
        run.fact("report.columns", "nJet-offsets\nJet_pt-data\nMET_pt-data\nJet_pt-data")
    if rng.random() < 0.3:
        run.fact("metric.events_per_joule", 12.5)
    chunks = [chunk(rng, i) for i in range(rng.choice([0, 1, 30]))]
    run.add_chunks(Records(chunks).to_bytes())
    for worker in ("tcp://a:1", "tcp://b:1")[: rng.randrange(3)]:
        run.add_worker_event(START, 1, worker, "host", 7, rng.choice([-1, 2]), 4_000_000)
        times = [START // 10**6 + 400 * i for i in range(9)]
        rows = [[rng.choice([-1, rng.randrange(10**6)]) for _ in times] for _ in range(3)]
        columns = "rss_bytes/4096,dask_gil_millipercent,host_net_recv_bytes"
        run.add_series(worker, columns, encode_block(times, rows))
        if rng.random() < 0.5:
            run.add_worker_event(START + 3 * SECOND, 3, worker)
    for i in range(rng.randrange(4)):
        prefix = sometimes(rng, "P")
        run.add_span("execute", prefix, f"thread-{i}", sometimes(rng, "seconds"), 1.5 * i)
    run.commit()
    if rng.random() < 0.8:
        run.finish()
    run.close()


def contents(directory: Path) -> dict[str, Any]:
    read: dict[str, Any] = {}
    for path in directory.iterdir():
        if path.suffix == ".json":
            read[path.name] = json.loads(path.read_text(encoding="utf-8"))
        elif path.suffix == ".txt":
            read[path.name] = [float(part) for part in path.read_text().split(",")]
        else:
            read[path.name] = Run.open(path).facts()
    return read


def check_same(run_file: Path, metrics: Metrics, times: tuple[float, float], place: Path) -> None:
    saved = save_measurement(metrics, *times, place, "saved")
    exported = place / "exported"
    subprocess.run([ROAST, "export", run_file, "-f", "v1", "-o", exported], check=True)
    ours, theirs = contents(saved), contents(exported)
    assert ours.keys() == theirs.keys()
    assert ours["metrics.json"].keys() == theirs["metrics.json"].keys()
    for key, value in ours["metrics.json"].items():
        assert theirs["metrics.json"][key] == value, key
    assert ours["start_end_time.txt"] == pytest.approx(theirs["start_end_time.txt"], abs=1e-6)
    timestamps = [part["metadata.json"].pop("timestamp") for part in (ours, theirs)]
    if "run.end_utc_ns" in ours["run.roast"]:
        assert timestamps[0] == timestamps[1]
    assert ours["metadata.json"] == theirs["metadata.json"]
    assert ours["run.roast"] == theirs["run.roast"]
    for path in (*saved.iterdir(), *exported.iterdir()):
        assert path.stat().st_mode & 0o777 == 0o600, path
    loaded = load_measurement(saved)["metrics"]
    assert loaded.keys() == metrics.keys()
    for key, value in metrics.items():
        if key in ("per_dataset", "bytes_per_dataset"):  # JSON has no null for a key
            value = {str(name): of for name, of in value.items()}
        assert loaded[key] == value, key


@pytest.mark.parametrize("seed", range(50))
def test_both_ways_of_saving_a_run_write_the_same(seed: int, tmp_path: Path) -> None:
    file = tmp_path / "run.roast"
    write_run(file, seed)
    run = open_run(file)
    start = (run.number("run.start_utc_ns") or 0) / 1e9
    elapsed = metrics_of_run(run.run)["elapsed_time_seconds"] or 0.0
    check_same(file, run.metrics, (start, start + elapsed), tmp_path)


def test_both_ways_of_saving_what_a_collector_measured_write_the_same(
    measured: Measured, tmp_path: Path
) -> None:
    collector, _, _ = measured
    assert collector.run_path is not None
    metrics = collector.get_metrics()
    start = collector.run.facts()["run.start_utc_ns"]
    assert isinstance(start, int)
    end = start / 1e9 + metrics["elapsed_time_seconds"]
    check_same(collector.run_path, metrics, (start / 1e9, end), tmp_path)


def test_what_somebody_has_changed_is_saved_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "run.roast"
    write_run(file, 10)  # which has chunks and workers
    metrics = open_run(file).metrics
    before = dict(open_run(file).metrics)
    metrics["mine"] = {"a": (1, 2)}
    metrics["total_events"] = 7
    del metrics["data_rate_gbps"]
    metrics["tracking_data"] = None
    metrics["raw_chunk_metrics"][0]["note"] = "mine"
    loaded = load_measurement(save_measurement(metrics, 0, 1, tmp_path, "m"))["metrics"]
    assert loaded["mine"] == {"a": [1, 2]}
    assert loaded["total_events"] == 7
    assert "data_rate_gbps" not in loaded
    assert loaded["tracking_data"] is None
    assert loaded["raw_chunk_metrics"][0]["note"] == "mine"
    assert loaded["chunk_info"] == before["chunk_info"]
    assert (tmp_path / "m" / "run.roast").exists()


def test_a_measurement_has_the_mode_that_the_user_has_chosen(tmp_path: Path) -> None:
    path = save_measurement({"total_events": 1}, 0, 1, tmp_path, "m")
    (tmp_path / "other").mkdir()
    assert path.stat().st_mode == (tmp_path / "other").stat().st_mode
