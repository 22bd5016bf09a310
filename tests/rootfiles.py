"""ROOT files that the tests write themselves, each with something that real files have.

`WRITERS` names them; `write_all` writes them, in a few seconds. uproot writes the files and, in
`rootoracle`, says what is in them. It writes neither branches within branches nor baskets
inside a tree's own object: these are put together here from the parts that it does write.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import uproot

COMPRESSIONS = {
    "none": None,
    "zlib": uproot.ZLIB(5),
    "lzma": uproot.LZMA(1),
    "lz4": uproot.LZ4(4),
    "zstd": uproot.ZSTD(3),
}


def batch(seed: int, events: int) -> dict[str, Any]:
    """Events with scalars, a fixed array and a jagged collection."""
    rng = np.random.default_rng(seed)
    counts = rng.poisson(3, events)
    jets = int(counts.sum())
    jagged = {
        "pt": rng.exponential(30, jets).astype(np.float32),
        "hits": rng.integers(0, 9, jets),
    }
    return {
        "run": np.full(events, 1, dtype=np.uint32),
        "met": rng.exponential(20, events).astype(np.float32),
        "cov": rng.normal(size=(events, 3)),
        "Jet": ak.zip({key: ak.unflatten(value, counts) for key, value in jagged.items()}),
    }


def write_tree(path: Path, compression: Any) -> None:
    """Two trees, one in a directory, in baskets of different lengths."""
    with uproot.recreate(path, compression=compression) as file:
        columns = batch(0, 2000)
        types = {
            "run": "uint32",
            "met": "float32",
            "cov": "3 * float64",
            "Jet": columns["Jet"].type.content,
        }
        tree = file.mktree("sub/Events", types)
        for seed in range(3):
            tree.extend(batch(seed, 2000 + 100 * seed))
        file.mktree("Runs", {"n": "int64"}).extend({"n": np.arange(3)})


def write_ntuple(path: Path, compression: Any) -> None:
    """An RNTuple of two clusters."""
    with uproot.recreate(path, compression=compression) as file:
        columns = ak.Array(batch(0, 2000))
        ntuple = file.mkrntuple("Events", columns)
        ntuple.extend(ak.Array(batch(1, 1500)))


def write_many_branches(path: Path) -> None:
    """The shape of NanoAOD: 1,200 branches of every type that fits in one, in three trees.

    What uproot takes to write a tree grows with the square of its branches.
    """
    types = ["float32", "int32", "uint8", "bool", "int16", "uint64", "float64", "int8"]
    branches = {f"Object{i // 20}_x{i}": types[i % len(types)] for i in range(400)}
    rng = np.random.default_rng(3)
    with uproot.recreate(path, compression=uproot.ZLIB(1)) as file:
        for name in ("Events", "Runs", "LuminosityBlocks"):
            tree = file.mktree(name, branches, title="many branches")
            for events in (40, 1):
                columns = rng.integers(0, 2, (len(branches), events))
                rows = zip(branches.items(), columns, strict=True)
                tree.extend({name: column.astype(kind) for (name, kind), column in rows})


def write_many_baskets(path: Path) -> None:
    """More baskets than are named one by one, of one to five entries."""
    with uproot.recreate(path, compression=uproot.LZ4(1)) as file:
        tree = file.mktree("t", {"x": "float64", "n": "int32"}, initial_basket_capacity=3)
        for i in range(60):
            entries = 1 + i % 5
            tree.extend({"x": np.full(entries, 0.5), "n": np.arange(entries)})


def write_big_baskets(path: Path) -> None:
    """Baskets of several compression blocks (one holds 16 MB), and one that grew by it."""
    with uproot.recreate(path, compression=uproot.ZLIB(1)) as file:
        tree = file.mktree("t", {"zeros": "int64", "noise": "uint8"})
        noise = np.random.default_rng(4).integers(0, 256, 2_200_000, np.uint8)
        tree.extend({"zeros": np.zeros(2_200_000, np.int64), "noise": noise})


def write_strings(path: Path) -> None:
    """Branches of text, some empty, and long names."""
    with uproot.recreate(path, compression=uproot.ZSTD(1)) as file:
        file.mktree("t", {"text": "string", "n": "int64"}, title="a title with blanks; and more")
        for words in (["a", "", "some words"], ["µ", "x" * 300, ""]):
            file["t"].extend({"text": words, "n": np.arange(3)})
        file.mktree("dir/" + "n" * 300, {"b" * 300: "int32"})
        file["dir/" + "n" * 300].extend({"b" * 300: np.arange(3, dtype=np.int32)})


def write_directories(path: Path) -> None:
    """Trees at several depths, an empty directory, objects that are no trees."""
    with uproot.recreate(path) as file:
        for name in ("one/two/tree", "one/tree", "three/tree", "one/two/three/four/tree"):
            file.mktree(name, {"x": "float32"}).extend({"x": np.ones(5, np.float32)})
        file.mkdir("empty/inner")
        file["one/histogram"] = np.histogram([1.0, 2.0, 2.5])
        file["note"] = "some words"
        file.mkrntuple("one/two/ntuple", {"x": np.arange(4)})


def write_cycles(path: Path) -> None:
    """A tree in three cycles, of which the last counts, and a histogram in two."""
    with uproot.recreate(path) as file:
        for entries in (3, 5, 4):
            file.mktree("t", {"n": "int64"}).extend({"n": np.arange(entries)})
        for _ in range(2):
            file["h"] = np.histogram([1.0, 2.0])


def write_empty(path: Path) -> None:
    """A tree and an RNTuple with branches and no entries."""
    with uproot.recreate(path) as file:
        file.mktree("tree", {"x": "float32", "y": "3 * int64"})
        file.mkrntuple("ntuple", {"x": np.zeros(0, np.float32)})


def write_no_tree(path: Path) -> None:
    """Histograms only."""
    with uproot.recreate(path) as file:
        for name in ("a", "b", "c"):
            file[name] = np.histogram(np.arange(10.0))


def write_nothing(path: Path) -> None:
    """A file without a key."""
    uproot.recreate(path).close()


def write_big64(path: Path) -> None:
    """Header, keys and directories in their 64-bit form, in a small file."""
    limit = uproot.const.kStartBigFile
    uproot.const.kStartBigFile = 1
    try:
        write_tree(path, uproot.ZLIB(1))
    finally:
        uproot.const.kStartBigFile = limit


def write_beyond_2gb(path: Path) -> None:
    """A tree whose second half lies behind a hole of 3 GB, which takes no space on disk."""
    with uproot.recreate(path, compression=uproot.ZSTD(1)) as file:
        tree = file.mktree("t", {"x": "float32", "n": "int32"})
        columns = {"x": np.arange(500.0, dtype=np.float32), "n": np.arange(500, dtype=np.int32)}
        tree.extend(columns)
        segments = file._cascading.freesegments
        segments.allocate(3 << 30, dry_run=False)
        tree.extend(columns)
        file.mktree("late/u", {"x": "float32"}).extend({"x": columns["x"]})


def write_mixed_compressions(path: Path) -> None:
    """Each branch stored another way, and one whose baskets differ: small ones are not worth it."""
    with uproot.recreate(path, compression=None) as file:
        tree = file.mktree("t", dict.fromkeys([*COMPRESSIONS, "changing"], "int64"))
        for i, compression in enumerate(COMPRESSIONS.values()):
            tree.compression = {**COMPRESSIONS, "changing": compression}
            entries = 800 if i % 2 else 1
            tree.extend(dict.fromkeys([*COMPRESSIONS, "changing"], np.zeros(entries, np.int64)))


def write_ntuple_shapes(path: Path) -> None:
    """RNTuples with text, records, lists of lists, booleans and missing values; many clusters."""
    with uproot.recreate(path, compression=uproot.ZSTD(1)) as file:
        rows = [
            {"s": "a", "b": True, "ll": [[1, 2], []], "r": {"x": 1.5, "y": 2}, "o": 1.0},
            {"s": "", "b": False, "ll": [], "r": {"x": 2.5, "y": 3}, "o": None},
            {"s": "words", "b": True, "ll": [[3]], "r": {"x": 3.5, "y": 4}, "o": 2.0},
        ]
        ntuple = file.mkrntuple("deep/shapes", ak.Array(rows))
        for i in range(9):
            ntuple.extend(ak.Array(rows * (1 + i % 3)))
        file.mkrntuple("plain", {"x": np.arange(20_000), "y": np.zeros(20_000, np.float32)})


# -- what uproot does not write ------------------------------------------------------------

COUNTED = 0x40000000
NEW_CLASS = 0xFFFFFFFF
NO_OBJECTS = bytes.fromhex("40000015 0003 0001 00000000 03000000 00 00000000 00000000")


def objects(*members: bytes) -> bytes:
    """Return a TObjArray."""
    body = NO_OBJECTS[6:17] + struct.pack(">ii", len(members), 0) + b"".join(members)
    return struct.pack(">IH", (len(body) + 2) | COUNTED, 3) + body


def tagged(name: bytes, body: bytes) -> bytes:
    """Return an object with its class."""
    return (
        struct.pack(">II", (4 + len(name) + 1 + len(body)) | COUNTED, NEW_CLASS)
        + name
        + b"\0"
        + body
    )


def changed(branch: bytes, within: list[bytes], baskets: list[bytes]) -> bytes:
    """Return a branch with other branches and baskets in it; only TBranchElements have branches."""
    body = branch[8 + len(b"TBranch\0") + 6 :]
    head, rest = body.split(NO_OBJECTS, 1)
    middle, tail = rest.rsplit(NO_OBJECTS, 1)
    body = head + objects(*within) + middle + objects(*baskets) + tail
    plain = struct.pack(">IH", (len(body) + 2) | COUNTED, 13) + body
    if not within:
        return tagged(b"TBranch", plain)
    plain += b"\5Event\0\0" + struct.pack(">IhiiiiII", 0, 1, -1, 0, -1, 0, 0, 0)
    return tagged(b"TBranchElement", struct.pack(">IH", (len(plain) + 2) | COUNTED, 10) + plain)


def rewrite(tree: Any, change: Callable[[dict[str, bytes]], list[bytes]]) -> None:
    """Write the tree's object anew, with the branches that `change` makes of its own."""
    cascade = tree._cascading
    out = cascade._build_out()
    whole = b"".join(out)
    found, end = {}, 0
    first = whole.index(b"TBranch\0") - 8
    names = [d["fName"] for d in cascade._branch_data if d["kind"] != "record"]
    at = first
    for name in names:
        end = at + 4 + (struct.unpack_from(">I", whole, at)[0] & ~COUNTED)
        found[name] = whole[at:end]
        at = end
    body = whole[6 : first - len(NO_OBJECTS)] + objects(*change(found)) + NO_OBJECTS + bytes(28)
    raw = struct.pack(">IH", (len(body) + 2) | COUNTED, 20) + body
    cascade._directory.add_object(
        tree._file.sink, "TTree", cascade._name, cascade._title, raw, len(raw),
        replaces=cascade._key, big=True,
    )  # fmt: skip


