"""Uses every type of the extensions once; `make valgrind` runs it under memcheck.

No NumPy, coffea or Dask: what they allocate is not ours to look at.
"""

from __future__ import annotations

import gc
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path

from roastcoffea import _probe, _roast


class Processor:
    """What a chunk belongs to."""


def measure(i: int, *, fail: bool = False) -> bytes:
    """Measure a chunk with its sections and custom metrics."""
    processor = Processor()
    chunk = _probe.Chunk(processor)
    chunk.begin()
    with (
        _probe.track_time(processor, "all"),
        _probe.track_memory(processor, "all"),
    ):
        chunk["custom"] = {"n": i, "text": "é" * i, "list": [1.5, None, True]}
    try:
        with _probe.track_time(processor, "failing"):
            if fail:
                raise ValueError(i)
    except ValueError:
        pass
    assert _probe.chunk_of(processor) is chunk
    chunk.end()
    return chunk.encode(
        {
            "dataset": "d",
            "file": "f.root",
            "entry_start": i,
            "entry_stop": i + 1,
            "outcome": 1 if fail else 0,
        }
    )


def use_records() -> bytes:
    """Take records apart and together."""
    records = _probe.Records([measure(i, fail=i % 3 == 2) for i in range(6)])
    again = _probe.Records.from_bytes(records.to_bytes())
    both = again + list(records)
    both += records[1:3]
    both.append(dict(records[0]))
    assert len(both) == 15
    assert [r["entry_start"] for r in records] == list(range(6))
    records.totals()
    records.identity()
    for broken in (b"", b"nonsense", records.to_bytes()[:-3]):
        try:
            len(_probe.Records.from_bytes(broken))
        except ValueError:
            continue
    return records.to_bytes()


def use_sampler() -> tuple[str, bytes]:
    """Sample this process for a moment."""
    sampler = _probe.Sampler(0.05)
    sampler.start()
    time.sleep(0.3)
    sampler.stop()
    sampler.read()
    assert sampler.cpu_ns > 0
    block = sampler.take()
    assert block is not None
    sampler.state()
    return _probe.SAMPLER_COLUMNS, block


def write_run(path: Path, chunks: bytes, columns: str, block: bytes) -> None:
    """Write a run with rows of every kind."""
    run = _roast.Run.create(path)
    now = time.time_ns()
    run.fact("run.start_utc_ns", now)
    run.fact("run.elapsed_ns", 10**9)
    run.fact("absent", None, "nobody said")
    run.add_worker_event(now, 0, "worker", "host", 1, 2, 10**9)
    run.add_chunks(chunks)
    run.add_series("worker", columns, block)
    run.add_samples("worker", [(0, block), (columns, block)], (columns,))
    run.add_values("dask_occupancy_ms", "scheduler", now // 10**6, {"worker": 7})
    run.add_activity("worker", "execute", "prefix", "thread-cpu", "seconds", 1.5)
    run.commit()
    run.finish()
    run.close()


def read_run(path: Path, folder: Path) -> None:
    """Read it in every way."""
    run = _roast.Run.open(path)
    summary = run.summary()
    summary.metrics(), summary.absent(), summary.estimated(), summary.ledger()
    summary.datasets(), summary.sections(), summary.custom(), summary.failures()
    for table in _roast.TABLES:
        summary.table(table)
    summary._repr_html_()
    run.facts(), run.texts(), run.chunks(), run.explain(), run.series_names()
    run.columns("chunk", ["entry_start"])
    run.report(folder / "page.html")
    copy = run.copy_in_memory(without=("chunk", "section", "branch"))
    assert copy.facts() == run.facts()
    assert not len(copy.columns("chunk", ["entry_start"])["entry_start"])
    copy.copy(folder / "copy.roast")
    for odd in (("no table",), (1,)):
        try:
            run.copy_in_memory(odd)  # type: ignore[arg-type]
        except (LookupError, OSError, TypeError, ValueError, RuntimeError):
            continue
        sys.exit(f"a copy without {odd}")
    copy.close()
    run.close()


def refuse(folder: Path) -> None:
    """Make errors of every kind."""
    broken = folder / "broken.roast"
    broken.write_bytes(b"no run")
    for path in (broken, folder / "missing.roast"):
        try:
            _roast.Run.open(path)
        except (OSError, ValueError, RuntimeError):
            continue
        sys.exit(f"{path} was opened")


def add_plain_data() -> None:
    run = _roast.Run.create(None)
    run.add_times(0.0, 1.0)
    run.add_report({"entries": 5, "columns": ["x-data"]}, {"A": {"entries": 3}}, fallback=True)
    run.add_records([{"duration": 1.5, "timing": {"a": 1.0}, "accessed_branches": ["x"], "own": 1}])
    run.add_sections([{"name": "s", "type": "memory", "duration": 1.0, "mem_delta_mb": 2.0}])
    run.add_spans({("execute", "P", "thread-cpu", "seconds"): 1.0})
    run.add_tracking(
        {"worker_counts": {datetime(2026, 11, 15): 1}, "worker_cores": {"w": [(0, 1)]}}
    )
    metrics = run.summary().metrics()
    _roast.Run.from_metrics({**metrics, "per_dataset": {None: {"num_chunks": 1}}}).summary()


def main() -> None:
    """Go round twice: what is kept from the first time shows at the second."""
    for _ in range(2):
        chunks = use_records()
        columns, block = use_sampler()
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write_run(folder / "run.roast", chunks, columns, block)
            read_run(folder / "run.roast", folder)
            refuse(folder)
        _probe.read_process(1)
        add_plain_data()
        _roast.metrics()
        gc.collect()
    print("toured")


if __name__ == "__main__":
    main()
