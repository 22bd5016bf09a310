"""Every type of the extensions under memcheck: see tools/valgrind."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]


def test_the_extensions_use_memory_as_they_may() -> None:
    ran = subprocess.run(
        [ROOT / "tools" / "valgrind"], capture_output=True, text=True, timeout=600, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.endswith("toured\n")
