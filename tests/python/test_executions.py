"""Records and tasks of one chunk within moments: each attempt counts once, on real clusters."""

from __future__ import annotations

import contextlib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from analysing import rows, runner
from clusters import local_cluster
from distributed import Client

from analysis import DimuonProcessor
from roastcoffea import MetricsCollector, track_metrics


class FailsAtOnce(DimuonProcessor):
    """Fails at one chunk, at every attempt, after no time at all."""

    @track_metrics
    def process(self, events: Any) -> Any:
        metadata = events.metadata
        if metadata["dataset"] == "TTbar" and metadata["entrystart"] == 4_000:
            raise ArithmeticError("one chunk is bad")
        return {"events": len(events)}


def test_every_fast_retry_of_a_chunk_counts_once(
    client: Any, small_fileset: Any, tmp_path: Path
) -> None:
    with MetricsCollector(client, output_dir=tmp_path) as collector, contextlib.suppress(Exception):
        runner(client, retries=3)(small_fileset, FailsAtOnce())
    metrics = collector.summary().metrics()
    assert metrics["num_failed_chunks"] == 4
    assert metrics["num_retried_chunks"] == 1
    assert not collector.summary().estimated().get("num_failed_chunks")
    (path,) = tmp_path.glob("*.roast")
    assert rows(path, "SELECT count(*), count(DISTINCT execution) FROM chunk WHERE outcome=1") == [
        (4, 4)
    ]
    # every record has its task, of the same worker
    assert rows(
        path,
        "SELECT count(*) FROM chunk LEFT JOIN task USING (execution, worker_text)"
        " WHERE task.id IS NULL",
    ) == [(0,)]


class FailsFirst(DimuonProcessor):
    """Fails at the first attempt at each chunk."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder

    @track_metrics
    def process(self, events: Any) -> Any:
        metadata = events.metadata
        flag = self.folder / f"{metadata['dataset']}-{metadata['entrystart']}"
        if not flag.exists():
            flag.touch()
            raise ArithmeticError("not yet")
        return {"events": len(events)}


def test_chunks_that_fail_once_each_have_one_failure_each(
    client: Any, small_fileset: Any, tmp_path: Path
) -> None:
    with MetricsCollector(client, output_dir=tmp_path) as collector:
        output, _ = runner(client, retries=3)(small_fileset, FailsFirst(tmp_path))
    metrics = collector.summary().metrics()
    n = metrics["num_successful_chunks"]
    assert n == 6
    assert metrics["total_events_from_chunks"] == output["events"]
    assert metrics["num_failed_chunks"] == n
    assert metrics["num_retried_chunks"] == n
    attempts = Counter((c["attempt"], c["outcome"]) for c in collector.chunk_metrics)
    assert attempts == {(1, "failed"): n, (2, "finished"): n}


class Counts(DimuonProcessor):
    """Counts events while others do the same."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number

    @track_metrics
    def process(self, events: Any) -> Any:
        return {"events": len(events), "number": self.number}


@pytest.mark.parametrize("processes", [True, False])
def test_processors_over_the_same_file_at_the_same_time_count_their_own_events(
    processes: bool, small_fileset: Any, tmp_path: Path
) -> None:
    with (
        local_cluster(1, threads_per_worker=4, processes=processes) as cluster,
        Client(cluster) as client,
        MetricsCollector(client, output_dir=tmp_path) as collector,
        ThreadPoolExecutor(4) as pool,
    ):
        outputs = pool.map(
            lambda number: runner(client, retries=0)(small_fileset, Counts(number)), range(4)
        )
        events = sum(output["events"] for output, _ in outputs)
    metrics = collector.summary().metrics()
    assert metrics["num_chunks"] == metrics["num_successful_chunks"] == 24
    assert metrics["total_events_from_chunks"] == events == 48_000
    assert metrics.get("num_retried_chunks", 0) == 0
    assert not collector.summary().estimated().get("num_chunks")
