"""The live page of a real analysis: its figures move, and end as those of the saved run."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import awkward as ak
import pytest
from coffea.processor import ProcessorABC
from conftest import PICTURES, ROAST, Open
from playwright.sync_api import Browser, Page, expect

from roastcoffea import MetricsCollector, track_metrics

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
sys.path.insert(0, str(EXAMPLES))  # worker processes inherit it

FIGURES = """() => {
    const told = {};
    for (const card of document.querySelectorAll("#overview .card"))
        told[card.querySelector("dt").textContent] = card.querySelector("dd").textContent;
    for (const row of document.querySelectorAll("#overview table tr")) {
        const cells = [...row.children].map((cell) => cell.textContent.trim());
        if (cells.length > 1) told[cells[0]] = cells.slice(1).join(" | ");
    }
    return told;
}"""


class Slow(ProcessorABC):  # type: ignore[misc]
    """An analysis whose chunks take a while, so that there is something to watch."""

    @track_metrics
    def process(self, events: Any) -> dict[str, Any]:
        time.sleep(0.3)
        return {"events": len(events), "jets": int(ak.sum(ak.num(events.Jet)))}

    def postprocess(self, accumulator: dict[str, Any]) -> dict[str, Any]:
        return accumulator


class Analysis(threading.Thread):
    """Runs it on a cluster of its own, beside the browser's thread."""

    def __init__(self, directory: Path) -> None:
        super().__init__(daemon=True)
        self.directory = directory
        self.begun = threading.Event()
        self.collector: MetricsCollector | None = None
        self.report: dict[str, Any] = {}
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self.analyse()
        except BaseException as error:
            self.error = error
        finally:
            self.begun.set()

    def analyse(self) -> None:
        from coffea.processor import DaskExecutor, Runner
        from distributed import Client, LocalCluster

        from analysis import DemoSchema
        from make_data import make_data

        fileset = make_data(self.directory / "data", files=2, events_per_file=6_000)
        with (
            LocalCluster(
                n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=50
            ) as cluster,
            Client(cluster) as client,
            MetricsCollector(
                client,
                processor_instance=Slow(),
                output_dir=self.directory,
                measurement_name="live",
                serve=True,
            ) as collector,
        ):
            self.collector = collector
            self.begun.set()
            runner = Runner(
                DaskExecutor(client=client, status=False),
                schema=DemoSchema,
                savemetrics=True,
                chunksize=250,
            )
            _, self.report = runner(fileset, processor_instance=Slow())
            collector.set_coffea_report(self.report)


@pytest.fixture
def analysis(tmp_path: Path) -> Analysis:
    analysis = Analysis(tmp_path)
    analysis.start()
    assert analysis.begun.wait(120)
    assert analysis.error is None
    return analysis


def figures(page: Page) -> dict[str, str]:
    told: dict[str, str] = page.evaluate(FIGURES)
    return told


def watch(page: Page, analysis: Analysis) -> list[int]:
    """Return how many chunks the page showed, each number once, while the analysis ran."""
    seen: list[int] = []
    while analysis.is_alive():
        shown = figures(page).get("Total Chunks", "")
        if shown.replace(",", "").isdigit():
            number = int(shown.replace(",", ""))
            if not seen or number != seen[-1]:
                seen.append(number)
        page.wait_for_timeout(100)
    return seen


def test_figures_move_and_end_as_those_of_the_saved_run(
    browser: Browser, analysis: Analysis, open_page: Open
) -> None:
    complaints: list[str] = []
    assert analysis.collector is not None
    assert analysis.collector.address is not None
    page = browser.new_page()
    page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(analysis.collector.address)
    expect(page.locator("header .badge")).to_have_text("unfinished")
    seen = watch(page, analysis)
    analysis.join()
    assert analysis.error is None
    chunks = analysis.report["chunks"]
    assert len([number for number in seen if number < chunks]) >= 3, seen
    assert seen == sorted(seen), "chunks that were shown do not vanish"

    expect(page.locator("header .badge")).to_have_text("finished", timeout=30_000)
    saved = analysis.directory / "live.roast"
    written = analysis.directory / "saved.html"
    subprocess.run([ROAST, "report", saved, "-o", written], check=True)
    expected = figures(open_page(written))
    assert expected["Total Chunks"] == str(chunks) == "48"
    assert expected["Total Events"] == "12,000"
    deadline = time.monotonic() + 30
    while figures(page) != expected and time.monotonic() < deadline:
        page.wait_for_timeout(200)
    assert figures(page) == expected
    PICTURES.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=PICTURES / "live-run.png")
    page.close()
    assert complaints == []
