"""Decorated processors on real coffea: every executor, TTrees and RNTuples."""

from __future__ import annotations

import functools
import os
import threading

import awkward as ak
import coffea
import numpy as np
import pytest
import uproot
from coffea import processor
from coffea.nanoevents import BaseSchema

from roastcoffea import collecting
from roastcoffea._probe import Records
from roastcoffea.decorator import _extract_file_metadata, track_metrics
from roastcoffea.instrumentation import track_bytes, track_memory, track_section, track_time

KEY = "__roastcoffea_metrics__"
N_EVENTS = 9_000


def since(version: str, what: str) -> pytest.MarkDecorator:
    """Skip a test of what only later versions of coffea can do."""

    def numbers(text: str) -> tuple[int, ...]:
        return tuple(int(part) for part in text.split(".")[:3])

    return pytest.mark.skipif(
        numbers(coffea.__version__) < numbers(version),
        reason=f"coffea {coffea.__version__}: since {version} {what}",
    )


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """A TTree with many baskets and the same as RNTuple."""
    rng = np.random.default_rng(1)
    directory = tmp_path_factory.mktemp("root")
    columns = {
        "pt": rng.exponential(30, N_EVENTS).astype(np.float32),
        "eta": rng.normal(0, 2, N_EVENTS),
        "n": rng.integers(0, 9, N_EVENTS, dtype=np.int32),
        "weight": np.ones(N_EVENTS),
    }
    tree, ntuple = directory / "tree.root", directory / "ntuple.root"
    with uproot.recreate(tree) as file:
        made = file.mktree("Events", {name: value.dtype for name, value in columns.items()})
        for start in range(0, N_EVENTS, 1000):  # a basket each
            made.extend({name: value[start : start + 1000] for name, value in columns.items()})
    with uproot.recreate(ntuple) as file:
        made = file.mkrntuple("Events", {name: value[:0] for name, value in columns.items()})
        for start in range(0, N_EVENTS, 1500):  # a cluster each
            made.extend({name: value[start : start + 1500] for name, value in columns.items()})
    return {"tree": str(tree), "ntuple": str(ntuple)}


@pytest.fixture
def everywhere(monkeypatch):
    monkeypatch.setenv("ROAST_COLLECT", "1")
    collecting.new_run()


class Analysis(processor.ProcessorABC):
    """What a user writes."""

    @track_metrics
    def process(self, events):
        """Select."""
        with track_section(self, "selection"), track_bytes(self, events, "reading"):
            selected = events.pt[events.eta > 0]
        with track_memory(self, "filling"), track_time(self, "filling"):
            total = float(ak.sum(selected))
        if hasattr(self, "_roastcoffea_current_chunk"):
            self._roastcoffea_current_chunk["custom_count"] = 42
        return {"sum": total, "n": len(events)}

    def postprocess(self, accumulator):
        for key in accumulator:  # breaks if our key is among them
            accumulator[key] *= 2
        return accumulator


def run(executor, path, instance, chunksize=3000, **options):
    runner = processor.Runner(
        executor=executor, schema=BaseSchema, chunksize=chunksize, savemetrics=True, **options
    )
    fileset = {"ds": {"files": {path: "Events"}, "metadata": {"xs": 1.5}}}
    return runner(fileset, processor_instance=instance)


def basket_sums(path, branches, start, stop):
    """Uproot's own sums over the baskets that it would read."""
    with uproot.open(path) as file:
        tree = file["Events"]
        return {
            name: sum(
                stop_byte - start_byte
                for _, (start_byte, stop_byte) in tree[name].entries_to_ranges_or_baskets(
                    start, stop
                )
            )
            for name in branches
        }


