"""Measurements: what a collector saves is read back."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest
from analysing import Measured

from roastcoffea import load_measurement, save_measurement
from roastcoffea._roast import Run


def test_a_measurement_comes_back_as_it_was_saved(measured: Measured, tmp_path: Path) -> None:
    collector, _, _ = measured
    path = collector.save_measurement(str(tmp_path), "saved")
    assert path == tmp_path / "saved"
    assert {p.name for p in path.iterdir()} >= {
        "metadata.json", "metrics.json", "run.roast", "start_end_time.txt",
    }  # fmt: skip
    metrics, t0, t1 = measurement = load_measurement(path)
    assert measurement["metrics"] is metrics
    expected = collector.get_metrics()
    assert t1 - t0 == pytest.approx(expected["elapsed_time_seconds"], abs=1e-6)
    for key, value in expected.items():
        if isinstance(value, int | float):
            assert metrics[key] == value, key
    assert metrics["tracking_data"] == expected["tracking_data"]
    assert metrics["raw_span_metrics"] == expected["raw_span_metrics"]
    assert Run.open(path / "run.roast").facts()["run.name"] == "one"


def test_saving_under_an_existing_name_replaces_it(measured: Measured, tmp_path: Path) -> None:
    path = measured[0].save_measurement(tmp_path, "same")
    (path / "metrics.json").write_text("{}")
    assert measured[0].save_measurement(tmp_path, "same") == path
    assert load_measurement(path)["metrics"]["total_events"] == 12_000
    assert [p.name for p in tmp_path.iterdir()] == ["same"]


def test_saving_again_keeps_what_others_put_there(tmp_path: Path) -> None:
    from roastcoffea.export import save_measurement

    path = save_measurement({"total_events": 1}, 0.0, 1.0, tmp_path, "same", config={"a": 1})
    (path / "plots").mkdir()
    (path / "plots" / "rate.png").write_bytes(b"picture")
    link = tmp_path / "link"
    link.symlink_to(path)
    assert save_measurement({"total_events": 2}, 0.0, 1.0, tmp_path, "same") == path
    assert (path / "plots" / "rate.png").read_bytes() == b"picture"
    assert not (path / "config.json").exists()  # it belonged to the measurement before
    assert save_measurement({"total_events": 3}, 0.0, 1.0, tmp_path, "link") == link
    assert link.is_symlink()
    assert load_measurement(path)["metrics"] == {"total_events": 3}
    save_measurement({"total_events": 4}, 0.0, 1.0, tmp_path, ".")
    assert sorted(p.name for p in tmp_path.iterdir() if p.is_dir()) == ["link", "same"]


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        (None, "Measurement directory not found"),
        ("metrics.json", "Metrics file not found"),
        ("start_end_time.txt", "Timing file not found"),
    ],
)
def test_a_measurement_that_lacks_something_says_what(
    measured: Measured, tmp_path: Path, missing: str | None, message: str
) -> None:
    path = measured[0].save_measurement(tmp_path, "m")
    if missing is None:
        path = tmp_path / "nowhere"
    else:
        (path / missing).unlink()
        (path / "run.roast").unlink()  # which tells the same
    with pytest.raises(FileNotFoundError, match=message):
        load_measurement(path)


def test_broken_times_and_broken_json_are_refused(measured: Measured, tmp_path: Path) -> None:
    path = measured[0].save_measurement(tmp_path, "m")
    (path / "start_end_time.txt").write_text("yesterday")
    with pytest.raises(ValueError, match="Invalid timing format"):
        load_measurement(path)
    (path / "metrics.json").write_text("{")
    with pytest.raises(json.JSONDecodeError):
        load_measurement(path)


def test_what_is_no_series_among_the_tracking_data_comes_back_as_it_is(tmp_path: Path) -> None:
    tracking_data = {
        "worker_counts": {"2026-11-15T12:00:00": 2},
        "cores_per_worker": 4,
        "note": {"by": "somebody"},
        "worker_cores": None,
        "limits": {"w": [1, 2]},
    }
    (tmp_path / "metrics.json").write_text(json.dumps({"tracking_data": tracking_data}))
    (tmp_path / "start_end_time.txt").write_text("0.0,1.0")
    loaded = load_measurement(tmp_path)["metrics"]["tracking_data"]
    assert loaded.pop("worker_counts") == {datetime(2026, 11, 15, 12): 2}
    del tracking_data["worker_counts"]
    assert loaded == tracking_data


def test_times_may_be_numbers_of_numpy(tmp_path: Path) -> None:
    path = save_measurement({"total_events": 1}, np.int64(2), np.int64(5), tmp_path, "m")  # type: ignore[arg-type]
    assert load_measurement(path)[1:] == (2.0, 5.0)
    assert json.loads((path / "metadata.json").read_text())["elapsed_time_seconds"] == 3
