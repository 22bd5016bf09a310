"""Where the wall time of chunks went, against truths that are known otherwise.

Each case runs 5 s of chunks. The machine may be busy: what a chunk waits for a core is part of
every truth. So is what a virtual machine's host took away from its cores: the kernel counts it
neither as running nor as waiting. A case that comes out wrong while the host took much is tried
again, twice at most; on an undisturbed machine it has failed.
"""

from __future__ import annotations

import functools
import mmap
import os
import subprocess
import sys
import threading
import time

import pytest

from roastcoffea._probe import Records
from roastcoffea.decorator import track_metrics

pytestmark = pytest.mark.timed

TRIES = 3
DISTURBED_S = 0.25  # of the 5 s, which the host kept
N_CHUNKS = 5
CHUNK_S = 1.05
PARTS = ("cpu", "runqueue", "throttled", "block_io", "gil", "other")


def runqueue_s():
    """What the kernel says this thread waited for a core, quota included."""
    with open("/proc/thread-self/schedstat", encoding="ascii") as schedstat:
        return int(schedstat.read().split()[1]) / 1e9


def stolen_s():
    """What the host of this virtual machine kept from its cores, all together."""
    with open("/proc/stat", encoding="ascii") as stat:
        return int(stat.readline().split()[8]) / os.sysconf("SC_CLK_TCK")


class Busy:
    _roastcoffea_collect_metrics = True

    def __init__(self, work):
        self.work = work

    @track_metrics
    def process(self, events):
        begin = time.monotonic()
        cpu, waited, stolen = time.thread_time(), runqueue_s(), stolen_s()
        asleep = self.work(begin + CHUNK_S)
        return {
            "cpu": time.thread_time() - cpu,
            "waited": runqueue_s() - waited,
            "stolen": stolen_s() - stolen,
            "wall": time.monotonic() - begin,
            "asleep": asleep,
        }


def run(work):
    """Return the parts and the truth, as shares of the wall time, and the samples."""
    parts, truth, samples = dict.fromkeys(PARTS, 0.0), {}, 0
    processor = Busy(work)
    for _ in range(N_CHUNKS):
        output = processor.process([])
        record = output.pop("__roastcoffea_metrics__")[0]
        split = record["wall_split"]
        assert sum(split[part] for part in PARTS) == pytest.approx(record["duration"], abs=1e-6)
        for part in PARTS:
            parts[part] += split[part]
        samples += split["samples"]
        for key, value in output.items():
            truth[key] = truth.get(key, 0.0) + (value or 0.0)
    wall = truth["wall"]
    assert wall >= N_CHUNKS * CHUNK_S
    return (
        {part: value / wall for part, value in parts.items()},
        {key: value / wall for key, value in truth.items()},
        samples,
    )


def measured(test):
    """Try a test again if the host disturbed it."""

    @functools.wraps(test)
    def run_again(*args, **kwargs):
        for left in reversed(range(TRIES)):
            stolen = stolen_s()
            try:
                return test(*args, **kwargs)
            except AssertionError:
                if not left or stolen_s() - stolen < DISTURBED_S:
                    raise

    return run_again


def near(value):
    return pytest.approx(value, abs=0.1)


def spin(until):
    while time.monotonic() < until:
        pass


@measured
def test_sleep_is_other():
    def sleep(until):
        time.sleep(CHUNK_S)
        return CHUNK_S

    parts, truth, samples = run(sleep)
    assert samples >= 100
    assert parts["other"] == near(truth["asleep"])
    assert parts["gil"] == near(0)
    assert parts["block_io"] == near(0)


@measured
def test_spinning_is_cpu():
    parts, truth, _ = run(spin)
    assert parts["cpu"] == near(truth["cpu"])
    assert parts["runqueue"] + parts["throttled"] == pytest.approx(
        1 - truth["cpu"], abs=truth["stolen"] + 0.1
    )
    assert parts["other"] <= truth["stolen"] + 0.1


@measured
def test_a_hog_in_another_thread_is_the_gil():
    stop = threading.Event()

    def hog():
        while not stop.is_set():
            sum(range(2000))

    thread = threading.Thread(target=hog)
    thread.start()
    try:
        parts, truth, samples = run(spin)
    finally:
        stop.set()
        thread.join()
    assert parts["cpu"] == near(truth["cpu"])
    assert parts["gil"] == pytest.approx(
        1 - truth["cpu"] - truth["waited"], abs=truth["stolen"] + 0.1
    )
    assert parts["other"] <= truth["stolen"] + 0.1
    assert samples > 20


@measured
def test_direct_reads_are_block_io(tmp_path):
    size = 1 << 20
    path = tmp_path / "data"
    path.write_bytes(os.urandom(size) * 64)
    buffer = mmap.mmap(-1, size)
    try:
        fd = os.open(path, os.O_RDONLY | os.O_DIRECT)
        os.preadv(fd, [buffer], 0)
    except OSError as error:
        pytest.skip(f"no direct reads here: {error}")

    def read(until):
        at = 0
        while time.monotonic() < until:
            os.preadv(fd, [buffer], at * size)
            at = (at + 1) % 64

    try:
        parts, truth, samples = run(read)
    finally:
        os.close(fd)
    asleep = 1 - truth["cpu"] - truth["waited"]
    if asleep < 0.2:
        pytest.skip(f"this disk hardly blocks: {asleep:.0%} of the time")
    assert parts["block_io"] == near(asleep)
    assert samples > 20


@measured
def test_competitors_for_the_cores_are_the_run_queue():
    code = "import time; t = time.monotonic() + 60\nwhile time.monotonic() < t: pass"
    others = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(3)]
    try:
        parts, truth, _ = run(spin)
    finally:
        for other in others:
            other.kill()
            other.wait()
    assert parts["runqueue"] + parts["throttled"] == pytest.approx(
        1 - truth["cpu"], abs=truth["stolen"] + 0.1
    )
    assert parts["cpu"] == near(truth["cpu"])
    assert parts["runqueue"] + parts["throttled"] > 0.05


def test_the_peak_is_that_of_a_known_allocation():
    size = 200 << 20

    class Allocating:
        _roastcoffea_collect_metrics = True

        @track_metrics
        def process(self, events):
            held = bytearray(size)
            del held
            return {}

    record = Allocating().process([])["__roastcoffea_metrics__"]
    assert isinstance(record, Records)
    peak = (record[0]["mem_peak_mb"] - record[0]["mem_before_mb"]) * 2**20
    if record[0]["peak_source"] != "exact":
        pytest.skip("the peak cannot be reset here")
    assert peak == pytest.approx(size, rel=0.05)
    assert record[0]["mem_delta_mb"] < 20