def check_chunks(records, path, report):
    assert isinstance(records, Records)
    records = sorted(records, key=lambda record: record["entry_start"])
    assert [(r["entry_start"], r["entry_stop"]) for r in records] == [
        (0, 3000),
        (3000, 6000),
        (6000, 9000),
    ]
    assert sum(r["num_events"] for r in records) == report["entries"]
    for record in records:
        assert record["file"] == path
        assert record["dataset"] == "ds"
        assert record["metadata"]["xs"] == 1.5
        assert record["custom_count"] == 42
        assert record["branch_bytes"] == basket_sums(
            path, ["eta", "pt"], record["entry_start"], record["entry_stop"]
        )
        assert record["accessed_bytes"] == record["bytes_read"] == record["bytes"]["reading"]
        assert set(record["timing"]) == {"selection", "filling"}
        assert record["branches_read_percent"] == 50
        assert 0 < record["bytes_read_percent"] < 100
        assert record["duration"] > 0
        assert record["attempt"] == 1
    return records


@pytest.mark.parametrize("workers", [0, 2])
def test_local_executors_carry_the_records_in_the_output(files, everywhere, workers):
    executor = processor.FuturesExecutor(workers=2) if workers else processor.IterativeExecutor()
    instance = Analysis()
    output, report = run(executor, files["tree"], instance)
    records = check_chunks(output[KEY], files["tree"], report)
    assert output["n"] == 2 * N_EVENTS
    told = [r["file_metadata"] for r in records if "file_metadata" in r]
    assert len(told) == len({r["pid"] for r in records}), "once per file and process"
    with uproot.open(files["tree"]) as file:
        tree = file["Events"]
        for totals in told:
            assert totals["total_branches"] == len(tree.keys())
            assert totals["total_tree_bytes"] == sum(b.compressed_bytes for b in tree.branches)
        listed = [r for r in records if "branch_bytes" in r.get("file_metadata", {})]
        assert [r["entry_start"] for r in listed] == [0], (
            "all branches once, whoever opens the file"
        )
        sizes = {b.name: b.compressed_bytes for b in tree.branches}
        assert listed[0]["file_metadata"]["branch_bytes"] == sizes
    if not workers:
        assert len(instance._chunk_metrics) == 3


def test_dask_workers_give_records_to_their_sink_and_to_the_output(files, tmp_path):
    distributed = pytest.importorskip("distributed")

    class Sink(distributed.WorkerPlugin):
        def setup(self, worker):
            def send(data):
                worker.log_event("chunks", data)

            collecting.set_identity(worker=worker.address)
            collecting.add_sink("test", send)

        def teardown(self, worker):
            collecting.remove_sink("test")

    events = []
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=2, processes=True, dashboard_address=None
    )
    with cluster, distributed.Client(cluster) as client:
        client.subscribe_topic("chunks", lambda event: events.append(event[1]))
        client.register_plugin(Sink())
        executor = processor.DaskExecutor(client=client, retries=0)
        # one object for all threads of a worker
        output, report = run(executor, files["tree"], Analysis(), processor_compression=None)
        deadline = 50
        while len(events) < 3 and deadline:
            threading.Event().wait(0.1)
            deadline -= 1
    check_chunks(output[KEY], files["tree"], report)
    sent = Records(bytes(data) for data in events)
    by_start = {r["entry_start"]: r for r in output[KEY]}
    assert len(sent) == 3
    for record in sent:
        expected = by_start[record["entry_start"]]
        assert {**record, "chunk_id": 0} == {**expected, "chunk_id": 0}
        assert record["worker"].startswith("tcp://")
    assert len(Analysis._chunk_metrics) == 0 or all(
        r["pid"] == os.getpid() for r in Analysis._chunk_metrics
    )


