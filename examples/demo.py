"""A measured coffea analysis, from nothing to a run file.

    python examples/demo.py

Makes the data if there is none, runs the analysis on a local Dask cluster under
`MetricsCollector`, prints the summary, checks it against what coffea itself reports, and
says where the results are.
"""

from __future__ import annotations

import argparse
import logging
import math
import shutil
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from coffea.processor import DaskExecutor, Runner
from distributed import Client, LocalCluster

from analysis import DemoSchema, DimuonProcessor, z_peak
from make_data import EVENTS_PER_FILE, make_data
from roastcoffea import MetricsCollector
from task_progress import follow_tasks

EXAMPLES = Path(__file__).resolve().parent
Z_MASS_GEV, Z_TOLERANCE_GEV = 91.19, 0.5


def main(argv: list[str] | None = None) -> int:
    options = parse_options(argv)
    fileset = make_data(
        options.data,
        events_per_file=options.events,
        report=lambda line: print(line, file=sys.stderr, flush=True),
    )
    name = f"demo-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    collector, output, report = run(fileset, name, options)
    collector.print_summary()
    measurement = collector.save_measurement(options.output, name)

    agrees = print_check(collector.get_metrics(), report)
    plausible = print_physics(output)
    print_next_steps(options.output / f"{name}.roast", measurement, options.output)
    return 0 if agrees and plausible else 1


def parse_options(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Run the roastcoffea demo.")
    parser.add_argument(
        "--data", type=Path, default=EXAMPLES / "data", metavar="DIR", help="where the files are"
    )
    parser.add_argument(
        "--output", type=Path, default=Path("runs"), metavar="DIR", help="where the run goes"
    )
    parser.add_argument(
        "--events", type=positive, default=EVENTS_PER_FILE, help="events of each file"
    )
    parser.add_argument("--workers", type=positive, default=2, help="worker processes")
    parser.add_argument("--chunksize", type=positive, default=20_000, help="events of a chunk")
    return parser.parse_args(argv)


def positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return number


def run(
    fileset: dict[str, Any], name: str, options: argparse.Namespace
) -> tuple[MetricsCollector, dict[str, Any], dict[str, Any]]:
    """Run the analysis on a cluster of its own, under the collector."""
    processor = DimuonProcessor()
    cluster = LocalCluster(
        n_workers=options.workers,
        threads_per_worker=1,
        processes=True,
        dashboard_address="127.0.0.1:0",
        silence_logs=logging.ERROR,
    )
    with cluster, Client(cluster) as client:
        runner = Runner(
            executor=DaskExecutor(client=client, status=False),
            schema=DemoSchema,
            chunksize=options.chunksize,
            savemetrics=True,
        )
        collector = MetricsCollector(
            client,
            processor_instance=processor,
            worker_tracking_interval=0.5,
            output_dir=options.output,
            measurement_name=name,
        )
        with collector, follow_tasks(client, type(processor).__name__):
            output, report = runner(fileset, processor)
    return collector, output, report


def print_check(metrics: dict[str, Any], report: dict[str, Any]) -> bool:
    """Hold the collector's figures against coffea's own report; counts must match exactly."""
    print("\nAgainst coffea's report:")
    agrees = True
    for name, ours, theirs in compared_figures(metrics, report):
        exact = isinstance(theirs, int)
        same = ours == theirs if exact else math.isclose(ours, theirs, rel_tol=1e-9)
        agrees &= same
        form = "," if exact else ".10g"
        print(f"  {name:<18} {ours:>14{form}} {'=' if same else 'differs from'} {theirs:{form}}")
    return agrees


def compared_figures(
    metrics: dict[str, Any], report: dict[str, Any]
) -> Iterator[tuple[str, float, float]]:
    events, size, elapsed = report["entries"], report["bytesread"], metrics["elapsed_time_seconds"]
    yield "events", metrics["total_events"], events
    yield "bytes read", metrics["total_bytes_read"], size
    yield "chunks", metrics["num_chunks"], report["chunks"]
    yield "data rate, Gbit/s", metrics["data_rate_gbps"], size * 8 / 1e9 / elapsed
    yield "event rate, kHz", metrics["event_rate_elapsed_khz"], events / elapsed / 1e3


def print_physics(output: dict[str, Any]) -> bool:
    """A monitor must not change the physics: the Z has to be where it always is."""
    peak = z_peak(output["DYJets"]["dimuon_mass"])
    print(f"\nZ peak of {output['DYJets']['pairs']:,} pairs: {peak:.2f} GeV (known: {Z_MASS_GEV})")
    for dataset, results in sorted(output.items()):
        print(
            f"  {dataset:<8} {results['events']:>9,} events, {results['triggered']:>7,} triggered, "
            f"{results['pairs']:>7,} muon pairs, {results['jets']:>8,} jets"
        )
    return abs(peak - Z_MASS_GEV) < Z_TOLERANCE_GEV


def print_next_steps(run_file: Path, measurement: Path, output: Path) -> None:
    print("\nWritten:")
    print(f"  {run_file}  the run, as it was recorded")
    print(f"  {measurement}/  the measurement as JSON")
    print("\nTo try next:")
    print(f"  {program('roast')} show {run_file}")
    print(f"  {program('roast')} list {output}")
    loaded = f"roastcoffea.load_measurement('{measurement}')"
    print(
        f"  {program('python')} -c "
        f"\"import roastcoffea; print({loaded}[0]['event_rate_elapsed_khz'])\""
    )


def program(name: str) -> str:
    """How to call a program of this environment: by its name if that is what PATH finds."""
    path = Path(sys.executable).with_name(name)
    if shutil.which(name) == str(path):
        return name
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


if __name__ == "__main__":
    raise SystemExit(main())
