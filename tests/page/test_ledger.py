"""The tab of the time ledger, on a run of a real cluster: only such a run knows its tasks."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from roastcoffea import MetricsCollector


@pytest.fixture(scope="module")
def page_of_a_cluster(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from distributed import Client, LocalCluster

    path = tmp_path_factory.mktemp("ledger") / "page.html"
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0")
    with cluster, Client(cluster) as client:
        with MetricsCollector(client) as collector:
            client.gather(client.map(time.sleep, [0.3, 0.3, 0.31, 0.31], pure=False))
        return collector.report(path)


def test_the_bar_is_made_of_the_parts_of_the_table(
    open_page: Callable[..., Any], page_of_a_cluster: Path
) -> None:
    page = open_page(page_of_a_cluster, tab="ledger")
    panel = page.locator("#ledger")
    told = [item.rsplit(" ", 2)[0] for item in panel.locator(".legend li").all_inner_texts()]
    names = panel.locator("tbody tr td:first-child").all_inner_texts()
    parts = [name for name in names if not name.endswith(", busy")]
    assert len(names) == len(parts) + 2  # the workers
    assert "Other tasks" in told
    assert set(told) <= set(parts)
    assert "Idle" in " ".join(told)
    widths = panel.locator(".stack > span").evaluate_all("spans => spans.map((s) => s.style.width)")
    assert sum(float(width.rstrip("%")) for width in widths) == pytest.approx(100)
