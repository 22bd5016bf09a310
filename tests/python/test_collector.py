"""The collector around a real coffea run on a real cluster: workflow level."""

from __future__ import annotations

import inspect
import json
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from analysing import Measured, analyse
from coffea.processor import DaskExecutor, FuturesExecutor, IterativeExecutor, Runner

import coffea_metrics
import roastcoffea
from analysis import DemoSchema, DimuonProcessor
from roastcoffea import MetricsCollector
from roastcoffea._roast import Run
from roastcoffea.backends import register_backend, unregister_backend
from roastcoffea.backends.base import AbstractMetricsBackend

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


# ---- the file cannot be written ----------------------------------------------------------------


def test_a_run_whose_directory_is_removed_is_measured_to_its_end(
    client: Any, small_fileset: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    directory = tmp_path / "runs"
    with MetricsCollector(client, output_dir=directory, measurement_name="gone") as collector:
        shutil.rmtree(directory)
        output, report = analyse(client, small_fileset, DimuonProcessor())
        collector.extract_metrics_from_output(output)
        collector.set_coffea_report(report)
    warnings = [r.getMessage() for r in caplog.records if r.levelname == "WARNING"]
    assert len([text for text in warnings if str(directory / "gone.roast") in text]) == 1
    metrics = collector.get_metrics()
    assert metrics["num_successful_chunks"] == report["chunks"]
    assert metrics["avg_workers"] == pytest.approx(2)
    assert metrics["time_ledger"]
    assert not directory.exists()
    saved = collector.save_measurement(tmp_path, "kept")
    assert Run.open(saved / "run.roast").summary().metrics()["total_events"] == 12_000


FULL = """
import json, logging, pathlib, resource, sys, time
from distributed import Client
from slow import Slow, work
from roastcoffea import MetricsCollector

address, directory, when = sys.argv[1:]
texts = []
handler = logging.Handler()
handler.emit = lambda record: texts.append(record.getMessage())
logging.getLogger("roastcoffea").addHandler(handler)
limit = lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
with Client(address) as client:
    collector = MetricsCollector(client, processor_instance=Slow(), output_dir=directory)
    limit(8192) if when == "before" else None  # the file is made, and cannot hold the first facts
    with collector:
        limit(8192) if when == "at once" else None
        work(client, 4)
        while when == "later" and len(collector.chunk_metrics) < 4:
            time.sleep(0.1)
        collector.run.commit() if when == "later" else None
        limit(8192)
        work(client, 4)
        time.sleep(1.5)  # a commit fails meanwhile
        collector.set_coffea_report({"entries": 8, "chunks": 8, "processtime": 0.4})
    limit(resource.RLIM_INFINITY)
    metrics = collector.get_metrics()
    collector.summary()
answer = {key: metrics.get(key) for key in ("wall_time", "total_events", "avg_workers")}
answer["reasons"] = {**metrics.absent, **metrics.estimated}
answer["chunks"] = len(collector.chunk_metrics)
answer["files"] = [path.name for path in pathlib.Path(directory).iterdir()]
answer["told"] = [text for text in texts if "disk I/O error" in text]
answer["faults"] = metrics.get("monitoring_faults")
print(json.dumps(answer))
"""


@pytest.mark.parametrize("when", ["before", "at once", "later"])
def test_a_full_disk_costs_what_was_not_written_and_one_warning(
    when: str, client: Any, tmp_path: Path
) -> None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", FULL, client.scheduler.address, str(tmp_path), when]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["wall_time"] > 1.5
    assert answer["total_events"] == 8
    assert len(answer["told"]) == 1
    if when == "before":
        assert answer["files"] == []
        assert "kept in memory" in answer["told"][0]
        assert answer["faults"] == 1
        assert answer["chunks"] == 8
        assert answer["avg_workers"] == pytest.approx(2)
    elif when == "later":
        assert answer["chunks"] == 4
        assert answer["avg_workers"] == pytest.approx(2)
        assert "could not be written" in answer["reasons"]["avg_workers"]
    else:
        assert answer["chunks"] == 0
        assert answer["avg_workers"] is None
        assert answer["reasons"]["avg_workers"]


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
