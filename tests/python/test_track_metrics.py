"""The decorator on real coffea: what is recorded, and that nothing else changes."""

from __future__ import annotations

import functools
import inspect
import logging
import os
import pickle
import subprocess
import sys
import textwrap
import threading
import traceback
from collections import Counter, OrderedDict, defaultdict

import awkward as ak
import numpy as np
import pytest
import uproot
from coffea import processor
from coffea.nanoevents import BaseSchema

from roastcoffea import collecting
from roastcoffea._probe import Records
from roastcoffea.decorator import (
    _extract_chunk_metadata,
    _extract_file_metadata,
    track_metrics,
)
from roastcoffea.inputs import clean_url
from roastcoffea.instrumentation import track_bytes, track_memory, track_section, track_time

KEY = "__roastcoffea_metrics__"
N_EVENTS = 9_000


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
def sink():
    """Collect what is emitted in this process."""
    emitted: list[bytes] = []
    collecting.add_sink("test", emitted.append)
    yield emitted
    collecting.remove_sink("test")


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
        assert told[0]["total_branches"] == len(tree.keys())
        assert told[0]["branch_bytes"] == {b.name: b.compressed_bytes for b in tree.branches}
        assert told[0]["total_tree_bytes"] == sum(b.compressed_bytes for b in tree.branches)
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


def test_a_failing_chunk_is_recorded_and_its_exception_passes_unchanged(sink):
    error = ValueError("boom " * 300)

    class Failing:
        @track_metrics
        def process(self, events):
            with track_time(self, "before"):
                pass
            raise error

    for attempt in (1, 2):
        with pytest.raises(ValueError, match="boom") as caught:
            Failing().process(Events())
        assert caught.value is error
        assert error.__context__ is None
        assert traceback.extract_tb(caught.tb)[-1].line == "raise error"
        record = Records(sink)[attempt - 1]
        assert record["outcome"] == "failed"
        assert record["error_type"] == "ValueError"
        assert len(record["error_message"]) == 512
        assert record["error"] == record["error_message"]
        assert record["attempt"] == attempt
        assert list(record["timing"]) == ["before"]


class Events:
    """A small stand-in, as in tests and notebooks."""

    def __init__(self, **metadata):
        self.metadata = {
            "dataset": "d",
            "filename": "f.root",
            "treename": "Events",
            "entrystart": 0,
            "entrystop": 5,
            "fileuuid": "u",
            **metadata,
        }

    def __len__(self):
        return 5


class Plain:
    """Not a ProcessorABC; switched on by hand."""

    _roastcoffea_collect_metrics = True

    def __init__(self, result=None):
        self.result = {} if result is None else result

    @track_metrics()
    def process(self, events, *args, factor=1, **kwargs):
        """Return what it was told to."""
        return self.result


def test_the_method_looks_as_before():
    assert inspect.isfunction(Plain.process)
    assert Plain.process.__name__ == "process"
    assert Plain.process.__qualname__ == "Plain.process"
    assert Plain.process.__doc__ == "Return what it was told to."
    assert str(inspect.signature(Plain.process)) == "(self, events, *args, factor=1, **kwargs)"
    assert Plain({"a": 1}).process(Events(), 1, factor=2, other=3)["a"] == 1


@pytest.mark.parametrize(
    "result", [{}, OrderedDict(a=1), defaultdict(int, a=1), processor.dict_accumulator({})]
)
def test_dicts_carry_the_record(result):
    output = Plain(result).process(Events())
    assert output is result
    assert output[KEY][0]["num_events"] == 5


class Addable(dict):
    def __add__(self, other):
        return Addable({key: self[key] * 2 for key in self})


class Refusing(dict):
    def __setitem__(self, key, value):
        raise TypeError("numbers only")


@pytest.mark.parametrize(
    "result", [Counter(a=1), [1], 5, "x", np.ones(3), Addable(a=1), Refusing(a=1), object()]
)
def test_what_cannot_carry_it_is_returned_untouched(result, sink):
    before = repr(result)
    assert Plain(result).process(Events()) is result
    assert repr(result) == before
    assert len(Records(sink)) == 1


@pytest.mark.parametrize("events", [[1, 2], ak.Array([1, 2, 3]), None, 5])
def test_events_of_any_kind_are_taken(events):
    record = Plain().process(events)[KEY][0]
    assert record["dataset"] is None
    assert record.get("num_events") == (len(events) if hasattr(events, "__len__") else None)


def test_the_flag_switches_collection_on_and_off(sink):
    instance = Plain()
    instance._roastcoffea_collect_metrics = False
    assert instance.process(Events()) == {}
    assert not sink
    instance._roastcoffea_collect_metrics = True
    assert KEY in instance.process(Events())


class Own(Plain):
    def postprocess(self, accumulator):
        assert KEY not in accumulator
        return {key: value * 2 for key, value in accumulator.items()}


