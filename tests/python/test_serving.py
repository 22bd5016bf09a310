"""``MetricsCollector(serve=True)``: the page beside the run."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path

import pytest

from roastcoffea import MetricsCollector


def test_a_run_is_served_while_it_lasts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    collector = MetricsCollector(output_dir=tmp_path, measurement_name="seen", serve=True)
    with collector:
        assert collector.address is not None
        assert collector.address in capsys.readouterr().out
        with urllib.request.urlopen(f"{collector.address}api/v1/runs", timeout=10) as answer:
            [run] = json.load(answer)["runs"]
    assert run["name"] == "seen"
    assert run["outcome"] is None, "it has not ended"
    with urllib.request.urlopen(f"{collector.address}api/v1/runs", timeout=10) as answer:
        [run] = json.load(answer)["runs"]
    assert run["outcome"] == "finished"


def test_a_run_in_memory_cannot_be_served() -> None:
    with pytest.raises(ValueError, match="output_dir"):
        MetricsCollector(serve=True)
