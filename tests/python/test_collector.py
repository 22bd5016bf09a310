"""The collector around a real coffea run on a real cluster: workflow level."""

from __future__ import annotations

import inspect
import json
import logging
import math
import os
import signal
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from coffea.processor import DaskExecutor, FuturesExecutor, IterativeExecutor, Runner

import coffea_metrics
import roastcoffea
from analysis import DemoSchema, DimuonProcessor
from roastcoffea import MetricsCollector, load_measurement, track_metrics
from roastcoffea._roast import Run
from roastcoffea.backends import register_backend, unregister_backend
from roastcoffea.backends.base import AbstractMetricsBackend

CHUNKSIZE = 2_000


def analyse(client: Any, fileset: Any, processor: Any) -> tuple[Any, dict[str, Any]]:
    runner = Runner(
        executor=DaskExecutor(client=client, status=False),
        schema=DemoSchema,
        chunksize=CHUNKSIZE,
        savemetrics=True,
    )
    output, report = runner(fileset, processor)
    return output, report


@pytest.fixture(scope="module")
def measured(
    cluster: Any, small_fileset: Any, tmp_path_factory: pytest.TempPathFactory
) -> tuple[MetricsCollector, dict[str, Any], Path]:
    """One run under the collector; the client is gone when the tests look at it."""
    from distributed import Client

    directory = tmp_path_factory.mktemp("runs")
    processor = DimuonProcessor()
    with Client(cluster) as client:
        collector = MetricsCollector(
            client,
            processor_instance=processor,
            worker_tracking_interval=0.1,
            output_dir=directory,
            measurement_name="one",
        )
        with collector:
            output, report = analyse(client, small_fileset, processor)
            collector.extract_metrics_from_output(output)
            collector.set_coffea_report(report)
    return collector, report, directory


Measured = tuple[MetricsCollector, dict[str, Any], Path]


# ---- figures -----------------------------------------------------------------------------------


def test_volumes_are_those_of_coffeas_report(measured: Measured) -> None:
    collector, report, _ = measured
    metrics = collector.get_metrics()
    assert metrics["total_events"] == report["entries"] == 12_000
    assert metrics["total_bytes_read"] == report["bytesread"]
    assert metrics["num_chunks"] == report["chunks"] == 6
    assert metrics["total_cpu_time"] == report["processtime"]


def test_rates_follow_their_formulas(measured: Measured) -> None:
    collector, report, _ = measured
    metrics = collector.get_metrics()
    assert collector.t_start is not None
    assert collector.t_end is not None
    elapsed = collector.t_end - collector.t_start
    cores = metrics["total_cores"]
    expected = {
        "elapsed_time_seconds": elapsed,
        "data_rate_gbps": report["bytesread"] * 8 / 1e9 / elapsed,
        "data_rate_mb_per_s": report["bytesread"] / 1e6 / elapsed,
        "event_rate_elapsed_khz": report["entries"] / elapsed / 1000,
        "event_rate_cpu_total_khz": report["entries"] / report["processtime"] / 1000,
        "event_rate_core_khz": report["entries"] / (elapsed * cores) / 1000,
        "event_rate_core_hz": report["entries"] / (elapsed * cores),
        "avg_cpu_time_per_chunk": report["processtime"] / report["chunks"],
    }
    for key, value in expected.items():
        assert metrics[key] == pytest.approx(value, rel=1e-8), key


def test_other_names_give_the_same_figures(measured: Measured) -> None:
    metrics = measured[0].get_metrics()
    assert metrics["wall_time"] == metrics["elapsed_time_seconds"]
    assert metrics["overall_rate_gbps"] == metrics["data_rate_gbps"]
    assert metrics["processor_noncpu_time_seconds"] == metrics["processor_io_wait_time_seconds"]


