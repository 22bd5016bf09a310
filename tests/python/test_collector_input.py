"""Bad input, exceptions and broken clusters: the collector does no harm, and says why."""

from __future__ import annotations

import logging
import math
from pathlib import Path
from typing import Any

import pytest

from roastcoffea import MetricsCollector
from roastcoffea._roast import Run


def metrics_for(client: Any, report: Any, **kwargs: Any) -> Any:
    with MetricsCollector(client, **kwargs) as collector:
        collector.set_coffea_report(report)
    return collector.get_metrics()


@pytest.mark.parametrize(
    ("report", "key", "reason"),
    [
        ({}, "total_events", "the report has no 'entries'"),
        ({"entries": -5}, "total_events", "the report's entries is negative"),
        ({"entries": "many"}, "total_events", "the report's entries is not a number"),
        ({"bytesread": None}, "total_bytes_read", "the report's bytesread is not a number"),
        ({"bytesread": math.nan}, "total_bytes_read", "the report's bytesread is not finite"),
        ({"processtime": [1]}, "total_cpu_time", "the report's processtime is not a number"),
        ({"chunks": 1e400}, "num_chunks", "the report's chunks is not finite"),
    ],
)
def test_what_a_report_does_not_say_is_absent_with_its_reason(
    client: Any, report: Any, key: str, reason: str
) -> None:
    metrics = metrics_for(client, report, track_workers=False)
    assert metrics[key] == 0  # the documented fallback
    assert metrics.absent[key] == reason


def test_parquet_reports_without_bytes_keep_their_events(client: Any) -> None:
    metrics = metrics_for(client, {"entries": 40_000, "processtime": 2.0, "chunks": 4})
    assert metrics["total_events"] == 40_000
    assert metrics["event_rate_cpu_total_khz"] == pytest.approx(20)
    assert "data_rate_gbps" in metrics.absent


def test_numbers_of_numpy_and_absurd_size_are_taken(client: Any) -> None:
    import numpy as np

    metrics = metrics_for(client, {"entries": np.int64(7), "processtime": np.float32(0.5)})
    assert metrics["total_events"] == 7
    assert metrics["total_cpu_time"] == 0.5
    metrics = metrics_for(client, {"entries": 10**30})
    assert metrics["total_events"] >= 0


def test_custom_metrics_replace_the_reports_sums(client: Any) -> None:
    custom = {
        "A": {
            "entries": 10,
            "duration": 1.5,
            "performance_counters": {"num_requested_bytes": 100},
        },
        "B": {"entries": 5, "duration": 0.5},
        "junk": 3,
    }
    with MetricsCollector(client, track_workers=False) as collector:
        collector.set_coffea_report({"entries": 1, "chunks": 2}, custom_metrics=custom)
    metrics = collector.get_metrics()
    assert metrics["total_events"] == 15
    assert metrics["total_cpu_time"] == 2.0
    assert metrics["total_bytes_read"] == 100
    assert metrics["num_chunks"] == 2


def test_a_later_report_replaces_custom_metrics_too(client: Any) -> None:
    with MetricsCollector(client, track_workers=False) as collector:
        collector.set_coffea_report({"entries": 1}, {"A": {"entries": 10, "duration": 1.5}})
        collector.set_coffea_report({"entries": 1, "processtime": 3.0})
    metrics = collector.get_metrics()
    assert metrics["total_events"] == 1
    assert metrics["total_cpu_time"] == 3.0


def test_a_report_that_is_no_mapping_does_no_harm(
    client: Any, caplog: pytest.LogCaptureFixture
) -> None:
    metrics = metrics_for(client, [1, 2, 3])
    assert metrics["total_events"] == 0
    assert "not a mapping" in caplog.text


def test_asking_too_early_is_an_error_that_says_why(client: Any, tmp_path: Path) -> None:
    collector = MetricsCollector(client)
    with pytest.raises(RuntimeError, match="Timing not available"):
        collector.get_metrics()
    with pytest.raises(RuntimeError, match="Cannot save measurement before"):
        collector.save_measurement(tmp_path)
    with collector, pytest.raises(RuntimeError, match="Timing not available"):
        collector.get_metrics()
    with pytest.raises(RuntimeError, match="Coffea report not set"):
        collector.get_metrics()


def test_an_exception_passes_through_and_the_run_is_kept(client: Any, tmp_path: Path) -> None:
    error = ZeroDivisionError("the user's own")
    with (
        pytest.raises(ZeroDivisionError) as caught,
        MetricsCollector(client, output_dir=tmp_path, measurement_name="failed") as collector,
    ):
        raise error
    assert caught.value is error
    facts = Run.open(tmp_path / "failed.roast").facts()
    assert facts["run.outcome"] == "failed"
    assert facts["run.error"] == "ZeroDivisionError: the user's own"
    assert collector.t_end is not None


def test_a_collector_used_twice_measures_the_second_run(client: Any, tmp_path: Path) -> None:
    collector = MetricsCollector(client, output_dir=tmp_path, measurement_name="twice")
    for entries in (5, 7):
        with collector:
            collector.set_coffea_report({"entries": entries})
        assert collector.get_metrics()["total_events"] == entries
    assert len(list(tmp_path.glob("*.roast"))) == 2


def test_entering_twice_at_once_is_refused(client: Any) -> None:
    collector = MetricsCollector(client)
    with collector, pytest.raises(RuntimeError, match="already collecting"):
        collector.__enter__()


def test_an_unwritable_directory_does_not_stop_the_analysis(
    client: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("in the way")
    with caplog.at_level(logging.WARNING):
        metrics = metrics_for(client, {"entries": 3}, output_dir=tmp_path / "file" / "runs")
    assert metrics["total_events"] == 3
    assert "kept in memory" in caplog.text


def test_a_dead_scheduler_does_not_hide_the_users_exception(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    from clusters import local_cluster
    from distributed import Client

    def lose_the_cluster() -> None:
        with (
            local_cluster(n_workers=1) as cluster,
            Client(cluster) as client,
            MetricsCollector(client, output_dir=tmp_path, measurement_name="dead"),
        ):
            cluster.close()
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        lose_the_cluster()
    assert Run.open(tmp_path / "dead.roast").facts()["run.outcome"] == "failed"
