"""What plots cost: a timeline of 200 workers x 1,200 samples is to be drawn within 1 s.

Times are of this process's CPU, from the documented data to a finished PNG of 150 dpi; a busy
machine does not change them.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("agg")
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests/python"))

import test_plots_data as plot_data

from result import Figure, repeated, row
from roastcoffea.visualization import plots

LIMIT_S = 1.0


def cpu_s(function: Callable[..., Any], *data: Any, path: Path) -> Figure:
    def once() -> float:
        start = time.process_time()
        function(*data, output_path=path)
        return time.process_time() - start

    return repeated(once)


def main() -> int:
    metrics = plot_data.make_metrics(200, 1200, 4000)
    many = plot_data.make_tracking_data(2000, 1200)
    chunks = plot_data.make_chunks(100_000, workers=200)
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "plot.png"
        plots.plot_efficiency_summary(metrics, path)  # fonts and caches
        for name in plot_data.PLOTS:
            seconds = cpu_s(getattr(plots, name), plot_data.data_of(name, metrics), path=path)
            bound = LIMIT_S if name in plot_data.OF_WORKERS else None
            row(f"{name}, 200 workers, 4,000 chunks", seconds, "s", at_most=bound)
        for name in ("plot_cpu_utilization_per_worker_timeline", "plot_memory_limit"):
            seconds = cpu_s(getattr(plots, name), many, path=path)
            row(f"{name}, 2,000 workers x 1,200", seconds, "s")
        for name in plot_data.OF_CHUNKS:
            seconds = cpu_s(getattr(plots, name), chunks, path=path)
            row(f"{name}, 100,000 chunks", seconds, "s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
