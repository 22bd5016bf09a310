"""Smaller promises of the Dask back end, each on a real cluster."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from analysing import rows
from clusters import local_cluster
from distributed import Client, get_worker
from waiting import until

from roastcoffea import MetricsCollector, track_metrics
from roastcoffea._probe import encode_block
from roastcoffea._roast import Run
from roastcoffea.backends.dask_worker import WorkerProbe

pytestmark = pytest.mark.slow


class Slow:
    """A processor whose chunks take a moment."""

    @track_metrics
    def process(self, events: Any) -> dict[str, Any]:
        time.sleep(0.02)
        return {"n": len(events)}


def die_once(flag: str) -> int:
    """Kill the worker that runs this, but only the first."""
    try:
        os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return os.getpid()
    time.sleep(1.5)  # it is known to run by then
    os.kill(os.getpid(), signal.SIGKILL)
    return 0


def test_what_is_lost_with_a_worker_is_told_without_worker_tracking(
    two_workers: Any, tmp_path: Path
) -> None:
    with MetricsCollector(two_workers, track_workers=False, output_dir=tmp_path) as collector:
        future = two_workers.submit(die_once, str(tmp_path / "flag"), retries=2)
        assert future.result() > 0
    (path,) = tmp_path.glob("*.roast")
    outcomes = rows(path, "SELECT outcome FROM tasks WHERE prefix='die_once' ORDER BY id")
    assert sorted(outcomes) == [(0,), (2,)]
    assert collector.tracking_data is None
    assert rows(path, "SELECT count(*) FROM worker_events") == [(0,)]


def make_bytes(n: int) -> bytes:
    return bytes(n)


def length(data: bytes) -> int:
    return len(data)


def test_bytes_that_a_task_fetched_from_another_worker_are_known(
    client: Any, tmp_path: Path
) -> None:
    here, there = list(client.scheduler_info()["workers"])[:2]
    with MetricsCollector(client, output_dir=tmp_path):
        data = client.submit(make_bytes, 200_000, workers=[here], pure=False)
        assert client.submit(length, data, workers=[there], pure=False).result() == 200_000
    (path,) = tmp_path.glob("*.roast")
    fetched = dict(rows(path, "SELECT prefix, transfer_bytes FROM tasks"))
    assert fetched["make_bytes"] == 0
    assert 200_000 <= fetched["length"] < 201_000


def test_records_that_are_added_within_the_block_do_not_hide_those_that_come(client: Any) -> None:
    own = {"dataset": "by hand", "num_events": 7, "duration": 1.0, "t_start": 0.0, "t_end": 1.0}
    with MetricsCollector(client, processor_instance=Slow()) as collector:
        collector.record_chunk_metrics(own)
        client.gather([client.submit(Slow().process, [i], pure=False) for i in range(4)])
    assert len(collector.chunk_metrics) == 5
    assert [chunk for chunk in collector.chunk_metrics if chunk["dataset"] == "by hand"] == [own]
    collector.record_chunk_metrics(own)
    assert len(collector.chunk_metrics) == 6


def test_an_interval_that_nobody_uses_is_not_judged() -> None:
    MetricsCollector(track_workers=False, worker_tracking_interval=0)
    with pytest.raises(ValueError, match=r"0\.05 to 60"):
        MetricsCollector(worker_tracking_interval=0)


def burn(seconds: float) -> str:
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass
    return str(get_worker().address)


def test_workers_of_one_process_share_its_cpu_time() -> None:
    """The samples of each show the whole process: it counts once."""
    with (
        local_cluster(n_workers=4, processes=False) as cluster,
        Client(cluster) as client,
        MetricsCollector(client, worker_tracking_interval=0.1) as collector,
    ):
        before = time.process_time()
        ran_on = client.gather(client.map(burn, [0.3] * 8, pure=False))
        time.sleep(0.3)
        spent = time.process_time() - before
    collector.set_coffea_report({"entries": 1, "bytesread": 1, "processtime": 1.0, "chunks": 1})
    metrics = collector.get_metrics()
    assert len(set(ran_on)) > 1
    assert metrics["worker_cpu_seconds"] == pytest.approx(spent, rel=0.3)
    assert metrics["avg_cpu_utilization_percent"] <= 100 * os.cpu_count() / 4 + 10  # type: ignore[operator]


def test_cpu_time_is_known_up_to_the_end_of_the_run(client: Any, tmp_path: Path) -> None:
    with MetricsCollector(client, worker_tracking_interval=60, output_dir=tmp_path):
        client.gather(client.map(burn, [0.4, 0.5, 0.6], pure=False))
    (path,) = tmp_path.glob("*.roast")
    metrics = Run.open(str(path)).summary().metrics()
    assert metrics["worker_cpu_seconds"] >= 0.95 * (0.4 + 0.5 + 0.6)


def test_columns_go_by_number_where_the_client_knows_them() -> None:
    known = ("rss_bytes", "dask_executing,dask_managed_bytes")
    probe = WorkerProbe("topic", 1.0, 0, known)
    assert [probe.numbered(columns) for columns in known] == [0, 1]
    assert probe.numbered("of_another_version") == "of_another_version"
    run = Run.create(None)
    blocks = [encode_block([1000], [[1]]), encode_block([1000], [[2], [3]])]
    sent = [(1, blocks[1]), ("of_another_version", blocks[0]), (0, blocks[0])]
    assert run.add_samples("w", sent, known) == 2 * len(blocks[0]) + len(blocks[1])
    assert run.series_names() == {
        "w": ["dask_executing", "dask_managed_bytes", "of_another_version", "rss_bytes"]
    }


@pytest.mark.parametrize(
    "wrong",
    [-1, 2, 1 << 70, None, b"rss_bytes", "a,b", "lone \ud800", "rss_bytes\0x"],
)
def test_samples_with_wrong_columns_are_refused(wrong: Any) -> None:
    run = Run.create(None)
    block = encode_block([1000], [[1]])
    with pytest.raises((TypeError, ValueError, OverflowError)):
        run.add_samples("w", [(0, block), (wrong, block)], ("rss_bytes", "other"))
    assert run.series_names() == {"w": ["rss_bytes"]}


@pytest.mark.parametrize("wrong", [None, 7, [7], [(0,)], [(0, "text")], [[0, b""]], [(0, b"RB")]])
def test_what_are_no_samples_is_refused(wrong: Any) -> None:
    run = Run.create(None)
    with pytest.raises((TypeError, ValueError)):
        run.add_samples("w", wrong, ("rss_bytes",))
    assert run.series_names() == {}


def test_what_the_scheduler_sees_is_of_its_clock() -> None:
    run = Run.create(None)
    run.set_clock("w", 3_600_000_000_000, 0)
    run.set_clock("scheduler", 5_000_000_000, 0)
    run.add_values("dask_occupancy_ms", "scheduler", 60_000, {"w": 1234, "v": 5})
    for worker, value in (("w", 1234), ("v", 5)):
        times, values = (
            [*memoryview(part).cast("q")] for part in run.series(worker, "dask_occupancy_ms")
        )
        assert (times, values) == ([65_000_000_000], [value])
    with pytest.raises(TypeError):
        run.add_values("dask_occupancy_ms", "scheduler", 0, {"w": None})
    with pytest.raises(OverflowError):
        run.add_values("dask_occupancy_ms", "scheduler", 0, {"w": 1 << 64})
    with pytest.raises(ValueError, match="null"):
        run.add_values("dask_occupancy_ms", "scheduler", 0, {"w\0": 1})


def test_values_that_change_the_dict_they_come_in_do_no_harm() -> None:
    class Clearing:
        def __index__(self) -> int:
            values.clear()
            return 7

    run = Run.create(None)
    values: dict[str, Any] = {"worker-" + str(i) * 20: Clearing() for i in range(3)}
    names = sorted(values)
    run.add_values("dask_occupancy_ms", "scheduler", 0, values)
    assert sorted(run.series_names()) == names


def test_a_worker_that_leaves_tells_its_cpu_time_up_to_its_end(
    two_workers: Any, tmp_path: Path
) -> None:
    with MetricsCollector(two_workers, worker_tracking_interval=60, output_dir=tmp_path):
        first, *_ = two_workers.scheduler_info()["workers"]
        two_workers.submit(burn, 0.8, workers=[first]).result()
        two_workers.retire_workers([first], close_workers=True)
        assert until(lambda: len(two_workers.scheduler_info()["workers"]) == 1)
    (path,) = tmp_path.glob("*.roast")
    assert Run.open(str(path)).summary().metrics()["worker_cpu_seconds"] >= 0.95 * 0.8
