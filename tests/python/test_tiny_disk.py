"""Monitoring where the disk is nearly full or calls fail: the analysis goes on, whatever fails."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from roastcoffea import MetricsCollector, open_run, track_metrics


class Counting:
    @track_metrics
    def process(self, events: Any) -> dict[str, int]:
        return {"n": len(events)}


@pytest.fixture
def tiny(tmp_path: Path) -> Iterator[Any]:
    """A function that makes a file system of a size in kB, or with a number of inodes."""
    place = tmp_path / "tiny"
    place.mkdir()

    def mount(options: str) -> Path:
        unmount()
        command = ["mount", "-t", "tmpfs", "-o", options, "roastcoffea-test", str(place)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"a small file system needs root: {done.stderr.strip()}")
        return place

    def unmount() -> None:
        if os.path.ismount(place):
            subprocess.run(["umount", "-l", str(place)], check=True)

    if sys.platform != "linux":
        pytest.skip("a small file system is a tmpfs")
    yield mount
    unmount()


def measure_in(place: Path) -> MetricsCollector:
    with MetricsCollector(output_dir=place, measurement_name="run") as collector:
        for i in range(3):
            assert Counting().process([1] * i)["n"] == i
        collector.set_coffea_report({"entries": 3, "processtime": 1.0, "chunks": 3})
    assert collector.get_metrics()["total_events"] == 3
    collector.summary()
    return collector


def test_no_size_of_the_disk_stops_the_analysis(tiny: Any) -> None:
    in_memory, in_file = [], []
    for size in range(4, 1024 + 1, 4):
        place = tiny(f"size={size}k")
        collector = measure_in(place)
        if collector.run_path is None:
            in_memory.append(size)
            assert len(collector.chunk_metrics) == 3
            assert list(place.iterdir()) == [], "what is no run is not left behind"
        elif (
            collector.run.facts().get("run.faults") == 0
            and len(list(place.iterdir())) == 1  # it is in its resting form
        ):
            in_file.append(size)
            assert len(open_run(collector.run_path).chunk_metrics) == 3
        collector.run.close()
        del collector
    assert in_memory
    assert in_memory[-1] < in_file[0], "from some size on the file has everything"
    assert in_file == list(range(in_file[0], 1024 + 1, 4))


@pytest.mark.parametrize("inodes", [1, 2, 3, 4, 5])
def test_no_number_of_files_stops_the_analysis(inodes: int, tiny: Any) -> None:
    collector = measure_in(tiny(f"size=1m,nr_inodes={inodes}"))
    assert len(collector.chunk_metrics) == 3
    collector.run.close()


FAILING = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static __thread long left = -1; /* calls of this thread until some fail */
static __thread int how = ENOSPC;
static __thread long failed;

void fail_at(long n, int error) { left = n, how = error, failed = 0; }
long has_failed(void) { return failed; }

static int fails(void)
{
        if (left < 0 || left-- > 0)
                return 0;
        left = 0; /* and all that follow, until it is told otherwise */
        failed++;
        errno = how;
        return 1;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define WRAP(type, name, params, args) \
        type name params { return fails() ? (type)-1 : NEXT(name) args; }
#define OPEN(name, params, args) \
        int name params \
        { \
                va_list list; \
                va_start(list, flags); \
                mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0; \
                va_end(list); \
                return (flags & (O_CREAT | O_WRONLY | O_RDWR)) && fails() ? -1 : NEXT(name) args; \
        }
OPEN(open, (const char *path, int flags, ...), (path, flags, mode))
OPEN(open64, (const char *path, int flags, ...), (path, flags, mode))
OPEN(openat, (int at, const char *path, int flags, ...), (at, path, flags, mode))
OPEN(openat64, (int at, const char *path, int flags, ...), (at, path, flags, mode))
WRAP(ssize_t, write, (int fd, const void *data, size_t n), (fd, data, n))
WRAP(ssize_t, pwrite, (int fd, const void *data, size_t n, off_t at), (fd, data, n, at))
WRAP(ssize_t, pwrite64, (int fd, const void *data, size_t n, off64_t at), (fd, data, n, at))
WRAP(int, ftruncate, (int fd, off_t size), (fd, size))
WRAP(int, ftruncate64, (int fd, off64_t size), (fd, size))
WRAP(int, fsync, (int fd), (fd))
WRAP(int, fdatasync, (int fd), (fd))
WRAP(int, mkdir, (const char *path, mode_t mode), (path, mode))
WRAP(int, fchmod, (int fd, mode_t mode), (fd, mode))
"""

ENTERED = """
import ctypes, errno, logging, sys, tempfile
from pathlib import Path
from roastcoffea import MetricsCollector, track_metrics

logging.disable()
library = ctypes.CDLL(None)

class Counting:
    @track_metrics
    def process(self, events):
        return {"n": len(events)}

def measure(n, error, where):
    directory = Path(tempfile.mkdtemp(dir=sys.argv[1])) / "runs"
    collector = MetricsCollector(output_dir=directory)
    library.fail_at(n if where == "entering" else -1, error)
    collector.__enter__()
    failed = library.has_failed() if where == "entering" else 0
    library.fail_at(-1, 0)
    assert Counting().process([1, 2])["n"] == 2
    collector.set_coffea_report({"entries": 2})
    library.fail_at(n if where == "leaving" else -1, error)
    collector.__exit__(None, None, None)
    failed = library.has_failed() if where == "leaving" else failed
    library.fail_at(-1, 0)
    assert collector.get_metrics()["total_events"] == 2
    if where == "entering":
        assert len(collector.chunk_metrics) == 1
    collector.run.close()
    return failed

measure(-1, 0, "entering")
for error in (errno.ENOSPC, errno.EIO):
    for where in ("entering", "leaving"):
        n = 0
        while measure(n, error, where):
            n += 1
            assert n < 1000
        assert n > 3, (where, n)
print("measured")
"""


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler to build the library with")
@pytest.mark.skipif(sys.platform != "linux", reason="the library is for Linux")
def test_no_call_that_fails_stops_the_analysis(tmp_path: Path) -> None:
    source, library = tmp_path / "failing.c", tmp_path / "failing.so"
    source.write_text(FAILING)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    done = subprocess.run(
        [sys.executable, "-c", ENTERED, str(tmp_path)],
        env={**os.environ, "LD_PRELOAD": str(library)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.stdout == "measured\n", done.stderr
