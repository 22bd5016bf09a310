"""What chunks need, by uproot's open file and by our own reader of the same file."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot
from coffea.nanoevents import BaseSchema
from coffea.processor import IterativeExecutor, ProcessorABC, Runner

import roastcoffea
from roastcoffea import MetricsCollector, track_metrics
from roastcoffea.trees import Baskets, Tree

ROAST = Path(sys.executable).with_name("roast")
N = 9_000


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A TTree whose baskets have different sizes, and the same columns as an RNTuple."""
    rng = np.random.default_rng(7)
    folder = tmp_path_factory.mktemp("reconcile")
    columns = {
        "pt": rng.exponential(30, N).astype(np.float32),
        "eta": rng.normal(0, 2, N),
        "n": rng.integers(0, 9, N, dtype=np.int32),
        "weight": np.ones(N),
    }
    borders = [0, 700, 1500, 4000, 4100, 8000, N]
    paths = {"tree": str(folder / "tree.root"), "ntuple": str(folder / "ntuple.root")}
    for kind, path in paths.items():
        with uproot.recreate(path) as file:
            if kind == "tree":
                made = file.mktree("Events", {name: value.dtype for name, value in columns.items()})
            else:
                made = file.mkrntuple(
                    "Events", {name: value[:0] for name, value in columns.items()}
                )
            for start, stop in itertools.pairwise(borders):
                made.extend({name: value[start:stop] for name, value in columns.items()})
    return paths


class Analysis(ProcessorABC):
    """Touches two branches of four; in some chunks a third."""

    def __init__(self, third: bool = False) -> None:
        self.third = third

    @track_metrics
    def process(self, events: Any) -> dict[str, float]:
        total = float(ak.sum(events.pt[events.eta > 0]))
        if self.third and events.metadata["entrystart"] > 0:
            total += float(ak.sum(events.n))
        return {"sum": total}

    def postprocess(self, accumulator: Any) -> Any:
        return accumulator


def measure(
    path: str, processor: ProcessorABC, chunksize: int, maxchunks: int | None = None
) -> MetricsCollector:
    executor = IterativeExecutor(status=False)
    runner = Runner(
        executor=executor,
        schema=BaseSchema,
        chunksize=chunksize,
        savemetrics=True,
        maxchunks=maxchunks,
    )
    with MetricsCollector(executor, processor_instance=processor) as collector:
        output, report = runner({"ds": {"files": {path: "Events"}}}, processor)
        collector.extract_metrics_from_output(output)
    collector.set_coffea_report(report)
    return collector


def need(path: str, start: int, stop: int, branches: list[str]) -> int:
    """What our own reader says that such a chunk needs."""
    command = [ROAST, "inspect", path, "Events", "--range", f"{start}:{stop}", "--format", "json"]
    for name in branches:
        command += ["--branch", name]
    told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    (chunk,) = told["chunks"]
    return int(chunk["bytes"])


@pytest.mark.parametrize("kind", ["tree", "ntuple"])
def test_a_tree_has_the_same_bytes_either_way(files: dict[str, str], kind: str) -> None:
    told = roastcoffea.inspect(files[kind])
    (ours,) = told["trees"] or told["rntuples"]
    with uproot.open(files[kind]) as file:
        tree = Tree(file["Events"])
        branch_bytes = tree.branch_bytes(file["Events"])
    assert tree.bytes == ours["compressed_bytes"]
    if kind == "tree":
        assert tree.n_branches == ours["num_branches"]
        assert branch_bytes == {
            branch["path"]: branch["compressed_bytes"] for branch in ours["branches"]
        }


@pytest.mark.parametrize("kind", ["tree", "ntuple"])
def test_a_chunk_needs_the_same_bytes_either_way(files: dict[str, str], kind: str) -> None:
    collector = measure(files[kind], Analysis(), chunksize=3_000)
    records = list(collector.chunk_metrics)
    assert len(records) == 3
    for record in records:
        start, stop = record["entry_start"], record["entry_stop"]
        assert record["accessed_bytes"] == need(files[kind], start, stop, ["pt", "eta"])


