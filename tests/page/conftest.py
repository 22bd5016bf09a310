"""A real browser, and report pages of runs that make-run writes.

The browser is the system's Chromium; ROAST_CHROMIUM names another. Pictures of what the tests saw
are kept in build/test-results/page/.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
ROAST = os.environ.get("ROAST", str(ROOT / ".venv" / "bin" / "roast"))
MAKE_RUN = ROOT / "build" / "tests" / "unit" / "make-run"
PICTURES = ROOT / "build" / "test-results" / "page"

Open = Callable[..., Page]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    names = (os.environ.get("ROAST_CHROMIUM"), "chromium", "chromium-browser", "google-chrome")
    path = next((found for name in names if name and (found := shutil.which(name))), None)
    assert path, "there is no Chromium: tools/setup test installs it"
    with sync_playwright() as playwright:
        # The sandbox of Chromium refuses to be started by root.
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def make_report(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return a function that writes the page of a kind of run, once."""
    folder = tmp_path_factory.mktemp("pages")

    def make(kind: str) -> Path:
        page = folder / f"{kind.replace(':', '-')}.html"
        if not page.exists():
            run = page.with_suffix(".roast")
            subprocess.run([MAKE_RUN, kind, run], check=True)
            subprocess.run([ROAST, "report", run, "-o", page], check=True)
        return page

    return make


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Open]:
    """Return a function that opens a page; whatever it complains about fails the test."""
    complaints: list[str] = []
    contexts = []

    def note(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            complaints.append(f"{message.type}: {message.text}")

    def open_(path: Path, tab: str | None = None, **options: object) -> Page:
        options.setdefault("viewport", {"width": 1280, "height": 900})
        context = browser.new_context(offline=True, **options)  # type: ignore[arg-type]
        contexts.append(context)
        page = context.new_page()
        page.on("console", note)
        page.on("pageerror", lambda error: complaints.append(f"exception: {error}"))
        page.on(
            "request",
            lambda request: (
                complaints.append(request.url) if request.url != path.as_uri() else None
            ),
        )
        page.goto(path.as_uri())
        page.wait_for_selector("[role=tab]")
        if tab:
            page.click(f"#tab-{tab}")
        return page

    yield open_
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture
def picture(request: pytest.FixtureRequest) -> Callable[[Page, str], None]:
    """Return a function that keeps a picture of a page."""

    def keep(page: Page, name: str) -> None:
        PICTURES.mkdir(parents=True, exist_ok=True)
        page.wait_for_timeout(150)
        page.screenshot(path=PICTURES / f"{name}.png", full_page=True)

    return keep
