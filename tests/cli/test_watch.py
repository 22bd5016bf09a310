"""`roast watch`: the view, and the terminal that it leaves as it was."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from pathlib import Path

import pytest
from command import ROAST, make_run

from roastcoffea._roast import Run

ENTER, LEAVE = b"\033[?1049h", b"\033[?25h\033[?1049l"


class Terminal:
    """A terminal with `roast watch` on it."""

    def __init__(self, run: Path, rows: int, columns: int) -> None:
        self.control, self.end = pty.openpty()
        self.resize(rows, columns)
        self.before = termios.tcgetattr(self.end)
        self.seen = b""
        self.process = subprocess.Popen(
            [ROAST, "watch", run],
            stdin=self.end,
            stdout=self.end,
            env={**os.environ, "TERM": "xterm"},
        )

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self.control, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read_until(self, what: bytes, seconds: float = 20) -> bytes:
        """Read until something is drawn; returns everything from the last call on."""
        begun, deadline = len(self.seen), time.monotonic() + seconds
        while what not in self.seen[begun:]:
            assert time.monotonic() < deadline, f"{what!r} was not drawn: {self.seen[begun:]!r}"
            if select.select([self.control], [], [], 0.2)[0]:
                self.seen += os.read(self.control, 65536)
        return self.seen[begun:]

    def close(self) -> None:
        os.close(self.control)
        os.close(self.end)


@pytest.mark.parametrize("how", ["q", "interrupt", "terminate"])
def test_it_leaves_the_terminal_as_it_was(tmp_path: Path, how: str) -> None:
    run = tmp_path / "a.roast"
    make_run(run, "large:40:4:60")
    terminal = Terminal(run, 24, 80)
    try:
        assert ENTER in terminal.read_until(b"\033[J")
        if how == "q":
            os.write(terminal.control, b"q")
        else:
            terminal.process.send_signal(signal.SIGINT if how == "interrupt" else signal.SIGTERM)
        terminal.read_until(LEAVE)
        assert terminal.process.wait(20) == 0
        assert termios.tcgetattr(terminal.end) == terminal.before
    finally:
        terminal.close()


def test_it_follows_the_run_and_the_size_of_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "growing.roast"
    run = Run.create(str(path))
    run.fact("run.name", "growing")
    run.fact("run.start_utc_ns", time.time_ns())
    run.commit()
    terminal = Terminal(path, 12, 80)
    try:
        terminal.read_until(b"growing: running")
        run.fact("report.entries", 4321)
        run.commit()
        terminal.read_until(b"4,321")
        terminal.resize(6, 40)
        terminal.process.send_signal(signal.SIGWINCH)
        terminal.read_until(b"\033[J")
        frame = terminal.read_until(b"\033[J").rsplit(b"\033[H", 1)[-1]
        assert frame.count(b"\n") <= 5
        run.fact("run.outcome", "finished")
        run.fact("run.end_utc_ns", time.time_ns())
        run.finish()
        terminal.read_until(b"growing: finished")
        os.write(terminal.control, b"q")
        assert terminal.process.wait(20) == 0
    finally:
        terminal.close()


def test_a_terminal_of_one_line_has_one(tmp_path: Path) -> None:
    run = tmp_path / "a.roast"
    make_run(run)
    terminal = Terminal(run, 1, 80)
    try:
        frame = terminal.read_until(b"\033[J").rsplit(b"\033[H", 1)[-1]
        assert frame.count(b"\n") == 1
        os.write(terminal.control, b"q")
        terminal.read_until(LEAVE)
        assert terminal.process.wait(20) == 0
    finally:
        terminal.close()


def test_without_a_terminal_it_prints_once(tmp_path: Path) -> None:
    run = tmp_path / "a.roast"
    make_run(run)
    result = subprocess.run([ROAST, "watch", run], capture_output=True, text=True, timeout=20)
    assert result.returncode == 0
    assert "Slowest Chunks" in result.stdout
    assert "\033" not in result.stdout
    missing = subprocess.run(
        [ROAST, "watch", tmp_path / "none"], capture_output=True, text=True, timeout=20
    )
    assert missing.returncode == 2
