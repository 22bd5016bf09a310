"""Runs that were written, read by tables and series, and saved as measurements."""

from __future__ import annotations

import copy
import json
import pickle
import resource
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import roastcoffea
from roastcoffea import MetricsCollector, load_measurement, open_run, save_measurement
from roastcoffea._probe import encode_block
from roastcoffea.lazy import LazyDict, RecordList
from roastcoffea.native import Records

REPORT = {"bytesread": 5_000_000, "entries": 1000, "processtime": 8.0, "chunks": 4}
SECOND = 1_000_000_000
START = 1_700_000_000 * SECOND


def record(i: int) -> dict[str, Any]:
    return {
        "t_start": START / 1e9 + i,
        "t_end": START / 1e9 + i + 0.5,
        "duration": 0.5,
        "mem_before_mb": 100.0,
        "mem_after_mb": 100.0 + i,
        "mem_delta_mb": float(i),
        "bytes_read": 1000 * i,
        "num_events": 100,
        "dataset": "TTbar" if i % 2 else "DY",
        "file": f"file-{i // 4}.root",
        "entry_start": 100 * (i % 4),
        "entry_stop": 100 * (i % 4) + 100,
        "timing": {"select": 0.25, "fill": 0.125},
        "worker": "tcp://a:1",
    }


