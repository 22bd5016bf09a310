"""What following a cluster costs others, and what several workers of a process tell together."""

from __future__ import annotations

import sys
import time
from types import SimpleNamespace
from typing import Any

import pytest
from distributed import Client, LocalCluster

from roastcoffea import MetricsCollector
from roastcoffea.backends import dask_scheduler
from roastcoffea.backends.dask_scheduler import SpanWatch


class Chain:
    """Tasks of another client, each of which waits for the one before it."""

    def __init__(self, n: int, group: str, wanted_by: str) -> None:
        self.looks = 0
        self.tasks = [
            SimpleNamespace(group=group, dependents=set(), who_wants=None, number=i)
            for i in range(n)
        ]
        for i, task in enumerate(self.tasks[:-1]):
            task.dependents = [self.tasks[i + 1]]
        self.tasks[-1].who_wants = (SimpleNamespace(client_key=wanted_by),)


def counting(watch: SpanWatch) -> list[Any]:
    """Let a watch count the tasks that it looks at."""
    looked = []
    is_wanted = watch.is_wanted
    watch.is_wanted = lambda task: looked.append(task) or is_wanted(task)  # type: ignore[method-assign, func-returns-value]
    return looked


def test_tasks_of_another_client_are_soon_left_alone() -> None:
    chain = Chain(5_000, "theirs", wanted_by="client-other")
    watch = SpanWatch(SimpleNamespace(tasks={}), "client-me")  # type: ignore[arg-type]
    looked = counting(watch)
    for task in chain.tasks:
        watch.note(task)
    assert len(looked) == dask_scheduler.TRIES_MAX
    assert not watch.ours


def test_tasks_that_the_client_waits_for_are_its_own() -> None:
    chain = Chain(dask_scheduler.STEPS_MAX, "mine", wanted_by="client-me")
    watch = SpanWatch(SimpleNamespace(tasks={}), "client-me")  # type: ignore[arg-type]
    looked = counting(watch)
    for task in chain.tasks:
        watch.note(task)
    assert watch.ours == {"mine"}
    assert len(looked) == 1


@pytest.mark.timeout(120)
def test_watching_counts_once_when_another_worker_of_the_process_goes_on_telling(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from roastcoffea.backends import dask_worker

    spent_ns = 0

    class Probe:
        """The probe, with a watcher that takes what the test says."""

        def __getattr__(self, name: str) -> Any:
            return getattr(real, name)

        def watcher_cpu_ns(self) -> int:
            return spent_ns

    real = dask_worker._probe
    monkeypatch.setattr(dask_worker, "_probe", Probe())
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0"
        ) as cluster,
        Client(cluster) as client,
    ):
        with MetricsCollector(client, worker_tracking_interval=0.05) as collector:
            topic = next(iter(dask_worker._probes))
            first, second = dask_worker._probes[topic]
            spent_ns = 5_000_000_000
            first.sample()
            assert first.worker is not None
            client.retire_workers([first.worker.address])
            deadline = time.monotonic() + 30
            while first.worker is not None and time.monotonic() < deadline:
                time.sleep(0.05)
            second.sample()
            assert first.watched_ns + second.watched_ns == 5_000_000_000
            spent_ns += 1_000_000_000
            second.sample()
            assert first.watched_ns + second.watched_ns == 6_000_000_000
        assert not dask_worker._probes
        assert collector.tracking_data is not None


def test_parsl_that_is_imported_but_not_loaded_changes_nothing() -> None:
    pytest.importorskip("parsl")
    from roastcoffea.backends.local import threads_of

    assert "parsl" in sys.modules
    assert threads_of(None) is None
