"""Where the tests find what they compare with: tests/data/README.md describes it."""

from __future__ import annotations

from pathlib import Path

DATA = Path(__file__).resolve().parent / "data"
GOLDEN = DATA / "golden_v1"

#: What may not be committed and lies next to the clone where the project is developed
SHARED = DATA.parents[2] / "shared"