class Inherited(Own):
    @track_metrics
    def process(self, events):
        return {"n": 1}


class Overridden(Inherited):
    def postprocess(self, accumulator):
        accumulator["n"] *= 5
        return super().postprocess(accumulator)


class Static(Plain):
    @staticmethod
    def postprocess(accumulator):
        assert KEY not in accumulator
        return accumulator


class InPlace(Plain):
    def postprocess(self, accumulator):
        for key in accumulator:
            accumulator[key] *= 2


@pytest.mark.parametrize(
    ("kind", "expected"), [(Own, 2), (Inherited, 2), (Overridden, 10), (Static, 1), (InPlace, None)]
)
def test_postprocess_never_sees_the_key_but_the_caller_has_it(kind, expected):
    output = {"n": 1, KEY: Records()}
    result = kind().postprocess(output)
    assert KEY in output
    if expected is None:
        assert result is None
        assert output["n"] == 2
    else:
        assert result["n"] == expected
        assert KEY in result


def test_an_abstract_postprocess_stays_abstract():
    import abc

    class Base(abc.ABC):
        @abc.abstractmethod
        def postprocess(self, accumulator): ...

    class Decorated(Base):
        @track_metrics
        def process(self, events):
            return {}

    class Complete(Decorated):
        def postprocess(self, accumulator):
            assert KEY not in accumulator

    with pytest.raises(TypeError):
        Decorated()
    output = {KEY: Records()}
    Complete().postprocess(output)
    assert KEY in output


def test_classes_without_a_dict_and_with_hooks_of_their_own_work():
    seen = []

    class Slotted:
        __slots__ = ()
        _roastcoffea_collect_metrics = True

        def __init_subclass__(cls, tag=None, **kwargs):
            super().__init_subclass__(**kwargs)
            seen.append(tag)

        @track_metrics
        def process(self, events):
            self._roastcoffea_current_chunk["here"] = 1
            return {}

    class Sub(Slotted, tag="sub"):
        __slots__ = ()

    assert seen == ["sub"]
    assert Sub().process(Events())[KEY][0]["here"] == 1
    assert not hasattr(Sub(), "_roastcoffea_current_chunk")


def test_a_method_can_be_decorated_after_the_class():
    class Later:
        _roastcoffea_collect_metrics = True

        def process(self, events):
            return {}

    Later.process = track_metrics(Later.process)
    assert KEY in Later().process(Events())
    assert list(Later._chunk_metrics)


def test_one_processor_in_many_threads_keeps_chunks_apart():
    barrier = threading.Barrier(4)

    class Shared:
        _roastcoffea_collect_metrics = True

        @track_metrics
        def process(self, events):
            barrier.wait()
            self._roastcoffea_current_chunk["number"] = events[0]
            with track_time(self, f"section {events[0]}"):
                barrier.wait()
            return {}

    shared, outputs = Shared(), {}

    def work(number):
        outputs[number] = shared.process([number])

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, output in outputs.items():
        record = output[KEY][0]
        assert record["number"] == number
        assert list(record["timing"]) == [f"section {number}"]


def test_a_hand_made_container_on_a_decorated_class_is_served():
    instance = Plain()
    instance._roastcoffea_current_chunk = {}
    with track_time(instance, "x"):
        pass
    assert list(instance._roastcoffea_current_chunk["timing"]) == ["x"]
    del instance._roastcoffea_current_chunk
    assert not hasattr(instance, "_roastcoffea_current_chunk")


def test_functions_and_partials_as_processors_run(files, everywhere):
    def analyse(events, scale=1):
        return {"n": len(events) * scale}

    output, _ = run(
        processor.IterativeExecutor(), files["tree"], functools.partial(analyse, scale=2)
    )
    assert output["n"] == 2 * N_EVENTS


def test_faults_of_our_own_are_counted_logged_once_and_never_raised(monkeypatch, caplog, sink):
    from roastcoffea import inputs

    def broken(*args):
        raise RuntimeError("ours")

    monkeypatch.setattr(inputs, "factory_of", broken)
    before = collecting.faults().get("beginning of a chunk", 0)
    with caplog.at_level(logging.WARNING, "roastcoffea"):
        for _ in range(3):
            assert Plain({"a": 1}).process(Events()) == {"a": 1}
    assert collecting.faults()["beginning of a chunk"] == before + 3
    assert len(caplog.records) <= 1
    monkeypatch.undo()
    collecting.add_sink("bad", broken)
    try:
        assert KEY in Plain().process(Events())
    finally:
        collecting.remove_sink("bad")


def test_events_of_a_graph_are_marked_and_not_counted(sink):
    graph = type("Array", (Events,), {"__module__": "dask_awkward.lib.core"})()
    assert Plain().process(graph) == {}
    record = Records(sink)[0]
    assert record["outcome"] == "graph"
    assert "num_events" not in record


