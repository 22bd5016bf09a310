"""`roast inspect` against oracles: stored ones, uproot, and damage."""

from __future__ import annotations

import contextlib
import csv
import fcntl
import io
import json
import os
import pty
import random
import re
import struct
import subprocess
import termios
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot
from command import ROAST, ROOT, roast

SAMPLES = ROOT.parent / "shared" / "data" / "root"
ORACLES = sorted(SAMPLES.glob("oracle/*.json"))
CHECKED = ("size", "header", "num_keys", "classes", "directories", "trees", "rntuples")

needs_samples = pytest.mark.skipif(not ORACLES, reason=f"no samples in {SAMPLES}")


def inspect(*arguments: str | Path) -> Any:
    done = roast("inspect", *arguments, "--format", "json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def differences(oracle: Any, answer: Any, where: str) -> Iterator[str]:
    """Where the answer lacks or contradicts the oracle; it may say more."""
    if isinstance(oracle, dict) and isinstance(answer, dict):
        for key, value in oracle.items():
            if key == "uproot_checked":
                continue
            if key in answer:
                yield from differences(value, answer[key], f"{where}.{key}")
            else:
                yield f"{where}.{key} is missing"
    elif isinstance(oracle, list) and isinstance(answer, list) and len(oracle) == len(answer):
        for i, (a, b) in enumerate(zip(oracle, answer, strict=True)):
            yield from differences(a, b, f"{where}[{i}]")
    elif oracle != answer or type(oracle) is not type(answer):
        yield f"{where}: {answer!r} instead of {oracle!r}"


@needs_samples
@pytest.mark.parametrize("oracle", ORACLES, ids=lambda path: path.name)
def test_the_answer_is_the_oracles(oracle: Path) -> None:
    expected = json.loads(oracle.read_text())
    sample = SAMPLES / expected["file"]
    if expected["expect"] == "error":
        done = roast("inspect", sample, "--format", "json")
        assert done.returncode == 2
        assert done.stdout == ""
        assert expected["file"] in done.stderr
        return
    answer = inspect(sample, "--branches")
    assert answer["file"] == expected["file"]
    assert answer["skipped"] == []
    for key in CHECKED:
        assert list(differences(expected[key], answer[key], key)) == []


@needs_samples
@pytest.mark.parametrize("oracle", ORACLES, ids=lambda path: path.name)
def test_a_range_takes_what_the_oracle_says(oracle: Path) -> None:
    expected = json.loads(oracle.read_text())
    for chunk in expected.get("chunks", []):
        tree = chunk.get("tree", chunk.get("rntuple"))
        name = "branch" if "tree" in chunk else "field"
        spans = {(row["start"], row["stop"]) for row in chunk["ranges"]}
        for start, stop in sorted(spans):
            rows = [row for row in chunk["ranges"] if (row["start"], row["stop"]) == (start, stop)]
            patterns = [word for row in rows for word in ("--branch", row[name])]
            answer = inspect(
                SAMPLES / expected["file"], tree, "--range", f"{start}:{stop}", *patterns
            )
            told = {row[name]: row for row in answer["chunks"][0]["ranges"]}
            assert [told[row[name]] for row in rows] == rows
            assert answer["chunks"][0]["bytes"] >= sum(row["bytes"] for row in rows)


COMPRESSIONS = {
    "none": None,
    "zlib": uproot.ZLIB(5),
    "lzma": uproot.LZMA(1),
    "lz4": uproot.LZ4(4),
    "zstd": uproot.ZSTD(3),
}
MAGIC = {b"ZL": "ZLIB", b"XZ": "LZMA", b"L4": "LZ4", b"ZS": "ZSTD"}


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
    with uproot.recreate(path, compression=compression) as file:
        columns = ak.Array(batch(0, 2000))
        ntuple = file.mkrntuple("Events", columns)
        ntuple.extend(ak.Array(batch(1, 1500)))


def stored_as(file: Any, branch: Any, basket: int) -> str:
    """How a basket is stored, by its own bytes."""
    seek = int(branch.member("fBasketSeek")[basket])
    stop = seek + int(branch.member("fBasketBytes")[basket])
    raw = bytes(file.file.source.chunk(seek, stop).raw_data)
    nbytes, objlen = int.from_bytes(raw[:4], "big"), int.from_bytes(raw[6:10], "big")
    keylen = int.from_bytes(raw[14:16], "big")
    return "NONE" if objlen <= nbytes - keylen else MAGIC[raw[keylen : keylen + 2]]


@pytest.mark.parametrize("name", COMPRESSIONS)
def test_a_tree_is_told_as_uproot_reads_it(name: str, tmp_path: Path) -> None:
    path = tmp_path / "tree.root"
    write_tree(path, COMPRESSIONS[name])
    answer = inspect(path, "--branches")
    assert answer["directories"] == ["sub"]
    with uproot.open(path) as file:
        for told in answer["trees"]:
            tree = file[told["path"]]
            assert told["entries"] == tree.num_entries
            assert [branch["path"] for branch in told["branches"]] == tree.keys()
            for row, branch in zip(told["branches"], tree.branches, strict=True):
                baskets = range(branch.num_baskets)
                assert row["compressed_bytes"] == branch.compressed_bytes
                assert row["uncompressed_bytes"] == branch.uncompressed_bytes
                assert row["num_baskets"] == branch.num_baskets
                assert row["entry_offsets"] == list(branch.entry_offsets)
                assert row["algorithms"] == Counter(stored_as(file, branch, i) for i in baskets)
    assert {tree["path"]: tree["num_branches"] for tree in answer["trees"]} == {
        "sub/Events": 6,
        "Runs": 1,
    }


@pytest.mark.parametrize("name", COMPRESSIONS)
def test_an_rntuple_is_told_as_uproot_reads_it(name: str, tmp_path: Path) -> None:
    path = tmp_path / "ntuple.root"
    write_ntuple(path, COMPRESSIONS[name])
    (told,) = inspect(path, "--branches")["rntuples"]
    with uproot.open(path) as file:
        ntuple = file["Events"]
        assert told["entries"] == ntuple.num_entries
        assert [field["name"] for field in told["fields"]] == ntuple.field_names
        stored: Counter[int] = Counter()
        pages: Counter[int] = Counter()
        for cluster in ntuple.page_link_list:
            for column, location in enumerate(cluster):
                stored[column] += sum(page.locator.num_bytes for page in location.pages)
                pages[column] += len(location.pages)
    assert {c["id"]: c["compressed_bytes"] for c in told["columns"]} == dict(stored)
    assert {c["id"]: c["num_pages"] for c in told["columns"]} == dict(pages)
    assert told["num_clusters"] == 2
    assert set(told["algorithms"]) <= {"NONE", name.upper()}


def test_a_range_takes_the_bytes_that_uproot_would_fetch(tmp_path: Path) -> None:
    path = tmp_path / "tree.root"
    write_tree(path, uproot.ZSTD(3))
    with uproot.open(path) as file:
        branch = file["sub/Events/met"]
        for start, stop in [(0, 1), (1999, 2001), (2000, 2001), (0, 6300), (4100, 4100)]:
            touched = branch.entries_to_ranges_or_baskets(start, stop) if stop > start else []
            expected = sum(b - a for _, (a, b) in touched)
            answer = inspect(path, "sub/Events", "--range", f"{start}:{stop}", "--branch", "met")
            assert answer["chunks"][0]["bytes"] == expected
            assert answer["chunks"][0]["baskets"] == len(touched)
    text = roast("inspect", path, "sub/Events", "--range", "0:").stdout
    assert re.fullmatch(r"in all \d+\.\d\d kB in \d+ baskets.*", text.splitlines()[-1])


def test_patterns_choose_branches_and_all_below(tmp_path: Path) -> None:
    path = tmp_path / "tree.root"
    write_tree(path, None)
    answer = inspect(path, "sub/Events", "--range", "0:", "--branch", "Jet*", "--branch", "met")
    rows = [row["branch"] for row in answer["chunks"][0]["ranges"]]
    assert rows == ["met", "Jet_pt", "Jet_hits"]
    assert answer["chunks"][0]["stop"] == 6300


def test_the_tables_of_branches_and_of_a_range_are_asked_for_one_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "a.root"
    write_tree(path, None)
    for others in (["--range", "0:100"], ["--branch", "met"]):
        for form in ("text", "csv", "markdown"):
            done = roast("inspect", path, "sub/Events", "--branches", *others, "--format", form)
            assert (done.returncode, done.stdout) == (2, "")
            assert "--branches prints another table than --range and --branch" in done.stderr
        answer = inspect(path, "sub/Events", "--branches", *others)
        assert answer["trees"][0]["branches"]
        assert answer["chunks"][0]["ranges"]


def test_a_pattern_that_fits_no_branch_is_named(tmp_path: Path) -> None:
    for name, write in {"tree": write_tree, "ntuple": write_ntuple}.items():
        path = tmp_path / f"{name}.root"
        write(path, None)
        for form in ("text", "json", "csv"):
            done = roast("inspect", path, "-B", "met", "-B", "nope*", "--format", form)
            assert (done.returncode, done.stdout) == (2, "")
            assert f'{name}.root: no branch fits "nope*"' in done.stderr
    done = roast("inspect", tmp_path / "tree.root", "Runs", "-B", "met")
    assert (done.returncode, done.stdout) == (2, "")
    assert roast("inspect", tmp_path / "tree.root", "-B", "met").returncode == 0


def test_a_cycle_that_is_not_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cycles.root"
    with uproot.recreate(path) as file:
        for n in (3, 5):
            file.mktree("t", {"n": "int64"}).extend({"n": np.arange(n)})
    for name in ("t", "t;2"):
        (tree,) = inspect(path, name)["trees"]
        assert (tree["cycle"], tree["entries"]) == (2, 5)
    for name in ("t;1", "t;9", "t;99999999999999999999"):
        done = roast("inspect", path, name)
        assert (done.returncode, done.stdout) == (2, "")
        assert 'of tree "t" only the highest cycle is read, and that is "t;2"' in done.stderr
    assert 'no tree "t;x"' in roast("inspect", path, "t;x").stderr


def test_a_folder_with_the_name_of_a_tree_is_not_taken_for_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_tree(tmp_path / "a.root", None)
    (tmp_path / "Runs").mkdir()
    (tree,) = inspect("a.root", "Runs")["trees"]
    assert tree["path"] == "Runs"
    write_tree(tmp_path / "b", None)
    assert len(inspect("a.root", "b")) == 2


def test_several_files_give_one_table(tmp_path: Path) -> None:
    for name in ("a.root", "b.root"):
        write_tree(tmp_path / name, None)
    done = roast("inspect", tmp_path / "a.root", tmp_path / "b.root", "--format", "csv")
    assert done.returncode == 0
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [(Path(row["file"]).name, row["tree"], row["entries"]) for row in rows] == [
        ("a.root", "sub/Events", "6300"),
        ("a.root", "Runs", "3"),
        ("b.root", "sub/Events", "6300"),
        ("b.root", "Runs", "3"),
    ]
    assert len(inspect(tmp_path / "a.root", tmp_path / "b.root")) == 2
    text = roast("inspect", tmp_path / "a.root", tmp_path / "b.root")
    assert text.stdout.count("sub/Events") == 2


def test_a_file_that_cannot_be_read_does_not_hide_the_others(tmp_path: Path) -> None:
    write_tree(tmp_path / "a.root", None)
    for form in ("json", "csv", "text"):
        done = roast("inspect", tmp_path / "none.root", tmp_path / "a.root", "--format", form)
        assert done.returncode == 2
        assert "none.root" in done.stderr
        assert "sub/Events" in done.stdout
    done = roast("inspect", tmp_path / "none.root", tmp_path / "a.root", "--format", "json")
    assert len(json.loads(done.stdout)) == 1


def test_text_names_collections_and_hints(tmp_path: Path) -> None:
    write_tree(tmp_path / "a.root", uproot.LZMA(1))
    done = roast("inspect", tmp_path / "a.root")
    assert done.returncode == 0
    assert "Jet " in done.stdout
    assert "LZMA" in done.stdout
    assert "hint: " in done.stdout
    listed = roast("inspect", tmp_path / "a.root", "sub/Events", "--branches")
    assert "Jet_pt" in listed.stdout
    assert "float[]" in listed.stdout


def on_terminal(*words: object) -> list[str]:
    """Return the lines that are written to a terminal of 80 columns."""
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    done = subprocess.Popen([ROAST, "inspect", *map(str, words)], stdout=child)
    os.close(child)
    output = b""
    with contextlib.suppress(OSError):  # the other end was closed
        while block := os.read(parent, 65536):
            output += block
    os.close(parent)
    assert done.wait(60) == 0
    return re.sub(r"\033\[\d*m", "", output.decode()).splitlines()


def test_names_are_whole_on_an_ordinary_terminal(tmp_path: Path) -> None:
    write_tree(tmp_path / "a.root", uproot.LZ4(1))
    path = tmp_path / "a.root"
    for options in ([], ["--branches"], ["--range", "0:100"]):
        lines = on_terminal(path, *options)
        assert max(map(len, lines)) <= 80
        assert any(re.match(r"sub/Events +6,300 ", line) for line in lines)
        assert not options or any(re.match(r"sub/Events +Jet_pt ", line) for line in lines)
    assert max(map(len, on_terminal(path, path))) <= 80


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--help"], 0),
        ([], 2),
        (["--no-such-option"], 2),
        (["FILE", "NoSuchTree"], 2),
        (["FILE", "--range", "5"], 2),
        (["FILE", "--range", "9:3"], 2),
        (["FILE", "--format", "xml"], 2),
        (["/"], 2),
        (["/nowhere/x.root"], 2),
    ],
)
def test_exit_codes(arguments: list[str], code: int, tmp_path: Path) -> None:
    write_tree(tmp_path / "a.root", None)
    words = [str(tmp_path / "a.root") if word == "FILE" else word for word in arguments]
    done = roast("inspect", *words)
    assert done.returncode == code
    assert bool(done.stderr) == (code != 0)