def write_nested_branches(path: Path) -> None:
    """Branches within branches, three deep, and two of one name; three such trees."""

    def nested(branches: dict[str, bytes]) -> list[bytes]:
        top, a, b, c, d = branches.values()
        return [changed(top, [changed(a, [b, c], []), d], []), d]

    with uproot.recreate(path, compression=uproot.ZLIB(1)) as file:
        for name in ("evt", "sub/evt", "sub/deeper/evt"):
            tree = file.mktree(name, dict.fromkeys(["top", "a", "b", "c", "d"], "float32"))
            for entries in (100, 20):
                column = np.arange(entries, dtype=np.float32)
                tree.extend(dict.fromkeys(["top", "a", "b", "c", "d"], column))
            rewrite(tree, nested)


def write_embedded_baskets(path: Path) -> None:
    """A tree whose second basket, or whose only one, lies inside its own object."""

    def embedded(name: str, entries: int) -> bytes:
        key_len = 18 + 8 + sum(1 + len(word) for word in ("TBasket", name, "t")) + 18 + 1
        key = struct.pack(">ihiIhhii", 0, 4, 8 * entries, 0, key_len, 0, 0, 0)
        for word in ("TBasket", name, "t"):
            key += struct.pack("B", len(word)) + word.encode()
        key += struct.pack(">Hiiii", 3, 32000, 8, entries, key_len + 8 * entries)
        key += b"\x0c"
        return tagged(b"TBasket", key + key + np.arange(float(entries)).astype(">f8").tobytes())

    with uproot.recreate(path) as file:
        for title, on_disk in (("t", 1), ("only", 0)):
            tree = file.mktree(title, {"x": "float64", "y": "float64"})
            for entries in (100, 30)[1 - on_disk :]:
                tree.extend(dict.fromkeys(["x", "y"], np.arange(float(entries))))
            cascade = tree._cascading
            cascade._num_baskets = on_disk
            for datum in cascade._branch_data:
                size = int(datum["fBasketBytes"][on_disk])
                datum["fBasketBytes"][on_disk] = datum["fBasketSeek"][on_disk] = 0
                datum["fZipBytes"] -= size
                datum["fTotBytes"] -= size  # stored as it is
                cascade._metadata["fZipBytes"] -= size
                cascade._metadata["fTotBytes"] -= size
            nulls = [bytes(4)] * on_disk
            rewrite(
                tree,
                lambda branches, nulls=nulls: [
                    changed(branch, [], [*nulls, embedded(name, 30)])
                    for name, branch in branches.items()
                ],
            )


