"""Clocks that go wrong: another host's, and one that is set in the middle of a run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from clusters import local_cluster
from distributed import Client

from roastcoffea import MetricsCollector, track_metrics
from roastcoffea._probe import encode_block
from roastcoffea._roast import Run
from roastcoffea.backends.clocks import Clocks

pytestmark = pytest.mark.slow

HOUR_S = 3600
SECOND_NS = 1_000_000_000

#: Moves the wall clock of a process by the seconds that a file holds.
SHIM = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile long *shift;

__attribute__((constructor)) static void open_shift(void)
{
        int fd = open(getenv("WALL_CLOCK_SHIFT"), O_RDONLY);

        shift = mmap(NULL, sizeof(*shift), PROT_READ, MAP_SHARED, fd, 0);
        close(fd);
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
        static int (*real)(clockid_t, struct timespec *);
        int r;

        if (!real)
                real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
        r = real(clock, now);
        if (shift && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
                now->tv_sec += *shift;
        return r;
}
"""


class Timed:
    @track_metrics
    def process(self, events: Any) -> dict[str, Any]:
        time.sleep(0.1)
        return {"wall": time.time()}


class Wall:
    """The wall clock of processes that run in its environment."""

    def __init__(self, directory: Path) -> None:
        source, library = directory / "shift.c", directory / "shift.so"
        source.write_text(SHIM)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
        self.file = directory / "shift"
        self.set(0)
        self.environment = {
            **os.environ,
            "LD_PRELOAD": str(library),
            "WALL_CLOCK_SHIFT": str(self.file),
            "PYTHONPATH": str(Path(__file__).parent),
        }

    def set(self, seconds: int) -> None:
        data = seconds.to_bytes(8, sys.byteorder, signed=True)
        if self.file.exists():
            with self.file.open("r+b") as file:
                file.write(data)
        else:
            self.file.write_bytes(data)


@pytest.fixture
def wall(tmp_path: Path) -> Wall:
    if shutil.which("cc") is None:
        pytest.skip("no C compiler to build the clock with")
    return Wall(tmp_path)


