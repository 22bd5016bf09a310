"""A busy cluster whose workers are killed and added all the time, under the collector.

python tools/soak.py [SECONDS]

For that long (600 s) the demo analysis runs again and again on a LocalCluster. Every 20 s a
worker is killed with SIGKILL (its nanny starts another) and, in turn, one is added or taken
away. At the end the totals must agree: chunks and events with coffea's own report, the time
ledger of every worker with its threads x wall time, no fault inside the monitor, and a run file
that passes its check. Prints what it found; exit 1 if something does not agree.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import dask
from coffea.processor import DaskExecutor, Runner, accumulate
from distributed import Client, LocalCluster

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "examples"))  # worker processes inherit it

from analysis import DemoSchema, DimuonProcessor  # noqa: E402
from make_data import make_data  # noqa: E402
from roastcoffea import MetricsCollector  # noqa: E402
from roastcoffea._roast import Run  # noqa: E402

EVERY_S = 20.0
WORKERS = 3
CHUNKSIZE = 2_000
# A sum of doubles over many intervals
LEDGER_TOLERANCE = 1e-6


class Trouble(threading.Thread):
    """Kills a worker every 20 s, and lets the cluster grow and shrink by one."""

    def __init__(self, cluster: LocalCluster, seed: int) -> None:
        super().__init__(daemon=True)
        self._cluster = cluster
        self._rng = random.Random(seed)
        self._end = threading.Event()
        self.kills = 0
        self.scalings = 0

    def run(self) -> None:
        """Go on until stop()."""
        while not self._end.wait(EVERY_S):
            # Only one that has come to work, beside another: or nothing is ever done where
            # starting a worker takes as long as the pause between two kills.
            working = self._cluster.scheduler.workers.values()
            names = sorted(worker.name for worker in list(working))
            if len(names) > 1:
                pid = self._cluster.workers[self._rng.choice(names)].pid
                os.kill(pid, signal.SIGKILL)
                self.kills += 1
            self.scalings += 1
            self._cluster.scale(WORKERS + self.scalings % 2)

    def stop(self) -> None:
        """End the trouble, and wait for it."""
        self._end.set()
        self.join()


def analyse_for(client: Client, fileset: Any, processor: Any, seconds: float) -> dict[str, Any]:
    """Analyse again and again; return coffea's reports, summed. Datasets get new names."""
    reports: list[dict[str, Any]] = []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        named = {f"{name}-{len(reports)}": entry for name, entry in fileset.items()}
        runner = Runner(
            executor=DaskExecutor(client=client, status=False, retries=10),
            schema=DemoSchema,
            chunksize=CHUNKSIZE,
            savemetrics=True,
        )
        reports.append(runner(named, processor)[1])
    print(f"soak: {len(reports)} analyses", flush=True)
    return accumulate(reports)  # type: ignore[no-any-return]


def disagreements(metrics: Any, report: dict[str, Any], run: Run) -> list[str]:
    """List what does not agree, each in a sentence."""
    found = []
    pairs = (
        ("chunks that finished", metrics["num_successful_chunks"], report["chunks"]),
        ("events of finished chunks", metrics["total_events_from_chunks"], report["entries"]),
        ("faults inside the monitor", run.facts()["run.faults"], 0),
    )
    for what, is_, should_be in pairs:
        print(f"soak: {what}: {is_}, expected {should_be}")
        if is_ != should_be:
            found.append(f"{what}: {is_} instead of {should_be}")
    wall_s = metrics["elapsed_time_seconds"]
    for worker, row in metrics["time_ledger"].items():
        if not math.isclose(sum(row.values()), wall_s, rel_tol=LEDGER_TOLERANCE):
            found.append(f"ledger of {worker}: {sum(row.values())} s instead of {wall_s} s")
        if min(row.values()) < 0:
            found.append(f"ledger of {worker}: a negative part in {row}")
    print(f"soak: ledgers of {len(metrics['time_ledger'])} workers over {wall_s:.1f} s each")
    return found


def soak(seconds: float, directory: Path) -> list[str]:
    """Run it, print what happened, and return what does not agree."""
    fileset = make_data(directory / "data", files=4, events_per_file=8_000, basket_events=2_000)
    processor = DimuonProcessor()
    with (
        # A chunk may lose its worker more than three times here.
        dask.config.set({"distributed.scheduler.allowed-failures": 50}),
        LocalCluster(
            n_workers=WORKERS,
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",
            silence_logs=50,
        ) as cluster,
        Client(cluster) as client,
    ):
        trouble = Trouble(cluster, seed=1)
        with MetricsCollector(
            client, processor_instance=processor, output_dir=directory / "runs"
        ) as collector:
            trouble.start()
            report = analyse_for(client, fileset, processor, seconds)
            trouble.stop()
            collector.set_coffea_report(report)
        metrics = collector.get_metrics()
    (path,) = (directory / "runs").glob("**/*.roast")
    print(f"soak: {trouble.kills} workers killed, cluster scaled {trouble.scalings} times")
    print(f"soak: {metrics['num_lost_chunks']} chunks lost, {path.stat().st_size} bytes of run")
    found = disagreements(metrics, report, Run.open(path))
    check = subprocess.run([ROOT / ".venv/bin/roast", "check", path], check=False)
    if check.returncode:
        found.append(f"roast check ended with {check.returncode}")
    return found


def main() -> int:
    """Soak, and say what does not agree."""
    parser = argparse.ArgumentParser(description="Soak the collector on a troubled cluster.")
    parser.add_argument("seconds", nargs="?", type=float, default=600.0)
    seconds = parser.parse_args().seconds
    with tempfile.TemporaryDirectory(prefix="roast-soak-") as directory:
        found = soak(seconds, Path(directory))
    for sentence in found:
        print(f"soak: does not agree: {sentence}", file=sys.stderr)
    if not found:
        print("soak: everything agrees")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
