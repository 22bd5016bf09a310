"""Predictions held against reality: the demo with 1 and 2 workers and several chunk sizes.

Predictions come from runs with two workers. Runs of every kind take turns, so that a machine that
becomes slower or faster does so for all of them; what is compared are medians, to 15 %.

That is a bound for a machine which repeats itself, and is left to this analysis. Whether it does
is measured: how far the runs of one kind lie apart, and how long a single worker waits for a core
that nobody but another program can have taken. Where it does not, that is said in a warning, and
what was told must agree with what was measured within the intervals of both.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import pytest

import roastcoffea
from roastcoffea import MetricsCollector

ROUNDS = 5
#: Further rounds do not begin later than this; with fewer than three there are no medians.
BUDGET_S = 120
ROUNDS_LEAST = 3
BASE = 20_000
#: (workers, chunk size): what is predicted from (2, BASE)
KINDS = [(1, BASE), (2, 10_000), (2, 20_000), (2, 40_000)]
TOLERANCE = 0.15
#: Share of its time that the only worker may wait for one of several cores
WAITING = 0.1


@dataclass(frozen=True)
class Measured:
    """A run of the demo."""

    path: Path
    elapsed_s: float
    waiting: float


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[int, int], list[Measured]]:
    """Runs by workers and chunk size; the base is among them."""
    from coffea.processor import DaskExecutor, Runner
    from distributed import Client, LocalCluster

    from analysis import DemoSchema, DimuonProcessor
    from make_data import make_data
    from roastcoffea._roast import Run

    directory = tmp_path_factory.mktemp("predict")
    fileset: dict[str, Any] = {}
    # chunks of 4,000 to 25,000 events: what of their time is fixed can be told
    for i, events in enumerate((4_000, 12_000, 30_000, 50_000, 70_000)):
        made = make_data(directory / str(i), files=2, events_per_file=events, seed=i)
        for dataset, entry in made.items():
            fileset.setdefault(dataset, {"files": {}})["files"].update(entry["files"])

    def measure(client: Any, chunksize: int) -> Measured:
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
        run = Run.open(collector.run_path)
        metrics = run.summary().metrics()
        queue, cpu = metrics["chunk_runqueue_seconds"], metrics["chunk_cpu_seconds"]
        elapsed_s = run.facts()["run.elapsed_ns"] / 1e9
        return Measured(collector.run_path, elapsed_s, queue / (queue + cpu))

    local = {"threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "silence_logs": 50}
    found: dict[tuple[int, int], list[Measured]] = {kind: [] for kind in KINDS}
    with (
        LocalCluster(n_workers=1, **local) as one,
        LocalCluster(n_workers=2, **local) as two,
        Client(one) as client_of_one,
        Client(two) as client_of_two,
    ):
        clients = {1: client_of_one, 2: client_of_two}
        for client in clients.values():
            measure(client, BASE)
        begun = time.monotonic()
        for rounds in range(ROUNDS):
            if time.monotonic() - begun > BUDGET_S:
                if rounds < ROUNDS_LEAST:
                    pytest.skip(f"the machine is too slow: {rounds} rounds in {BUDGET_S} s")
                break
            for workers, chunksize in KINDS:
                found[workers, chunksize].append(measure(clients[workers], chunksize))
    return found


def why_not_quiet(runs: dict[tuple[int, int], list[Measured]], kind: tuple[int, int]) -> str:
    """Return what the machine did beside this analysis; nothing on one that repeats itself."""
    waiting = median(run.waiting for run in runs[1, BASE])
    if waiting > WAITING:
        return f"other programs use the cores: a single worker waited for one {waiting:.0%} of time"
    for each in (kind, (2, BASE)):
        took = [run.elapsed_s for run in runs[each]]
        spread = (max(took) - min(took)) / 2 / median(took)
        if spread > TOLERANCE:
            return f"{len(took)} runs of {each} lie {spread:.0%} around their middle"
    return ""


@pytest.mark.timeout(900)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{kind[0]} workers, {kind[1]} events")
def test_a_prediction_comes_true(
    kind: tuple[int, int], runs: dict[tuple[int, int], list[Measured]]
) -> None:
    workers, chunksize = kind
    took = [run.elapsed_s for run in runs[kind]]
    told = [roastcoffea.predict(run.path, workers, chunksize=chunksize)[0] for run in runs[2, BASE]]
    middle = median(row["makespan_s"] for row in told)
    if middle == pytest.approx(median(took), rel=TOLERANCE):
        return
    low, high = median(row["low_s"] for row in told), median(row["high_s"] for row in told)
    words = f"{kind}: told {middle:.2f} s ({low:.2f} to {high:.2f}), took {sorted(took)}"
    reason = why_not_quiet(runs, kind)
    assert reason, words
    warnings.warn(f"{words}; judged by intervals, for {reason}", stacklevel=1)
    assert low <= max(took), words
    assert min(took) <= high, words


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
