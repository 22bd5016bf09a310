"""The demo analysis on a cluster, as the tests of the collector run it."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path
from typing import Any

from coffea.processor import DaskExecutor, ProcessorABC, Runner

from analysis import DemoSchema
from roastcoffea import MetricsCollector

CHUNKSIZE = 2_000

#: What the fixture `measured` gives: the collector, coffea's report, and where the run file is
Measured = tuple[MetricsCollector, dict[str, Any], Path]


class Plain(ProcessorABC):
    """The least: a count."""

    def process(self, events: Any) -> Any:
        return {"events": len(events)}

    def postprocess(self, accumulator: Any) -> Any:
        return accumulator


def analyse(
    client: Any, fileset: Any, processor: Any, chunksize: int = CHUNKSIZE
) -> tuple[Any, dict[str, Any]]:
    runner = Runner(
        executor=DaskExecutor(client=client, status=False),
        schema=DemoSchema,
        chunksize=chunksize,
        savemetrics=True,
    )
    output, report = runner(fileset, processor)
    return output, report


def runner(client: Any, retries: int = 3, **kwargs: Any) -> Runner:
    """Return a runner that has seen no file yet."""
    options = {"compression": 1} | kwargs.pop("executor", {})
    return Runner(
        executor=DaskExecutor(client=client, status=False, retries=retries, **options),
        schema=DemoSchema,
        chunksize=CHUNKSIZE,
        savemetrics=True,
        metadata_cache={},  # or files that another test has seen are not preprocessed
        **kwargs,
    )


def rows(path: Path, query: str) -> list[Any]:
    """Return what any SQL user gets from a run file."""
    with sqlite3.connect(path) as database:
        return database.execute(query).fetchall()


def copy_files(fileset: Any, directory: Path) -> Any:
    """Return a fileset whose files may be maltreated."""
    copy: dict[str, Any] = {}
    for dataset, entry in fileset.items():
        files = {}
        for name, tree in entry["files"].items():
            target = directory / Path(name).name
            shutil.copy(name, target)
            files[str(target)] = tree
        copy[dataset] = {**entry, "files": files}
    return copy
