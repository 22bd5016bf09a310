"""What the report page costs: to make, on disk, and in a browser.

Times of making are CPU times of `roast report`, best of 3; a busy machine changes them little.
Times in the browser (the system's headless Chromium) are: until the page can be used, and the
script's share of one step of zooming, over all charts that follow it.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import CDPSession, Page, sync_playwright

from result import Figure, best, repeated, row

ROOT = Path(__file__).resolve().parents[1]
ROAST = ROOT / ".venv" / "bin" / "roast"
MAKE_RUN = ROOT / "build" / "tests" / "unit" / "make-run"

PAGE_LIMIT = 120_000
#        chunks, workers, seconds; made within s; bytes; usable within ms; ms per zoom step
CASES = [
    (100_000, 200, 1200, 1.0, 8_000_000, 2000.0, 50.0),
    (1_000_000, 1000, 1200, 6.0, 25_000_000, None, None),
]
STEPS = 12


def children_cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def make(run: Path, page: Path) -> Figure:
    """Return the CPU seconds that the page took."""

    def once() -> float:
        before = children_cpu_s()
        subprocess.run([ROAST, "report", run, "-o", page], check=True)
        return children_cpu_s() - before

    return repeated(once)


def script_ms(session: CDPSession) -> float:
    metrics = session.send("Performance.getMetrics")["metrics"]
    return 1000 * float(next(m["value"] for m in metrics if m["name"] == "ScriptDuration"))


def zoom_ms(page: Page, session: CDPSession, tab: str) -> float:
    """Return the script's time for one step of zooming in a tab, the mean of several."""
    page.click(f"#tab-{tab}")
    if tab == "chunks":
        page.locator('#chunks select[name="Against"]').select_option("time")
    page.wait_for_timeout(400)
    page.locator(f"#{tab} .chart").first.focus()
    before = script_ms(session)
    for step in range(STEPS):
        page.keyboard.press("+" if step < STEPS // 2 else "-")
        page.wait_for_timeout(150)
    return (script_ms(session) - before) / STEPS


def look(path: Path) -> tuple[Figure, dict[str, float]]:
    """Return when the page could be used, in ms, and the times of zooming."""
    chromium = os.environ.get("ROAST_CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        ready = []
        for _ in range(3):
            page.goto(path.as_uri())
            page.wait_for_selector("[role=tab]", timeout=60_000)
            ready.append(page.evaluate("performance.getEntriesByName('roast-ready')[0].startTime"))
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        zooms = {tab: zoom_ms(page, session, tab) for tab in ("timeline", "gantt", "chunks")}
        browser.close()
    return best(ready), zooms


def main() -> int:
    with tempfile.TemporaryDirectory() as place:
        run, page = Path(place) / "run.roast", Path(place) / "page.html"
        subprocess.run([MAKE_RUN, "empty", run], check=True)
        make(run, page)
        row("the page without data", page.stat().st_size / 1000, "kB", at_most=PAGE_LIMIT / 1000)
        for chunks, workers, seconds, made_s, size, usable_ms, step_ms in CASES:
            run.unlink()
            subprocess.run([MAKE_RUN, f"large:{chunks}:{workers}:{seconds}", run], check=True)
            case = f"{chunks:,} chunks, {workers:,} workers"
            row(f"{case}: made, CPU", make(run, page), "s", at_most=made_s)
            row(f"{case}: size", page.stat().st_size / 1e6, "MB", at_most=size / 1e6)
            usable, zooms = look(page)
            row(f"{case}: usable after", usable, "ms", at_most=usable_ms)
            for tab, milliseconds in zooms.items():
                row(f"{case}: script per zoom, {tab}", milliseconds, "ms", at_most=step_ms)
    return 0


if __name__ == "__main__":
    sys.exit(main())
