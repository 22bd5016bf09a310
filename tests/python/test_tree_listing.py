"""The short way to the sizes of branches gives what uproot's own properties give."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import uproot

from roastcoffea import trees

SAMPLES = Path(__file__).resolve().parents[3] / "shared" / "data" / "root"


def test_plain_branches_are_listed_as_uproot_lists_them(tmp_path: Path) -> None:
    with uproot.recreate(tmp_path / "plain.root") as file:
        tree = file.mktree("Events", {"pt": "f8", "eta": "f8"})
        tree.extend({"pt": np.arange(1000.0), "eta": np.zeros(1000)})
    with uproot.open(tmp_path / "plain.root") as file:
        short = list(trees._plain_branches(file["Events"]))
        assert short == list(trees._ttree_branches(file["Events"]))
        assert [name for name, _, _ in short] == ["pt", "eta"]


def test_branches_within_branches_are_listed_by_their_whole_names() -> None:
    path = SAMPLES / "uproot-small-evnt-tree-fullsplit.root"
    if not path.exists():
        pytest.skip(f"there is no {path.name}: it comes with the project's shared data")
    with uproot.open(path) as file:
        tree = file["tree"]
        with pytest.raises((AttributeError, KeyError, IndexError)):
            list(trees._plain_branches(tree))
        known = trees.Tree(tree)
        assert known.n_branches == len(list(trees._ttree_branches(tree)))
        assert any("/" in name for name in known.compressed)
