"""The decorator: what is recorded of a chunk, and that nothing else changes."""

from __future__ import annotations

import contextlib
import inspect
import logging
import threading
import time
import traceback
from collections import Counter, OrderedDict, defaultdict
from types import SimpleNamespace

import awkward as ak
import numpy as np
import pytest
from coffea import processor
from stand_in import KEY, Events, Plain

from roastcoffea import collecting
from roastcoffea._probe import Records
from roastcoffea.decorator import _extract_chunk_metadata, track_metrics
from roastcoffea.inputs import clean_url
from roastcoffea.instrumentation import track_time


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
    assert type(output) is type(result)
    assert output[KEY][0]["num_events"] == 5


def test_a_dict_that_the_user_keeps_does_not_change():
    kept = {"n": 0}
    for _ in range(2):
        output = Plain(kept).process(Events())
        assert len(output[KEY]) == 1
        assert output["n"] == 0
        assert kept == {"n": 0}


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


def test_what_measuring_took_is_told_that_of_sending_by_the_next_record(sink, monkeypatch):
    from roastcoffea import inputs

    def spend_cpu(*args):
        begin_ns = time.thread_time_ns()
        while time.thread_time_ns() < begin_ns + 20_000_000:
            pass

    def probe_ns(**metadata):
        return Plain().process(Events(**metadata))[KEY][0]["probe_ns"]

    plain_ns = min(probe_ns() for _ in range(5))
    collecting.add_sink("slow", spend_cpu)
    try:
        sending_ns = probe_ns()
    finally:
        collecting.remove_sink("slow")
    assert plain_ns > 0
    assert sending_ns < 20_000_000 <= probe_ns()
    assert probe_ns() < 20_000_000
    for name in ("source_of_handle", "user_metadata"):  # before process(), and behind it
        with monkeypatch.context() as patch:
            patch.setattr(inputs, name, spend_cpu)
            assert probe_ns() >= 20_000_000


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
        ("https://token@host/f.root", "https://host/f.root"),
        ("https://me:p@ss@host/f.root?x=a@b", "https://host/f.root?x=a@b"),
        ("https://h/f.root?authz=Bearer%20x&y=1", "https://h/f.root?y=1"),
        ("https://h/f?access_token=abc", "https://h/f"),
        ("https://h/f?a=1&X-Amz-Signature=s&X-Amz-Date=d&b=2", "https://h/f?a=1&b=2"),
    ],
)
def test_file_names_lose_their_secrets(name, clean):
    assert clean_url(name) == clean
    nested = {"friends": [name, (name, 1)], "trees": {name: {"x": name}}}
    record = Plain().process(Events(filename=name, other=name, **nested))[KEY][0]
    assert record["file"] == clean
    assert record["metadata"] == {
        "other": clean,
        "friends": [clean, [clean, 1]],
        "trees": {clean: {"x": clean}},
    }


def test_metadata_that_are_within_themselves_are_cut():
    endless = [1]
    endless.append(endless)
    (record,) = Plain().process(Events(endless=endless))[KEY]
    assert record["metadata"]["endless"][:1] == [1]


class Choosy:
    """Knows nothing that it was not told."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return {}[name]

    @track_metrics
    def process(self, events):
        return {"n": len(events)}


def test_a_processor_that_raises_at_unknown_names_has_no_flag():
    before = collecting.faults()
    assert Choosy().process(Events()) == {"n": 5}
    assert collecting.faults() == before
    collecting.add_sink("test", lambda data: None)
    try:
        assert KEY in Choosy().process(Events())
        off = Choosy()
        off._roastcoffea_collect_metrics = False
        assert off.process(Events()) == {"n": 5}
    finally:
        collecting.remove_sink("test")
    assert collecting.faults() == before


def test_attempts_are_counted_in_a_run_and_for_a_dataset(sink):
    class Failing(Plain):
        @track_metrics
        def process(self, events):
            if events.metadata["bad"]:
                raise OSError
            return {}

    def attempt(**metadata):
        with contextlib.suppress(OSError):
            Failing().process(Events(**metadata))
        return Records(sink)[-1]["attempt"]

    assert attempt(dataset="a", bad=True) == 1
    assert attempt(dataset="b", bad=True) == 1
    assert attempt(dataset="a", bad=False) == 2
    assert attempt(dataset="b", bad=True) == 2
    collecting.new_run()
    assert attempt(dataset="b", bad=False) == 1


def test_the_documented_extractor_of_chunks():
    assert _extract_chunk_metadata(Events()) == {
        "num_events": 5,
        "dataset": "d",
        "file": "f.root",
        "uuid": "u",
        "entry_start": 0,
        "entry_stop": 5,
    }


def test_the_branches_are_known_also_where_the_tree_cannot_be_read():
    events = Events(filename="gone.root", fileuuid="gone")
    factory = SimpleNamespace(
        file_handle={"another tree": None},
        access_log=[SimpleNamespace(branch=name) for name in ("Jet_pt", "nJet", "Jet_pt")],
    )
    events.attrs = {"@events_factory": factory}
    (record,) = Plain().process(events)[KEY]
    assert record["accessed_branches"] == ["Jet_pt", "nJet"]
    assert record["num_branches_accessed"] == 2
    assert record["accessed_bytes"] == 0
