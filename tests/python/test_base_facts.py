"""Base facts of a run against naive versions, on random rows: use of workers, and what was read."""

from __future__ import annotations

import random
import statistics
from itertools import pairwise
from typing import Any

from random_input import on_random_input, same

from roastcoffea._probe import Records, encode_block
from roastcoffea._roast import Run

S = 10**9
MS = 10**6
START = 1_794_772_988 * S
CAME, WENT = 2, 3
PAGE = 4096
SHORT_MS = 50  # readings that follow each other faster tell of no utilisation


# -- the use of workers ----------------------------------------------------------------------


def random_worker(rng: random.Random) -> dict[str, Any]:
    """Return a worker's size and its samples: (ms, pages, user ms, system ms), -1: not known."""
    samples = []
    ms = START // MS
    user = system = 0
    for _ in range(rng.randint(0, 25)):
        ms += rng.choice((1, SHORT_MS - 1, SHORT_MS, rng.randint(1, 3000)))
        if rng.random() < 0.1:
            user = system = 0  # another process of that name
        user, system = user + rng.randint(0, 5000), system + rng.randint(0, 500)
        row = [rng.randint(0, 10**6), user, system]
        if rng.random() < 0.2:
            row[rng.randrange(3)] = -1
        samples.append((ms, *row))
    return {
        "threads": rng.choice((-1, 0, 1, 2, 8, 64)),
        "limit": rng.choice((-1, 0, 10**9, 64 * 10**9)),
        "samples": samples,
    }


def run_of(rng: random.Random, workers: dict[str, dict[str, Any]]) -> Run:
    """Return a run with these workers, their samples in blocks of any length."""
    run = Run.create(None)
    run.fact("run.start_utc_ns", START)
    run.fact("run.end_utc_ns", START + 100 * S)
    for name, worker in workers.items():
        run.add_worker_event(START, CAME, name, None, -1, worker["threads"], worker["limit"])
    for name, worker in workers.items():
        left = list(worker["samples"])
        while left:
            n = rng.randint(1, len(left))
            block, left = left[:n], left[n:]
            times, *columns = zip(*block, strict=True)
            names = "rss_bytes/4096,cpu_user_ns/1000000,cpu_system_ns/1000000"
            run.add_series(name, names, encode_block(times, columns))
    run.commit()
    return run


def average(points: list[tuple[float, float]]) -> float:
    """Return the mean over time of what is joined by straight lines; of one instant, its value."""
    span = points[-1][0] - points[0][0]
    if span == 0:
        return points[-1][1]
    return sum((t1 - t0) * (v0 + v1) / 2 for (t0, v0), (t1, v1) in pairwise(points)) / span


def cpu_spans(worker: dict[str, Any]) -> list[tuple[float, float]]:
    """Return (ms, CPU ms) between readings that are far enough apart and of one process."""
    kept: list[tuple[float, float]] = []
    for ms, _, user, system in worker["samples"]:
        known = user >= 0 and system >= 0
        if known and (not kept or ms - kept[-1][0] >= SHORT_MS):
            kept.append((ms, user + system))
    spans = [(t1 - t0, c1 - c0) for (t0, c0), (t1, c1) in pairwise(kept)]
    return [(span, cpu) for span, cpu in spans if cpu >= 0]


def grown(values: list[int]) -> int:
    """Return how much a counter has grown; where it falls it begins anew."""
    known = [value for value in values if value >= 0]
    return sum(b - a for a, b in pairwise(known) if b >= a)


