"""What several test files need: small ROOT files, a real cluster, a real analysis."""

from __future__ import annotations

import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from analysing import Measured

#: Of the demo's branches those that the tests read, and a few more
BRANCHES = re.compile(r"run|luminosityBlock|event|genWeight|PV_npvs|(MET|HLT_IsoMu)\w+|[A-Z][a-z]+")
FIELDS = (
    *("pt", "eta", "phi", "mass", "charge"),
    *("mediumId", "pfRelIso04_all", "jetId", "btagDeepFlavB"),
)
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
sys.path.insert(0, str(EXAMPLES))  # worker processes inherit it
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell lets its background ignore it


@pytest.fixture(scope="session")
def small_fileset(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Two datasets, a file of 6,000 events each, with few branches: opening a tree takes coffea a
    millisecond for each of them, in every chunk.
    """
    import make_data

    def few(*arguments: Any) -> dict[str, Any]:
        columns = whole(*arguments)
        for name in [name for name in columns if not BRANCHES.fullmatch(name)]:
            del columns[name]
        for name in ("Muon", "Electron", "Jet"):
            columns[name] = columns[name][[f for f in columns[name].fields if f in FIELDS]]
        return columns

    whole = make_data.batch
    directory = tmp_path_factory.mktemp("small")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(make_data, "batch", few)
        return make_data.make_data(directory, files=2, events_per_file=6_000, basket_events=1_500)


@pytest.fixture
def sink() -> Iterator[list[bytes]]:
    """Collect what is emitted in this process."""
    from roastcoffea import collecting

    emitted: list[bytes] = []
    collecting.add_sink("test", emitted.append)
    yield emitted
    collecting.remove_sink("test")


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    """A LocalCluster of two worker processes that the whole session shares."""
    from clusters import local_cluster

    with local_cluster() as cluster:
        yield cluster


@pytest.fixture
def client(cluster: Any) -> Iterator[Any]:
    """A client of the shared cluster."""
    from distributed import Client

    with Client(cluster) as client:
        yield client


@pytest.fixture
def two_workers() -> Iterator[Any]:
    """A client of a cluster that may be maltreated."""
    from clusters import local_cluster
    from distributed import Client

    with (
        local_cluster() as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="session")
def measured(
    cluster: Any, small_fileset: Any, tmp_path_factory: pytest.TempPathFactory
) -> Measured:
    """One run under the collector; the client is gone when the tests look at it."""
    from analysing import analyse
    from distributed import Client

    from analysis import DimuonProcessor
    from roastcoffea import MetricsCollector

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
