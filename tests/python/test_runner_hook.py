"""What a collector takes from coffea's Runner, without being asked to."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from analysing import Plain
from coffea.processor import DaskExecutor, FuturesExecutor, IterativeExecutor, Runner

from analysis import DemoSchema, DimuonProcessor
from roastcoffea import MetricsCollector, open_run

KEY = "__roastcoffea_metrics__"
CHUNKS, EVENTS = 6, 12_000  # of the small fileset


def make_runner(executor: Any = None, cls: type[Runner] = Runner, **options: Any) -> Runner:
    executor = executor or IterativeExecutor(status=False)
    options = {"savemetrics": True, **options}
    return cls(executor=executor, schema=DemoSchema, chunksize=2_000, **options)


@pytest.mark.parametrize("kind", ["dask", "iterative", "futures"])
def test_report_and_records_are_taken_without_a_call(
    kind: str, client: Any, small_fileset: Any, tmp_path: Path
) -> None:
    executor: Any = {
        "dask": DaskExecutor(client=client, status=False),
        "iterative": IterativeExecutor(status=False),
        "futures": FuturesExecutor(workers=2, status=False),
    }[kind]
    followed = client if kind == "dask" else executor
    with MetricsCollector(followed, output_dir=tmp_path, measurement_name="x") as collector:
        output, report = make_runner(executor)(small_fileset, DimuonProcessor())
    assert KEY not in output, "a saved output must not need us"
    metrics = collector.get_metrics()
    assert collector.coffea_report == report
    assert metrics["total_events"] == report["entries"] == EVENTS
    assert metrics["total_bytes_read"] == report["bytesread"]
    assert metrics["num_successful_chunks"] == len(collector.chunk_metrics) == CHUNKS
    assert "total_events" not in metrics.estimated
    opened = open_run(tmp_path / "x.roast").metrics
    assert opened["total_events"] == EVENTS
    assert opened["num_successful_chunks"] == CHUNKS


def test_the_user_gets_what_coffea_returns(small_fileset: Any) -> None:
    plain = make_runner()(small_fileset, DimuonProcessor())
    with MetricsCollector():
        output, report = make_runner()(small_fileset, DimuonProcessor())
        assert KEY in output, "as long as the block lasts"
    assert output.keys() == plain[0].keys()
    assert report.keys() == plain[1].keys()
    assert report["entries"] == plain[1]["entries"]


def test_what_is_done_by_hand_still_works_and_wins(small_fileset: Any) -> None:
    with MetricsCollector() as collector:
        output, report = make_runner()(small_fileset, DimuonProcessor())
        collector.extract_metrics_from_output(output)
        assert KEY not in output
        collector.set_coffea_report({**report, "entries": 5})
        make_runner()(small_fileset, DimuonProcessor())
    assert collector.get_metrics()["total_events"] == 5
    assert collector.get_metrics()["num_chunks"] == 2 * CHUNKS
    collector.extract_metrics_from_output(output)  # there is nothing left in it
    collector.set_coffea_report(report)
    assert collector.get_metrics()["total_events"] == EVENTS
    given = [{"duration": 1.0, "num_events": 3, "dataset": "A"}]
    collector.extract_metrics_from_output({KEY: given})
    assert collector.get_metrics()["num_chunks"] == 1


def test_several_calls_in_a_block_are_added_up(small_fileset: Any) -> None:
    with MetricsCollector() as collector:
        reports = [make_runner()(small_fileset, Plain())[1] for _ in range(3)]
    metrics = collector.get_metrics()
    assert metrics["total_events"] == 3 * EVENTS
    assert metrics["total_cpu_time"] == pytest.approx(sum(r["processtime"] for r in reports))
    assert collector.coffea_report is not None
    assert set(collector.coffea_report["columns"]) == set(reports[0]["columns"])


@pytest.mark.parametrize("processor", [DimuonProcessor(), Plain()])
def test_without_savemetrics_figures_are_estimated(processor: Any, small_fileset: Any) -> None:
    with MetricsCollector() as collector:
        output = make_runner(savemetrics=False)(small_fileset, processor)
    assert KEY not in output
    metrics = collector.get_metrics()
    assert metrics["total_events"] == EVENTS
    assert metrics["num_chunks"] == CHUNKS
    assert "saved no metrics" in metrics.estimated["total_events"]
    if isinstance(processor, DimuonProcessor):
        assert metrics["total_cpu_time"] == pytest.approx(
            sum(record["duration"] for record in collector.chunk_metrics)
        )
        assert metrics["total_bytes_read"] == sum(
            record["bytes_read"] for record in collector.chunk_metrics
        )
        assert "chunk records" in metrics.estimated["total_cpu_time"]
        assert "chunk records" in metrics.estimated["total_bytes_read"]
    else:
        assert "total_bytes_read" in metrics.absent
    collector.set_coffea_report({"entries": 5})
    assert collector.get_metrics()["total_events"] == 5
    assert "total_events" not in collector.get_metrics().estimated


class Renamed(Runner):
    """A subclass with calls of its own."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return super().__call__(*args, **kwargs)

    def run(self, *args: Any, **kwargs: Any) -> Any:
        return super().run(*args, **kwargs)