def naive_use(workers: dict[str, dict[str, Any]]) -> dict[str, float]:
    memory, memory_means, percents, percent_means = [], [], [], []
    cpu_percents, cpu_means = [], []
    for worker in workers.values():
        rss = [(ms, pages * PAGE) for ms, pages, *_ in worker["samples"] if pages >= 0]
        memory += [value for _, value in rss]
        memory_means += [average(rss)] if rss else []
        if rss and worker["limit"] > 0:
            shares = [(ms, 100 * value / worker["limit"]) for ms, value in rss]
            percents += [value for _, value in shares]
            percent_means.append(average(shares))
        spans, threads = cpu_spans(worker), worker["threads"]
        if spans and threads > 0:
            cpu_percents += [100 * cpu / span / threads for span, cpu in spans]
            total = sum(span for span, _ in spans)
            cpu_means.append(100 * sum(cpu for _, cpu in spans) / total / threads)
    found: dict[str, float] = {}
    if memory:
        found["peak_memory_bytes"] = max(memory)
        found["avg_memory_per_worker_bytes"] = statistics.fmean(memory_means)
    for kind, means, values in (
        ("memory", percent_means, percents),
        ("cpu", cpu_means, cpu_percents),
    ):
        if means:
            found[f"avg_{kind}_utilization_percent"] = statistics.fmean(means)
            found[f"min_{kind}_utilization_percent"] = min(values)
            found[f"peak_{kind}_utilization_percent"] = max(values)
    rows = [list(zip(*w["samples"], strict=True)) for w in workers.values() if w["samples"]]
    user, system = [row[2] for row in rows], [row[3] for row in rows]
    if any(max(values) >= 0 for values in user) and any(max(values) >= 0 for values in system):
        found["worker_cpu_seconds"] = sum(map(grown, user + system)) / 1000
    return found


USE = [
    "peak_memory_bytes",
    "avg_memory_per_worker_bytes",
    "worker_cpu_seconds",
    *(
        f"{which}_{kind}_utilization_percent"
        for which in ("avg", "min", "peak")
        for kind in ("memory", "cpu")
    ),
]


@on_random_input
def test_the_use_of_workers(rng: random.Random) -> None:
    workers = {f"worker {i}": random_worker(rng) for i in range(rng.randint(0, 4))}
    found = run_of(rng, workers).summary().metrics()
    expected = naive_use(workers)
    for key in USE:
        same(found.get(key), expected.get(key), key)


@on_random_input
def test_workers_and_their_cores_over_time(rng: random.Random) -> None:
    """Between two events everything is constant: what is there counts for as long."""
    seconds = rng.randint(1, 50)
    times = sorted(rng.randint(0, seconds * S) for _ in range(rng.randint(1, 30)))
    here: dict[str, int] = {}
    worker_ns = thread_ns = peak = 0
    run = Run.create(None)
    run.fact("run.start_utc_ns", START)
    run.fact("run.end_utc_ns", START + seconds * S)
    for time, until in pairwise([*times, seconds * S]):
        name, threads = f"worker {rng.randrange(4)}", rng.randint(1, 16)
        kind = rng.choice((CAME, CAME, WENT))
        run.add_worker_event(START + time, kind, name, None, -1, threads, -1)
        if kind == CAME:
            here[name] = threads
        else:
            here.pop(name, None)
        peak = max(peak, len(here))
        worker_ns += (until - time) * len(here)
        thread_ns += (until - time) * sum(here.values())
    run.commit()
    found = run.summary().metrics()
    assert found["peak_workers"] == peak
    same(found["avg_workers"], worker_ns / (seconds * S), "avg_workers")
    same(found["total_cores"], thread_ns / (seconds * S), "total_cores")
    cores = thread_ns / worker_ns if worker_ns else None
    same(found.get("cores_per_worker"), cores, "cores_per_worker")


# -- what was read -----------------------------------------------------------------------------

BRANCHES = [f"branch_{i}" for i in range(12)]


def random_file(rng: random.Random, name: str) -> dict[str, Any]:
    """Return a file: the bytes of its branches, whether chunks tell them, and what they touch.

    Without the bytes of each branch those of a union are known where the sets are nested or
    have nothing in common.
    """
    sizes = {branch: rng.randint(1, 10**6) for branch in BRANCHES}
    told = rng.random() < 0.5
    order = rng.sample(BRANCHES, len(BRANCHES))
    if told:
        sets = [rng.sample(BRANCHES, rng.randint(0, 8)) for _ in range(rng.randint(1, 5))]
    elif rng.random() < 0.5:
        sets = [order[: rng.randint(0, 12)] for _ in range(rng.randint(1, 5))]
    else:
        cuts = sorted(rng.sample(range(13), 3))
        sets = [order[a:b] for a, b in pairwise(cuts)]
    return {
        "name": name,
        "sizes": sizes,
        "told": told,
        "sets": sets,
        "tree_branches": rng.choice((len(BRANCHES), 100)) if rng.random() < 0.9 else None,
        "tree_bytes": sum(sizes.values()) if rng.random() < 0.9 else None,
        "factor": rng.randint(1, 5),  # uncompressed per compressed byte
    }


