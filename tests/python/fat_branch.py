"""Files of the demo with a trait: a collection that nobody needs, one file ten times larger."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import uproot


def make_fat_data(directory: Path, files: int, events: int, floats: int) -> dict[str, Any]:
    """Return a fileset whose events have so many random floats in ``Payload_x``."""
    from make_data import METADATA, batch, branch_types

    directory.mkdir(parents=True)
    random = np.random.default_rng(1)
    fileset: dict[str, Any] = {}
    for number in range(files):
        dataset = list(METADATA)[number % len(METADATA)]
        path = directory / f"{dataset}_{number}.root"
        columns = batch(dataset, 0, events, (1, number))
        payload = ak.from_regular(random.random((events, floats), dtype=np.float32))
        columns["Payload"] = ak.zip({"x": payload})
        with uproot.recreate(path, compression=uproot.ZSTD(1)) as file:
            file.mktree("Events", branch_types(columns)).extend(columns)
        entry = fileset.setdefault(dataset, {"files": {}, "metadata": {}})
        entry["files"][str(path)] = "Events"
    return fileset


def make_uneven_data(directory: Path, small: int, events: int) -> tuple[dict[str, Any], str]:
    """Return a fileset of so many files and one that is ten times larger, and its name."""
    from make_data import batch, branch_types

    directory.mkdir(parents=True)
    columns = batch("DYJets", 0, events, (1, 1))
    files = {}
    for number in range(small + 1):
        path = directory / f"{number}.root"
        with uproot.recreate(path, compression=uproot.ZSTD(1)) as file:
            tree = file.mktree("Events", branch_types(columns))
            for _ in range(10 if number == small else 1):
                tree.extend(columns)
        files[str(path)] = "Events"
    return {"DYJets": {"files": files}}, str(path)
