"""The page of a run that is still growing, served."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

from conftest import PICTURES, ROAST
from playwright.sync_api import Browser, expect

from roastcoffea._roast import Run


def test_the_page_follows_the_run(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "live.roast"
    run = Run.create(str(path))
    run.fact("run.name", "live")
    run.fact("run.start_utc_ns", time.time_ns() - 10_000_000_000)
    run.commit()
    server = subprocess.Popen(
        [ROAST, "serve", path, "--port", "0"], stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    complaints: list[str] = []
    try:
        page = browser.new_page()
        page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(server.stdout.readline().strip())
        expect(page.locator("header .badge")).to_have_text("unfinished")
        page.get_by_role("tab", name="Environment").click()
        run.fact("report.entries", 1_234_567)
        run.fact("run.outcome", "finished")
        run.fact("run.elapsed_ns", 12_000_000_000)
        run.fact("run.end_utc_ns", time.time_ns())
        run.finish()
        expect(page.locator("header .badge")).to_have_text("finished", timeout=20_000)
        environment = page.get_by_role("tab", name="Environment")
        expect(environment).to_have_attribute("aria-selected", "true")
        page.get_by_role("tab", name="Overview").click()
        expect(page.locator("#overview")).to_contain_text("1,234,567")
        PICTURES.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=PICTURES / "live.png")
        page.close()
    finally:
        server.terminate()
        assert server.wait(20) == 0
        server.stdout.close()
    assert complaints == []
