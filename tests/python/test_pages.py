"""The pages of docs/ do what they say: their blocks run in order, as a reader would run them.

A page is read from top to bottom in a directory of its own that has a run, ``runs/zmumu.roast``.
Python blocks share a namespace, in which a reader's ``client``, ``fileset``, ``runner`` and
processors are; a line of a shell block is run by bash. Other runs that a line names are copies of
that one. What cannot run here says so in its first line, and is named in NOT_RUN.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
MAKE_RUN = ROOT / "build/tests/unit/make-run"
BIN = Path(sys.executable).parent
PAGES = sorted(path.name for path in DOCS.glob("*.md"))

MARK = "# not run in the tests: "
#: (page, words that only the block has): all blocks that bear the mark
NOT_RUN = {
    ("facility.md", "HTCondorCluster"): "needs an HTCondor pool",
    ("facility.md", "dask_gateway"): "needs a gateway",
    ("facility.md", "ssh -L"): "needs another host",
    ("facility.md", "monitoring.db"): "there is no such folder here",
}

#: Programs of shell blocks that are not run here, and who runs them
ELSEWHERE = {
    "make": "a target of the Makefile",
    "pip": "made what the tests run in",
    "cc": "tests/packaging",
    "./rates": "tests/packaging",
    "python": "the reader's own script",
}

#: What a reader has before the first block
PRELUDE = """
import matplotlib
matplotlib.use("Agg")
import awkward as ak
from coffea.nanoevents import NanoAODSchema
from coffea.processor import DaskExecutor, Runner
from hist import Hist
from analysis import DimuonProcessor as MyProcessor
NanoAODSchema.warn_missing_crossrefs = False
runner = Runner(
    executor=DaskExecutor(client=client, status=False),
    schema=NanoAODSchema, chunksize=2_000, savemetrics=True,
)
processor = MyProcessor()
"""

FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)


def blocks_of(page: str) -> list[tuple[str, str]]:
    """Return (language, text) of every fenced block that names its language."""
    return FENCE.findall((DOCS / page).read_text())


def lines_of(block: str) -> list[str]:
    """Return the commands of a shell block."""
    return [line for line in block.splitlines() if line and not line.startswith("#")]


def run_scripts(value: Any) -> Iterator[str]:
    """Yield the scripts of a pipeline: what stands under ``run``."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "run" and isinstance(inner, str):
                yield inner
            else:
                yield from run_scripts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from run_scripts(inner)


class Reader:
    """Runs the blocks of one page."""

    def __init__(self, page: str, run: Path, client: Any, fileset: Any) -> None:
        # classes of __main__ are pickled by value, as those of a script or a notebook
        self.names: dict[str, Any] = {"__name__": "__main__", "client": client, "fileset": fileset}
        self.page = page
        self.run_file = run
        self.printed = StringIO()
        self.server: subprocess.Popen[str] | None = None
        self.ran: list[str] = []

    def python(self, code: str) -> None:
        with contextlib.redirect_stdout(self.printed):
            exec(compile(code, str(DOCS / self.page), "exec"), self.names)

    def shell(self, line: str) -> None:
        program = line.split()[0]
        if program in ELSEWHERE:
            self.check_elsewhere(line)
            return
        if line.startswith("roast serve"):
            self.serve(line)
            return
        if self.server is not None:
            line = line.replace("http://127.0.0.1:8427/", self.names["address"])
        self.provide_runs(line)
        done = subprocess.run(
            ["bash", "-c", f"set -e -o pipefail; {line}"],
            capture_output=True,
            text=True,
            env={**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"},
        )
        assert done.returncode == 0, f"{self.page}: {line}\n{done.stdout}\n{done.stderr}"
        assert done.stdout or " -o " in line or " > " in line or program in ("jq", "curl"), line
        self.ran.append(line)

    def check_elsewhere(self, line: str) -> None:
        words = line.split()
        if words[0] == "make":
            targets = re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), re.M)
            assert words[1] in targets, line

    def provide_runs(self, line: str) -> None:
        """Copy the reader's run to the other names that a line reads; groups have several runs."""
        read = re.sub(r"-o \S+", "", line)
        for name in re.findall(r"[\w/-]+\.roast", read):
            if not Path(name).exists() and " -- " in line:
                subprocess.run([MAKE_RUN, "many", name, "200", "1", "1", "0.1", "4"], check=True)
            elif not Path(name).exists():
                shutil.copy(self.run_file, name)

    def serve(self, line: str) -> None:
        command = [str(BIN / "roast"), *line.split()[1:], "--port", "0"]
        self.server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.server.stdout is not None
        self.names["address"] = self.server.stdout.readline().strip()
        assert self.names["address"].startswith("http://127.0.0.1:")

    def yaml(self, block: str) -> None:
        import yaml

        parsed = yaml.safe_load(block)
        assert isinstance(parsed, dict)
        if "scrape_configs" in parsed and shutil.which("promtool"):
            Path("prometheus.yml").write_text(block)
            subprocess.run(["promtool", "check", "config", "prometheus.yml"], check=True)
        for script in run_scripts(parsed):
            for line in script.splitlines():
                self.shell(line)

    def block(self, language: str, text: str) -> None:
        if language == "python":
            self.python(text)
        elif language == "sh":
            for line in lines_of(text):
                self.shell(line)
        elif language == "yaml":
            self.yaml(text)
        elif language == "toml":
            assert tomllib.loads(text)
        else:
            assert language == "text", f"{self.page}: nobody runs a block of {language}"

    def close(self) -> None:
        if self.server is not None:
            self.server.send_signal(signal.SIGTERM)
            self.server.wait(10)