def record_of(rng: random.Random, file: dict[str, Any], touched: list[str], at: int) -> Any:
    selected = sum(file["sizes"][branch] for branch in touched)
    record = {
        "file": file["name"],
        "dataset": "data",
        "num_events": 10,
        "t_start": START / S + at,
        "duration": 1.0,
        "accessed_branches": touched,
        "tree_branches": file["tree_branches"],
        "tree_bytes": file["tree_bytes"],
        "selected_bytes": selected,
        "selected_uncompressed_bytes": selected * file["factor"],
        "file_metadata": {"branch_bytes": file["sizes"]} if file["told"] else None,
    }
    if rng.random() < 0.3:
        record["outcome"] = "failed"  # it has read, too
    return {key: value for key, value in record.items() if value is not None}


def naive_read(file: dict[str, Any]) -> dict[str, float | None]:
    union = set().union(*file["sets"])
    bytes_read = sum(file["sizes"][branch] for branch in union)
    trees, tree_bytes = file["tree_branches"], file["tree_bytes"]
    return {
        "branches_read": len(union),
        "bytes_read": bytes_read,
        "branches_read_percent": 100 * len(union) / trees if trees else None,
        "bytes_read_percent": 100 * bytes_read / tree_bytes if tree_bytes else None,
    }


def mean(values: list[float]) -> float | None:
    return statistics.fmean(values) if values else None


def tells(file: dict[str, Any]) -> bool:
    """Return whether any chunk says anything of what was read of the file."""
    return bool(file["tree_branches"] or file["tree_bytes"] or any(file["sets"]))


@on_random_input
def test_what_was_read_of_files(rng: random.Random) -> None:
    files = [random_file(rng, f"file_{i}.root") for i in range(rng.randint(1, 4))]
    chunks = [(file, touched) for file in files for touched in file["sets"]]
    rng.shuffle(chunks)
    run = Run.create(None)
    records = Records([record_of(rng, f, touched, i) for i, (f, touched) in enumerate(chunks)])
    run.add_chunks(records.to_bytes())
    run.commit()
    summary = run.summary()
    found, told = summary.metrics(), {file["name"]: file for file in summary.files()}
    assert set(told) == {file["name"] for file in files}
    for file in filter(tells, files):
        assert not told[file["name"]]["estimated"]
        for key, value in naive_read(file).items():
            same(told[file["name"]][key], value, f"{key} of {file}")

    def over_files(key: str) -> float | None:
        reads = [naive_read(file)[key] for file in files]
        return mean([read for read in reads if read is not None])

    def over_chunks(part: Any, whole: str) -> float | None:
        return mean([100 * part(f, touched) / f[whole] for f, touched in chunks if f[whole]])

    def bytes_of(file: dict[str, Any], touched: list[str]) -> int:
        return sum(file["sizes"][branch] for branch in touched)

    read = sum(bytes_of(*chunk) for chunk in chunks if tells(chunk[0]))
    whole = sum(bytes_of(*chunk) * chunk[0]["factor"] for chunk in chunks if tells(chunk[0]))
    branches = set().union(*(touched for _, touched in chunks))
    expected = {
        "num_files": len(files),
        "total_branches_read": len(branches) or None,
        "avg_branches_read_percent": over_files("branches_read_percent"),
        "avg_bytes_read_percent": over_files("bytes_read_percent"),
        "chunk_branches_read_percent_mean": over_chunks(lambda _, t: len(t), "tree_branches"),
        "chunk_bytes_read_percent_mean": over_chunks(bytes_of, "tree_bytes"),
        "compression_ratio": read / whole if whole else None,
    }
    for key, value in expected.items():
        same(found.get(key), value, key)
