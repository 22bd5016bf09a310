"""Saving and loading the measurement of a large run: 100,000 chunks with 5 sections each.

python bench/bench_measurement.py

The run is written by build/bench/bench-run; what is timed is save_measurement(), and
load_measurement() with every metric but the records, each in CPU time of this process. Exits with
1 if a bound is missed.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from roastcoffea import MetricsCollector, load_measurement

ROOT = Path(__file__).resolve().parent.parent
CHUNKS = 100_000
SAVE_MAX_S = 2.0
LOAD_MAX_S = 0.7
SIZE_MAX_MB = 45.0


def main() -> int:
    """Print the figures and say whether one misses its bound."""
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run.roast"
        maker = ROOT / "build" / "bench" / "bench-run"
        subprocess.run([maker, "make", str(CHUNKS), run], check=True, stdout=subprocess.DEVNULL)
        collector = MetricsCollector.from_run(run)
        collector.get_metrics()
        start = time.process_time()
        path = collector.save_measurement(folder, "measurement")
        saved = time.process_time() - start
        start = time.process_time()
        metrics, _, _ = load_measurement(path)
        loaded = time.process_time() - start
        assert metrics["num_chunks"] == CHUNKS
        assert len(metrics["raw_chunk_metrics"]) == CHUNKS
        size = sum(file.stat().st_size for file in path.iterdir()) / 1e6
    missed = False
    for what, value, bound, unit in (
        ("save", saved, SAVE_MAX_S, "s"),
        ("load", loaded, LOAD_MAX_S, "s"),
        ("size", size, SIZE_MAX_MB, "MB"),
    ):
        good = value <= bound
        missed |= not good
        verdict = "good" if good else "MISSED"
        print(f"  {what:6} {value:8.2f} {unit:3} at most {bound:g}: {verdict}")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
