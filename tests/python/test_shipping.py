"""Workers and a scheduler that do not have roastcoffea get it from the collector."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import cloudpickle
import pytest
from analysing import analyse
from distributed import Client

from roastcoffea import MetricsCollector
from roastcoffea.backends import shipping

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def bare_environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The installed packages without roastcoffea: a directory of links to all others."""
    import numpy

    site_packages = Path(numpy.__file__).parents[1]
    bare = tmp_path_factory.mktemp("bare")
    for entry in site_packages.iterdir():
        if not entry.name.startswith(("roastcoffea", "coffea_metrics", "_roast")):
            (bare / entry.name).symlink_to(entry)
    return bare


def start(packages: str, *command: str) -> subprocess.Popen[bytes]:
    """Start an interpreter of the system, with these packages on its path only."""
    examples = Path(__file__).resolve().parents[2] / "examples"
    environment = {**os.environ, "PYTHONPATH": f"{packages}:{examples}", "PYTHONNOUSERSITE": "1"}
    interpreter = Path(sys.base_prefix) / "bin" / "python3"
    return subprocess.Popen(
        [str(interpreter), "-m", "distributed.cli." + command[0], *command[1:]],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


@contextmanager
def cluster_with(packages: str, tmp_path: Path) -> Iterator[tuple[Client, Any]]:
    """A scheduler and two workers that have these packages, and a way to add another."""
    file = tmp_path / "scheduler.json"
    processes = [
        start(packages, "dask_scheduler", "--scheduler-file", str(file), "--port", "0",
              "--dashboard-address", "127.0.0.1:0", "--host", "127.0.0.1")
    ]  # fmt: skip

    def add_worker() -> None:
        processes.append(
            start(packages, "dask_worker", "--scheduler-file", str(file),
                  "--nthreads", "1", "--no-dashboard", "--local-directory", str(tmp_path))
        )  # fmt: skip

    try:
        add_worker()
        add_worker()
        deadline = time.monotonic() + 60
        while not file.exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        with Client(scheduler_file=str(file), timeout=60) as client:
            client.wait_for_workers(2, timeout=60)
            yield client, add_worker
    finally:
        for process in reversed(processes):
            process.terminate()
        for process in processes:
            process.wait(timeout=30)


@pytest.fixture
def bare_client(bare_environment: Path, tmp_path: Path) -> Iterator[tuple[Client, Any]]:
    """A cluster without roastcoffea."""
    with cluster_with(str(bare_environment), tmp_path) as cluster:
        yield cluster


def test_another_roastcoffea_gives_way(
    bare_environment: Path, small_fileset: Any, tmp_path: Path
) -> None:
    from analysis import DimuonProcessor

    def protocol() -> Any:
        from roastcoffea import collecting

        return getattr(collecting, "PROTOCOL", None)

    other = tmp_path / "other" / "roastcoffea"
    other.mkdir(parents=True)
    (other / "__init__.py").touch()
    (other / "collecting.py").write_text("PROTOCOL = -1\n")
    with cluster_with(f"{other.parent}:{bare_environment}", tmp_path) as (client, _):
        assert set(client.run(protocol).values()) == {-1}
        processor = DimuonProcessor()
        with MetricsCollector(client, worker_tracking_interval=0.1) as collector:
            output, report = analyse(client, small_fileset, processor, chunksize=1_000)
            collector.extract_metrics_from_output(output)
            collector.set_coffea_report(report)
    metrics = collector.get_metrics()
    assert len(metrics["tracking_data"]["worker_memory"]) == 2
    assert metrics["num_successful_chunks"] == 12
    assert not collector.metrics_backend.faults


def test_an_environment_without_the_package_is_measured_all_the_same(
    bare_client: tuple[Client, Any], small_fileset: Any, tmp_path: Path
) -> None:
    from analysis import DimuonProcessor

    def can_import() -> bool:
        from importlib.util import find_spec

        return find_spec("roastcoffea") is not None

    client, add_worker = bare_client
    assert not any(client.run(can_import).values())
    processor = DimuonProcessor()
    with MetricsCollector(
        client,
        processor_instance=processor,
        worker_tracking_interval=0.1,
        output_dir=tmp_path,
        measurement_name="bare",
    ) as collector:
        add_worker()
        client.wait_for_workers(3, timeout=60)
        output, report = analyse(client, small_fileset, processor, chunksize=1_000)
        collector.extract_metrics_from_output(output)
        collector.set_coffea_report(report)
    metrics = collector.get_metrics()
    assert metrics["total_events"] == report["entries"] == 12_000
    assert metrics["peak_workers"] == 3
    assert len(metrics["tracking_data"]["worker_memory"]) == 3
    assert metrics["num_successful_chunks"] == 12
    assert metrics["total_events_from_chunks"] == 12_000


def test_collectors_that_begin_at_once_do_not_disturb_each_other() -> None:
    module = shipping.__name__
    with ExitStack() as first:
        first.enter_context(shipping._by_value())
        with shipping._by_value():
            first.close()
            assert module in cloudpickle.list_registry_pickle_by_value()
    assert module not in cloudpickle.list_registry_pickle_by_value()
