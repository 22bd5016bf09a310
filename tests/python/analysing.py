"""The demo analysis on a cluster, as the tests of the collector run it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from coffea.processor import DaskExecutor, Runner

from analysis import DemoSchema
from roastcoffea import MetricsCollector

CHUNKSIZE = 2_000

#: What the fixture `measured` gives: the collector, coffea's report, and where the run file is
Measured = tuple[MetricsCollector, dict[str, Any], Path]


def analyse(client: Any, fileset: Any, processor: Any) -> tuple[Any, dict[str, Any]]:
    runner = Runner(
        executor=DaskExecutor(client=client, status=False),
        schema=DemoSchema,
        chunksize=CHUNKSIZE,
        savemetrics=True,
    )
    output, report = runner(fileset, processor)
    return output, report