WRITERS: dict[str, Callable[[Path], None]] = {
    **{f"tree-{name}": lambda p, c=c: write_tree(p, c) for name, c in COMPRESSIONS.items()},
    **{f"ntuple-{name}": lambda p, c=c: write_ntuple(p, c) for name, c in COMPRESSIONS.items()},
    "many-branches": write_many_branches,
    "many-baskets": write_many_baskets,
    "big-baskets": write_big_baskets,
    "strings": write_strings,
    "directories": write_directories,
    "cycles": write_cycles,
    "empty": write_empty,
    "no-tree": write_no_tree,
    "nothing": write_nothing,
    "big64": write_big64,
    "beyond-2gb": write_beyond_2gb,
    "mixed-compressions": write_mixed_compressions,
    "ntuple-shapes": write_ntuple_shapes,
    "nested-branches": write_nested_branches,
    "embedded-baskets": write_embedded_baskets,
}


def write_all(folder: Path) -> None:
    """Write every file."""
    for name, write in WRITERS.items():
        write(folder / f"{name}.root")


def payload_damaged(path: Path) -> bytes:
    """Return the file with noise in the data of its first tree's baskets, and nowhere else."""
    noise = random.Random(11)
    damaged = bytearray(path.read_bytes())
    with uproot.open(path) as file:
        (first, *_) = [key for key, kind in file.iterclassnames() if kind == "TTree"]
        for branch in file[first].branches:
            starts = branch.member("fBasketSeek")[: branch.num_baskets]
            sizes = branch.member("fBasketBytes")[: branch.num_baskets]
            for start, size in zip(starts.tolist(), sizes.tolist(), strict=True):
                key_len = int.from_bytes(damaged[start + 14 : start + 16], "big")
                data = min(start + key_len + 9, start + size)  # behind a block's header
                damaged[data : start + size] = noise.randbytes(start + size - data)
    return bytes(damaged)


#: Files that are to be refused, made of one of the above
REFUSED: dict[str, Callable[[Path], bytes]] = {
    "text": lambda folder: b"not a ROOT file\n" * 100,
    "no-bytes": lambda folder: b"",
    "magic-only": lambda folder: b"root",
    "ntuple-cut": lambda folder: (d := (folder / "ntuple-zlib.root").read_bytes())[
        : len(d) * 3 // 5
    ],
    "other-magic": lambda folder: b"toor" + (folder / "tree-zlib.root").read_bytes()[4:],
}
