"""Every type of the extensions, with an allocator that overwrites what is freed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def test_nothing_freed_is_used_up_to_the_end_of_the_interpreter() -> None:
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name("native_tour.py")],
        env={**os.environ, "PYTHONMALLOC": "debug"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "toured\n"), done.stderr
