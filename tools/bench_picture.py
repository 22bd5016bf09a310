"""Draws how costs grow, from what `make bench` measured.

    make bench ONLY=scaling
    python tools/bench_picture.py

Reads build/bench.json and writes docs/pictures/scaling.svg.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "build" / "bench.json"
PICTURE = ROOT / "docs" / "pictures" / "scaling.svg"


def draw(curves: list[dict[str, Any]], path: Path) -> None:
    """Draw a panel for each thing that grows, on logarithmic axes."""
    import matplotlib as mpl

    mpl.use("agg")
    mpl.rcParams["svg.hashsalt"] = "roastcoffea"  # the same picture from the same figures
    from matplotlib import pyplot

    panels = sorted({curve["over"] for curve in curves})
    figure, all_axes = pyplot.subplots(
        1, len(panels), figsize=(4.8 * len(panels), 3.6), sharey=True, squeeze=False
    )
    for axes, over in zip(all_axes[0], panels, strict=True):
        for curve in (curve for curve in curves if curve["over"] == over):
            axes.loglog(curve["x"], curve["y"], marker="o", markersize=4, label=curve["curve"])
        axes.set_xlabel(over)
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
    all_axes[0][0].set_ylabel("CPU time (s)")
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def main() -> int:
    """Draw what was measured last."""
    curves = json.loads(RESULTS.read_text())["curves"] if RESULTS.exists() else []
    if not curves:
        print("bench_picture: `make bench ONLY=scaling` measures the curves", file=sys.stderr)
        return 2
    draw(curves, PICTURE)
    print(PICTURE.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
