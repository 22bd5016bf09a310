"""Draws the pictures of the README from a run of the demo.

    make demo
    python tools/demo_pictures.py runs/demo-TIME.roast

Writes docs/pictures/: the output of `roast show`, and plots of the chunks.
"""

from __future__ import annotations

import sys
from pathlib import Path

from roastcoffea._probe import Records
from roastcoffea._roast import Run
from roastcoffea.visualization import plot_chunk_gantt
from terminal_picture import draw, run_on_terminal

PICTURES = Path(__file__).resolve().parent.parent / "docs" / "pictures"
COLUMNS = 90


def main() -> int:
    """Draw every picture."""
    if len(sys.argv) != 2:
        sys.exit("usage: demo_pictures.py RUN.roast")
    run = Path(sys.argv[1])
    roast = Path(sys.executable).with_name("roast")
    command = [str(roast), "show", str(run)]
    draw(PICTURES / "show.svg", command, run_on_terminal(command, COLUMNS), COLUMNS)
    chunks = Records.from_bytes(Run.open(run).chunks())
    plot_chunk_gantt(chunks, PICTURES / "chunks.png", figsize=(9, 2.6))
    return 0


if __name__ == "__main__":
    sys.exit(main())