@pytest.mark.parametrize("options", [{}, {"use_result_type": True, "skipbadfiles": True}])
@pytest.mark.parametrize("call", ["__call__", "run"])
@pytest.mark.parametrize("cls", [Runner, Renamed])
def test_every_way_to_call_a_runner_is_seen(
    cls: type[Runner], call: str, options: Any, small_fileset: Any
) -> None:
    with MetricsCollector() as collector:
        getattr(make_runner(cls=cls, **options), call)(small_fileset, DimuonProcessor())
    assert collector.get_metrics()["total_events"] == EVENTS
    assert "total_events" not in collector.get_metrics().estimated


def test_nested_collectors_both_take_it(small_fileset: Any) -> None:
    with MetricsCollector() as outer:
        make_runner()(small_fileset, DimuonProcessor())
        with MetricsCollector() as inner:
            output, _ = make_runner()(small_fileset, DimuonProcessor())
        assert hasattr(Runner.run, "__wrapped__")
    assert inner.get_metrics()["total_events"] == EVENTS
    assert outer.get_metrics()["total_events"] == 2 * EVENTS
    assert KEY not in output
    assert not hasattr(Runner.run, "__wrapped__")


def test_collectors_of_two_threads_take_each_their_own(small_fileset: Any) -> None:
    together = threading.Barrier(2)
    found: dict[int, int] = {}

    def analyse(times: int) -> None:
        with MetricsCollector() as collector:
            together.wait(60)
            for _ in range(times):
                make_runner()(small_fileset, Plain())
            together.wait(60)
        found[times] = collector.get_metrics()["total_events"]

    threads = [threading.Thread(target=analyse, args=(times,)) for times in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {1: EVENTS, 2: 2 * EVENTS}


def test_a_thread_of_the_blocks_own_is_seen(small_fileset: Any) -> None:
    with MetricsCollector() as collector:
        thread = threading.Thread(target=make_runner(), args=(small_fileset, Plain()))
        thread.start()
        thread.join()
    assert collector.get_metrics()["total_events"] == EVENTS


class Failing(DimuonProcessor):
    def process(self, events: Any) -> Any:
        if events.metadata["entrystart"]:
            raise ValueError("the user's own")
        return super().process(events)


def test_an_exception_of_the_runner_passes_through(small_fileset: Any) -> None:
    def fail() -> None:
        with MetricsCollector() as collector:
            collectors.append(collector)
            make_runner()(small_fileset, Failing())

    collectors: list[MetricsCollector] = []
    with pytest.raises(Exception, match="the user's own"):
        fail()
    (collector,) = collectors
    assert collector.run.facts()["run.faults"] == 0
    assert collector.run.facts()["run.outcome"] == "failed"
    assert not hasattr(Runner.run, "__wrapped__")
    with pytest.raises(RuntimeError, match="Coffea report not set"):
        collector.get_metrics()


def test_what_fails_in_taking_is_a_fault_and_nothing_else(
    small_fileset: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*args: Any) -> None:
        raise ValueError("on purpose")

    monkeypatch.setattr("roastcoffea.collector.added_reports", broken)
    with MetricsCollector() as collector:
        _, report = make_runner()(small_fileset, Plain())
    assert report["entries"] == EVENTS
    assert "taking what the Runner returned: ValueError: on purpose" in caplog.text
    assert collector.run.facts()["run.faults"] == 1


def test_a_patch_of_somebody_else_stays(
    small_fileset: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []
    with MetricsCollector() as collector:
        ours = Runner.run

        def theirs(self: Any, *args: Any, **kwargs: Any) -> Any:
            calls.append(self)
            return ours(self, *args, **kwargs)

        monkeypatch.setattr(Runner, "run", theirs)
        make_runner()(small_fileset, Plain())
    assert Runner.run is theirs
    make_runner()(small_fileset, Plain())
    assert len(calls) == 2
    assert collector.get_metrics()["total_events"] == EVENTS


LATE = """
import sys
from roastcoffea import MetricsCollector
with MetricsCollector() as collector:
    assert "coffea" not in sys.modules
    from coffea.processor import Runner
    assert hasattr(Runner.run, "__wrapped__")
assert not hasattr(Runner.run, "__wrapped__")
finders = list(sys.meta_path)
with MetricsCollector() as collector:
    assert hasattr(Runner.run, "__wrapped__")
assert sys.meta_path == finders
"""


def test_coffea_may_be_imported_within_the_block() -> None:
    subprocess.run([sys.executable, "-c", LATE], check=True, timeout=120)


def test_a_block_without_coffea_imports_none() -> None:
    code = (
        "import sys\nfrom roastcoffea import MetricsCollector\nbefore = list(sys.meta_path)\n"
        "with MetricsCollector(): pass\n"
        "assert 'coffea' not in sys.modules\nassert sys.meta_path == before\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