def test_bytes_again_are_those_of_the_baskets_that_borders_cut(files: dict[str, str]) -> None:
    path = files["tree"]
    metrics = measure(path, Analysis(), chunksize=3_000).get_metrics()
    chunks = [(0, 3_000), (3_000, 6_000), (6_000, 9_000)]
    apart = sum(need(path, start, stop, ["pt", "eta"]) for start, stop in chunks)
    together = need(path, 0, N, ["pt", "eta"])
    assert metrics["bytes_needed"] == apart
    assert metrics["bytes_needed_again"] == apart - together > 0
    assert metrics["border_amplification"] == pytest.approx(apart / together)
    assert metrics["chunks_cutting_baskets"] == 2
    assert not {"bytes_needed", "bytes_needed_again", "touched_bytes"} & set(metrics.estimated)


def test_a_border_without_a_chunk_before_it_costs_nothing(files: dict[str, str]) -> None:
    collector = measure(files["tree"], Analysis(), chunksize=3_000, maxchunks=1)
    metrics = collector.get_metrics()
    assert metrics["bytes_needed_again"] == 0
    (record,) = collector.chunk_metrics
    assert record["cut_bytes"] == 0


def test_chunks_on_basket_borders_read_nothing_again(files: dict[str, str]) -> None:
    metrics = measure(files["tree"], Analysis(), chunksize=N).get_metrics()
    assert metrics["bytes_needed_again"] == metrics["chunks_cutting_baskets"] == 0
    assert metrics["border_amplification"] == 1.0


def test_what_was_touched_is_of_all_chunks_of_a_file_together(files: dict[str, str]) -> None:
    path = files["tree"]
    metrics = measure(path, Analysis(third=True), chunksize=3_000).get_metrics()
    (tree,) = roastcoffea.inspect(path)["trees"]
    sizes = {branch["path"]: branch["compressed_bytes"] for branch in tree["branches"]}
    (file,) = metrics["files"]
    row = file["bytes"]
    assert (row["touched_branches"], row["tree_branches"]) == (3, 4)
    assert row["touched_bytes"] == sizes["pt"] + sizes["eta"] + sizes["n"]
    assert row["tree_bytes"] == tree["compressed_bytes"] == metrics["tree_bytes"]
    assert "bytes_needed_again" in metrics.estimated  # the chunk before may not have touched it
    assert [branch["branch"] for branch in metrics["branches"]] == ["eta", "pt", "n"]
    assert [branch["chunks"] for branch in metrics["branches"]] == [3, 3, 2]


def test_sums_over_files_datasets_and_branches_are_the_same(
    small_fileset: dict[str, Any],
) -> None:
    from analysis import DemoSchema, DimuonProcessor

    executor = IterativeExecutor(status=False)
    processor = DimuonProcessor()
    runner = Runner(executor=executor, schema=DemoSchema, chunksize=2_000, savemetrics=True)
    with MetricsCollector(executor, processor_instance=processor) as collector:
        output, report = runner(small_fileset, processor)
        collector.extract_metrics_from_output(output)
    collector.set_coffea_report(report)
    metrics = collector.get_metrics()
    for key in ("bytes_needed", "bytes_requested", "bytes_needed_again", "tree_bytes"):
        assert sum(row["bytes"][key] for row in metrics["files"]) == metrics[key]
        assert sum(row[key] for row in metrics["bytes_per_dataset"].values()) == metrics[key]
    assert sum(row["bytes_needed"] for row in metrics["branches"]) == metrics["bytes_needed"]


@pytest.mark.parametrize(
    ("start", "stop", "cut"), [(0, 5, 0), (10, 20, 0), (12, 20, 20), (12, 12, 0), (25, 30, 30)]
)
def test_a_cut_basket_is_the_one_that_begins_before(start: int, stop: int, cut: int) -> None:
    assert Baskets([0, 10, 20, 30], [0, 10, 30, 60]).cut(start, stop) == cut
