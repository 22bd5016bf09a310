"""Sections: what they count, in whatever order they are entered and left."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from contextlib import suppress
from types import MappingProxyType, SimpleNamespace

import numpy as np
import pytest
from by_hand import ANY_FIELDS, Processor, measure, sections

from roastcoffea import collecting
from roastcoffea._probe import Chunk, Records, chunk_of
from roastcoffea.instrumentation import (
    BaseInstrumentationContext,
    track_bytes,
    track_memory,
    track_section,
    track_time,
)


def test_a_repeated_section_adds_up():
    def work(processor):
        for _ in range(5):
            with track_time(processor, "x"):
                time.sleep(0.01)

    section = sections(measure(work))["x"]
    assert section["count"] == 5
    assert section["time_delta"] >= 0.05
    assert 0.01 <= section["min_time"] <= section["max_time"]


def test_self_time_leaves_out_nested_sections():
    def work(processor):
        with track_time(processor, "outer"):
            time.sleep(0.01)
            with track_section(processor, "inner"):
                time.sleep(0.03)

    found = sections(measure(work))
    outer, inner = found["outer"], found["inner"]
    assert outer["self_time"] == pytest.approx(outer["time_delta"] - inner["time_delta"], abs=1e-9)


def test_generators_leave_sections_out_of_order():
    def generator(processor, name):
        with track_time(processor, name):
            yield
            yield

    def work(processor):
        first, second = generator(processor, "first"), generator(processor, "second")
        next(first)
        next(second)
        first.close()
        second.close()

    found = sections(measure(work))
    assert found["first"]["count"] == found["second"]["count"] == 1


def test_a_generator_that_outlives_the_chunk_is_counted_up_to_its_end():
    kept = []

    def generator(processor):
        with track_time(processor, "open"):
            yield

    def work(processor):
        kept.append(generator(processor))
        next(kept[0])
        time.sleep(0.02)

    section = sections(measure(work))["open"]
    assert section["count"] == 1
    assert 0.02 <= section["time_delta"] < 10
    kept[0].close()


def test_an_exception_passes_through_and_the_section_is_recorded():
    error = KeyError("mine")

    def work(processor):
        with pytest.raises(KeyError) as caught, track_time(processor, "x"):
            raise error
        assert caught.value is error

    assert sections(measure(work))["x"]["count"] == 1


def test_one_object_can_be_used_again_also_within_itself():
    processor = Processor()
    section = track_time(processor, "x")  # made while no chunk runs
    with section:
        pass
    chunk = Chunk(processor)
    chunk.begin()
    for _ in range(3):
        with section, section:
            time.sleep(0.001)
    chunk.end()
    found = sections(Records.from_bytes(chunk.encode(ANY_FIELDS))[0])["x"]
    assert found["count"] == 6
    assert found["self_time"] == pytest.approx(found["time_delta"] / 2, rel=0.2)


def test_an_object_that_is_dropped_while_open_ends_there():
    def work(processor):
        section = track_time(processor, "x")
        section.__enter__()
        del section

    assert sections(measure(work))["x"]["count"] == 1


def test_threads_that_run_chunks_of_one_processor_stay_apart():
    processor = Processor()
    barrier = threading.Barrier(2)
    records = {}

    def run(name):
        chunk = Chunk(processor)
        chunk.begin()
        barrier.wait()
        assert chunk_of(processor) is chunk
        for _ in range(100):
            with track_time(processor, name):
                pass
        barrier.wait()
        chunk.end()
        records[name] = Records.from_bytes(chunk.encode(ANY_FIELDS))[0]

    threads = [threading.Thread(target=run, args=(name,)) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {name: list(record["timing"]) for name, record in records.items()} == {
        "one": ["one"],
        "two": ["two"],
    }


def test_chunks_within_chunks_each_get_their_own_sections():
    outer, inner = Processor(), Processor()
    chunks = [Chunk(outer), Chunk(inner)]
    for chunk in chunks:
        chunk.begin()
    with track_time(outer, "of outer"), track_time(inner, "of inner"):
        pass
    chunks[1].end()
    with track_time(outer, "later"):
        pass
    chunks[0].end()
    timing = [list(c["timing"]) for c in chunks]
    assert timing == [["of outer", "later"], ["of inner"]]


class Slotted:
    __slots__ = ()


class SlottedWithContainer:
    __slots__ = ("_roastcoffea_current_chunk",)


class Asked:
    def __getattr__(self, name):
        raise AttributeError(name)


@pytest.mark.parametrize("processor", [None, 0, "", [], object(), Slotted(), Asked(), Processor()])
def test_without_a_chunk_nothing_happens(processor):
    for _ in range(2):
        with track_time(processor, "x"), track_memory(processor, "y"):
            pass
        with track_bytes(processor, None, "z"):
            pass


@pytest.mark.parametrize("kind", [Processor, SlottedWithContainer])
def test_a_dict_put_there_by_hand_gets_the_values_at_once(kind):
    processor = kind()
    container = processor._roastcoffea_current_chunk = {}
    for _ in range(3):
        with track_time(processor, "t"):
            time.sleep(0.002)
    with track_memory(processor, "m"):
        held = bytearray(64 << 20)
    with track_bytes(processor, None, "b"):
        pass
    assert container["timing"]["t"] >= 0.006
    assert isinstance(container["memory"]["m"], float)
    assert container["memory"]["m"] == pytest.approx(len(held) / 2**20, rel=0.05)
    assert container["bytes"] == {"b": 0}


@pytest.mark.parametrize("number", [int, float, np.int64])
def test_a_counter_of_bytes_may_be_any_number(number):
    source = SimpleNamespace(num_requested_bytes=number(5))
    handle = SimpleNamespace(file=SimpleNamespace(source=source))
    events = SimpleNamespace(attrs={"@events_factory": SimpleNamespace(file_handle=handle)})
    processor = SimpleNamespace(_roastcoffea_current_chunk={})
    with track_bytes(processor, events, "b"):
        source.num_requested_bytes = number(25)
    assert processor._roastcoffea_current_chunk == {"bytes": {"b": 20}}


def test_a_class_attribute_serves_as_well():
    class WithContainer:
        _roastcoffea_current_chunk: dict = {"timing": {}}  # noqa: RUF012

    with track_time(WithContainer(), "x"):
        pass
    assert list(WithContainer._roastcoffea_current_chunk["timing"]) == ["x"]


def test_a_container_that_refuses_is_no_error():
    processor = Processor()
    processor._roastcoffea_current_chunk = {"timing": 5}
    with track_time(processor, "x"):
        pass


def test_falsy_processors_are_measured():
    class Falsy:
        def __bool__(self):
            raise RuntimeError("nobody asks")

    processor = Falsy()
    chunk = Chunk(processor)
    chunk.begin()
    with track_time(processor, "x"):
        pass
    chunk.end()
    assert list(chunk["timing"]) == ["x"]


def test_names_may_be_anything_and_arguments_have_names():
    def work(processor):
        for name in (7, None, ("a", 1)):
            with track_time(processor, name):
                pass
        with track_time(processor_self=processor, section_name="k"):
            pass
        with track_bytes(processor, section_name="b", events=None):
            pass

    record = measure(work)
    assert list(record["timing"]) == ["7", "None", "('a', 1)", "k"]
    assert record["bytes"] == {"b": 0}


@pytest.mark.parametrize("args", [(), (1,), (1, 2, 3)])
def test_a_wrong_number_of_arguments_is_an_error(args):
    with pytest.raises(TypeError, match="track_time"):
        track_time(*args)


def test_memory_of_a_section_is_that_of_a_known_allocation():
    size = 64 << 20
    held = []

    def work(processor):
        with track_memory(processor, "m"):
            held.append(bytearray(size))

    record = measure(work)
    assert record["memory"]["m"] * 2**20 == pytest.approx(size, rel=0.05)
    (section,) = record["memory_sections"]
    assert section["memory_delta_gb"] == pytest.approx(
        section["memory_end_gb"] - section["memory_start_gb"]
    )


class Source:
    num_requested_bytes = 100


class Holder:
    def __init__(self, **attributes):
        self.__dict__.update(attributes)


def test_bytes_of_a_section_are_the_difference_of_the_sources_counter():
    source = Source()
    handle = Holder(file=Holder(source=source))
    by_factory = Holder(attrs={"@events_factory": Holder(file_handle=handle)}, metadata={})
    by_metadata = Holder(metadata={"filehandle": handle})

    def work(processor):
        for name, events in (("factory", by_factory), ("metadata", by_metadata)):
            for _ in range(2):
                with track_bytes(processor, events, name):
                    source.num_requested_bytes += 21

    assert measure(work)["bytes"] == {"factory": 42, "metadata": 42}


def test_the_running_chunk_is_the_documented_dict():
    def work(processor):
        chunk = chunk_of(processor)
        with track_time(processor, "x"):
            pass
        assert list(chunk) == ["timing", "memory", "bytes"]
        assert list(chunk["timing"]) == ["x"]
        chunk["custom_count"] = 42
        chunk.update({"a": [1, {"b": None}]}, flag=True)
        assert chunk.setdefault("custom_count", 0) == 42
        assert chunk.get("missing") is None
        assert "a" in chunk
        assert "missing" not in chunk
        with pytest.raises(KeyError):
            chunk["missing"]
        chunk["gone"] = 1
        del chunk["gone"]
        chunk["timing"]["by hand"] = 1.5
        assert len(chunk) == 6
        assert dict(chunk.items())["flag"] is True

    record = measure(work)
    assert record["custom_count"] == 42
    assert record["a"] == [1, {"b": None}]
    assert record["flag"] is True
    assert record["timing"]["by hand"] == 1.5


def test_record_metric_is_in_custom_metrics():
    class Tracker(BaseInstrumentationContext):
        def __exit__(self, exc_type, exc_val, exc_tb):
            self.record_metric("my_metric", 3.5)

    def work(processor):
        with Tracker():  # the chunk of this thread
            pass

    assert measure(work)["custom_metrics"] == {"my_metric": 3.5}
    with suppress(AttributeError), Tracker(Processor(), "no chunk"):
        pass


def test_a_section_kept_by_its_processor_is_collected_with_it():
    processor = Processor()
    processor.section = track_time(processor, "x")
    with processor.section:
        pass
    gone = weakref.ref(processor)
    del processor
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("container", [5, "text", MappingProxyType({}), {"custom_metrics": 5}])
def test_a_metric_that_finds_no_place_is_a_fault_and_no_error(container):
    processor = SimpleNamespace(_roastcoffea_current_chunk=container)
    before = collecting.faults().get("custom metric", 0)
    with BaseInstrumentationContext(processor) as context:
        context.record_metric("m", 5)
    assert collecting.faults()["custom metric"] == before + 1
