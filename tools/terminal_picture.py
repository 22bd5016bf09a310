"""Draws what a command prints on a terminal, as an SVG.

The command really runs, with its standard output on a terminal of that width; colours and
tables are what it printed, below the command itself.
"""

from __future__ import annotations

import fcntl
import os
import pty
import shlex
import struct
import subprocess
import sys
import termios
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

THEME = TerminalTheme(
    (30, 32, 36),
    (215, 218, 224),
    [
        (60, 64, 72),
        (224, 108, 117),
        (152, 195, 121),
        (229, 192, 123),
        (97, 175, 239),
        (198, 120, 221),
        (86, 182, 194),
        (215, 218, 224),
    ],
)

# rich's own frame without its fonts, which it would load from the network.
FRAME = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xml:space="preserve"
     xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{
    font-family: "DejaVu Sans Mono", "Fira Code", Menlo, Consolas, monospace;
    font-size: {char_height}px; line-height: {line_height}px;
}}
.{unique_id}-title {{ font-family: sans-serif; font-size: 18px; font-weight: bold; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def run_on_terminal(command: list[str], columns: int) -> str:
    """Run a command with a terminal as its standard output; return what it wrote there."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 200, columns, 0, 0))
    environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    environment |= {"TERM": "xterm-256color", "COLUMNS": str(columns)}
    written = b""
    with subprocess.Popen(command, stdout=slave, env=environment) as process:
        os.close(slave)
        while True:
            try:
                part = os.read(master, 65536)
            except OSError:  # EIO: the last one who had it open has closed it
                break
            if not part:
                break
            written += part
    os.close(master)
    if process.returncode:
        sys.exit(f"terminal_picture: {shlex.join(command)}: exit {process.returncode}")
    return written.decode().replace("\r\n", "\n")


def draw(picture: Path, command: list[str], output: str, columns: int) -> None:
    """Write the SVG."""
    console = Console(record=True, width=columns, file=StringIO(), force_terminal=True)
    line = Text("$ ", style="bold green")
    line.append(shlex.join([Path(command[0]).name, *command[1:]]), style="bold")
    console.print(line)
    console.print(Text.from_ansi(output), no_wrap=True, crop=True)
    picture.parent.mkdir(parents=True, exist_ok=True)
    console.save_svg(str(picture), title="", theme=THEME, code_format=FRAME, unique_id=picture.stem)
