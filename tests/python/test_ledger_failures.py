"""The ledger of what goes wrong, on real clusters: files, chunks, workers and clients that fail."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from analysing import Plain, copy_files, rows, runner
from waiting import until

from analysis import DimuonProcessor
from roastcoffea import MetricsCollector, track_metrics
from roastcoffea._roast import Run

pytestmark = pytest.mark.slow

# ---- files and chunks --------------------------------------------------------------------------


def test_a_file_that_vanished_is_skipped_with_its_identity(
    client: Any, small_fileset: Any, tmp_path: Path
) -> None:
    fileset = copy_files(small_fileset, tmp_path)
    run = runner(client, retries=0, skipbadfiles=True)
    items = list(run.preprocess(fileset))
    bad = next(name for name in fileset["TTbar"]["files"])
    os.unlink(bad)  # between preprocessing and processing
    with MetricsCollector(client, output_dir=tmp_path) as collector:
        output, _ = run(items, Plain())
    assert output["events"] == 6_000
    metrics = collector.summary().metrics()
    assert metrics["num_chunks"] == 6
    assert metrics["num_successful_chunks"] == 3
    assert metrics["num_failed_chunks"] == metrics["num_skipped_chunks"] == 3
    (path,) = tmp_path.glob("*.roast")
    skipped = rows(path, "SELECT dataset, file, entry_start FROM tasks WHERE outcome=3 ORDER BY 3")
    assert skipped == [("TTbar", bad, start) for start in (0, 2_000, 4_000)]


def test_a_file_that_does_not_open_fails_with_its_identity_and_error(
    client: Any, small_fileset: Any, tmp_path: Path
) -> None:
    fileset = copy_files(small_fileset, tmp_path)
    run = runner(client, retries=0)
    items = list(run.preprocess(fileset))
    bad = next(name for name in fileset["TTbar"]["files"])
    os.unlink(bad)
    with (
        pytest.raises(Exception, match="Failed to open file"),
        MetricsCollector(client, output_dir=tmp_path),
    ):
        run(items, Plain())
    (path,) = tmp_path.glob("*.roast")
    failed = rows(
        path, "SELECT DISTINCT dataset, file, error_type, error_message FROM tasks WHERE outcome=1"
        " AND entry_start IS NOT NULL",
    )  # fmt: skip
    assert [(dataset, file, kind) for dataset, file, kind, _ in failed] == [
        ("TTbar", bad, "FileNotFoundError")
    ]
    assert Path(bad).name in failed[0][3]


class AlwaysFails(DimuonProcessor):
    @track_metrics
    def process(self, events: Any) -> Any:
        metadata = events.metadata
        if metadata["dataset"] == "TTbar" and metadata["entrystart"] == 4_000:
            time.sleep(1)  # the others have finished by then
            raise ArithmeticError("one chunk is bad")
        return {"events": len(events)}


def failure_of(client: Any, fileset: Any) -> tuple[type, Any]:
    """Return how an analysis fails, and let Dask forget it.

    A client keeps the error of a future for as long as the future is there, and an error that was
    raised keeps the future, in the frames of its traceback. What has the same name is not computed
    again meanwhile: with old versions of Dask a second run has the names of the first.
    """
    with pytest.raises(Exception, match="one chunk is bad") as raised:
        runner(client, retries=1)(fileset, AlwaysFails())
    error: BaseException | None = raised.value
    while error is not None:
        error.__traceback__, error = None, error.__cause__ or error.__context__
    failure = raised.type, raised.value.args
    del raised
    assert until(lambda: gc.collect() >= 0 and not client.futures)
    return failure


def test_a_chunk_that_always_fails_fails_as_without_us_and_loses_no_other_record(
    client: Any, small_fileset: Any, tmp_path: Path
) -> None:
    without = failure_of(client, small_fileset)
    with MetricsCollector(client, output_dir=tmp_path) as collector:
        assert failure_of(client, small_fileset) == without
    (path,) = tmp_path.glob("*.roast")
    with sqlite3.connect(path) as database:
        records = Counter(o for (o,) in database.execute("SELECT outcome FROM chunks"))
    assert records == {0: 5, 1: 2}  # every other chunk's record, and both failures
    failed = rows(
        path,
        "SELECT attempt, error_type, error_message, dataset, entry_start FROM tasks"
        " WHERE outcome=1 AND prefix='AlwaysFails' ORDER BY start_utc_ns",
    )
    assert [row[1:] for row in failed] == [
        ("ArithmeticError", "one chunk is bad", "TTbar", 4_000)
    ] * 2
    metrics = collector.summary().metrics()
    assert metrics["num_successful_chunks"] == 5
    assert metrics["num_failed_chunks"] == 2
    assert metrics["num_retried_chunks"] == 1
    attempts = [c for c in collector.chunk_metrics if c["outcome"] == "failed"]
    assert sorted(c["attempt"] for c in attempts) == [1, 2]


class Killer(DimuonProcessor):
    def __init__(self, flag: Path) -> None:
        super().__init__()
        self.flag = flag

    def look(self, events: Any) -> Any:
        metadata = events.metadata
        if metadata["dataset"] == "TTbar" and not self.flag.exists():
            with contextlib.suppress(FileExistsError), self.flag.open("x") as file:
                print(metadata["entrystart"], file=file, flush=True)
                time.sleep(1.2)  # a heartbeat has told that it runs
                os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(0.2)
        return {"events": len(events)}


class DecoratedKiller(Killer):
    @track_metrics
    def process(self, events: Any) -> Any:
        return self.look(events)


class UndecoratedKiller(Killer):
    def process(self, events: Any) -> Any:
        return self.look(events)


@pytest.mark.parametrize("kind", [DecoratedKiller, UndecoratedKiller])
def test_chunks_lost_with_a_killed_worker_are_told_and_where_they_were_redone(
    kind: Any, two_workers: Any, small_fileset: Any, tmp_path: Path
) -> None:
    flag = tmp_path / "killed"
    with MetricsCollector(two_workers, output_dir=tmp_path) as collector:
        output, report = runner(two_workers)(small_fileset, kind(flag))
        collector.extract_metrics_from_output(output)
        collector.set_coffea_report(report)
    killed_at = int(flag.read_text())
    assert output["events"] == report["entries"] == 12_000
    metrics = collector.get_metrics()
    attempts = list(collector.chunk_metrics)
    lost = [a for a in attempts if a["outcome"] == "lost"]
    finished = [a for a in attempts if a["outcome"] == "finished"]
    assert metrics["num_lost_chunks"] == len(lost) >= 1
    assert metrics["num_successful_chunks"] == len(finished) == report["chunks"]
    assert metrics["total_events_from_chunks"] == report["entries"]
    assert metrics["num_retried_chunks"] == len(lost)

    def chunk(attempt: Any) -> tuple[Any, ...]:
        return (attempt["dataset"], attempt["file"], attempt["entry_start"])

    (dead,) = {a["worker"] for a in lost}  # one worker died
    redone = {chunk(a): a for a in finished}
    for attempt in lost:
        again = redone[chunk(attempt)]
        assert again["worker"] != dead
        assert again["attempt"] == 2
        assert attempt["attempt"] == 1
    assert ("TTbar", killed_at) in {(a["dataset"], a["entry_start"]) for a in lost}
    (path,) = tmp_path.glob("*.roast")
    ((start, stop),) = rows(
        path,
        "SELECT start_utc_ns, stop_utc_ns FROM tasks WHERE outcome=2 AND dataset='TTbar' AND"
        f" entry_start={killed_at}",
    )
    assert 1e9 < stop - start < 30e9  # when it began is known from the worker's last word
    ledger = metrics["time_ledger"]
    for row in ledger.values():
        assert sum(row.values()) == pytest.approx(metrics["elapsed_time_seconds"], rel=1e-9)
    assert ledger[dead]["gone"] > 0
    assert ledger[dead]["processor_cpu"] + ledger[dead]["processor_wait"] > 1  # what was lost
    # no task of the run was left out, whoever ran it
    merged = rows(path, "SELECT count(*) FROM tasks WHERE prefix='reduce' AND outcome=0")
    assert merged[0][0] >= 1


# ---- the client dies ---------------------------------------------------------------------------

CLIENT = """
import sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[4])
from coffea.processor import DaskExecutor, ProcessorABC, Runner
from distributed import Client
from analysis import DemoSchema
from roastcoffea import MetricsCollector, track_metrics

