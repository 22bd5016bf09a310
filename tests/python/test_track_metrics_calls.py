"""Decorated functions, and decorated processors that call each other."""

from __future__ import annotations

import functools
import inspect
import json

import pytest
from stand_in import KEY, Events, Plain

from roastcoffea._probe import Records
from roastcoffea.decorator import track_metrics
from roastcoffea.instrumentation import track_time


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


class Part(Plain):
    @track_metrics
    def process(self, events):
        with track_time(self, "part"):
            self._roastcoffea_current_chunk["seen"] = True
        return {"n": len(events)}


@pytest.mark.parametrize("native", [True, False])
def test_processors_that_are_called_within_a_chunk_are_part_of_it(native, sink, monkeypatch):
    if not native:
        from roastcoffea import _pure, decorator, measure

        monkeypatch.setattr(measure, "Chunk", _pure.Chunk)
        monkeypatch.setattr("roastcoffea.native.chunk_of", _pure.chunk_of)
        monkeypatch.setattr(f"{__name__}.track_time", _pure.track_time)
        assert decorator.CURRENT == _pure.CURRENT

    class Whole(Plain):
        def __init__(self):
            self.parts = [Part(), Part()]

        @track_metrics
        def process(self, events):
            with track_time(self, "whole"):
                outputs = [part.process(events) for part in self.parts]
            assert outputs == [{"n": 5}, {"n": 5}]
            assert not any(hasattr(part, "_roastcoffea_current_chunk") for part in self.parts)
            return {"n": 10}

    output = Whole().process(Events())
    assert output["n"] == 10
    assert len(sink) == 1
    (record,) = Records(sink) if native else [json.loads(sink[0])]
    assert set(record["timing"]) == {"whole", "part"}
    assert record["seen"] is True
    assert KEY in Part().process(Events()), "by itself it is a chunk"


def test_a_processor_within_a_chunk_that_fails_or_is_switched_off_leaves_nothing(sink):
    off = Part()
    off._roastcoffea_collect_metrics = False
    failing = Plain()

    def fail(*args):
        raise ValueError("inner")

    class Whole(Plain):
        @track_metrics
        def process(self, events):
            with pytest.raises(AttributeError):
                off.process(events)
            with pytest.raises(ValueError, match="inner"):
                Failing().process(events)
            with track_time(failing, "gone"):
                pass
            return {}

    class Failing(Plain):
        process = track_metrics(fail)

    Whole().process(Events())
    (record,) = Records(sink)
    assert record["outcome"] == "finished"
    assert not record["timing"]


@track_metrics
def count(events, factor=1):
    """Count events."""
    with track_time(count, "counting"):
        return {"n": len(events) * factor}


def test_a_function_of_the_events_is_measured(sink):
    output = count(Events())
    assert output["n"] == 5
    assert output[KEY][0]["num_events"] == 5
    assert list(output[KEY][0]["timing"]) == ["counting"]
    assert count(events=Events())[KEY][0]["dataset"] == "d"
    assert functools.partial(count, factor=3)(Events())["n"] == 15
    assert len(Records(sink)) == 3
    assert count.__name__ == "count"
    assert str(inspect.signature(count)) == "(events, factor=1)"


def test_a_function_takes_its_flag_along():
    import cloudpickle

    count._roastcoffea_collect_metrics = True
    try:
        copy = cloudpickle.loads(cloudpickle.dumps(count))
        assert copy(Events())["n"] == 5
        assert KEY in copy(Events())
    finally:
        del count._roastcoffea_collect_metrics
    assert count(Events()) == {"n": 5}
