"""Compressed bytes of branches, from the file that coffea has already opened.

Listing 1,600 branches takes uproot milliseconds. What is known of a tree is kept
per process, so that a chunk looks only at the branches that it touched.
"""

from __future__ import annotations

import threading
from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import Any, NamedTuple

from roastcoffea import collecting

MAX_TREES = 64  # of which sizes are kept
MAX_SEEN = 100_000  # files that are known to have been told of


class Baskets(NamedTuple):
    """Where the baskets (or clusters) of a branch begin, and the bytes up to there."""

    offsets: list[int]
    sums: list[int]

    def overlapping(self, start: int, stop: int) -> int:
        """Return the bytes of those that have entries in ``start <= entry < stop``."""
        if start >= stop:
            return 0
        first = max(bisect_right(self.offsets, start) - 1, 0)
        last = bisect_left(self.offsets, stop, first, len(self.offsets) - 1)
        return self.sums[last] - self.sums[first]

    def cut(self, start: int, stop: int) -> int:
        """Return the bytes of the one that begins before ``start`` and is needed from there on."""
        if start >= stop:
            return 0
        first = bisect_right(self.offsets, start, 0, len(self.offsets) - 1) - 1
        if first < 0 or self.offsets[first] == start:
            return 0
        return self.overlapping(start, start + 1)


class Branch(NamedTuple):
    """One branch of a tree."""

    compressed: int
    uncompressed: int
    baskets: Baskets | None


def is_rntuple(tree: Any) -> bool:
    """Tell whether a tree is an RNTuple or a part of one."""
    return hasattr(tree, "page_list_envelopes") or hasattr(tree, "field_id")


def _plain_branch(tree: Any, name: str) -> Branch:
    """Return a branch whose baskets are all in the file, in a quarter of the time of the next.

    Uproot's properties ask each class that a branch inherits from. What is not where it stands
    in a plain branch is an error, and then they are asked.
    """
    branch = tree._lookup[name]
    own = branch._members
    n = branch._num_normal_baskets
    offsets = own["fBasketEntry"][: n + 1].tolist()
    if branch._embedded_baskets != [] or n == 0 or offsets[n] != own["fEntries"]:
        raise KeyError("some baskets are not in the file")
    sums = [0, *accumulate(own["fBasketBytes"][:n].tolist())]
    return Branch(own["fZipBytes"], own["fTotBytes"], Baskets(offsets, sums))


def _ttree_branch(tree: Any, name: str) -> Branch:
    try:
        return _plain_branch(tree, name)
    except (AttributeError, KeyError, IndexError, TypeError):
        branch = tree[name]
    offsets = branch.entry_offsets
    embedded = branch.embedded_baskets
    on_disk = branch.member("fBasketBytes")[: len(offsets) - 1 - len(embedded)].tolist()
    sizes = on_disk + [int(basket.compressed_bytes) for basket in embedded]
    return Branch(
        int(branch.compressed_bytes),
        int(branch.uncompressed_bytes),
        Baskets(offsets, [0, *accumulate(sizes)]),
    )


def _ttree_branches(tree: Any, prefix: str = "") -> Iterator[tuple[str, int, int]]:
    for branch in tree.branches:
        name = prefix + branch.name
        yield name, int(branch.compressed_bytes), int(branch.uncompressed_bytes)
        if branch.branches:
            yield from _ttree_branches(branch, name + "/")


def _plain_branches(tree: Any) -> dict[str, Any]:
    """Return the branches of a TTree by name, a KeyError if one has branches of its own.

    Only classes that inherit from TBranch have: no branch has to be looked into for that. A tree
    may also have two branches of one name, of which uproot's table has the first.
    """
    branches: dict[str, Any] = tree._lookup
    kinds = {type(branch).__name__ for branch in branches.values()}
    if not all(kind.startswith("Model_TBranch_v") for kind in kinds):
        raise KeyError("a branch has branches of its own")
    if len(branches) != len(tree.branches):
        raise KeyError("two branches have one name")
    return branches


