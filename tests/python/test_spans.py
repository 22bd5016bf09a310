"""Dask's spans where they are off, where two runs share one, and where nothing ran."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from analysing import analyse
from clusters import local_cluster
from distributed import Client

from analysis import DimuonProcessor
from roastcoffea import MetricsCollector

OFF = "spans are off on this cluster"
EARLIER = "the span of an earlier run whose results are still held"


def busy(i: int) -> int:
    end = time.thread_time() + 0.02
    while time.thread_time() < end:
        pass
    return i


def other(i: int) -> int:
    return busy(i)


@pytest.fixture(scope="module")
def without_spans() -> Iterator[Client]:
    """A client of a cluster whose scheduler and workers know no spans."""
    from distributed.scheduler import DEFAULT_EXTENSIONS as OF_SCHEDULER
    from distributed.worker import DEFAULT_EXTENSIONS as OF_WORKER

    with (
        local_cluster(
            scheduler_kwargs={
                "extensions": {name: e for name, e in OF_SCHEDULER.items() if name != "spans"}
            },
            extensions={name: e for name, e in OF_WORKER.items() if name != "spans"},
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def summary_of(collector: MetricsCollector, capsys: pytest.CaptureFixture[str]) -> str:
    """Return the words of a printed summary, without frames and wrapping."""
    capsys.readouterr()
    collector.print_summary()
    return " ".join(capsys.readouterr().out.replace("│", " ").split())


def test_where_spans_are_off_the_summary_says_so(
    without_spans: Client, small_fileset: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    processor = DimuonProcessor()
    with MetricsCollector(without_spans, processor_instance=processor) as collector:
        _, report = analyse(without_spans, small_fileset, processor)
        collector.set_coffea_report(report)
    assert collector.span_metrics == {}
    metrics = collector.get_metrics()
    # the workers' own counts tell the same
    assert metrics["processor_cpu_time_seconds"] > 0
    assert OFF in summary_of(collector, capsys)


def test_where_nothing_ran_no_earlier_run_is_blamed(
    client: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    with MetricsCollector(client) as collector:
        collector.set_coffea_report({})
    reason = collector.get_metrics().absent["processor_cpu_time_seconds"]
    assert reason == "no tasks ran"
    assert "earlier run" not in summary_of(collector, capsys)


def test_a_run_whose_tasks_land_in_an_earlier_span_says_so(
    client: Any, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with MetricsCollector(client) as first:
        held = client.map(busy, range(4), pure=False)
        client.gather(held)
    with MetricsCollector(client) as second:
        client.gather(client.map(busy, range(4), pure=False))
    del held
    assert first.span_metrics
    assert EARLIER not in summary_of(first, capsys)
    assert second.span_metrics == {}
    assert EARLIER in summary_of(second, capsys)
    assert "no metrics were collected" not in caplog.text  # the workers' own counts were


def test_a_run_that_shares_only_some_tasks_with_an_earlier_span_says_which(
    client: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    with MetricsCollector(client):
        held = client.map(busy, range(4), pure=False)
        client.gather(held)
    with MetricsCollector(client) as second:
        client.gather(client.map(busy, range(4), pure=False))
        client.gather(client.map(other, range(4), pure=False))
    del held
    assert second.span_metrics
    assert f"tasks of busy are counted in {EARLIER}" in summary_of(second, capsys)


def test_tasks_of_another_client_are_not_taken_for_the_runs_own(
    client: Any, cluster: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    with Client(cluster, set_as_default=False) as neighbour:
        held = neighbour.map(busy, range(2), pure=False)
        neighbour.gather(held)
        with MetricsCollector(client) as collector:
            theirs = neighbour.map(busy, range(4), pure=False)
            client.gather(client.map(other, range(4), pure=False))
            neighbour.gather(theirs)
        del held, theirs
    assert collector.span_metrics
    assert "earlier run" not in summary_of(collector, capsys)