@pytest.mark.parametrize(
    ("name", "clean"),
    [
        ("/data/a@b.root", "/data/a@b.root"),
        ("root://me:secret@host//f.root", "root://host//f.root"),
        ("https://h/f.root?authz=Bearer%20x&y=1", "https://h/f.root?y=1"),
        ("https://h/f?access_token=abc", "https://h/f"),
        ("https://h/f?a=1&X-Amz-Signature=s&X-Amz-Date=d&b=2", "https://h/f?a=1&b=2"),
    ],
)
def test_file_names_lose_their_secrets(name, clean):
    assert clean_url(name) == clean
    record = Plain().process(Events(filename=name, other=name))[KEY][0]
    assert record["file"] == clean
    assert record["metadata"]["other"] == clean


def test_the_documented_extractors(files):
    assert _extract_chunk_metadata(Events()) == {
        "num_events": 5,
        "dataset": "d",
        "file": "f.root",
        "uuid": "u",
        "entry_start": 0,
        "entry_stop": 5,
    }
    with uproot.open(files["tree"]) as file:
        metadata = _extract_file_metadata(file, "x")
    assert metadata["filename"] == "x"
    assert metadata["total_branches"] == 4
    assert _extract_file_metadata(None) is None


def python(code, *args, **environment):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *args],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


WITHOUT_PROBE = """
    import json, pickle, sys, time
    sys.modules["roastcoffea._probe"] = None
    from roastcoffea import collecting
    from roastcoffea.decorator import track_metrics
    from roastcoffea.instrumentation import track_memory, track_section, track_time

    class Processor:
        @track_metrics
        def process(self, events):
            with track_time(self, "a"), track_section(self, "b"), track_memory(self, "m"):
                time.sleep(0.01)
            self._roastcoffea_current_chunk["mine"] = [1, 2]
            return {"n": len(events)}

    sent = []
    collecting.add_sink("test", sent.append)
    out = Processor().process([1, 2, 3])
    assert len(out["__roastcoffea_metrics__"]) == 1
    pickle.loads(pickle.dumps(out))
    assert "distributed" not in sys.modules and "coffea" not in sys.modules
    print(sent[0].decode())
"""


def test_without_the_native_module_less_is_measured_and_all_works():
    record = Records.from_bytes(python(WITHOUT_PROBE).encode())[0]
    assert record["num_events"] == 3
    assert record["mine"] == [1, 2]
    assert record["timing"]["a"] >= 0.01
    again = Records.from_bytes(Records([record]).to_bytes())[0]
    assert again["timing"]["a"] == pytest.approx(record["timing"]["a"])


def test_a_class_pickled_by_value_runs_where_the_package_is_missing(tmp_path):
    made = tmp_path / "instance.pickle"
    python(
        """
        import sys, cloudpickle, roastcoffea
        import roastcoffea.decorator
        cloudpickle.register_pickle_by_value(roastcoffea)
        class Processor:
            _roastcoffea_collect_metrics = True
            @roastcoffea.decorator.track_metrics
            def process(self, events):
                return {"n": len(events)}
            def postprocess(self, accumulator):
                return accumulator
        open(sys.argv[1], "wb").write(cloudpickle.dumps(Processor()))
        """,
        str(made),
    )
    out = python(
        """
        import pickle, sys
        sys.modules["roastcoffea"] = None
        instance = pickle.load(open(sys.argv[1], "rb"))
        print(instance.process([1, 2]), instance.postprocess({"x": 1}))
        """,
        str(made),
    )
    assert out.strip() == "{'n': 2} {'x': 1}"


def test_pickled_processors_are_still_measured():
    import cloudpickle

    class Local:
        _roastcoffea_collect_metrics = True

        @track_metrics
        def process(self, events):
            with track_time(self, "x"):
                pass
            return {}

    copy = pickle.loads(cloudpickle.dumps(Local()))
    assert list(copy.process(Events())[KEY][0]["timing"]) == ["x"]


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


def test_importing_the_trackers_imports_nothing_heavy():
    out = python(
        """
        import sys
        import roastcoffea.collecting, roastcoffea.decorator, roastcoffea.instrumentation
        heavy = "awkward coffea dask distributed matplotlib numpy rich uproot"
        print(sorted(set(heavy.split()) & set(sys.modules)))
        """
    )
    assert out.strip() == "[]"


def test_a_method_that_calls_the_one_it_overrides_is_one_chunk() -> None:
    class Base:
        _roastcoffea_collect_metrics = True

        @track_metrics
        def process(self, events):
            with track_time(self, "inner"):
                return {"n": len(events)}

    class Derived(Base):
        @track_metrics
        def process(self, events):
            with track_time(self, "outer"):
                return super().process(events)

    (record,) = Derived().process([1, 2, 3])[KEY]
    assert set(record["timing"]) == {"inner", "outer"}
