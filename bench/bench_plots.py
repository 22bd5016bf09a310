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
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests/python"))

import test_plots_data as plot_data

from roastcoffea.visualization import plots

LIMIT_S = 1.0


def cpu_s(function: Callable[..., Any], *data: Any, path: Path) -> float:
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        function(*data, output_path=path)
        best = min(best, time.process_time() - start)
    return best


def main() -> int:
    print("== plots: CPU time to a PNG, best of 3")
    metrics = plot_data.make_metrics(200, 1200, 4000)
    many = plot_data.make_tracking_data(2000, 1200)
    chunks = plot_data.make_chunks(100_000, workers=200)
    slow = 0
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "plot.png"
        plots.plot_efficiency_summary(metrics, path)  # fonts and caches
        for name in plot_data.PLOTS:
            seconds = cpu_s(getattr(plots, name), plot_data.data_of(name, metrics), path=path)
            limited = name in plot_data.OF_WORKERS
            slow += limited and seconds > LIMIT_S
            verdict = f"  limit {LIMIT_S:g} s" if limited else ""
            print(f"{name:46} 200 workers, 4,000 chunks {seconds:7.2f} s{verdict}")
        for name in ("plot_cpu_utilization_per_worker_timeline", "plot_memory_limit"):
            seconds = cpu_s(getattr(plots, name), many, path=path)
            print(f"{name:46} 2,000 workers x 1,200     {seconds:7.2f} s")
        for name in plot_data.OF_CHUNKS:
            seconds = cpu_s(getattr(plots, name), chunks, path=path)
            print(f"{name:46} 100,000 chunks            {seconds:7.2f} s")
    if slow:
        print(f"{slow} timelines took longer than {LIMIT_S:g} s", file=sys.stderr)
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
