"""What is read from coffea's own objects, whose names differ between its versions."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import awkward as ak
from coffea.nanoevents import NanoEventsFactory
from coffea.processor import IterativeExecutor, Runner

from analysis import DemoSchema, DimuonProcessor
from roastcoffea import MetricsCollector, inputs


def test_bytes_and_branches_are_known_with_the_versions_that_are_here(
    small_fileset: dict[str, dict[str, Any]],
) -> None:
    processor = DimuonProcessor()
    runner = Runner(executor=IterativeExecutor(status=False), schema=DemoSchema, savemetrics=True)
    with MetricsCollector(processor_instance=processor) as collector:
        output, report = runner(small_fileset, processor)
        collector.extract_metrics_from_output(output)
        collector.set_coffea_report(report)
    metrics = collector.get_metrics()
    for key in ("bytes_needed", "bytes_requested", "touched_branches", "tree_bytes"):
        assert key not in metrics.absent, metrics.absent[key]
        assert metrics[key] > 0, key
    assert metrics["bytes_requested"] <= metrics["total_bytes_read"]


def test_a_factory_without_public_names_is_read_by_its_private_ones(
    small_fileset: dict[str, dict[str, Any]],
) -> None:
    """As coffea was before 2025.12."""
    path = next(iter(small_fileset["DYJets"]["files"]))
    log: list[Any] = []
    factory = NanoEventsFactory.from_root(
        {path: "Events"}, schemaclass=DemoSchema, mode="virtual", access_log=log
    )
    events = factory.events()
    old = SimpleNamespace(_mapping=factory._mapping)
    source = inputs.source_of(events, old)
    before = inputs.requested_bytes(source)
    assert inputs.touched_branches(old) == []
    assert ak.sum(events.Muon.pt) > 0
    assert {"Muon_pt", "nMuon"} <= set(inputs.touched_branches(old))
    assert inputs.requested_bytes(source) > before > 0


def test_a_factory_that_keeps_no_log_has_none() -> None:
    assert inputs.access_log(SimpleNamespace()) is None
    assert inputs.access_log(SimpleNamespace(_mapping=SimpleNamespace(_access_log=None))) is None
    assert inputs.handle_of(SimpleNamespace(), SimpleNamespace()) is None
