"""A coffea analysis on Parsl's HighThroughputExecutor, measured by us and by Parsl itself.

    python parsl_run.py DIRECTORY FILESET.json

Parsl starts its database process anew from the script, so this cannot be part of a test's module.
Writes ``run.roast``, Parsl's ``monitoring.db``, ``told.json`` (the report, the sums of the output)
and a line in ``notes/`` for every call of ``process()``, which is the truth that both are held
against. One chunk fails at its first attempt.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import awkward as ak
from coffea.processor import ProcessorABC

from roastcoffea import MetricsCollector, track_metrics, track_time

CHUNK_EVENTS = 500
WORKERS = 2


class Noted(ProcessorABC):  # type: ignore[misc]
    """Notes what it is called with, beside everything that monitors it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    @track_metrics
    def process(self, events: Any) -> dict[str, Any]:
        begin = time.time()
        where = [events.metadata[key] for key in ("filename", "entrystart", "entrystop")]
        outcome = "raised"
        try:
            with track_time(self, "sums"):
                pt = float(ak.sum(events.Muon.pt))
            time.sleep(0.2)
            if self.fails_now(events.metadata):
                raise ValueError("the first attempt at this chunk")
            outcome = "ok"
        finally:
            note = {"pid": os.getpid(), "begin": begin, "end": time.time(), "chunk": where}
            name = f"{os.getpid()}-{time.monotonic_ns()}.json"
            (self.directory / "notes" / name).write_text(json.dumps({**note, "outcome": outcome}))
        return {"events": len(events), "muon_pt": pt}

    def fails_now(self, metadata: dict[str, Any]) -> bool:
        """Return True once, for one chunk."""
        if metadata["entrystart"] != CHUNK_EVENTS:
            return False
        try:
            (self.directory / "failed").touch(exist_ok=False)
        except FileExistsError:
            return False
        return True

    def postprocess(self, accumulator: dict[str, Any]) -> dict[str, Any]:
        return accumulator


def run(directory: Path, fileset: dict[str, Any]) -> None:
    import parsl
    from coffea.processor import ParslExecutor, Runner
    from parsl.config import Config
    from parsl.executors import HighThroughputExecutor
    from parsl.monitoring import MonitoringHub
    from parsl.providers import LocalProvider

    from analysis import DemoSchema

    (directory / "notes").mkdir()
    here = "127.0.0.1"
    workers = HighThroughputExecutor(
        address=here,
        loopback_address=here,
        encrypted=False,
        cores_per_worker=0.1,
        max_workers_per_node=WORKERS,
        provider=LocalProvider(init_blocks=1, max_blocks=1),
    )
    parsl.load(
        Config(
            executors=[workers],
            run_dir=str(directory / "runinfo"),
            retries=1,
            strategy="none",
            usage_tracking=0,
            monitoring=MonitoringHub(resource_monitoring_interval=0.5),
        )
    )
    try:
        parsl.python_app(os.getpid)().result()  # from now on there are workers
        processor = Noted(directory)
        executor = ParslExecutor(retries=0, status=False)
        with MetricsCollector(
            executor, processor_instance=processor, output_dir=directory, measurement_name="run"
        ) as collector:
            runner = Runner(executor, schema=DemoSchema, savemetrics=True, chunksize=CHUNK_EVENTS)
            output, report = runner(fileset, processor_instance=processor)
            collector.extract_metrics_from_output(output)
            collector.set_coffea_report(report)
    finally:
        parsl.dfk().cleanup()
        parsl.clear()
    told = {"report": {**report, "columns": sorted(report["columns"])}, "output": dict(output)}
    told["tracking_data"] = sorted(collector.tracking_data or {})
    (directory / "told.json").write_text(json.dumps(told))


if __name__ == "__main__":
    run(Path(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text()))
