"""roastcoffea.inspect: the same figures as uproot's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import uproot

import roastcoffea


def test_a_file_is_told_as_uproot_tells_it(small_fileset: dict[str, Any]) -> None:
    (path,) = small_fileset["DYJets"]["files"]
    (told,) = roastcoffea.inspect(path)["trees"]
    with uproot.open(path) as file:
        tree = file["Events"]
        assert told["path"] == "Events"
        assert told["entries"] == tree.num_entries
        assert told["num_branches"] == len(tree.keys(recursive=True))
        branches = {branch["path"]: branch for branch in told["branches"]}
        for name, branch in tree.items():
            assert branches[name]["compressed_bytes"] == branch.compressed_bytes
            assert branches[name]["num_baskets"] == branch.num_baskets


def test_what_is_no_root_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        roastcoffea.inspect(tmp_path / "nowhere.root")
    (tmp_path / "text.root").write_text("not a ROOT file at all")
    with pytest.raises(ValueError, match="ROOT"):
        roastcoffea.inspect(tmp_path / "text.root")
