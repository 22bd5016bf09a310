"""What a chunk allocates: a few buffers that double, however many sections it has."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

COUNTER = """
#include <stddef.h>

static long calls;
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);

long allocation_count(void) { return calls; }
void *malloc(size_t n) { calls++; return __libc_malloc(n); }
void *calloc(size_t n, size_t m) { calls++; return __libc_calloc(n, m); }
void *realloc(void *p, size_t n) { calls++; return __libc_realloc(p, n); }
"""

SECTIONS = (1, 16, 256, 512, 1024)

COUNTED = f"""
SECTIONS = {SECTIONS}
"""
COUNTED += """
import ctypes, gc
from roastcoffea import track_metrics, track_time

count = ctypes.CDLL(None).allocation_count
count.restype = ctypes.c_long
names = [f"section {i}" for i in range(1024)]

class Processor:
    _roastcoffea_collect_metrics = True

    @track_metrics
    def process(self, events):
        for name in names[: self.n]:
            with track_time(self, name):
                pass

def allocations(n):
    processor.n = n
    best = 1 << 30
    for _ in range(5):
        before = count()
        processor.process(events)
        best = min(best, count() - before)
    return best

processor, events = Processor(), [1, 2, 3]
gc.disable()
allocations(1024)
print(*(allocations(n) for n in SECTIONS))
"""


def count_allocations(folder: Path) -> dict[int, int]:
    """Return the allocations of a chunk by the number of its sections."""
    source, library = folder / "count.c", folder / "count.so"
    source.write_text(COUNTER)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    printed = subprocess.run(
        [sys.executable, "-c", COUNTED],
        env={**os.environ, "LD_PRELOAD": str(library)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return dict(zip(SECTIONS, map(int, printed.split()), strict=True))


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler to build the counter with")
def test_sections_make_at_most_three_buffers_grow(tmp_path: Path) -> None:
    counts = count_allocations(tmp_path)
    assert counts[16] <= counts[1] + 3
    assert counts[512] - counts[256] <= 3  # a doubling of the sections doubles each buffer once
    assert counts[1024] - counts[512] <= 3
