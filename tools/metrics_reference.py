"""Writes docs/metrics.md from the registry of metrics.

python tools/metrics_reference.py [--check] [--roast PROGRAM]

The registry is libroast/include/roast-metrics.def; `roast metrics --format json` tells it. With
--check nothing is written: exit 1 if the page is not what it would be.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "metrics.md"

HEAD = """\
# Metrics

<!-- Written by tools/metrics_reference.py from libroast/include/roast-metrics.def: do not edit. -->

Every metric that `roast show` and `get_metrics()` know; `roast metrics KEY` tells the same.

- **Key** is the name in Python, in JSON and in `roast metrics`; [other names](#other-names) of
  the same figure work too.
- **Better** says which direction is an improvement; a dash where neither is.
- **Formula; source** uses the keys of other metrics. A formula over a metric that is not known
  is not known either, for the same reason.
- A metric that is not known is absent, with a reason: it is not 0. `get_metrics()` keeps the
  fallbacks that its users rely on (0, `None` or no key), with the reasons in `.absent`.
- An estimated metric rests on another source than the first one named; `.estimated` says which.
- Units are SI: 1 kB is 1,000 B. 1 MiB is 1,048,576 B.
"""

GROUPS = {
    "workflow": ("Workflow", "The run as a whole, from coffea's report and the client's clock."),
    "worker": ("Workers", "The workers over time, from Dask's scheduler and from samples."),
    "fine": ("Fine metrics", "Where the time of tasks went, from Dask's spans."),
    "efficiency": ("Efficiency", "How well the cores were used: formulas over the groups above."),
    "chunk": ("Chunks", "Chunks one by one, from `@track_metrics`."),
    "coverage": ("Coverage", "What was read of the files, from what chunks tell of them."),
}


def read_registry(roast: str) -> list[dict[str, Any]]:
    """Ask the program for the registry."""
    command = [roast, "metrics", "--format", "json"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    registry: list[dict[str, Any]] = json.loads(text)
    return registry


def write_page(registry: list[dict[str, Any]]) -> str:
    """Make the page: a table for each group, in the order of the registry, and the aliases."""
    lines = [HEAD]
    for group, (title, words) in GROUPS.items():
        lines.append(f"## {title}\n\n{words}\n")
        lines.append("| Key | Title | Unit | Better | Formula; source |")
        lines.append("|---|---|---|---|---|")
        lines += [row(metric) for metric in registry if metric["group"] == group]
        lines.append("")
    lines.append("## Other names\n\n| Name | is |\n|---|---|")
    lines += [f"| `{name}` | `{m['key']}` |" for m in registry for name in m["aliases"]]
    return "\n".join(lines) + "\n"


def row(metric: dict[str, Any]) -> str:
    """Make the row of a metric."""
    unit = {"1": "count", "x": "factor"}.get(metric["unit"], metric["unit"])
    cells = [
        f"`{metric['key']}`",
        metric["title"],
        unit,
        metric["better"] or "–",
        metric["formula"],
    ]
    return f"| {' | '.join(cells)} |"


def main() -> int:
    """Write the page, or check it."""
    parser = argparse.ArgumentParser(description="Write docs/metrics.md from the registry.")
    parser.add_argument("--check", action="store_true", help="only look whether it is current")
    parser.add_argument("--roast", default=str(ROOT / ".venv/bin/roast"), help="the program to ask")
    options = parser.parse_args()
    page = write_page(read_registry(options.roast))
    if not options.check:
        PAGE.write_text(page, encoding="utf-8")
    elif PAGE.read_text(encoding="utf-8") != page:
        print(f"{PAGE} is not current: run `make docs`", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
