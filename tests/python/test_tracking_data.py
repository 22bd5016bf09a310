"""``tracking_data``: all the documented series, on one grid, made when they are looked at."""

from __future__ import annotations

import copy
import json
import pickle
import time
from collections import deque
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from distributed import Client

from roastcoffea import MetricsCollector
from roastcoffea._probe import encode_block
from roastcoffea._roast import Run, utc_times
from roastcoffea.backends.tracking import tracking_data
from roastcoffea.lazy import Later, LazyDict

DOCUMENTED = {
    "worker_counts",
    "worker_memory",
    "worker_memory_limit",
    "worker_active_tasks",
    "worker_cores",
    "worker_nbytes",
    "worker_occupancy",
    "worker_executing",
    "worker_last_seen",
    "worker_cpu",
}
FURTHER = {
    "worker_spilled_bytes",
    "worker_gil_contention",
    "worker_event_loop_lag",
    "worker_host_net_read",
    "worker_host_net_write",
    "worker_host_disk_read",
    "worker_host_disk_write",
}


def contend(dask_worker: Any) -> None:
    """Put a value where Dask's monitor puts that of gilknocker, where it is installed."""
    dask_worker.monitor.quantities["gil_contention"] = deque([0.25])


def relax(dask_worker: Any) -> None:
    del dask_worker.monitor.quantities["gil_contention"]


@pytest.fixture(scope="module")
def tracked(cluster: Any) -> Iterator[tuple[MetricsCollector, datetime, datetime]]:
    with Client(cluster) as client:
        client.run(contend)
        before = datetime.now(UTC).replace(tzinfo=None)
        with MetricsCollector(client, worker_tracking_interval=0.1) as collector:
            client.gather([client.submit(time.sleep, 0.5, pure=False) for _ in range(12)])
        after = datetime.now(UTC).replace(tzinfo=None)
        client.run(relax)
        yield collector, before, after


def test_every_documented_series_has_values_of_every_worker(tracked: Any) -> None:
    data = tracked[0].tracking_data
    assert set(data) == DOCUMENTED | FURTHER
    for key in (DOCUMENTED | FURTHER) - {"worker_counts"}:
        assert len(data[key]) == 2, key
        assert all(data[key].values()), key
    assert set(data["worker_counts"].values()) <= {0, 1, 2}
    assert max(data["worker_counts"].values()) == 2


def test_values_are_in_their_documented_units(tracked: Any) -> None:
    collector, before, after = tracked
    data = collector.tracking_data

    def of(key: str) -> list[Any]:
        return [value for series in data[key].values() for _, value in series]

    assert set(of("worker_cores")) == {1}
    assert all(isinstance(value, int) and value > 1_000_000 for value in of("worker_memory"))
    # a worker has tasks of half a second: one that runs, and sometimes another that is ready
    assert 0.1 < max(of("worker_occupancy")) < 60
    assert max(of("worker_executing")) == 1
    assert set(of("worker_gil_contention")) == {25.0}
    assert all(0 <= value < 60 for value in of("worker_event_loop_lag"))
    assert all(isinstance(value, int) and value >= 0 for value in of("worker_host_disk_write"))
    low, high = (when.replace(tzinfo=UTC).timestamp() for when in (before, after))
    assert all(low - 1 < value < high + 1 for value in of("worker_last_seen"))


def test_all_series_share_the_stamps_of_one_grid(tracked: Any) -> None:
    collector, before, after = tracked
    data = collector.tracking_data
    grid = {id(t): t for t in data["worker_counts"]}
    steps = {b - a for a, b in zip(list(grid.values()), list(grid.values())[1:], strict=False)}
    assert {round(step / timedelta(seconds=0.1)) for step in steps} == {1}
    assert all(before <= t <= after and t.tzinfo is None for t in grid.values())
    for key in set(data) - {"worker_counts"}:
        for series in data[key].values():
            assert {id(t) for t, _ in series} <= set(grid), key


def test_a_series_is_made_when_it_is_looked_at() -> None:
    made: list[str] = []

    def maker(key: str) -> Any:
        def make() -> str:
            made.append(key)
            return key.upper()

        return make

    def fresh() -> LazyDict:
        made.clear()
        return LazyDict({key: Later(maker(key)) for key in ("a", "b")})

    lazy = fresh()
    assert "a" in lazy
    assert "c" not in lazy
    assert lazy.get("c", 3) == 3
    assert (list(lazy), list(lazy.keys()), len(lazy)) == (["a", "b"], ["a", "b"], 2)
    assert made == []
    assert (lazy["a"], lazy.get("a"), made) == ("A", "A", ["a"])
    with pytest.raises(KeyError):
        lazy["c"]
    plain = {"a": "A", "b": "B"}
    assert fresh() == plain
    assert dict(fresh()) == {**fresh()} == plain
    assert json.loads(json.dumps(fresh())) == plain
    assert pickle.loads(pickle.dumps(fresh())) == copy.deepcopy(fresh()) == plain
    assert len(fresh()) == 2
    assert fresh().pop("b") == "B"
    assert sorted(fresh()) == ["a", "b"]
    assert repr(fresh()) == repr(plain)


def test_rates_are_what_a_counter_grew_by() -> None:
    run = Run.create(None)
    second = 1_000_000_000
    counter = [1000, 1500, 1500, 200, 700, -1]  # it begins anew, and once is not known
    block = encode_block([0, 1000, 2000, 3000, 4000, 5000], [counter])
    run.add_series("w", "host_net_recv_bytes", block)
    times = utc_times(0, second, 6)
    rates = run.tracking("worker_host_net_read", 0, second, times)
    assert rates == {"w": [(times[1], 500), (times[2], 0), (times[4], 500)]}
    halves = utc_times(0, 2 * second, 3)
    assert run.tracking("worker_host_net_read", 0, 2 * second, halves) == {"w": [(halves[1], 250)]}


def test_a_run_without_samples_has_empty_series() -> None:
    data = tracking_data(Run.create(None), 0, 2_000_000_000, 1.0)
    assert list(data["worker_counts"].values()) == [0, 0, 0]
    assert all(data[key] == {} for key in data if key != "worker_counts")


@pytest.mark.parametrize("interval", [0, 0.049, 60.1, -1, float("nan")])
def test_an_interval_without_sense_is_refused(interval: float, client: Any) -> None:
    from roastcoffea.backends.dask import DaskMetricsBackend

    with pytest.raises(ValueError, match=r"from 0\.05 to 60"):
        MetricsCollector(client, worker_tracking_interval=interval)
    with pytest.raises(ValueError, match=r"from 0\.05 to 60"):
        DaskMetricsBackend(client).start_tracking(interval)