class _NTuplePages:
    """Page sizes of an RNTuple, by cluster and column."""

    def __init__(self, ntuple: Any) -> None:
        self.ntuple = ntuple
        self.offsets = [0]
        self.columns: list[list[tuple[int, int]]] = []
        bits = [int(record.nbits) for record in ntuple.column_records]
        for pages in ntuple.page_list_envelopes:
            for summary, columns in zip(pages.cluster_summaries, pages.pagelinklist, strict=False):
                self.offsets.append(int(summary.num_first_entry) + int(summary.num_entries))
                self.columns.append(
                    [
                        (
                            sum(int(page.locator.num_bytes) for page in column.pages),
                            sum(int(page.num_elements) for page in column.pages) * width // 8,
                        )
                        for column, width in zip(columns, bits, strict=False)
                    ]
                )

    def columns_of(self, field: int) -> Iterator[int]:
        for record in self.ntuple._column_records_dict.get(field, ()):
            yield int(record.idx)
        for child in self.ntuple._related_ids.get(field, ()):
            yield from self.columns_of(child)

    def branch(self, field: int) -> Branch:
        wanted = list(self.columns_of(field))
        sizes = [sum(cluster[i][0] for i in wanted if i < len(cluster)) for cluster in self.columns]
        whole = sum(cluster[i][1] for cluster in self.columns for i in wanted if i < len(cluster))
        return Branch(sum(sizes), whole, Baskets(self.offsets, [0, *accumulate(sizes)]))


class Tree:
    """What is known of one tree of one file."""

    def __init__(self, tree: Any) -> None:
        self.known: dict[str, Branch | None] = {}
        self.pages = _NTuplePages(tree) if is_rntuple(tree) else None
        if self.pages is not None:
            self.n_branches = len(tree.keys())
            self.bytes = sum(c[0] for cluster in self.pages.columns for c in cluster)
            self.whole_bytes = sum(c[1] for cluster in self.pages.columns for c in cluster)
            return
        try:
            self.n_branches = len(_plain_branches(tree))
            self.bytes = int(tree.member("fZipBytes"))
            self.whole_bytes = int(tree.member("fTotBytes"))
            if min(self.bytes, self.whole_bytes) <= 0:
                raise ValueError("the tree does not tell its bytes")
        except (AttributeError, KeyError, TypeError, ValueError):
            rows = list(_ttree_branches(tree))
            self.n_branches = len(rows)
            self.bytes = sum(compressed for _, compressed, _ in rows)
            self.whole_bytes = sum(uncompressed for _, _, uncompressed in rows)

    def branch_bytes(self, tree: Any) -> dict[str, int]:
        """Return the compressed bytes of every branch."""
        if self.pages is not None:
            pages, names = self.pages, tree.keys()
            return {name: pages.branch(tree[name].field_id).compressed for name in names}
        try:
            plain = _plain_branches(tree).items()
            return {name: branch._members["fZipBytes"] for name, branch in plain}
        except (AttributeError, KeyError, TypeError):
            return {name: compressed for name, compressed, _ in _ttree_branches(tree)}

    def branch(self, open_tree: Callable[[], Any], name: str) -> Branch | None:
        """Return one branch, of the open tree at first; None if the file does not have it."""
        try:
            return self.known[name]
        except KeyError:
            tree = open_tree()
        try:
            found: Branch | None = (
                _ttree_branch(tree, name)
                if self.pages is None
                else self.pages.branch(tree[name].field_id)
            )
        except Exception:
            found = None
        self.known[name] = found
        return found

    def metadata(self, filename: str | None) -> dict[str, Any]:
        """Return the documented ``file_metadata``."""
        return {
            "filename": filename,
            "compression_ratio": self.bytes / self.whole_bytes if self.whole_bytes else 0.0,
            "total_branches": self.n_branches,
            "total_tree_bytes": self.bytes,
            "total_uncompressed_bytes": self.whole_bytes,
        }


_lock = threading.Lock()
_trees: OrderedDict[tuple[object, ...], Tree] = OrderedDict()
_seen: set[tuple[object, ...]] = set()
_seen_generation = -1


def open_tree(handle: Any, treename: str) -> Any:
    """Return the tree of an open file, or the handle if it is the tree itself."""
    if hasattr(handle, "entry_offsets") or hasattr(handle, "num_entries"):
        return handle
    return handle[treename]


def tree_of(key: tuple[object, ...], open_tree: Callable[[], Any]) -> Tree:
    """Return what is known of a tree, which is looked at if it is met for the first time."""
    with _lock:
        known = _trees.get(key)
        if known is not None:
            _trees.move_to_end(key)
            return known
    known = Tree(open_tree())
    with _lock:
        _trees[key] = known
        while len(_trees) > MAX_TREES:
            _trees.popitem(last=False)
    return known


def first_time(key: tuple[object, ...]) -> bool:
    """Tell whether this file was not yet told of in this process and run."""
    global _seen_generation
    with _lock:
        if _seen_generation != collecting.generation() or len(_seen) >= MAX_SEEN:
            _seen_generation = collecting.generation()
            _seen.clear()
        if key in _seen:
            return False
        _seen.add(key)
        return True
