"""What the command writes to: terminals, pipes, and a disk that is full."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import sqlite3
import struct
import subprocess
import termios
from pathlib import Path

import pytest
from command import ROAST, ROOT, make_run, roast

ESCAPE = "\x1b"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with runs; tests do not change it."""
    directory = tmp_path_factory.mktemp("runs")
    for kind in ("finished", "unfinished", "empty"):
        make_run(directory / f"{kind}.roast", kind)
    return directory


def on_terminal(columns: int, *arguments: object, **environment: str) -> str:
    """Run the command on a terminal of that width and return all that it writes there."""
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(
        [ROAST, *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=child,
        stderr=child,
        env={
            **{k: v for k, v in os.environ.items() if k != "NO_COLOR"},
            "TERM": "xterm",
            **environment,
        },
    )
    os.close(child)
    output = b""
    while select.select([parent], [], [], 60)[0]:
        try:
            block = os.read(parent, 65536)
        except OSError:  # the other end was closed
            break
        if not block:
            break
        output += block
    os.close(parent)
    assert process.wait(60) == 0
    return output.decode().replace("\r\n", "\n")


def lines_on_terminal(columns: int, *arguments: object) -> list[str]:
    """Return the lines of an answer without colours; none is longer than the terminal is wide."""
    lines = on_terminal(columns, *arguments, NO_COLOR="1").splitlines()
    assert max(map(len, lines)) <= columns, max(lines, key=len)
    return lines


def test_a_run_that_cannot_be_read_leaves_the_names_of_the_others(tmp_path: Path) -> None:
    run = make_run(tmp_path / "mine.roast")
    (run.parent / "written-by-a-newer.roast").write_bytes(run.read_bytes())
    with sqlite3.connect(run.parent / "written-by-a-newer.roast") as db:
        db.execute("PRAGMA user_version=2000")
    lines = lines_on_terminal(80, "list", run.parent)
    assert any(re.match(r"mine\.roast +finished +10\.0s +900,000$", line) for line in lines)
    assert any(re.match(r"written-by-a-newer\.roast +was written by a", line) for line in lines)


def test_figures_and_sentences_fit_an_ordinary_terminal(runs: Path) -> None:
    run = runs / "finished.roast"
    assert any(line.startswith("  - ") for line in lines_on_terminal(80, "predict", run))
    lines_on_terminal(80, "predict", run, "--deadline", "1h", "--workers", "1,10,100")
    lines_on_terminal(80, "compare", run, runs / "unfinished.roast")
    lines_on_terminal(80, "explain", run, "--all")
    lines_on_terminal(80, "scaling", run)


def test_runs_are_listed_by_their_whole_names_on_a_narrow_terminal(tmp_path: Path) -> None:
    name = "demo-20261118T023635Z.roast"
    make_run(tmp_path / name)
    lines = lines_on_terminal(80, "list", tmp_path)
    assert any(re.match(rf"{name} .* UTC finished ", line) for line in lines)
    lines = lines_on_terminal(30, "list", tmp_path)
    assert any(re.match(r"demo-2026\d+… finished ", line) for line in lines)


def test_names_that_are_cut_are_marked_on_a_narrow_terminal(tmp_path: Path) -> None:
    sizes = (1, 2, 4, 8)
    runs = [make_run(tmp_path / f"{n}.roast", "many", 32, n, 1 + n / 10, 0.1, n) for n in sizes]
    lines = lines_on_terminal(80, "scaling", *runs)
    assert any(line.startswith("Universal scalability l… One core does ") for line in lines)
    lines = lines_on_terminal(60, "scaling", *runs)
    assert any(line.startswith("Universal scalability law One core does ") for line in lines)
    two = lines_on_terminal(60, "scaling", *runs[:2])
    assert any(re.match("Universal.*… no fit: it takes three numbers of cores$", x) for x in two)
    one = " ".join(" ".join(lines_on_terminal(40, "scaling", runs[0])).split())
    assert "no fit: it takes two numbers of cores" in one
    assert "Value" not in one
    other = ROOT / "tests" / "data" / "vine-logs"
    lines = lines_on_terminal(40, "compare", make_run(tmp_path / "sample.roast"), other)
    assert any(re.match(r"hosts +node1 +1: \+127.*…$", line) for line in lines)
    assert any(re.match(r"files that.*… 10 of 10 +0 of 3", line) for line in lines)


def test_cpu_time_of_tasks_is_a_column_only_where_it_was_measured(runs: Path) -> None:
    logs = ROOT / "tests" / "data" / "vine-logs"
    assert "Time  CPU\n" in roast("show", logs, "--table", "tasks").stdout
    assert "CPU" not in roast("show", runs / "finished.roast", "--table", "tasks").stdout


def test_parts_of_the_ledger_are_whole_on_a_narrow_terminal() -> None:
    logs = ROOT / "tests" / "data" / "vine-logs"
    lines = lines_on_terminal(60, "show", logs, "--table", "ledger")
    assert any(re.match(r"Processor, on a core +5\.4s +0\.9 %", line) for line in lines)
    assert any(re.match(r"Processor, waiting +2\.0s +0\.3 %", line) for line in lines)


def test_figures_that_are_compared_keep_their_names_on_a_narrow_terminal(tmp_path: Path) -> None:
    runs = [make_run(tmp_path / f"{n}.roast", "many", n, 40, 2, 0, 4) for n in (100, 200)]
    lines = lines_on_terminal(74, "compare", *runs)
    assert any(line.startswith("  Event Rate (Elapsed Time) ") for line in lines)
    assert any(re.match(r"Waits per event, .*…$", line) for line in lines)


def test_one_is_not_written_as_many(tmp_path: Path) -> None:
    path = make_run(tmp_path / "one.roast", "many", 1, 1, 1, 0, 1)
    assert "with 1 worker;" in roast("predict", path).stdout
    assert "1 chunk done" in roast("watch", path).stdout


def test_colours_on_a_terminal(runs: Path) -> None:
    assert f"{ESCAPE}[1m" in on_terminal(100, "show", runs / "finished.roast")


def test_no_color_is_honoured(runs: Path) -> None:
    plain = on_terminal(200, "show", runs / "finished.roast", NO_COLOR="1")
    assert ESCAPE not in plain
    assert plain == roast("show", runs / "finished.roast").stdout
    assert ESCAPE in on_terminal(100, "show", runs / "finished.roast", NO_COLOR="")


def test_a_dumb_terminal_gets_no_colours(runs: Path) -> None:
    assert ESCAPE not in on_terminal(100, "show", runs / "finished.roast", TERM="dumb")
    assert ESCAPE not in on_terminal(100, "explain", runs / "finished.roast", TERM="dumb")


def test_a_pipe_gets_the_same_whatever_the_surroundings(runs: Path) -> None:
    plain = roast("show", runs / "finished.roast").stdout
    assert ESCAPE not in plain
    for environment in (
        {"TERM": "dumb"},
        {"TERM": "xterm-256color", "COLUMNS": "30", "CLICOLOR_FORCE": "1"},
        {"LC_ALL": "C"},
        {"LC_ALL": "C.UTF-8"},
        {"LC_ALL": "nonsense"},
    ):
        assert roast("show", runs / "finished.roast", env=environment).stdout == plain


def test_a_narrow_terminal_is_not_overrun(runs: Path) -> None:
    shown = on_terminal(50, "show", runs / "empty.roast", "-t", "resources", NO_COLOR="1")
    assert max(map(len, shown.splitlines())) <= 50
    assert "Total Cores" in shown
    shown = on_terminal(100, "metrics", NO_COLOR="1")
    assert max(map(len, shown.splitlines())) <= 100


def test_output_that_cannot_be_written_is_an_error(runs: Path) -> None:
    for arguments in (["--version"], ["--help"], ["show", runs / "finished.roast"], ["metrics"]):
        with open("/dev/full", "w") as full:
            result = subprocess.run(
                [ROAST, *map(str, arguments)],
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                timeout=60,
                check=False,
            )
        assert result.returncode == 2
        assert "No space left" in result.stderr


def test_a_reader_that_closes_the_pipe_is_no_error(runs: Path) -> None:
    command = f"'{ROAST}' show '{runs / 'finished.roast'}' -f json | head -n 1"
    result = subprocess.run(
        command, shell=True, capture_output=True, text=True, timeout=60, check=False
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "{\n", "")
