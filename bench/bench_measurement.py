"""Saving and loading the measurement of a large run: 100,000 chunks with 5 sections each.

The run is written by build/bench/bench-run; what is timed is save_measurement(), and
load_measurement() with every metric but the records, each in CPU time of this process. Beside them
stands json with the same chunks as the documented dicts, in one file.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from result import ratio, repeated, row
from roastcoffea import MetricsCollector, load_measurement

ROOT = Path(__file__).resolve().parent.parent
CHUNKS = 100_000
PART = 20  # json gets so much less, and what it takes is multiplied
SAVE_MAX_S = 2.0
LOAD_MAX_S = 0.7
SIZE_MAX_MB = 45.0


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        run, plain = Path(folder) / "run.roast", Path(folder) / "plain.json"
        maker = ROOT / "build" / "bench" / "bench-run"
        subprocess.run([maker, "make", str(CHUNKS), run], check=True, stdout=subprocess.DEVNULL)
        collector = MetricsCollector.from_run(run)
        collector.get_metrics()
        paths: list[Path] = []

        def save() -> float:
            start = time.process_time()
            paths.append(collector.save_measurement(folder, f"measurement-{len(paths)}"))
            return time.process_time() - start

        def load() -> float:
            start = time.process_time()
            metrics, _, _ = load_measurement(paths[0])
            took = time.process_time() - start
            assert metrics["num_chunks"] == CHUNKS
            assert len(metrics["raw_chunk_metrics"]) == CHUNKS
            return took

        saved, loaded = repeated(save), repeated(load)
        size = sum(file.stat().st_size for file in paths[0].iterdir())
        records: Any = collector.get_metrics()["raw_chunk_metrics"]
        dicts = [dict(chunk) for chunk in records[: CHUNKS // PART]]

        def dump() -> float:
            start = time.process_time()
            plain.write_text(json.dumps(dicts))
            return time.process_time() - start

        def parse() -> float:
            start = time.process_time()
            json.loads(plain.read_text())
            return time.process_time() - start

        dumped, parsed = repeated(dump).times(PART), repeated(parse).times(PART)
        row("100,000 chunks, saved", saved, "s", at_most=SAVE_MAX_S)
        row("100,000 chunks, saved", ratio(saved, dumped), of="json.dumps")
        row("100,000 chunks, loaded", loaded, "s", at_most=LOAD_MAX_S)
        row("100,000 chunks, loaded", ratio(loaded, parsed), of="json.loads")
        row("100,000 chunks, size", size / 1e6, "MB", at_most=SIZE_MAX_MB)
        row("100,000 chunks, size", size / plain.stat().st_size / PART, of="JSON")
    return 0


if __name__ == "__main__":
    sys.exit(main())