@pytest.fixture
def collector(tmp_path: Path) -> MetricsCollector:
    with MetricsCollector(output_dir=tmp_path, measurement_name="run") as collector:
        collector.run.add_worker_event(START, 1, "tcp://a:1", "host", 7, 2, 4_000_000)
        block = encode_block(
            [START // 1_000_000 + 1000 * i for i in range(3)], [[100, -1, 300], [0, 500, 1500]]
        )
        collector.run.add_series("tcp://a:1", "rss_bytes/4096,cpu_user_ns/1000000", block)
        collector.run.add_chunks(Records([record(i) for i in range(8)]).to_bytes())
        collector.run.add_span("execute", "P", "thread-cpu", "seconds", 1.5)
        collector.run.add_span("execute", "P", "memory-read", "bytes", 12.0)
        collector.set_coffea_report(REPORT)
    return collector


def opened(collector: MetricsCollector) -> Any:
    assert collector.run_path is not None
    return open_run(collector.run_path)


def test_tables_are_sequences_of_dicts(collector: MetricsCollector) -> None:
    run = opened(collector)
    assert len(run.chunks) == 8
    assert run.chunks[0]["file"] == "file-0.root"
    assert run.chunks[-1]["wall_ns"] == SECOND // 2
    assert run.chunks[0]["error_type"] is None
    assert [row["dataset"] for row in run.chunks][:3] == ["DY", "TTbar", "DY"]
    assert len(run.chunks[2:4]) == 2
    assert {row["name"] for row in run.sections} == {"select", "fill"}
    assert run.workers[0]["memory_limit_bytes"] == 4_000_000
    assert [file["finished"] for file in run.files] == [4, 4]
    with pytest.raises(IndexError):
        run.chunks[8]
    with pytest.raises(KeyError):
        run.chunks["nonsense"]
    assert run.report["entries"] == 1000


def test_columns_are_arrays_over_the_bytes_that_were_read(collector: MetricsCollector) -> None:
    run = opened(collector)
    walls = run.chunks["wall_ns"]
    assert walls.dtype == np.int64
    assert (walls == SECOND // 2).all()
    assert np.shares_memory(walls, run.chunks["wall_ns"])
    assert list(run.chunks["file"][:4]) == ["file-0.root"] * 4
    attempts = run.chunks["rss_peak_bytes"]
    assert np.ma.is_masked(attempts)
    columns = run.sections.read("name", "total_ns")
    assert columns["total_ns"].sum() == 8 * (SECOND // 4 + SECOND // 8)


def test_frames(collector: MetricsCollector) -> None:
    run = opened(collector)
    pytest.importorskip("pandas")
    frame = run.chunks.to_pandas()
    assert frame.groupby("dataset", observed=True)["num_events"].sum().to_dict() == {
        "DY": 400,
        "TTbar": 400,
    }
    assert frame["rss_peak_bytes"].isna().all()


def test_arrow(collector: MetricsCollector) -> None:
    pytest.importorskip("pyarrow")
    table = opened(collector).sections.to_arrow()
    assert table.column("name").to_pylist()[:2] == ["select", "fill"]


def test_series_are_decoded_when_they_are_asked_for(collector: MetricsCollector) -> None:
    series = opened(collector).series
    assert "tcp://a:1" in series
    assert sorted(series["tcp://a:1"]) == ["cpu_user_ns", "rss_bytes"]
    times, values = series["tcp://a:1"]["cpu_user_ns"]
    assert list(times) == [START, START + SECOND, START + 2 * SECOND]
    assert list(values) == [0, SECOND // 2, 3 * SECOND // 2]
    memory = series["tcp://a:1"]["rss_bytes"].values
    assert memory.mask.tolist() == [False, True, False]
    with pytest.raises(KeyError):
        series["tcp://a:1"]["nonsense"]
    with pytest.raises(KeyError):
        series["nobody"]


def test_a_collector_of_a_run_tells_what_the_first_one_told(collector: MetricsCollector) -> None:
    assert collector.run_path is not None
    again = MetricsCollector.from_run(collector.run_path)
    own, other = collector.get_metrics(), again.get_metrics()
    for key in own.keys() - {"tracking_data", "raw_span_metrics"}:
        assert other[key] == own[key], key
    assert again.chunk_metrics == collector.chunk_metrics
    assert again.span_metrics == {
        ("execute", "P", "thread-cpu", "seconds"): 1.5,
        ("execute", "P", "memory-read", "bytes"): 12,
    }
    assert again.tracking_data is not None
    assert again.tracking_data["worker_cores"]["tcp://a:1"][0][1] == 2
    assert open_run(collector.run_path).metrics["total_events"] == 1000


def test_nothing_is_made_of_records_that_nobody_looks_at(collector: MetricsCollector) -> None:
    assert collector.run_path is not None
    metrics = MetricsCollector.from_run(collector.run_path).get_metrics()
    records = metrics["raw_chunk_metrics"]
    assert isinstance(records, list)
    assert (len(records), records.records is not None) == (8, True)
    assert list.__len__(records) == 0
    assert type(dict.__getitem__(metrics, "chunk_info")).__name__ == "Later"
    assert records[0]["num_events"] == 100
    assert list.__len__(records) == 8
    assert len(metrics["chunk_info"]) == 8
    assert metrics["chunk_info"]["file-0.root", 0, 100] == (START / 1e9, START / 1e9 + 0.5, 0)


def fresh() -> RecordList:
    return RecordList(Records([{"duration": float(i)} for i in range(3)]))


def test_a_lazy_list_is_a_list() -> None:
    plain = list(Records([{"duration": float(i)} for i in range(3)]))
    assert fresh() == plain
    assert plain == fresh()
    assert fresh() == fresh()
    assert not fresh() != plain  # noqa: SIM202
    assert json.loads(json.dumps(fresh())) == json.loads(json.dumps(fresh(), indent=2)) == plain
    assert [*fresh()] == list(fresh()) == fresh()[:] == fresh().copy() == plain
    assert [1] + fresh() == [1, *plain]  # noqa: RUF005
    assert fresh() + [1] == [*plain, 1]  # noqa: RUF005
    assert sorted(fresh(), key=lambda r: -r["duration"])[0] == plain[-1]
    assert tuple(fresh()) == tuple(plain)
    assert pickle.loads(pickle.dumps(fresh())) == copy.deepcopy(fresh()) == plain
    assert repr(fresh()) == repr(plain)
    assert plain[1] in fresh()
    assert list(reversed(fresh())) == plain[::-1]
    assert fresh().index(plain[2]) == 2
    assert fresh().count(plain[2]) == 1
    assert bool(fresh())
    assert not RecordList([])
    assert len(fresh() * 2) == 6
    assert np.array(fresh(), dtype=object).shape == (3,)


def test_a_lazy_list_can_be_changed() -> None:
    looked = fresh()
    looked[0]["mine"] = 1
    assert looked[0]["mine"] == 1
    assert not looked.changed
    for change in (
        lambda r: r.append({}),
        lambda r: r.extend([{}]),
        lambda r: r.insert(0, {}),
        lambda r: r.pop(),
        lambda r: r.remove(r[0]),
        lambda r: r.clear(),
        lambda r: r.reverse(),
        lambda r: r.sort(key=lambda x: -x["duration"]),
        lambda r: r.__setitem__(0, {}),
        lambda r: r.__delitem__(0),
        lambda r: r.__iadd__([{}]),
    ):
        lazy, plain = fresh(), list(fresh())
        change(lazy)
        change(plain)
        assert list(lazy) == plain
        assert lazy.changed


def test_a_measurement_holds_its_raw_data_up_to_a_size(
    collector: MetricsCollector, tmp_path: Path
) -> None:
    small = collector.save_measurement(tmp_path, "small")
    assert "raw_chunk_metrics" in json.loads((small / "metrics.json").read_text())
    collector.run.add_chunks(Records([record(8 + i) for i in range(9_000)]).to_bytes())
    collector.metrics = collector._chunk_metrics = None
    large = collector.save_measurement(tmp_path, "large")
    kept = json.loads((large / "metrics.json").read_text())
    raw = {"raw_chunk_metrics", "chunk_info", "tracking_data", "file_metadata", "file_read_metrics"}
    assert not raw & set(kept)
    assert set(json.loads((large / "metadata.json").read_text())["in_run"]) == raw
    loaded = load_measurement(large)["metrics"]
    assert isinstance(loaded, LazyDict)
    expected = collector.get_metrics()
    assert set(loaded) == set(expected) == set(load_measurement(small)["metrics"])
    for key in expected:
        assert loaded[key] == expected[key], key
    (large / "run.roast").unlink()
    with pytest.raises(FileNotFoundError, match="Run file not found"):
        load_measurement(large)


def test_the_function_knows_the_run_of_the_metrics(
    collector: MetricsCollector, tmp_path: Path
) -> None:
    path = save_measurement(collector.get_metrics(), 0.0, 1.0, tmp_path, "by hand", {"a": 1})
    assert open_run(path).metrics["total_events"] == 1000
    assert json.loads((path / "config.json").read_text()) == {"a": 1}


def test_whatever_holds_a_run_is_opened(collector: MetricsCollector, tmp_path: Path) -> None:
    path = collector.save_measurement(tmp_path, "m")
    assert open_run(path).path == path / "run.roast"
    (path / "run.roast").unlink()
    assert open_run(path).metrics["total_events"] == 1000
    assert MetricsCollector.from_run(path).get_metrics()["total_events"] == 1000
    logs = Path(__file__).parents[1] / "data" / "vine-logs"
    assert MetricsCollector.from_run(logs).get_metrics()["num_tasks"] > 0
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="directory without a run"):
        open_run(tmp_path / "empty")
    with pytest.raises(FileNotFoundError, match="No such file"):
        open_run(tmp_path / "none")


def test_a_run_file_stands_for_what_a_measurement_lacks(
    collector: MetricsCollector, tmp_path: Path
) -> None:
    path = collector.save_measurement(tmp_path, "m")
    whole = load_measurement(path)
    for name in ("metrics.json", "start_end_time.txt", "metadata.json"):
        (path / name).unlink()
    metrics, t0, t1 = load_measurement(path)
    assert metrics["total_events"] == whole["metrics"]["total_events"]
    assert (t0, t1) == pytest.approx((whole["t0"], whole["t1"]), abs=1e-6)


def test_a_reader_never_sees_half_a_measurement(
    collector: MetricsCollector, tmp_path: Path
) -> None:
    """Two versions are saved in turns under one name while a reader loads it again and again."""
    metrics = dict(collector.get_metrics())
    place = save_measurement({**metrics, "which": 0}, 0.0, 0.0, tmp_path, "m", {"which": 0})
    stop = threading.Event()
    seen: set[int] = set()
    wrong: list[Any] = []

    def read() -> None:
        while not stop.is_set():
            try:
                loaded, _, t1 = load_measurement(place)
            except Exception as error:
                wrong.append(error)
                return
            seen.add(loaded["which"])
            if "total_events" not in loaded:
                wrong.append(t1)

    reader = threading.Thread(target=read)
    reader.start()
    for i in range(30):
        save_measurement({**metrics, "which": i % 2}, 0.0, float(i % 2), tmp_path, "m")
    stop.set()
    reader.join()
    assert wrong == []
    assert seen <= {0, 1}
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


def test_what_cannot_be_written_leaves_nothing(collector: MetricsCollector, tmp_path: Path) -> None:
    """No file may grow any more: what was there before is there still."""
    place = collector.save_measurement(tmp_path, "m")
    before = (place / "metrics.json").read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            collector.save_measurement(tmp_path, "m")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (place / "metrics.json").read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m", "run.roast"]


def test_the_names_are_at_the_top() -> None:
    assert roastcoffea.open_run is open_run
    assert {"open_run", "register_metric", "register_backend"} <= set(roastcoffea.__all__)
