"""The short way to the sizes of branches gives what uproot's own properties give."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import uproot
from oracles import SHARED

from roastcoffea import trees

REAL = SHARED / "data" / "root"  #: of other projects: they may not be committed


def by_properties(tree: Any) -> tuple[dict[str, int], int, int]:
    """Return the bytes of each branch, how many there are and their uncompressed bytes."""
    rows = list(trees._ttree_branches(tree))
    sizes = {name: compressed for name, compressed, _ in rows}
    return sizes, len(rows), sum(uncompressed for _, _, uncompressed in rows)


def assert_known(tree: Any) -> None:
    sizes, n_branches, whole_bytes = by_properties(tree)
    known = trees.Tree(tree)
    assert known.branch_bytes(tree) == sizes
    assert (known.n_branches, known.whole_bytes) == (n_branches, whole_bytes)
    if len(sizes) == n_branches:
        assert known.bytes == sum(sizes.values())


def test_plain_branches_are_known_as_uproot_knows_them(tmp_path: Path) -> None:
    with uproot.recreate(tmp_path / "plain.root") as file:
        tree = file.mktree("Events", {"pt": "f8", "eta": "f8"})
        for n in (1000, 10, 300):
            tree.extend({"pt": np.arange(float(n)), "eta": np.zeros(n)})
    with uproot.open(tmp_path / "plain.root") as file:
        tree = file["Events"]
        assert list(trees._plain_branches(tree)) == ["pt", "eta"]
        assert_known(tree)
        for branch in tree.branches:
            assert branch.entry_offsets == [0, 1000, 1010, 1310]  # uproot has it at hand now
            short = trees._plain_branch(tree, branch.name)
            assert short.baskets is not None
            assert short.baskets.offsets == branch.entry_offsets
            sizes = [branch.basket_compressed_bytes(i) for i in range(branch.num_baskets)]
            assert short.baskets.sums == [0, *accumulate(sizes)]
            assert short.compressed == branch.compressed_bytes
            assert short.uncompressed == branch.uncompressed_bytes


def sample_trees(folder: Path) -> Iterator[tuple[str, Any]]:
    for path in sorted(folder.glob("*.root")):
        try:
            file = uproot.open(path)
        except (ValueError, OSError):
            continue  # one that is damaged, or none at all
        for key, kind in file.classnames(recursive=True).items():
            if kind in ("TTree", "TNtuple"):
                yield f"{path.name}:{key}", file[key]


@pytest.mark.parametrize(
    "real", [False, *[True] * REAL.exists()], ids=["written", "real"][: 1 + REAL.exists()]
)
def test_trees_of_all_kinds_are_known_as_uproot_knows_them(real: bool, root_files: Path) -> None:
    plain = nested = directly = 0
    for _, tree in sample_trees(REAL if real else root_files):
        assert_known(tree)
        try:
            plain += len(trees._plain_branches(tree))
        except KeyError:
            nested += 1
        for branch in tree.branches:
            offsets = branch.entry_offsets  # uproot has them at hand from here on
            with contextlib.suppress(KeyError, AttributeError, IndexError, TypeError):
                short = trees._plain_branch(tree, branch.name)
                assert short.baskets is not None
                assert short.baskets.offsets == offsets
                sizes = [branch.basket_compressed_bytes(i) for i in range(branch.num_baskets)]
                assert short.baskets.sums == [0, *accumulate(sizes)]
                assert short.compressed == branch.compressed_bytes
                assert short.uncompressed == branch.uncompressed_bytes
                directly += 1
    assert directly > 1000
    assert plain > 1000
    assert nested >= 3


def test_branches_within_branches_are_listed_by_their_whole_names(root_files: Path) -> None:
    with uproot.open(root_files / "nested-branches.root") as file:
        for name in ("evt", "sub/evt", "sub/deeper/evt"):
            tree = file[name]
            with pytest.raises(KeyError, match="of its own"):
                trees._plain_branches(tree)
            listed = set(trees.Tree(tree).branch_bytes(tree))
            assert listed == {"top", "top/a", "top/a/b", "top/a/c", "top/d", "d"}


def test_bytes_of_baskets_inside_the_trees_object_are_those_of_uproot(root_files: Path) -> None:
    with uproot.open(root_files / "embedded-baskets.root") as file:
        for name in ("t", "only"):
            assert_known(file[name])
            values = file[name]["x"].array(library="np")
            assert values[-30:].tolist() == list(range(30))
