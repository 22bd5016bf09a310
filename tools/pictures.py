"""Makes every picture of the documentation anew: `make pictures`.

python tools/pictures.py [NAME ...]

Writes docs/pictures/. Terminals show what commands print on runs of the demo's analysis, made here
on a local cluster; so do plots. The report page, in the system's Chromium, shows such a run where
it knows more, and a generated one, which is large and always the same, where it shows more. With
names, only these pictures are made.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from terminal_picture import draw, run_on_terminal

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"
MAKE_RUN = ROOT / "build" / "tests" / "unit" / "make-run"

#: What is printed on a terminal so wide: the arguments of roast, among the demo's runs
TERMINALS = {
    "show.svg": (90, "show zmumu.roast"),
    "explain.svg": (90, "explain zmumu.roast"),
    "compare.svg": (100, "compare zmumu.roast smaller-chunks.roast"),
}

#: Runs that are always the same: the arguments of make-run before and behind their name
GENERATED = {
    "large": ("large:4000:24:300", ""),  # chunks, workers, seconds
    "before": ("many", "400 1 1.0 0.1 4"),
    "after": ("many", "400 2 1.12 0.1 4"),
}

#: The runs of a report page, its tab, and whether that is in dark colours
TABS = {
    "page-overview.png": (("zmumu",), "overview", False),
    "page-timeline.png": (("large",), "timeline", True),
    "page-chunks.png": (("large",), "chunks", False),
    "page-gantt.png": (("large",), "gantt", False),
    "page-sections.png": (("large",), "sections", False),
    "page-ledger.png": (("zmumu",), "ledger", False),
    "page-changes.png": (("before", "after"), "changes", False),
}

PLOTS = ("chunks.png", "ledger.png", "bytes.png")

MADE = (*TERMINALS, *TABS, *PLOTS)


def roast(*arguments: str | Path) -> list[str]:
    """Return the command of this environment with arguments."""
    return [str(Path(sys.executable).with_name("roast")), *map(str, arguments)]


def measure(name: str, chunksize: int) -> None:
    """Run the demo's analysis and keep the run under a name."""
    demo = ROOT / "examples" / "demo.py"
    command = [sys.executable, str(demo), "--output", name, "--chunksize", str(chunksize)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    (run,) = Path(name).glob("*.roast")
    run.rename(f"{name}.roast")


def draw_terminals(names: Iterable[str]) -> None:
    """Draw what commands print; files of the clone are named as from its top."""
    for name in names:
        columns, arguments = TERMINALS[name]
        command = roast(*arguments.split())
        output = run_on_terminal(command, columns).replace(f"{ROOT}{os.sep}", "")
        draw(PICTURES / name, command, output, columns)


def draw_plots(names: Iterable[str]) -> None:
    """Draw plots of the demo's run."""
    from roastcoffea import MetricsCollector
    from roastcoffea.visualization import (
        plot_bytes_reconciliation,
        plot_chunk_gantt,
        plot_time_ledger,
    )

    collector = MetricsCollector.from_run("zmumu.roast")
    metrics = collector.get_metrics()
    plots: dict[str, Callable[[Path], object]] = {
        "chunks.png": lambda path: plot_chunk_gantt(
            collector.chunk_metrics, path, figsize=(9, 2.6)
        ),
        "ledger.png": lambda path: plot_time_ledger(metrics, path, figsize=(9, 3.8)),
        "bytes.png": lambda path: plot_bytes_reconciliation(metrics, path, figsize=(9, 3.6)),
    }
    for name in names:
        plots[name](PICTURES / name)


def draw_page(names: Iterable[str]) -> None:
    """Take pictures of the report page's tabs."""
    from playwright.sync_api import sync_playwright

    chromium = os.environ.get("ROAST_CHROMIUM") or shutil.which("chromium")
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=sandbox)
        for name in names:
            runs, tab, dark = TABS[name]
            page = Path(f"{runs[-1]}.html").absolute()
            files = [f"{run}.roast" for run in runs]
            subprocess.run(roast("report", *files, "-o", page), check=True)
            view = browser.new_page(
                viewport={"width": 1120, "height": 700}, color_scheme="dark" if dark else "light"
            )
            view.goto(f"{page.as_uri()}#{tab}")
            view.wait_for_selector(f"#tab-{tab}[aria-selected=true]")
            view.wait_for_timeout(500)
            view.screenshot(path=PICTURES / name)
        browser.close()


def main() -> int:
    """Make the pictures that were named, or all."""
    wanted = sys.argv[1:] or list(MADE)
    unknown = set(wanted).difference(MADE)
    if unknown:
        sys.exit(f"pictures: there is no {', '.join(sorted(unknown))}: {', '.join(MADE)}")
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
        of_demo = {name for name, (runs, _, _) in TABS.items() if "zmumu" in runs}
        if set(wanted) & {*TERMINALS, *PLOTS, *of_demo}:
            measure("zmumu", 20_000)
        if "compare.svg" in wanted:
            measure("smaller-chunks", 4_000)
        draw_terminals(name for name in wanted if name in TERMINALS)
        draw_plots(name for name in wanted if name in PLOTS)
        if set(wanted) & set(TABS):
            for run, (kind, options) in GENERATED.items():
                subprocess.run([MAKE_RUN, kind, f"{run}.roast", *options.split()], check=True)
            draw_page(name for name in wanted if name in TABS)
    return 0


if __name__ == "__main__":
    sys.exit(main())
