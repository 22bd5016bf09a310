"""The flags by which a processor and its class are known to be measured."""

from __future__ import annotations

import os
from typing import Any

import pytest
from slow import Slow

from roastcoffea import MetricsCollector, track_metrics


def test_a_processor_of_two_collectors_is_measured_until_the_outer_one_ends() -> None:
    processor = Slow()
    with MetricsCollector(processor_instance=processor):
        with MetricsCollector(processor_instance=processor):
            pass
        assert processor._roastcoffea_collect_metrics  # type: ignore[attr-defined]
        assert os.environ["ROAST_COLLECT"] == "1"
    assert processor._roastcoffea_collect_metrics is False  # type: ignore[attr-defined]
    assert "_roastcoffea_collect_metrics" not in vars(Slow)
    assert "ROAST_COLLECT" not in os.environ


def local_class() -> Any:
    """Return a class that is pickled by value, as those of a notebook are."""

    class Counting:
        @track_metrics
        def process(self, events: Any) -> Any:
            return {"n": len(events)}

    return Counting


def measured_on(client: Any, processor: Any) -> set[bool]:
    """Tell whether the workers measure a processor; they keep it, and so its class."""

    def call(dask_worker: Any) -> Any:
        vars(dask_worker).setdefault("_test_kept", []).append(processor)
        return processor.process([1])

    outputs = client.run(call)
    return {"__roastcoffea_metrics__" in output for output in outputs.values()}


def test_a_class_that_travels_by_value_is_measured_in_the_block_only(client: Any) -> None:
    cls = local_class()
    processor = cls()
    with MetricsCollector(client, processor_instance=processor):
        assert cls._roastcoffea_collect_metrics is True
        assert processor._roastcoffea_collect_metrics is True
        assert measured_on(client, processor) == {True}
        assert measured_on(client, cls()) == {True}
    assert measured_on(client, cls()) == {False}
    assert measured_on(client, processor) == {False}
    assert not hasattr(cls, "_roastcoffea_collect_metrics")


def test_a_processor_that_was_measured_once_is_measured_again(client: Any) -> None:
    processor = local_class()()
    for _ in range(2):
        with MetricsCollector(client, processor_instance=processor):
            pass
        assert processor._roastcoffea_collect_metrics is False
    with MetricsCollector(client):
        assert measured_on(client, processor) == {True}
    assert measured_on(client, processor) == {False}


@pytest.mark.parametrize("when", ["before", "within"])
def test_a_processor_that_the_user_switched_off_stays_off(when: str, client: Any) -> None:
    processor = local_class()()
    with MetricsCollector(client, processor_instance=processor):
        pass
    processor = type(processor)() if when == "before" else processor
    if when == "before":
        processor._roastcoffea_collect_metrics = False
    with MetricsCollector(client, processor_instance=processor):
        if when == "within":
            processor._roastcoffea_collect_metrics = False
        else:
            assert measured_on(client, processor) == {True}, "it is asked for here"
    assert processor._roastcoffea_collect_metrics is False
    with MetricsCollector(client):
        assert measured_on(client, processor) == {False}


def test_flags_that_a_class_has_are_given_back() -> None:
    class Off(Slow):
        _roastcoffea_collect_metrics = False

    outer, inner = (
        MetricsCollector(processor_instance=Off()),
        MetricsCollector(processor_instance=Off()),
    )
    with outer, inner:
        assert Off._roastcoffea_collect_metrics is True
    assert Off._roastcoffea_collect_metrics is False
    outer.__enter__()
    inner.__enter__()
    outer.__exit__(None, None, None)
    inner.__exit__(None, None, None)
    assert not Off._roastcoffea_collect_metrics
