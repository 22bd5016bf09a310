"""Write the demo's ROOT files: two datasets that look like NanoAOD.

    python examples/make_data.py DIR

A file is written under a temporary name and renamed when it is complete, so a run that was
interrupted leaves nothing that could be taken for data. Files that are there already and hold
what is asked for are kept. Each batch of events becomes one basket per branch.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import uproot

from toy_events import Columns, generate

EVENTS_PER_FILE = 40_000
RECIPE = 1  # counts up when the events of a seed change, so that older files are remade
FIRST_RUN = 355_100
LUMI_EVENTS = 400

METADATA: dict[str, dict[str, Any]] = {
    "DYJets": {"xsec_pb": 6077.22, "process": "Z/gamma* -> ll, m > 40 GeV"},
    "TTbar": {"xsec_pb": 833.9, "process": "top pairs, all decays"},
}

Report = Callable[[str], None]


def make_data(
    directory: str | Path,
    files: int = 6,
    events_per_file: int = EVENTS_PER_FILE,
    *,
    basket_events: int = 10_000,
    seed: int = 2026,
    force: bool = False,
    report: Report | None = None,
) -> dict[str, dict[str, Any]]:
    """Write the files that are missing and return the fileset for coffea's Runner.

    Parameters
    ----------
    directory
        Where the files go; it is made if it is missing.
    files
        Number of files, dealt out to the datasets in turn.
    events_per_file, basket_events
        Entries of each file and of each of its baskets.
    seed
        The same seed gives the same events.
    force
        Write every file anew.
    report
        Called with a line of text for each file that was written.

    Returns
    -------
    dict
        ``{dataset: {"files": {path: "Events"}, "metadata": {...}}}``.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     fileset = make_data(directory, files=2, events_per_file=100)
    >>> {dataset: len(entry["files"]) for dataset, entry in fileset.items()}
    {'DYJets': 1, 'TTbar': 1}
    """
    if min(files, events_per_file, basket_events) < 1:
        raise ValueError("files, events_per_file and basket_events must be at least 1")
    directory = Path(directory).resolve()
    directory.mkdir(parents=True, exist_ok=True)
    datasets = list(METADATA)
    fileset: dict[str, dict[str, Any]] = {}
    for number in range(files):
        dataset = datasets[number % len(datasets)]
        path = directory / f"{dataset}_{number // len(datasets)}.root"
        title = (
            f"{dataset} recipe={RECIPE} seed={seed} file={number} "
            f"events={events_per_file} basket={basket_events}"
        )
        if force or not holds(path, title):
            started = time.perf_counter()
            write_file(path, title, dataset, events_per_file, basket_events, (seed, number))
            if report:
                report(
                    f"[{number + 1}/{files}] {path}: {events_per_file:,} events, "
                    f"{path.stat().st_size / 1e6:.1f} MB, {time.perf_counter() - started:.1f} s"
                )
        entry = fileset.setdefault(dataset, {"files": {}, "metadata": dict(METADATA[dataset])})
        entry["files"][str(path)] = "Events"
    return fileset


def holds(path: Path, title: str) -> bool:
    """Whether the file is whole and its tree has the title, which names all that went into it."""
    try:
        with uproot.open(path) as file:
            whole = file.file.fEND == path.stat().st_size
            return bool(whole and file["Events"].title == title)
    except (OSError, ValueError, KeyError, uproot.DeserializationError):
        return False


def write_file(
    path: Path, title: str, dataset: str, events: int, basket_events: int, seed: tuple[int, int]
) -> None:
    for leftover in path.parent.glob(f".{path.name}.*.partial"):
        if not alive(leftover.suffixes[-2]):
            leftover.unlink(missing_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with uproot.recreate(
            partial,
            compression=uproot.ZSTD(6),
            uuid_function=lambda: uuid.uuid5(uuid.NAMESPACE_OID, title),
        ) as file:
            tree = None
            for start in range(0, events, basket_events):
                columns = batch(dataset, start, min(basket_events, events - start), seed)
                if tree is None:
                    tree = file.mktree("Events", branch_types(columns), title=title)
                tree.extend(columns)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def alive(pid_suffix: str) -> bool:
    """Whether the process that a partial file is named after (".1234") still runs."""
    try:
        os.kill(int(pid_suffix.lstrip(".")), 0)
    except (ValueError, ProcessLookupError):
        return False
    except PermissionError:
        pass
    return True


def batch(dataset: str, start: int, n: int, seed: tuple[int, int]) -> Columns:
    """The events of one basket: each has its own stream of random numbers."""
    entry = np.arange(start, start + n)
    return {
        "run": np.full(n, FIRST_RUN + seed[1], np.uint32),
        "luminosityBlock": (1 + entry // LUMI_EVENTS).astype(np.uint32),
        "event": (entry + 1).astype(np.uint64),
        **generate(dataset, n, np.random.default_rng((*seed, start))),
    }


def branch_types(columns: Columns) -> dict[str, Any]:
    return {
        name: column.dtype if isinstance(column, np.ndarray) else column.type.content
        for name, column in columns.items()
    }


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Write the ROOT files of the roastcoffea demo.")
    parser.add_argument("directory", type=Path, help="where the files go")
    parser.add_argument("--files", type=int, default=6)
    parser.add_argument("--events", type=int, default=EVENTS_PER_FILE, help="events of each file")
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--force", action="store_true", help="write every file anew")
    options = parser.parse_args(argv)
    try:
        make_data(
            options.directory,
            options.files,
            options.events,
            seed=options.seed,
            force=options.force,
            report=lambda line: print(line, file=sys.stderr, flush=True),
        )
    except (OSError, ValueError) as error:
        print(f"make_data.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
