"""A clock that cannot be read: what a chunk tells is right or absent, never a wild guess."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

CLOCK = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <time.h>

static long before = -1, left;

/* Of the reads of the extension's own, the one after `count` others fails, and the n - 1 next. */
void fail_clocks(long count, long n) { before = count; left = n; }
int clocks_failed(void) { return before == 0; }

int clock_gettime(clockid_t clock, struct timespec *now)
{
        static int (*real)(clockid_t, struct timespec *);
        Dl_info caller;

        if (!real)
                real = dlsym(RTLD_NEXT, "clock_gettime");
        if (before < 0 || !dladdr(__builtin_return_address(0), &caller) ||
            !strstr(caller.dli_fname, "_probe"))
                return real(clock, now);
        if (before > 0) {
                before--;
                return real(clock, now);
        }
        if (left == 0)
                return real(clock, now);
        left--;
        return -1;
}
"""

MEASURED = """
import ctypes, time
from roastcoffea._probe import Chunk, Records, Sampler, track_memory, track_time

library = ctypes.CDLL(None)
fail_clocks = library.fail_clocks
fail_clocks.argtypes = [ctypes.c_long, ctypes.c_long]

class Processor:
    pass

# The documented dict has 0 where a time is not known.
def possible(record):
    for name in ("duration", "cpu_time"):
        assert record[name] is None or 0 <= record[name] < 60, (name, record[name])
    for name in ("t_start", "t_end", "timestamp"):
        value = record[name]
        assert not value or abs(value - time.time()) < 60, (name, value)
    assert record["probe_ns"] is None or 0 <= record["probe_ns"] < 60e9, record["probe_ns"]
    for section in record["sections"]:
        for name in ("time_delta", "self_time", "min_time", "max_time"):
            assert 0 <= section[name] < 60, (name, section)
        assert section["count"] <= 3, section

def measure():
    processor = Processor()
    chunk = Chunk(processor)
    chunk.begin()
    with track_time(processor, "outer"):
        for _ in range(3):
            with track_time(processor, "inner"), track_memory(processor, "memory"):
                pass
    chunk.end()
    return Records.from_bytes(chunk.encode({"outcome": 0}))[0]

for n in (1, -1):
    count, failed = 0, True
    while failed:
        fail_clocks(count, n)
        record = measure()
        failed = library.clocks_failed()
        fail_clocks(-1, 0)
        possible(record)
        record = measure()
        counts = {section["section_name"]: section["count"] for section in record["sections"]}
        assert counts == {"outer": 1, "inner": 3}, counts
        count += 1
        assert count < 200
    assert count > 10

sampler = Sampler(0.05)
sampler.start()
time.sleep(0.2)
sampler.stop()
fail_clocks(0, -1)
assert sampler.take() is None
fail_clocks(-1, 0)
assert isinstance(sampler.take(), bytes)  # the rows have waited
print("measured")
"""


def test_no_figure_is_made_of_a_clock_that_failed(tmp_path: Path) -> None:
    source, library = tmp_path / "clock.c", tmp_path / "clock.so"
    source.write_text(CLOCK)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    result = subprocess.run(
        [sys.executable, "-c", MEASURED],
        env={**os.environ, "LD_PRELOAD": str(library)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.stdout == "measured\n", result.stderr