def test_workers_and_fine_metrics_are_seen(measured: Measured) -> None:
    collector, _, _ = measured
    metrics = collector.get_metrics()
    assert metrics["peak_workers"] == 2
    assert metrics["avg_workers"] == pytest.approx(2, abs=0.2)
    assert metrics["total_cores"] == pytest.approx(2, abs=0.2)
    assert metrics["peak_memory_bytes"] > 50e6
    assert metrics["processor_cpu_time_seconds"] > 0
    assert metrics["processor_cpu_percent"] + metrics["processor_io_wait_percent"] == pytest.approx(
        100
    )
    tracking = metrics["tracking_data"]
    assert max(tracking["worker_counts"].values()) == 2
    assert len(tracking["worker_memory"]) == len(tracking["worker_cpu"]) == 2
    assert all(
        0 <= value < 1000 for series in tracking["worker_cpu"].values() for _, value in series
    )
    assert set(tracking) >= {
        "worker_active_tasks", "worker_cores", "worker_counts", "worker_cpu", "worker_executing",
        "worker_last_seen", "worker_memory", "worker_memory_limit", "worker_nbytes",
        "worker_occupancy",
    }  # fmt: skip


def test_metrics_are_there_after_the_cluster_is_gone(measured: Measured) -> None:
    assert measured[0].get_metrics()["data_rate_gbps"] > 0


def test_the_other_package_name_gives_the_same_objects() -> None:
    assert coffea_metrics.MetricsCollector is MetricsCollector
    assert coffea_metrics.track_metrics is roastcoffea.track_metrics
    assert coffea_metrics.track_section is roastcoffea.track_section


# ---- the run file ------------------------------------------------------------------------------


def test_the_run_file_is_one_private_file(measured: Measured) -> None:
    collector, _, directory = measured
    assert collector.run_path == directory / "one.roast"
    assert [path.name for path in directory.iterdir()] == ["one.roast"]
    assert stat.S_IMODE(collector.run_path.stat().st_mode) == 0o600


def test_the_run_file_holds_the_same_figures(measured: Measured) -> None:
    collector, _, directory = measured
    again = Run.open(directory / "one.roast").summary().metrics()
    for key, value in again.items():
        assert collector.get_metrics()[key] == value, key


def test_the_run_file_answers_sql(measured: Measured) -> None:
    with sqlite3.connect(f"file:{measured[2]}/one.roast?mode=ro", uri=True) as connection:
        facts = dict(connection.execute("SELECT name, value FROM facts"))
    assert facts["report.entries"] == 12_000
    assert facts["run.outcome"] == "finished"
    assert facts["env.coffea"]


def test_a_name_that_is_taken_is_not_overwritten(client: Any, tmp_path: Path) -> None:
    for _ in range(3):
        with MetricsCollector(client, output_dir=tmp_path, measurement_name="x"):
            pass
    assert sorted(p.name for p in tmp_path.iterdir()) == ["x-2.roast", "x-3.roast", "x.roast"]


def test_a_run_can_be_read_while_it_lasts(client: Any, tmp_path: Path) -> None:
    with MetricsCollector(client, output_dir=tmp_path, measurement_name="live") as collector:
        collector.run.commit()
        assert collector.run_path is not None
        facts = Run.open(collector.run_path).facts()
        assert facts["run.name"] == "live"
        assert "run.end_utc_ns" not in facts
        collector.print_summary()


# ---- measurements ------------------------------------------------------------------------------


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


# ---- bad input ---------------------------------------------------------------------------------


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
    from distributed import Client, LocalCluster

    def lose_the_cluster() -> None:
        with (
            LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster,
            Client(cluster) as client,
            MetricsCollector(client, output_dir=tmp_path, measurement_name="dead"),
        ):
            cluster.close()
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        lose_the_cluster()
    assert Run.open(tmp_path / "dead.roast").facts()["run.outcome"] == "failed"


# ---- arguments ---------------------------------------------------------------------------------


