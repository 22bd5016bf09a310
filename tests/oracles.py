"""Where the tests find what they compare with: tests/data/README.md describes it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parent / "data"
GOLDEN = DATA / "golden_v1"

#: What may not be committed and lies next to the clone where the project is developed
SHARED = DATA.parents[2] / "shared"

#: What users' code relies on
SURFACE: dict[str, Any] = tomllib.loads((DATA / "surface.toml").read_text(encoding="utf-8"))