@pytest.fixture(scope="module")
def a_run(tmp_path_factory: pytest.TempPathFactory, cluster: Any, small_fileset: Any) -> Path:
    """The run that every reader has: the demo's analysis over a small fileset."""
    from analysing import analyse
    from distributed import Client

    from analysis import DimuonProcessor
    from roastcoffea import MetricsCollector

    directory = tmp_path_factory.mktemp("a-run")
    processor = DimuonProcessor()
    with (
        Client(cluster) as client,
        MetricsCollector(
            client, processor_instance=processor, output_dir=directory, measurement_name="zmumu"
        ) as collector,
    ):
        _, report = analyse(client, small_fileset, processor)
        collector.set_coffea_report(report)
    return directory / "zmumu.roast"


@pytest.mark.parametrize("page", [page for page in PAGES if blocks_of(page)])
def test_the_blocks_of_a_page_run(
    page: str,
    a_run: Path,
    cluster: Any,
    small_fileset: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from distributed import Client

    monkeypatch.chdir(tmp_path)
    Path("runs").mkdir()
    if page != "quickstart.md":  # which makes it
        shutil.copy(a_run, "runs/zmumu.roast")
    shutil.copy(DOCS / "prometheus-rules.yml", tmp_path)
    with Client(cluster) as client:
        reader = Reader(page, a_run, client, small_fileset)
        try:
            reader.python(PRELUDE)
            for language, text in blocks_of(page):
                if not text.startswith(MARK):
                    reader.block(language, text)
        finally:
            reader.close()
            forget_registrations()


def forget_registrations() -> None:
    """Take back what a page registered for this process."""
    from roastcoffea.backends import unregister_backend
    from roastcoffea.custom import unregister_metric

    unregister_metric("events_per_gigabyte")
    unregister_backend("pool")


def test_what_is_not_run_says_so_and_is_named_here() -> None:
    marked = {
        (page, text.splitlines()[0].removeprefix(MARK), text)
        for page in PAGES
        for _, text in blocks_of(page)
        if text.startswith(MARK)
    }
    for page, reason, text in marked:
        named = [why for (where, words), why in NOT_RUN.items() if where == page and words in text]
        assert named == [reason], text
    assert len(marked) == len(NOT_RUN)


def test_every_metric_is_in_the_table_of_limits() -> None:
    from roastcoffea.metrics import registry

    told = set(re.findall(r"`(\w+)`", (DOCS / "limits.md").read_text()))
    assert {row[0] for row in registry()} <= told


def test_every_page_is_in_the_contents() -> None:
    index = (DOCS / "index.md").read_text()
    trees = re.findall(r"```\{toctree\}\n(.*?)```", index, re.S)
    listed = {line for tree in trees for line in tree.split() if not line.startswith(":")}
    assert {page.removesuffix(".md") for page in PAGES} - {"index"} <= listed


def test_every_picture_is_shown_and_made_by_a_command() -> None:
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        from bench_picture import PICTURE
        from pictures import MADE
    finally:
        sys.path.remove(str(ROOT / "tools"))
    pages = [ROOT / "README.md", *DOCS.glob("*.md")]
    shown = {
        name for page in pages for name in re.findall(r"pictures/([\w.-]+)\)", page.read_text())
    }
    stored = {path.name for path in (DOCS / "pictures").iterdir()}
    assert shown == stored == {*MADE, PICTURE.name}
