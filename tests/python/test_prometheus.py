"""A real Prometheus scrapes a run while it is measured."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from roastcoffea import MetricsCollector

pytestmark = pytest.mark.slow

CONFIG = """
global: {{scrape_interval: 1s, scrape_timeout: 1s}}
scrape_configs:
  - job_name: roast
    static_configs: [{{targets: ["{target}"]}}]
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(question: Callable[[], Any], seconds: float = 60) -> Any:
    deadline = time.monotonic() + seconds
    answer = None
    while time.monotonic() < deadline:
        try:
            answer = question()
        except OSError:  # not there yet
            answer = None
        if answer:
            return answer
        time.sleep(0.3)
    raise AssertionError("Prometheus did not come to know it in time")


@pytest.mark.skipif(not shutil.which("prometheus"), reason="Prometheus is not installed")
def test_prometheus_scrapes_a_live_run(small_fileset: Any, tmp_path: Path) -> None:
    from coffea.processor import IterativeExecutor, Runner

    from analysis import DemoSchema, DimuonProcessor

    port = free_port()
    config = tmp_path / "prometheus.yml"
    processor = DimuonProcessor()

    def query(expression: str) -> list[float]:
        words = urllib.parse.urlencode({"query": expression})
        url = f"http://127.0.0.1:{port}/api/v1/query?{words}"
        with urllib.request.urlopen(url, timeout=5) as answer:
            found = json.load(answer)["data"]["result"]
        return [float(series["value"][1]) for series in found]

    collector = MetricsCollector(
        processor_instance=processor, output_dir=tmp_path, measurement_name="scraped", serve=True
    )
    prometheus: subprocess.Popen[bytes] | None = None
    try:
        with collector:
            assert collector.address is not None
            target = collector.address.removeprefix("http://").rstrip("/")
            config.write_text(CONFIG.format(target=target))
            prometheus = subprocess.Popen(
                [
                    "prometheus",
                    f"--config.file={config}",
                    f"--storage.tsdb.path={tmp_path / 'tsdb'}",
                    f"--web.listen-address=127.0.0.1:{port}",
                ],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            assert wait_for(lambda: query('up{job="roast"} == 1')) == [1]
            assert wait_for(lambda: query("roast_run_active")) == [1]
            runner = Runner(IterativeExecutor(status=False), schema=DemoSchema, savemetrics=True)
            output, report = runner(small_fileset, processor_instance=processor)
            collector.extract_metrics_from_output(output)
            collector.set_coffea_report(report)
        expected = report["entries"]
        assert wait_for(lambda: query(f"sum(roast_events_total) == {expected}")) == [expected]
        assert wait_for(lambda: query("roast_run_active == 0") == [0])
    finally:
        if prometheus is not None:
            prometheus.terminate()
            prometheus.wait(30)