def assert_no_crash(path: Path) -> int:
    done = roast("inspect", path, "--branches", "--format", "json")
    assert done.returncode in (0, 2), (done.returncode, done.stderr)
    assert "runtime error" not in done.stderr, done.stderr  # of a sanitizer
    if done.returncode == 0:
        json.loads(done.stdout)
    else:
        assert done.stdout == ""
        assert done.stderr
    return done.returncode


@pytest.fixture(scope="module", params=["tree", "ntuple"])
def sample(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("sample") / "sample.root"
    {"tree": write_tree, "ntuple": write_ntuple}[request.param](path, uproot.ZLIB(1))
    return path.read_bytes()


def test_a_file_cut_anywhere_is_refused_or_read(sample: bytes, tmp_path: Path) -> None:
    path = tmp_path / "cut.root"
    codes: Counter[int] = Counter()
    for length in [*range(0, 400, 40), *range(400, len(sample), len(sample) // 60)]:
        path.write_bytes(sample[:length])
        codes[assert_no_crash(path)] += 1
    assert codes[2] > 0


def test_flipped_bits_never_crash(sample: bytes, tmp_path: Path) -> None:
    path = tmp_path / "flipped.root"
    rng = random.Random(9)
    tail = len(sample) - 6000  # metadata lie at both ends
    for _ in range(150):
        damaged = bytearray(sample)
        for _ in range(rng.choice([1, 1, 2, 8])):
            at = rng.choice([rng.randrange(300), rng.randrange(tail, len(sample))])
            damaged[at] ^= 1 << rng.randrange(8)
        path.write_bytes(damaged)
        assert_no_crash(path)


@needs_samples
def test_samples_cut_and_flipped_never_crash(tmp_path: Path) -> None:
    path = tmp_path / "damaged.root"
    rng = random.Random(10)
    small = [p for p in sorted(SAMPLES.glob("*.root")) if p.stat().st_size < 70000]
    assert small
    for original in small:
        data = original.read_bytes()
        for _ in range(4):
            path.write_bytes(data[: rng.randrange(len(data))])
            assert_no_crash(path)
            damaged = bytearray(data)
            for _ in range(rng.choice([1, 20])):
                damaged[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
            path.write_bytes(damaged)
            assert_no_crash(path)