@since("2025.11.0", "RNTuples are read")
def test_rntuples_have_their_pages_counted(files, everywhere):
    output, _ = run(processor.IterativeExecutor(), files["ntuple"], Analysis())
    with uproot.open(files["ntuple"]) as file:
        ntuple = file["Events"]
        pages = [
            [sum(page.locator.num_bytes for page in column.pages) for column in cluster]
            for envelope in ntuple.page_list_envelopes
            for summary, cluster in zip(
                envelope.cluster_summaries, envelope.pagelinklist, strict=True
            )
            if summary.num_entries
        ]
        names = [field.field_name for field in ntuple.field_records]
    for record in output[KEY]:
        clusters = range(record["entry_start"] // 1500, record["entry_stop"] // 1500)
        assert record["branch_bytes"] == {
            name: sum(pages[i][names.index(name)] for i in clusters) for name in ("eta", "pt")
        }
    assert output[KEY][0]["file_metadata"]["total_branches"] == 4


def test_preloaded_columns_count_as_read(files, everywhere):
    runner = processor.Runner(
        executor=processor.IterativeExecutor(), schema=BaseSchema, chunksize=3000, savemetrics=True
    )
    fileset = {"ds": {"files": {files["tree"]: "Events"}, "preload": ["pt"]}}
    output, _ = runner(fileset, processor_instance=Analysis())
    for record in output[KEY]:
        need = basket_sums(
            files["tree"], ["pt", "eta"], record["entry_start"], record["entry_stop"]
        )
        assert record["bytes_read"] == sum(need.values())
        assert record["branch_bytes"] == need


@since("2025.10.2", "functions can be processors")
def test_functions_and_partials_as_processors_run(files, everywhere):
    def analyse(events, scale=1):
        return {"n": len(events) * scale}

    output, _ = run(
        processor.IterativeExecutor(), files["tree"], functools.partial(analyse, scale=2)
    )
    assert output["n"] == 2 * N_EVENTS


def test_the_documented_extractor_of_files(files):
    with uproot.open(files["tree"]) as file:
        metadata = _extract_file_metadata(file, "x")
    assert metadata["filename"] == "x"
    assert metadata["total_branches"] == 4
    assert _extract_file_metadata(None) is None


SEED_ADVANCED = """
class CustomProcessor(processor.ProcessorABC):
    @track_metrics
    def process(self, events):
        # Track custom metric
        if hasattr(self, "_roastcoffea_current_chunk"):
            self._roastcoffea_current_chunk["custom_count"] = 42

        return {"sum": len(events)}

    def postprocess(self, accumulator):
        return accumulator
"""

SEED_REFERENCE = """
class MyCustomTracker(BaseInstrumentationContext):
    def __exit__(self, exc_type, exc_val, exc_tb):
        custom_value = compute_something()
        self.record_metric("my_metric", custom_value)

class MyProcessor(processor.ProcessorABC):
    @track_metrics
    def process(self, events):
        with track_section(self, "jet_selection"):
            jets = events.Jet[events.Jet.pt > 30]

        with track_memory(self, "histogram_filling"):
            self.hist.fill(jets.pt)

        return result
"""


@since("2025.10.2", "postprocess() may be left out")
def test_the_seeds_snippets_run(files, everywhere):
    names: dict = {"processor": processor, "track_metrics": track_metrics}
    exec(SEED_ADVANCED, names)
    output, _ = run(processor.IterativeExecutor(), files["tree"], names["CustomProcessor"]())
    assert [r["custom_count"] for r in output[KEY]] == [42, 42, 42]
    assert output["sum"] == N_EVENTS

    from roastcoffea.instrumentation import BaseInstrumentationContext

    class Histogram:
        def fill(self, values):
            with names["MyCustomTracker"](instance, "mine"):
                self.n = len(values)

    names |= {
        "BaseInstrumentationContext": BaseInstrumentationContext,
        "compute_something": lambda: 7,
        "track_section": track_section,
        "track_memory": track_memory,
        "result": {},
    }
    exec(SEED_REFERENCE, names)
    instance = names["MyProcessor"]()
    instance.hist = Histogram()
    events = ak.Array([{"Jet": [{"pt": 40.0}, {"pt": 20.0}]}])
    record = instance.process(events)[KEY][0]
    assert record["sections"][0]["section_name"] == "jet_selection"
    assert record["sections"][0]["time_delta"] > 0
    assert record["memory_sections"][0]["section_name"] == "histogram_filling"
    assert record["custom_metrics"] == {"my_metric": 7}