@contextmanager
def worker_with(wall: Wall, tmp_path: Path) -> Iterator[Client]:
    """Run a worker whose wall clock can be moved, as if on another host."""
    dask = str(Path(sys.executable).with_name("dask"))
    with (
        local_cluster(n_workers=0) as cluster,
        Client(cluster) as client,
        subprocess.Popen(
            [dask, "worker", cluster.scheduler_address, "--no-nanny", "--no-dashboard"],
            env=wall.environment,
            cwd=tmp_path,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as worker,
    ):
        try:
            client.wait_for_workers(1, timeout=60)
            yield client
        finally:
            worker.terminate()


def measure(client: Client, between: Callable[[], None] = lambda: None) -> MetricsCollector:
    with MetricsCollector(client, worker_tracking_interval=0.1) as collector:
        for _ in range(2):
            futures = [client.submit(Timed().process, [1], pure=False) for _ in range(4)]
            client.gather(futures)
            time.sleep(0.6)
            between()
    return collector


def check_times(collector: MetricsCollector) -> None:
    """Everything lies between the run's beginning and its end, and no duration is absurd."""
    facts = collector.run.facts()
    start_ns, end_ns = facts["run.start_utc_ns"], facts["run.end_utc_ns"]
    assert isinstance(start_ns, int)
    assert isinstance(end_ns, int)
    assert 0 < end_ns - start_ns < 600 * SECOND_NS
    assert facts["run.elapsed_ns"] == pytest.approx(end_ns - start_ns, abs=0.1 * SECOND_NS)
    records = list(collector.chunk_metrics)
    assert len(records) == 8
    for record in records:
        assert start_ns / 1e9 - 1 < record["t_start"] < end_ns / 1e9 + 1
        assert 0.1 <= record["duration"] < 60
    first, last = (sum(r["t_start"] for r in part) for part in (records[:4], records[4:]))
    assert first < last
    data = collector.tracking_data
    assert data is not None
    for key in ("worker_memory", "worker_cpu", "worker_executing"):
        (series,) = data[key].values()
        assert len(series) > 5, key


def test_a_worker_whose_clock_is_an_hour_ahead_is_corrected(wall: Wall, tmp_path: Path) -> None:
    wall.set(HOUR_S)
    with worker_with(wall, tmp_path) as client:
        collector = measure(client)
        shown = client.submit(time.time).result() - time.time()
    assert shown == pytest.approx(HOUR_S, abs=60)
    check_times(collector)
    facts = collector.run.facts()
    (offset,) = [value for name, value in facts.items() if name.startswith("clock.offset_ns.tcp")]
    (error,) = [value for name, value in facts.items() if name.startswith("clock.error_ns.tcp")]
    assert isinstance(offset, int)
    assert isinstance(error, int)
    assert abs(offset + HOUR_S * SECOND_NS) <= error + 0.01 * SECOND_NS
    assert error < 30 * SECOND_NS


@pytest.mark.parametrize("step", [HOUR_S, -HOUR_S])
def test_a_clock_that_is_set_during_the_run_changes_no_duration(
    step: int, wall: Wall, tmp_path: Path
) -> None:
    with worker_with(wall, tmp_path) as client:
        collector = measure(client, between=lambda: wall.set(step))
    check_times(collector)
    facts = collector.run.facts()
    assert [name for name in facts if name.startswith("clock.")] == []
    start_ns = facts["run.start_utc_ns"]
    assert isinstance(start_ns, int)
    (steps,) = collector.run.resample("clock_step_ms", start_ns, 100_000_000, 600).values()
    noted = [value for value in steps if value is not None]
    assert noted[0] < 60_000 < noted[-1]
    assert noted[-1] == pytest.approx(HOUR_S * 1000, abs=60_000)


STEPPING = """
import struct, sys, time
from roastcoffea import MetricsCollector, track_metrics

class Timed:
    @track_metrics
    def process(self, events):
        time.sleep(0.05)
        return {}

processor = Timed()
with MetricsCollector(processor_instance=processor) as collector:
    for step in (0, 3600, -3600):
        with open(sys.argv[1], "r+b") as file:
            file.write(struct.pack("=q", step))
        collector.extract_metrics_from_output(processor.process([1]))
facts = collector.run.facts()
print(facts["run.start_utc_ns"], facts["run.end_utc_ns"], facts["run.elapsed_ns"])
print(*(record["t_start"] for record in collector.chunk_metrics))
"""


def test_a_client_whose_clock_is_set_keeps_its_own_time(wall: Wall) -> None:
    printed = subprocess.run(
        [sys.executable, "-c", STEPPING, str(wall.file)],
        env=wall.environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    start_ns, end_ns, elapsed_ns = map(int, printed[0].split())
    stamps = [float(stamp) for stamp in printed[1].split()]
    assert end_ns - start_ns == pytest.approx(elapsed_ns, abs=SECOND_NS)
    assert 0.15 * SECOND_NS < elapsed_ns < 600 * SECOND_NS
    assert [start_ns / 1e9, *stamps, end_ns / 1e9] == sorted(
        [start_ns / 1e9, *stamps, end_ns / 1e9]
    )


# ---- the estimate itself -----------------------------------------------------------------------


def test_clocks_that_may_agree_are_left_alone() -> None:
    changes: list[tuple[str, int, int]] = []
    clocks = Clocks(lambda *change: changes.append(change))
    clocks.asked("w", 100, 130)
    clocks.heard("w", 131, 150)
    assert changes == []
    assert clocks.offset_ns("w") == clocks.offset_ns("nobody") == 0


def test_a_correction_stays_while_it_is_possible_and_moves_when_it_is_not() -> None:
    changes: list[tuple[str, int, int]] = []
    clocks = Clocks(lambda *change: changes.append(change))
    clocks.asked("w", 1000, 500)  # at least 500 behind
    clocks.heard("w", 600, 1200)  # at most 600
    clocks.heard("w", 700, 1290)  # 590: it still fits
    clocks.asked("w", 2000, 1440)  # 560: it does not
    assert changes == [("w", 550, 50), ("w", 575, 15)]


def test_stamps_of_a_corrected_worker_are_moved_and_those_of_others_are_not() -> None:
    run = Run.create(None)
    run.set_clock("late", 5 * SECOND_NS, 1000)
    block = encode_block([1000, 2000], [[7, 8]])
    for worker in ("late", "right"):
        run.add_series(worker, "rss_bytes", block)
    moved = run.resample("rss_bytes", 0, SECOND_NS, 9)
    assert moved["right"] == [None, 7, 8, None, None, None, None, None, None]
    assert moved["late"] == [None, None, None, None, None, None, 7, 8, None]
    assert run.facts()["clock.offset_ns.late"] == 5 * SECOND_NS
