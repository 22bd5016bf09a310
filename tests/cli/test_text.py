"""Text in tables is UTF-8, whatever the locale."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from command import ROAST


@pytest.mark.parametrize("locale", ["C", "C.UTF-8", "no_SUCH.UTF-8"])
def test_names_are_shown_as_they_are_under_every_locale(tmp_path: Path, locale: str) -> None:
    for name in ("Zμμ • été.roast", "plain.roast"):
        (tmp_path / name).write_text("this is no run")
    environment = {**os.environ, "LC_ALL": locale}
    done = subprocess.run([ROAST, "list", tmp_path], capture_output=True, env=environment)
    assert done.returncode == 0
    lines = done.stdout.decode().splitlines()
    shown = [line for line in lines if line.startswith(("Zμμ • été.roast ", "plain.roast "))]
    assert len(shown) == 2
    assert len({line.index("is not a run file") for line in shown}) == 1  # columns stand in line
