"""Metrics that users register: in the dict, the tables, JSON and the saved run."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from roastcoffea import MetricsCollector, load_measurement, register_metric
from roastcoffea.aggregation.core import MetricsAggregator
from roastcoffea.custom import unregister_metric
from roastcoffea.metrics import registry

REPORT = {"bytesread": 5_000_000, "entries": 1000, "processtime": 8.0, "chunks": 4}
ROAST = Path(sys.executable).parent / "roast"


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    register_metric(
        "events_per_chunk",
        "events",
        lambda metrics: metrics["total_events"] / metrics["num_chunks"],
        better="more",
        title="Events per Chunk",
    )
    register_metric("spent", "s", lambda metrics: 90)
    yield
    for key in ("events_per_chunk", "spent", "broken"):
        unregister_metric(key)


def collect(directory: Path) -> MetricsCollector:
    with MetricsCollector(output_dir=directory, measurement_name="run") as collector:
        collector.set_coffea_report(REPORT)
    return collector


def shown(path: Path) -> Any:
    result = subprocess.run(
        [ROAST, "show", "--format", "json", path], capture_output=True, text=True, check=True
    )
    return json.loads(result.stdout)


def test_it_is_everywhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    collector = collect(tmp_path)
    metrics = collector.get_metrics()
    assert metrics["events_per_chunk"] == 250
    assert metrics["spent"] == 90
    collector.print_summary()
    printed = capsys.readouterr().out
    assert "Custom Metrics" in printed
    assert "Events per Chunk" in printed
    assert "1m 30s" in printed  # a known unit is shown as such
    assert collector.run_path is not None
    saved = shown(collector.run_path)
    assert saved["metrics"]["events_per_chunk"] == 250
    assert saved["custom"]["events_per_chunk"] == {
        "title": "Events per Chunk",
        "unit": "events",
        "better": "more",
    }
    assert saved["custom"]["spent"]["better"] == "neutral"
    rows = next(table for table in saved["tables"] if table["name"] == "custom")["rows"]
    assert [row["text"] for row in rows] == ["250 events", "1m 30s"]


def test_it_stays_with_the_run_when_nobody_registers_it(tmp_path: Path) -> None:
    collector = collect(tmp_path)
    place = collector.save_measurement(tmp_path, "m")
    unregister_metric("events_per_chunk")
    assert collector.run_path is not None
    again = MetricsCollector.from_run(collector.run_path).get_metrics()
    assert again["events_per_chunk"] == 250
    assert again.custom["events_per_chunk"]["unit"] == "events"
    assert load_measurement(place)["metrics"]["events_per_chunk"] == 250


def test_it_follows_what_is_given_later(tmp_path: Path) -> None:
    collector = collect(tmp_path)
    collector.set_coffea_report({**REPORT, "entries": 4000})
    assert collector.get_metrics()["events_per_chunk"] == 1000
    assert collector.run_path is not None
    assert shown(collector.run_path)["metrics"]["events_per_chunk"] == 1000


def test_what_cannot_be_computed_is_absent_for_that_reason(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(metrics: Any) -> float:
        raise ZeroDivisionError("no muons")

    register_metric("broken", "", fail)
    with caplog.at_level(logging.WARNING):
        collector = collect(tmp_path)
    assert "no muons" in caplog.text
    metrics = collector.get_metrics()
    assert "broken" not in metrics
    assert metrics.absent["broken"] == "ZeroDivisionError: no muons"
    assert collector.run_path is not None
    assert shown(collector.run_path)["absent"]["broken"] == "ZeroDivisionError: no muons"


@pytest.mark.parametrize("result", [None, float("nan"), float("inf"), "many", [1]])
def test_what_is_no_finite_number_is_absent(result: Any) -> None:
    register_metric("broken", "", lambda metrics: result)
    metrics = MetricsAggregator("dask").aggregate(REPORT, None, 0.0, 4.0)
    assert "broken" not in metrics
    assert metrics.absent["broken"]
    assert metrics["events_per_chunk"] == 250


def test_without_a_report_it_is_computed_from_what_is_known(tmp_path: Path) -> None:
    register_metric("broken", "s", lambda metrics: 2 * metrics["elapsed_time_seconds"])
    with MetricsCollector(output_dir=tmp_path, measurement_name="run") as collector:
        pass
    assert collector.run_path is not None
    known = shown(collector.run_path)["metrics"]
    assert known["broken"] == pytest.approx(2 * known["elapsed_time_seconds"])


def test_names_and_directions_are_checked() -> None:
    for key in ("", "a b", "a.b", "1st", "total_events", "wall_time"):
        with pytest.raises(ValueError, match="metric"):
            register_metric(key, "", lambda metrics: 1)
    with pytest.raises(ValueError, match="better"):
        register_metric("broken", "", lambda metrics: 1, better="faster")
    with pytest.raises(TypeError, match="callable"):
        register_metric("broken", "", 1)  # type: ignore[arg-type]
    assert "broken" not in {row[0] for row in registry()}
