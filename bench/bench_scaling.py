"""How costs grow: with the chunks of a run, and with the workers of a cluster.

Runs of 10^3 to 10^6 chunks (five sections and four branches each) are opened and asked for
everything, saved and loaded: a small run's measurement is JSON, that of a large one keeps its rows
in the run file, and costs less. Clusters of 10 to 10^4 workers send what they sampled in 51 s, and
a run with two minutes of their samples is asked for all metrics. Times are CPU times of this
process, the least of some. Each curve is told with the exponents that fit it: 1 is a cost that
grows as the run does. tools/bench_picture.py draws them.
"""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench_cluster import HEARTBEAT_S, Simulation
from result import Figure, best, curve
from roastcoffea import MetricsCollector, explain, load_measurement, open_run
from roastcoffea._roast import Run

ROOT = Path(__file__).resolve().parent.parent
MAKE_RUN = ROOT / "build" / "tests" / "unit" / "make-run"
CHUNKS = (1_000, 10_000, 100_000, 1_000_000)
WORKERS = (10, 100, 1_000, 10_000)
AT_MOST = 1.1

Curves = dict[str, dict[int, Figure]]


def cpu_s(function: Callable[[], Any]) -> Figure:
    """The least time of two to five calls."""
    took: list[float] = []
    while len(took) < 2 or (len(took) < 5 and sum(took) < 1):
        begin = time.process_time()
        function()
        took.append(time.process_time() - begin)
    return best(took)


def make(folder: Path, chunks: int, workers: int, seconds: int) -> Path:
    path = folder / "run.roast"
    path.unlink(missing_ok=True)
    subprocess.run([MAKE_RUN, f"large:{chunks}:{workers}:{seconds}", path], check=True)
    return path


def bench_chunks(folder: Path) -> Curves:
    curves: Curves = {}
    for chunks in CHUNKS:
        run = make(folder, chunks, 20, 120)
        saved = folder / "saved"
        collector = MetricsCollector.from_run(run)
        collector.get_metrics()

        def save(collector: MetricsCollector = collector, saved: Path = saved) -> None:
            shutil.rmtree(saved, ignore_errors=True)
            collector.save_measurement(folder, saved.name)

        jobs: dict[str, Callable[[], Any]] = {
            "all metrics": lambda run=run: Run.open(str(run)).summary().metrics(),  # type: ignore[misc]
            "report": lambda run=run: open_run(run).write_report(folder / "page.html"),  # type: ignore[misc]
            "explain": lambda run=run: explain(run),  # type: ignore[misc]
            "save": save,
            "load": lambda saved=saved: load_measurement(saved),  # type: ignore[misc]
        }
        for name, job in jobs.items():
            curves.setdefault(name, {})[chunks] = cpu_s(job)
    return curves


async def send_samples(workers: int, path: Path) -> Figure:
    """Let every worker send once, as at a heartbeat: from its plugin to rows in the run's file."""
    simulation = Simulation(workers, path, heartbeat_s=HEARTBEAT_S)
    await simulation.start()

    def heartbeat() -> None:
        for probe in simulation.probes:
            simulation.send(probe)
        simulation.pass_on()

    simulation.second(1)
    took = cpu_s(heartbeat)
    simulation.backend.run.finish()
    return took


def bench_workers(folder: Path) -> Curves:
    curves: Curves = {"all metrics of their series": {}, "events to rows of the run": {}}
    for workers in WORKERS:
        run = make(folder, 1000, workers, 120)
        curves["all metrics of their series"][workers] = cpu_s(
            lambda run=run: Run.open(str(run)).summary().metrics()  # type: ignore[misc]
        )
        run.unlink()
        sent = asyncio.run(send_samples(workers, run))
        curves["events to rows of the run"][workers] = sent
    return curves


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        for job, points in bench_chunks(Path(name)).items():
            curve(job, "chunks", points, "s", AT_MOST)
    with tempfile.TemporaryDirectory() as name:
        for job, points in bench_workers(Path(name)).items():
            curve(job, "workers", points, "s", AT_MOST)
    return 0


if __name__ == "__main__":
    sys.exit(main())
