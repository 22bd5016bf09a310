"""How the tests call `roast`.

ROAST names the executable; without it the installed one is taken. Run files come from
tests/unit/make-run.c.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
ROAST = os.environ.get("ROAST") or str(ROOT / ".venv" / "bin" / "roast")


def roast(
    *words: object, env: dict[str, str] | None = None, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Call the command, with `env` on top of the environment; no ROAST_DIR comes from there."""
    environment = {key: value for key, value in os.environ.items() if key != "ROAST_DIR"}
    return subprocess.run(
        [ROAST, *map(str, words)],
        capture_output=True,
        text=True,
        timeout=120,
        env=environment | (env or {}),
        check=False,
        **options,
    )


def make_run(path: Path, kind: str = "finished", *words: object) -> Path:
    """Write a run file of that kind."""
    make = ROOT / "build" / "tests" / "unit" / "make-run"
    subprocess.run([make, kind, path, *map(str, words)], check=True, timeout=60)
    return path