def test_the_signature_is_the_documented_one() -> None:
    parameters = list(inspect.signature(MetricsCollector).parameters.values())
    assert [(p.name, p.default) for p in parameters[1:5]] == [
        ("backend", "dask"),
        ("track_workers", True),
        ("worker_tracking_interval", 1.0),
        ("processor_instance", None),
    ]
    assert [p.kind for p in parameters[:5]] == [inspect.Parameter.POSITIONAL_OR_KEYWORD] * 5
    assert [p.name for p in parameters[5:]] == [
        "output_dir",
        "measurement_name",
        "progress",
        "serve",
    ]
    assert {p.kind for p in parameters[5:]} == {inspect.Parameter.KEYWORD_ONLY}


@pytest.mark.parametrize("executor", [FuturesExecutor(), IterativeExecutor()])
def test_an_executor_without_a_client_is_followed_locally(
    executor: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with MetricsCollector(executor, tmp_path) as collector:
        pass
    assert collector.backend == "local"
    assert collector.client is None
    assert collector.output_dir == tmp_path
    assert not caplog.records


class Sampled(AbstractMetricsBackend):
    """A back end that knows nothing of runs, as the advanced page describes one."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def start_tracking(self, interval: float) -> None:
        self.interval = interval

    def stop_tracking(self) -> dict[str, Any]:
        return {
            "worker_counts": {0.0: 2, 1.0: 2},
            "worker_cores": {"a": [(0.0, 4), (1.0, 4)], "b": [(0.0, 4), (1.0, 4)]},
        }

    def create_span(self, name: str) -> Any:
        return None

    def get_span_metrics(self, span_info: Any) -> dict[Any, Any]:
        return {}

    def supports_fine_metrics(self) -> bool:
        return False


def test_a_registered_back_end_brings_its_own_samples() -> None:
    register_backend("sampled", Sampled)
    try:
        with MetricsCollector("anything", "sampled") as collector:
            collector.set_coffea_report({"entries": 8, "processtime": 1.0})
        assert collector.metrics_backend.interval == 1.0  # type: ignore[attr-defined]
        metrics = collector.get_metrics()
        assert metrics["avg_workers"] == 2
        assert metrics["total_cores"] == 8
        assert metrics["core_efficiency"] is not None
        with pytest.raises(TypeError, match="callable"):
            register_backend("sampled", None)  # type: ignore[arg-type]
    finally:
        unregister_backend("sampled")
    with pytest.raises(ValueError, match="Unsupported backend: sampled"):
        MetricsCollector("anything", backend="sampled")


def test_an_executor_brings_its_client(client: Any, tmp_path: Path) -> None:
    collector = MetricsCollector(DaskExecutor(client=client), tmp_path)
    assert collector.client is client
    assert collector.output_dir == tmp_path
    assert collector.backend == "dask"


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda c: MetricsCollector(c, backend="slurm"), ValueError, "Unsupported backend: slurm"),
        (lambda c: MetricsCollector(None), ValueError, "client cannot be None"),
        (lambda c: MetricsCollector(c, worker_tracking_interval=0), ValueError, "0.05 to 60"),
        (lambda c: MetricsCollector(c, "dask", True, 1.0, None, 6), TypeError, "positional"),
    ],
)
def test_arguments_without_sense_are_refused(
    client: Any, make: Callable[[Any], Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        make(client)


def test_positional_arguments_are_those_of_the_documents(client: Any) -> None:
    processor = DimuonProcessor()
    collector = MetricsCollector(client, "dask", False, 0.5, processor)
    assert (collector.backend, collector.track_workers) == ("dask", False)
    assert (collector.worker_tracking_interval, collector.processor_instance) == (0.5, processor)
    assert collector.processor_name == "DimuonProcessor"


def test_without_a_client_the_local_back_end_is_used(small_fileset: Any) -> None:
    with MetricsCollector() as collector:
        runner = Runner(
            executor=IterativeExecutor(status=False), schema=DemoSchema, savemetrics=True
        )
        _, report = runner(small_fileset, DimuonProcessor())
        collector.set_coffea_report(report)
    assert collector.backend == "local"
    assert collector.get_metrics()["total_events"] == 12_000


# ---- the cluster is left as it was found -------------------------------------------------------


def test_nothing_is_left_behind_on_the_cluster(client: Any) -> None:
    def look(dask_scheduler: Any) -> tuple[list[str], list[str]]:
        names = [name for name in dask_scheduler.plugins if "roastcoffea" in name]
        return names, [n for n in dask_scheduler.worker_plugins if "roastcoffea" in n]

    def topics(dask_scheduler: Any) -> list[str]:
        return list(dask_scheduler._broker._topics)

    def worker_plugins(dask_worker: Any) -> list[str]:
        return [name for name in dask_worker.plugins if "roastcoffea" in name]

    with MetricsCollector(client):
        assert client.run_on_scheduler(look)[0]
        assert all(client.run(worker_plugins).values())
    assert client.run_on_scheduler(look) == ([], [])
    assert not any(client.run(worker_plugins).values())
    assert not [topic for topic in client._event_handlers if "roastcoffea" in topic]
    assert not [topic for topic in client.run_on_scheduler(topics) if "roastcoffea" in topic]


# ---- cost of importing -------------------------------------------------------------------------


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = (
        "import sys; before = set(sys.modules); import roastcoffea;"
        "print(*sorted(set(sys.modules) - before))"
    )
    imported = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert imported == ["__future__", "roastcoffea"]


def test_importing_the_package_costs_no_more_than_json() -> None:
    def beyond_start(module: str) -> float:
        code = (
            "import sys, time; t = time.process_time_ns();"
            f"import {module}; print(time.process_time_ns() - t)"
        )
        return min(int(subprocess.check_output([sys.executable, "-c", code])) for _ in range(15))

    assert beyond_start("roastcoffea") <= 1.5 * beyond_start("json")


# ---- chunk records reach the run -----------------------------------------------------------------


def test_chunk_records_are_in_the_metrics(measured: Measured) -> None:
    collector, report, _ = measured
    metrics = collector.get_metrics()
    assert metrics["num_successful_chunks"] == report["chunks"]
    assert metrics["num_failed_chunks"] == 0
    assert metrics["total_events_from_chunks"] == report["entries"]
    assert metrics["chunk_duration_min"] <= metrics["chunk_duration_mean"]
    assert len(collector.chunk_metrics) == report["chunks"]
    assert {chunk["dataset"] for chunk in collector.chunk_metrics} == {"DYJets", "TTbar"}


def test_a_section_counts_its_time_once(measured: Measured) -> None:
    collector, report, _ = measured
    sections = {section["name"]: section for section in collector.summary().sections()}
    jets = sections["jet kinematics"]  # tracked for time, memory and bytes
    assert jets["count"] == jets["chunks"] == report["chunks"]
    durations = sum(chunk["duration"] for chunk in collector.chunk_metrics)
    assert 0 < sum(section["total_s"] for section in sections.values()) < durations


def test_a_record_that_comes_by_event_and_in_the_output_counts_once(
    client: Any, small_fileset: Any
) -> None:
    with MetricsCollector(client) as collector:  # no processor given: collected all the same
        output, report = analyse(client, small_fileset, DimuonProcessor())
        before = len(collector.chunk_metrics)
        collector.extract_metrics_from_output(output)
        collector.set_coffea_report(report)
    assert before == len(collector.chunk_metrics) == report["chunks"]
    assert "__roastcoffea_metrics__" not in output


def test_without_worker_tracking_chunks_are_recorded_all_the_same(
    client: Any, small_fileset: Any
) -> None:
    with MetricsCollector(client, track_workers=False) as collector:
        _, report = analyse(client, small_fileset, DimuonProcessor())
        collector.set_coffea_report(report)
    assert collector.get_metrics()["num_successful_chunks"] == report["chunks"]
    assert "avg_workers" not in collector.get_metrics()


@pytest.mark.parametrize("executor", [IterativeExecutor, FuturesExecutor])
def test_local_executors_collect_without_a_processor(executor: Any, small_fileset: Any) -> None:
    processor = DimuonProcessor()
    with MetricsCollector() as collector:
        runner = Runner(
            executor=executor(status=False), schema=DemoSchema, chunksize=2_000, savemetrics=True
        )
        output, report = runner(small_fileset, processor)
        collector.extract_metrics_from_output(output)
        collector.set_coffea_report(report)
    assert collector.get_metrics()["num_successful_chunks"] == report["chunks"] == 6
    assert "ROAST_COLLECT" not in os.environ


def test_the_metrics_references_standard_pattern_works(small_fileset: Any, tmp_path: Path) -> None:
    processor_instance = DimuonProcessor()
    runner = Runner(executor=IterativeExecutor(status=False), schema=DemoSchema, savemetrics=True)
    with MetricsCollector(output_dir=tmp_path) as mc:
        _, report = runner(small_fileset, processor_instance)
        mc.set_coffea_report(report)
        mc.set_chunk_metrics(processor_instance._chunk_metrics)
    assert mc.get_metrics()["num_successful_chunks"] == report["chunks"]
    mc.set_chunk_metrics([])
    assert len(mc.chunk_metrics) == report["chunks"]


def test_a_chunk_that_always_fails_leaves_everything_else_in_the_run(
    client: Any, small_fileset: Any, tmp_path: Path
) -> None:
    class Failing(DimuonProcessor):
        @track_metrics
        def process(self, events: Any) -> Any:
            if events.metadata["entrystart"] == 0 and events.metadata["dataset"] == "TTbar":
                raise ArithmeticError("one chunk is bad")
            return DimuonProcessor.process(self, events)

    with (
        pytest.raises(Exception, match="one chunk is bad"),
        MetricsCollector(client, output_dir=tmp_path, measurement_name="bad") as collector,
    ):
        analyse(client, small_fileset, Failing())
    failed = [chunk for chunk in collector.chunk_metrics if chunk["outcome"] == "failed"]
    assert failed
    assert {chunk["error_type"] for chunk in failed} == {"ArithmeticError"}
    assert collector.summary().metrics()["num_failed_chunks"] == len(failed)


def test_a_killed_worker_loses_chunks_and_the_sums_still_agree(
    small_fileset: Any, tmp_path: Path
) -> None:
    from distributed import Client, LocalCluster

    flag = tmp_path / "killed"

    class Killer(DimuonProcessor):
        @track_metrics
        def process(self, events: Any) -> Any:
            metadata = events.metadata
            if metadata["dataset"] == "TTbar" and metadata["entrystart"] and not flag.exists():
                flag.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return {"events": len(events)}

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=50
        ) as cluster,
        Client(cluster) as client,
        MetricsCollector(client, worker_tracking_interval=0.1) as collector,
    ):
        output, report = analyse(client, small_fileset, Killer())
        collector.extract_metrics_from_output(output)
        collector.set_coffea_report(report)
    assert flag.exists()
    metrics = collector.get_metrics()
    assert output["events"] == report["entries"] == 12_000
    assert metrics["num_lost_chunks"] >= 1
    assert metrics["total_events_from_chunks"] == report["entries"]
    assert metrics["num_successful_chunks"] == report["chunks"]
    lost = [chunk for chunk in collector.chunk_metrics if chunk["outcome"] == "lost"]
    assert {chunk["dataset"] for chunk in lost} <= {"DYJets", "TTbar"}
    assert metrics["peak_workers"] >= 2


def test_the_documented_shapes_of_chunks_are_in_the_metrics(measured: Measured) -> None:
    collector, report, _ = measured
    metrics = collector.get_metrics()
    assert set(metrics["per_dataset"]) == {"DYJets", "TTbar"}
    assert sum(d["total_events"] for d in metrics["per_dataset"].values()) == report["entries"]
    assert metrics["sections"]["jet kinematics"]["count"] == report["chunks"]
    assert len(metrics["chunk_info"]) == report["chunks"]
    # the report also counts what was read to open the files
    assert 0 < sum(info[2] for info in metrics["chunk_info"].values()) < report["bytesread"]
    assert len(metrics["file_read_metrics"]) == len(metrics["compression_ratios"]) == 2
    assert 0 < metrics["avg_bytes_read_percent"] < 100
    assert metrics["raw_chunk_metrics"] is collector.chunk_metrics


def test_secrets_of_urls_do_not_reach_the_run(client: Any, tmp_path: Path) -> None:
    message = "cannot open root://me:pw@site//store/f.root?authz=SECRET&x=1"
    with (
        pytest.raises(OSError, match="SECRET"),
        MetricsCollector(client, output_dir=tmp_path, measurement_name="secret"),
    ):
        raise OSError(message)
    content = (tmp_path / "secret.roast").read_bytes()
    assert b"SECRET" not in content
    assert b"me:pw" not in content
    assert b"site//store/f.root" in content


# ---- what is looked at early, or put there by hand ---------------------------------------------


def chunk_record(start: int) -> dict[str, Any]:
    return {
        "file": "a.root",
        "entry_start": start,
        "entry_stop": start + 10,
        "t_start": 1.0,
        "t_end": 2.0,
        "duration": 1.0,
        "num_events": 10,
        "dataset": "A",
    }


class Counting:
    func = staticmethod(len)  # not a partial, for all that

    @track_metrics
    def process(self, events: Any) -> dict[str, int]:
        return {"n": len(events)}


def test_records_that_are_looked_at_early_do_not_hide_later_ones() -> None:
    collector = MetricsCollector()
    assert collector.chunk_metrics == []
    output = Counting().process([1, 2])  # nobody collects yet
    assert output == {"n": 2}
    with collector:
        assert len(collector.chunk_metrics) == 0
        collector.extract_metrics_from_output(Counting().process([1, 2]))
        assert len(collector.chunk_metrics) == 1
        collector.extract_metrics_from_output(Counting().process([1, 2, 3]))
        assert len(collector.chunk_metrics) == 2
        collector.set_coffea_report({"entries": 5})
    assert len(collector.chunk_metrics) == 2
    assert collector.get_metrics()["num_chunks"] == 2


def test_a_report_that_is_set_before_the_block_counts() -> None:
    collector = MetricsCollector()
    collector.set_coffea_report({"entries": 5, "bytesread": 8, "processtime": 1.0, "chunks": 1})
    with collector:
        pass
    assert collector.get_metrics()["total_events"] == 5
    assert collector.get_metrics()["total_bytes_read"] == 8


def test_a_collector_that_was_never_entered_takes_figures_by_hand(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(RuntimeError, match="Timing not available"):
        MetricsCollector().print_summary()
    collector = MetricsCollector()
    collector.t_start, collector.t_end = 1.0, 3.0
    collector.set_coffea_report({"entries": 4000, "bytesread": 0, "processtime": 1.0, "chunks": 1})
    collector.record_chunk_metrics(chunk_record(0))
    assert collector.get_metrics()["event_rate_elapsed_khz"] == 2.0
    assert collector.get_metrics()["num_successful_chunks"] == 1
    collector.print_summary()
    assert "2.0 kHz" in capsys.readouterr().out
    saved = load_measurement(collector.save_measurement(tmp_path))
    assert saved["metrics"]["total_events"] == 4000
    assert saved["t1"] - saved["t0"] == 2.0
    collector.metrics = None
    monkeypatch.setattr(collector.aggregator, "aggregate", lambda *args, **kwargs: None)
    with pytest.raises(RuntimeError, match="Metrics aggregation failed"):
        collector.get_metrics()


@pytest.mark.parametrize("value", [5, "text", {"a": 1}, None])
def test_what_is_no_list_stays_in_the_output(value: Any, caplog: pytest.LogCaptureFixture) -> None:
    output = {"__roastcoffea_metrics__": value}
    with MetricsCollector() as collector:
        collector.extract_metrics_from_output(output)
    assert output == {"__roastcoffea_metrics__": value}
    assert "Metrics not a list" in caplog.text
    assert list(collector.chunk_metrics) == []


class Odd:
    def __contains__(self, key: object) -> bool:
        raise ValueError("the truth value of this is ambiguous")


def test_outputs_with_rules_of_their_own_are_left_alone() -> None:
    with MetricsCollector() as collector:
        collector.extract_metrics_from_output(Odd())
        assert list(collector.chunk_metrics) == []
        frozen = MappingProxyType({"__roastcoffea_metrics__": [chunk_record(0)]})
        collector.extract_metrics_from_output(frozen)
    assert len(collector.chunk_metrics) == 1


class Freezing(dict[str, Any]):
    frozen = False

    def __setitem__(self, key: str, value: Any) -> None:
        if self.frozen:
            raise TypeError("frozen")
        super().__setitem__(key, value)


class Freezer(Counting):
    @track_metrics
    def process(self, events: Any) -> dict[str, Any]:
        return Freezing(n=len(events))

    def postprocess(self, accumulator: Any) -> Any:
        accumulator.frozen = True
        return accumulator


def test_a_postprocess_that_freezes_its_output_is_no_error() -> None:
    with MetricsCollector():
        output = Freezer().process([1, 2])
        assert "__roastcoffea_metrics__" in output
        result = Freezer().postprocess(output)
    assert result is output
    assert result == {"n": 2}


def test_records_are_appended_to_the_list_that_is_there() -> None:
    collector = MetricsCollector()
    records = collector.chunk_metrics
    collector.record_chunk_metrics(chunk_record(0))
    collector.record_chunk_metrics(chunk_record(10))
    assert collector.chunk_metrics is records
    assert records == [chunk_record(0), chunk_record(10)]


def test_records_given_by_hand_are_not_called_absent() -> None:
    collector = MetricsCollector()
    with collector:
        collector.record_chunk_metrics(chunk_record(0))
        collector.record_chunk_metrics(chunk_record(10))
        collector.set_coffea_report({"entries": 20})
    metrics = collector.get_metrics()
    assert metrics["num_successful_chunks"] == 2
    assert "num_successful_chunks" not in metrics.absent
    assert "chunk_duration_mean" not in metrics.absent


def test_fine_metrics_without_a_processor_are_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    collector = MetricsCollector()
    with collector:
        collector.span_metrics = {("execute", "X", "thread-cpu", "seconds"): 1.0}
        collector.set_coffea_report({})
    assert "Fine metrics" in caplog.text


def test_faults_of_a_run_are_not_those_of_the_next(tmp_path: Path) -> None:
    place = tmp_path / "file"
    place.write_text("not a directory")
    collector = MetricsCollector(output_dir=place)
    with collector:
        pass
    assert collector.run.facts()["run.faults"] == 1
    collector.output_dir = None
    with collector:
        pass
    assert collector.run.facts()["run.faults"] == 0


def test_the_processor_is_named_after_its_class() -> None:
    assert MetricsCollector(processor_instance=Counting()).processor_name == "Counting"
    assert MetricsCollector(processor_instance=len).processor_name == type(len).__name__
    assert MetricsCollector().processor_name is None


def test_faults_of_the_monitor_on_workers_are_counted_and_shown(
    client: Any, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    def go_wrong() -> None:
        from roastcoffea import collecting

        collecting.note_fault("a test", ValueError("on purpose"))

    client.run(go_wrong)  # before the run: not this run's
    with MetricsCollector(client) as collector:
        client.run(go_wrong)
        collector.set_coffea_report({})
    assert collector.get_metrics()["monitoring_faults"] == 2
    assert "on the workers: a test: 2 faults" in caplog.text
    collector.print_summary()
    assert "Monitoring Faults" in capsys.readouterr().out
