"""The page of a run that is being written, beside it: ``roast serve``."""

from __future__ import annotations

import atexit
import shutil
import subprocess
import sys
from pathlib import Path

#: How long a server that was told to end may take.
END_TIMEOUT_S = 5.0


def serve(run: Path) -> str:
    """Start a server on loopback that shows a run, and return its address.

    It lives as long as this process, so that the page can still be looked at after the run; not
    longer, even if this process is killed.
    """
    command = Path(sys.executable).parent / "roast"
    roast = str(command) if command.exists() else shutil.which("roast")
    if roast is None:
        raise FileNotFoundError("the command roast was not found")
    process = subprocess.Popen(
        [roast, "serve", str(run), "--port", "0", "--until-eof"],
        stdin=subprocess.PIPE,  # nothing is written: its end is the word
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    if not address:
        _, why = process.communicate()
        raise RuntimeError(why.strip() or "roast serve did not start")
    atexit.register(_end, process)
    return address


def _end(process: subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.wait(END_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