class Slow(ProcessorABC):
    @track_metrics
    def process(self, events):
        time.sleep(0.2)
        return {"events": len(events)}
    def postprocess(self, accumulator):
        return accumulator

def main():
    import json
    fileset = json.loads(Path(sys.argv[2]).read_text())
    with Client(sys.argv[1]) as client, MetricsCollector(client, output_dir=sys.argv[3]) as c:
        receive = client._event_handlers[c.metrics_backend.topic]
        seen = open(Path(sys.argv[3]) / "received", "w")
        def noting(event):
            receive(event)
            for _ in [message for message in event[1] if message[0] == "chunks"]:
                print(time.time(), file=seen, flush=True)
        client._event_handlers[c.metrics_backend.topic] = noting
        print("begun", flush=True)
        Runner(DaskExecutor(client=client, status=False), schema=DemoSchema, chunksize=200,
               savemetrics=True)(fileset, Slow())

if __name__ == "__main__":
    main()
"""


def test_a_killed_client_leaves_a_run_with_what_it_had_received(
    two_workers: Any, small_fileset: Any, tmp_path: Path
) -> None:
    (tmp_path / "fileset.json").write_text(json.dumps(small_fileset))
    script = tmp_path / "client.py"
    script.write_text(CLIENT)
    address = two_workers.scheduler.address
    arguments = [
        address,
        tmp_path / "fileset.json",
        tmp_path,
        Path(__file__).parents[2] / "examples",
    ]
    with subprocess.Popen(
        [sys.executable, script, *arguments], stdout=subprocess.PIPE, text=True
    ) as client:
        assert client.stdout is not None
        assert client.stdout.readline() == "begun\n"
        received = tmp_path / "received"
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            time.sleep(0.1)
            times = [float(line) for line in received.read_text().split()]
            if sum(t < time.time() - 1.5 for t in times) >= 5:
                break
        client.send_signal(signal.SIGKILL)
        killed = time.time()
        client.wait()
    early = sum(t < killed - 1.5 for t in times)
    assert early >= 5
    (path,) = tmp_path.glob("*.roast")
    summary = Run.open(path).summary()
    assert summary.metrics()["num_chunks"] >= early
    assert rows(path, "SELECT count(*) FROM tasks WHERE prefix='Slow'")[0][0] >= 1


class Counted(Plain):
    @track_metrics
    def process(self, events: Any) -> Any:
        return super().process(events)


def linger(flag: str) -> str:
    from distributed import get_worker

    if not Path(flag).exists():
        Path(flag).write_text(get_worker().address)
        time.sleep(30)  # longer than a worker that closes waits for its tasks
    return get_worker().address


def test_a_task_on_a_worker_that_retires_is_lost_and_redone(
    two_workers: Any, tmp_path: Path
) -> None:
    flag = tmp_path / "begun"
    with MetricsCollector(two_workers) as collector:
        future = two_workers.submit(linger, str(flag))
        assert until(flag.exists)
        time.sleep(1.2)  # a heartbeat has told that it runs
        retired = flag.read_text()
        two_workers.retire_workers([retired])
        assert future.result(timeout=60) != retired
    metrics = collector.summary().metrics()
    assert metrics["num_lost_tasks"] == 1
    assert metrics["num_tasks"] == 1
    assert metrics["num_task_attempts"] == 2


@pytest.mark.timeout(120)
def test_what_runs_when_the_client_restarts_the_workers_is_lost_and_what_follows_is_followed(
    two_workers: Any, small_fileset: Any, tmp_path: Path
) -> None:
    flag = tmp_path / "begun"
    with MetricsCollector(two_workers, worker_tracking_interval=0.1) as collector:
        before, _ = runner(two_workers)(small_fileset, Counted())
        future = two_workers.submit(linger, str(flag))
        assert until(flag.exists)
        time.sleep(1.2)  # a heartbeat has told that it runs
        two_workers.restart(timeout=60)
        assert future.cancelled()
        assert two_workers.submit(linger, str(flag)).result(timeout=60) != flag.read_text()
        after, report = runner(two_workers)(small_fileset, Counted())
        collector.set_coffea_report(report)
    metrics = collector.get_metrics()
    assert metrics["num_lost_tasks"] == 1
    assert metrics["num_lost_chunks"] == 0
    assert metrics["num_successful_chunks"] == 2 * report["chunks"]
    assert metrics["total_events_from_chunks"] == before["events"] + after["events"]
    workers = metrics["time_ledger"]
    assert len(workers) == 4
    assert workers[flag.read_text()]["overhead"] > 1, "what was lost took its time"
    assert 0 < metrics["avg_workers"] <= metrics["peak_workers"] == 2
    assert metrics["monitoring_faults"] == 0
