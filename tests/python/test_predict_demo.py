"""Predictions held against reality: the demo with 1 and 2 workers and several chunk sizes.

Predictions come from runs with two workers. Runs of every kind take turns, so that a machine that
becomes slower or faster does so for all of them; what is compared are medians.
"""

from __future__ import annotations

import os
from pathlib import Path
from statistics import median
from typing import Any

import pytest

import roastcoffea
from roastcoffea import MetricsCollector

pytestmark = pytest.mark.skipif(
    "ROAST_REALITY" not in os.environ,
    reason="held against a stopwatch: wants a quiet machine, ROAST_REALITY=1 asks for it",
)

ROUNDS = 3
BASE = 20_000
#: (workers, chunk size): what is predicted from (2, BASE)
KINDS = [(1, BASE), (2, 10_000), (2, 20_000), (2, 40_000)]
TOLERANCE = 0.15


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[int, int], list[Path]]:
    """Run files by workers and chunk size; the base is among them."""
    from coffea.processor import DaskExecutor, Runner
    from distributed import Client, LocalCluster

    from analysis import DemoSchema, DimuonProcessor
    from make_data import make_data

    load = os.getloadavg()[0] / len(os.sched_getaffinity(0))
    if load > 3:
        pytest.skip(f"the machine is overloaded: {load:.1f} programs for each core")
    directory = tmp_path_factory.mktemp("predict")
    fileset: dict[str, Any] = {}
    for i, events in enumerate((20_000, 40_000, 60_000, 80_000)):  # of different sizes
        made = make_data(directory / str(i), files=2, events_per_file=events, seed=i)
        for dataset, entry in made.items():
            fileset.setdefault(dataset, {"files": {}})["files"].update(entry["files"])

    def measure(client: Any, chunksize: int) -> Path:
        processor = DimuonProcessor()
        runner = Runner(
            executor=DaskExecutor(client=client, status=False),
            schema=DemoSchema,
            chunksize=chunksize,
            savemetrics=True,
        )
        with MetricsCollector(
            client, processor_instance=processor, output_dir=directory, measurement_name="run"
        ) as collector:
            runner(fileset, processor)
        assert collector.run_path is not None
        return collector.run_path

    local = {"threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "silence_logs": 50}
    found: dict[tuple[int, int], list[Path]] = {kind: [] for kind in KINDS}
    with (
        LocalCluster(n_workers=1, **local) as one,
        LocalCluster(n_workers=2, **local) as two,
        Client(one) as client_of_one,
        Client(two) as client_of_two,
    ):
        clients = {1: client_of_one, 2: client_of_two}
        for client in clients.values():
            measure(client, BASE)
        for _ in range(ROUNDS):
            for workers, chunksize in KINDS:
                found[workers, chunksize].append(measure(clients[workers], chunksize))
    return found


def waited_for_cores(path: Path) -> float:
    """Return which share of their time the chunks of a run had to wait for a core."""
    from roastcoffea._roast import Run

    metrics = Run.open(path).summary().metrics()
    queue, cpu = metrics["chunk_runqueue_seconds"], metrics["chunk_cpu_seconds"]
    return float(queue / (queue + cpu))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{kind[0]} workers, {kind[1]} events")
def test_a_prediction_comes_true(
    kind: tuple[int, int], runs: dict[tuple[int, int], list[Path]]
) -> None:
    from roastcoffea._roast import Run

    waits = [waited_for_cores(path) for paths in runs.values() for path in paths]
    if median(waits) > 0.3:
        pytest.skip(f"the machine is overloaded: chunks waited {median(waits):.0%} for a core")
    workers, chunksize = kind
    took = median(Run.open(path).facts()["run.elapsed_ns"] / 1e9 for path in runs[kind])
    told = median(
        roastcoffea.predict(path, workers, chunksize=chunksize)[0]["makespan_s"]
        for path in runs[2, BASE]
    )
    assert told == pytest.approx(took, rel=TOLERANCE)


def test_a_prediction_says_what_it_assumes(small_fileset: dict[str, Any], client: Any) -> None:
    from coffea.processor import DaskExecutor, Runner

    from analysis import DemoSchema, DimuonProcessor

    runner = Runner(executor=DaskExecutor(client=client, status=False), schema=DemoSchema)
    with MetricsCollector(client) as collector:
        runner(small_fileset, DimuonProcessor())
    forecast = collector.predict([1, 2, 1000], chunksize=3000, deadline=1e6)
    assert [row["workers"] for row in forecast] == [1, 2, 1000]
    assert all(row["low_s"] <= row["makespan_s"] <= row["high_s"] for row in forecast)
    assert forecast[0]["chunks"] == 4
    assert forecast.recommended is not None
    assert forecast.recommended["workers"] == 1
    assert len(forecast.assumptions) >= 4
    for line in (*forecast.assumptions, forecast.advice):
        assert str(line).split()[0] in str(forecast)
    assert "<pre>" in forecast._repr_html_()


def test_what_makes_no_sense_is_refused(small_fileset: dict[str, Any]) -> None:
    from roastcoffea._roast import Run

    run = Run.create(None)
    with pytest.raises(ValueError, match="not both"):
        roastcoffea.predict(run, deadline=1, cost=1)
    with pytest.raises(ValueError, match="fail rate"):
        roastcoffea.predict(run, fail_rate=2)
    with pytest.raises(ValueError, match="chunksize"):
        roastcoffea.predict(run, chunksize=-1)
    with pytest.raises(Exception, match="no chunk"):
        roastcoffea.predict(run, 2)
