"""The README does what it says: its blocks run in order, as a reader would run them."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
ROAST = Path(os.environ.get("ROAST", Path(sys.executable).with_name("roast")))
SETUP = ("make ", "pip ")  # made what these tests run in

# What a reader has before the first block: a cluster, files, a processor.
PRELUDE = """
import awkward as ak
from coffea.nanoevents import NanoAODSchema
from hist import Hist
from analysis import DimuonProcessor as MyProcessor
NanoAODSchema.warn_missing_crossrefs = False
"""


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README.read_text(), re.M | re.S)


class Reader:
    """Runs blocks one after the other in one namespace, in one directory."""

    def __init__(self, client: Any, fileset: Any) -> None:
        # classes of __main__ are pickled by value, as those of a script or a notebook
        self.names: dict[str, Any] = {"__name__": "__main__", "client": client, "fileset": fileset}
        self.printed = StringIO()
        self.run(PRELUDE)

    def run(self, code: str) -> None:
        with contextlib.redirect_stdout(self.printed):
            exec(compile(code, str(README), "exec"), self.names)


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory, small_fileset: Any) -> Iterator[Path]:
    directory = tmp_path_factory.mktemp("reader")
    (directory / "nano.root").symlink_to(next(iter(small_fileset["DYJets"]["files"])))
    with contextlib.chdir(directory):
        yield directory


@pytest.fixture(scope="module")
def reader(directory: Path, cluster: Any, small_fileset: Any) -> Iterator[Reader]:
    """A reader who has run every Python block."""
    from distributed import Client

    with Client(cluster) as client:
        reader = Reader(client, small_fileset)
        for block in blocks("python"):
            reader.run(block)
        yield reader


def test_the_python_blocks_run(reader: Reader) -> None:
    metrics = reader.names["metrics"]
    assert metrics["total_events"] == reader.names["report"]["entries"] == 12_000
    assert metrics["peak_workers"] == 2
    assert "Throughput Metrics" in reader.printed.getvalue()
    assert "event_rate_elapsed_khz" in reader.printed.getvalue()
    assert Path("runs/zmumu.roast").exists()
    assert Path("runs/before/metrics.json").exists()
    assert Path("plots/chunk_gantt.png") in reader.names["written"]
    assert len(reader.names["local_collector"].chunk_metrics) == reader.names["report"]["chunks"]


@pytest.mark.parametrize("name", ["MyProcessor", "DimuonProcessor"])
def test_the_processors_run_and_are_measured(reader: Reader, name: str) -> None:
    """Those of the last two levels, under the collector of the first."""
    reader.run(
        f"""
from roastcoffea import MetricsCollector
processor = {name}()
with MetricsCollector(client, processor_instance=processor) as again:
    output, report = runner(fileset, processor)
"""
    )
    collector = reader.names["again"]
    assert sorted(reader.names["output"]) == ["DYJets", "TTbar"]
    assert len(collector.chunk_metrics) == collector.get_metrics()["num_chunks"] > 0
    sections = {section["name"] for section in collector.summary().sections()}
    assert sections == (set() if name == "MyProcessor" else {"muons", "pairs", "histogram"})


def commands() -> list[str]:
    lines = "".join(blocks("sh")).splitlines()
    return [line for line in lines if not line.startswith(SETUP)]


@pytest.mark.parametrize("line", commands())
def test_the_commands_work(reader: Reader, line: str) -> None:
    program, *arguments = shlex.split(line)
    if program == "sqlite3":
        file, query = arguments
        assert list(sqlite3.connect(file).execute(query))
        return
    assert program == "roast"
    for name in arguments:  # other runs of the reader's
        if name.endswith(".roast") and not Path(name).exists():
            shutil.copy("runs/zmumu.roast", name)
    done = subprocess.run([ROAST, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout or "-o" in arguments


def test_the_setup_commands_exist() -> None:
    targets = re.findall(r"^([a-z]+):.*## ", (ROOT / "Makefile").read_text(), re.M)
    used = re.findall(r"\bmake ([a-z]+)`|^make ([a-z]+)$", README.read_text(), re.M)
    assert {name for names in used for name in names if name} <= set(targets)


@pytest.mark.parametrize(
    "path", [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
)
def test_links_lead_somewhere(path: Path) -> None:
    for target, _, anchor in re.findall(r"\]\(([^)#:]*)(#([^)]*))?\)", path.read_text()):
        linked = (path.parent / target) if target else path
        assert linked.exists(), f"{path.name}: {target}"
        if anchor:
            headings = re.findall(r"^#+ (.*)$", linked.read_text(), re.M)
            assert anchor in {re.sub(r"[^\w -]", "", h).lower().replace(" ", "-") for h in headings}
