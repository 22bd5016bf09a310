"""Files behind servers: a real XRootD and a plain HTTP, the figures those of the local files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import remote
from coffea.processor import DaskExecutor, IterativeExecutor, Runner

from analysis import DemoSchema, DimuonProcessor
from make_data import make_data
from roastcoffea import MetricsCollector

pytestmark = pytest.mark.slow

Fileset = dict[str, dict[str, Any]]

# What must not depend on where the files are
METRICS = (
    "total_events",
    "total_bytes_read",
    "num_chunks",
    "bytes_requested",
    "bytes_needed",
    "bytes_needed_again",
    "chunks_cutting_baskets",
    "tree_branches",
    "tree_bytes",
    "touched_branches",
    "touched_bytes",
    "request_amplification",
    "border_amplification",
)


class Servers(NamedTuple):
    """The demo's files, and where they are served."""

    local: Fileset
    root: str
    http: str


@pytest.fixture(scope="module")
def servers() -> Iterator[Servers]:
    with ExitStack() as stack:
        folder = stack.enter_context(remote.public_folder())
        local = make_data(folder, files=2, events_per_file=3_000, basket_events=700)
        yield Servers(
            local,
            stack.enter_context(remote.xrootd(folder)),
            stack.enter_context(remote.http(folder)),
        )


def served(fileset: Fileset, base: str) -> Fileset:
    """Return the same files under a server's names."""
    return {
        dataset: {
            **spec,
            "files": {f"{base}/{Path(path).name}": tree for path, tree in spec["files"].items()},
        }
        for dataset, spec in fileset.items()
    }


def measure(fileset: Fileset, executor: Any, where: Any) -> dict[str, Any]:
    processor = DimuonProcessor()
    runner = Runner(executor=executor, schema=DemoSchema, chunksize=1_000, savemetrics=True)
    with MetricsCollector(where, processor_instance=processor) as collector:
        output, report = runner(fileset, processor)
        collector.extract_metrics_from_output(output)
    collector.set_coffea_report(report)
    return collector.get_metrics()


def iteratively(fileset: Fileset) -> dict[str, Any]:
    executor = IterativeExecutor(status=False)
    return measure(fileset, executor, executor)


@pytest.fixture(scope="module")
def local(servers: Servers) -> dict[str, Any]:
    return iteratively(servers.local)


def by_name(files: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return what is known of files by their base names, without what depends on the way there."""
    way = {"name", "wall_s", "bytes_kernel_read", "bytes_storage_read", "kernel_amplification"}
    return {
        Path(row["name"]).name: {
            key: value
            for key, value in {**row, **row["bytes"]}.items()
            if key not in (*way, "bytes")
        }
        for row in files
    }


def assert_same(metrics: dict[str, Any], local: dict[str, Any], scheme: str) -> None:
    assert {key: metrics[key] for key in METRICS} == {key: local[key] for key in METRICS}
    assert all(row["name"].startswith(scheme) for row in metrics["files"])
    assert by_name(metrics["files"]) == by_name(local["files"])
    assert metrics["branches"] == local["branches"]
    assert sorted(metrics["file_read_metrics"].values(), key=str) == sorted(
        local["file_read_metrics"].values(), key=str
    )


def test_the_local_run_reads_what_it_needs(local: dict[str, Any]) -> None:
    assert local["request_amplification"] == 1.0
    assert local["chunks_cutting_baskets"] == 4  # 1,000 and 2,000 of two files: no multiple of 700
    assert 0 < local["bytes_needed_again"] < local["bytes_needed"]
    assert local["bytes_kernel_read"] >= local["bytes_requested"]


@pytest.mark.parametrize("scheme", ["root", "http"])
def test_figures_of_remote_files_are_those_of_local_ones(
    servers: Servers, local: dict[str, Any], scheme: str
) -> None:
    base: str = getattr(servers, scheme)
    metrics = iteratively(served(servers.local, base))
    assert_same(metrics, local, f"{scheme}://")


def test_workers_read_from_the_server(servers: Servers, local: dict[str, Any], client: Any) -> None:
    fileset = served(servers.local, servers.root)
    executor = DaskExecutor(client=client, status=False)
    metrics = measure(fileset, executor, client)
    assert_same(metrics, local, "root://")
    assert metrics["kernel_amplification"] >= 1.0  # what came over the wire is among it
