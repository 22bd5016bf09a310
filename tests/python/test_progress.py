"""The line that is shown while a run lasts."""

from __future__ import annotations

import io
import sys
import threading
import time
from typing import Any

import pytest
from rich.console import Console

from roastcoffea import MetricsCollector, progress
from roastcoffea._probe import Records
from roastcoffea.progress import Arrived, Display


def records(n: int, outcome: str = "finished") -> bytes:
    return Records(
        [
            {"num_events": 1000, "requested_bytes": 10**9, "duration": 1.0, "outcome": outcome}
            for _ in range(n)
        ]
    ).to_bytes()


def test_the_line_says_what_has_arrived(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    arrived = Arrived()
    line = Display(arrived).line
    assert line().plain == "- chunks done · - Hz · - Gbps · 0:00"
    arrived.add_worker("a", True)
    assert line().plain == "- chunks done · - Hz · - Gbps · 1 worker · - B · 0:00"
    arrived.add_worker("b", True)
    arrived.set_memory("a", 1_500_000_000)
    arrived.set_memory("b", 500_000_000)
    arrived.add_chunks(records(8))
    arrived.add_chunks(records(2, "failed"))
    now[0] += 5
    shown = line().plain
    assert shown.startswith("8 chunks done · 2 failed · ")
    assert " · 2 workers · 2 GB · 0:05" in shown
    arrived.add_worker("b", False)
    arrived.set_memory("b", 1)  # a straggler
    assert " · 1 worker · 1.5 GB · " in line().plain


def test_rates_are_those_of_the_last_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    arrived = Arrived()
    for _ in range(60):
        now[0] += 1
        arrived.add_chunks(records(1))
        arrived.rates()
    assert arrived.rates() == pytest.approx((1000, 1e9), rel=0.2)
    now[0] += 30
    arrived.rates()
    now[0] += 30
    assert arrived.rates() == (0, 0)
    assert len(arrived._marks) < 20


def test_what_no_record_tells_is_not_zero() -> None:
    arrived = Arrived()
    arrived.add_chunks(Records([{"num_events": 0, "outcome": "failed"}]).to_bytes())
    assert arrived.rates() == (0, None)
    shown = Display(arrived).line().plain
    assert shown.startswith("0 chunks done · 1 failed · 0 Hz · - Gbps · ")


def test_a_run_shows_its_progress_and_leaves_the_last_state(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from slow import work

    console = Console(file=io.StringIO(), force_terminal=True, width=120)
    monkeypatch.setattr(progress, "_console", lambda: console)
    with MetricsCollector(client, progress=True, worker_tracking_interval=0.1) as collector:
        work(client, 6)
        time.sleep(1.5)
        collector.print_summary()  # in the middle
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    last = shown[shown.rindex("chunks done") - 8 :]
    assert "6 chunks done" in last
    assert "2 workers" in last
    assert not console._live_stack


def test_coffeas_own_bar_is_not_disturbed(client: Any, small_fileset: Any) -> None:
    from coffea.processor import DaskExecutor, Runner

    from analysis import DemoSchema, DimuonProcessor

    runner = Runner(DaskExecutor(client=client), schema=DemoSchema, savemetrics=True)
    with MetricsCollector(client, progress=True) as collector:
        _, report = runner(small_fileset, DimuonProcessor())
        collector.set_coffea_report(report)
    assert report["entries"] == 12_000
    assert collector.get_metrics()["total_events"] == 12_000
    assert collector.run.facts()["run.faults"] == 0


def test_a_display_that_fails_does_not_stop_the_analysis(
    client: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(arrived: Arrived) -> None:
        raise ImportError("no rich")

    monkeypatch.setattr(progress, "Display", broken)
    with MetricsCollector(client, progress=True) as collector:
        assert client.submit(sum, [1, 2]).result() == 3
    assert "showing progress" in caplog.text
    assert collector.run.facts()["run.faults"] == 1


def test_workers_may_come_and_go_while_their_memory_is_added_up() -> None:
    arrived = Arrived()
    for i in range(300):
        arrived.add_worker(f"stays {i}", True)
        arrived.set_memory(f"stays {i}", 1)
    gone = threading.Event()

    def churn() -> None:
        while not gone.is_set():
            arrived.add_worker("comes", True)
            arrived.add_worker("comes", False)

    thread = threading.Thread(target=churn)
    switch_s = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    thread.start()
    try:
        assert {arrived.memory_bytes for _ in range(5_000)} == {300}
    finally:
        sys.setswitchinterval(switch_s)
        gone.set()
        thread.join()
