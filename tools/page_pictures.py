"""Takes the README's pictures of the report page: of a run, and of what differs between two.

    build/tests/unit/make-run large:4000:24:300 RUN.roast
    build/tests/unit/make-run many BEFORE.roast 400 1 1.0 0.1 4
    build/tests/unit/make-run many AFTER.roast 400 2 1.12 0.1 4
    python tools/page_pictures.py RUN.roast BEFORE.roast AFTER.roast

Writes docs/pictures/page-*.png with the system's Chromium.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

PICTURES = Path(__file__).resolve().parent.parent / "docs" / "pictures"

#: The tab, and whether it is shown in dark colours
OF_A_RUN = (("overview", False), ("chunks", False), ("timeline", True))
OF_TWO = (("changes", False),)


def main() -> int:
    """Take every picture."""
    if len(sys.argv) != 4:
        sys.exit("usage: page_pictures.py RUN.roast BEFORE.roast AFTER.roast")
    chromium = os.environ.get("ROAST_CHROMIUM") or shutil.which("chromium")
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=sandbox)
        for runs, shown in ((sys.argv[1:2], OF_A_RUN), (sys.argv[2:], OF_TWO)):
            page = Path(place) / "page.html"
            roast = Path(sys.executable).with_name("roast")
            subprocess.run([roast, "report", *runs, "-o", page], check=True)
            for tab, dark in shown:
                view = browser.new_page(
                    viewport={"width": 1120, "height": 700},
                    color_scheme="dark" if dark else "light",
                )
                view.goto(f"{page.as_uri()}#{tab}")
                view.wait_for_timeout(500)
                view.screenshot(path=PICTURES / f"page-{tab}.png")
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
