"""Entering and leaving on a disk that is nearly full: the analysis goes on, whatever fails."""

from __future__ import annotations

import os
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
        elif collector.run.facts().get("run.faults") == 0:
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
