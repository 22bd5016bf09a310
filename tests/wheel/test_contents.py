"""What is inside the wheel: native programs that need nothing but an old enough glibc."""

from __future__ import annotations

import os
import re
import zipfile
from pathlib import Path

import pytest
from conftest import ROOT, run

VERSION = (ROOT / "VERSION").read_text().strip()
#: That of AlmaLinux 9
GLIBC = (2, 34)
GLIBC_PARTS = {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


@pytest.fixture(scope="module")
def unpacked(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("wheel")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(place)
    return place


@pytest.fixture(scope="module")
def binaries(unpacked: Path) -> dict[str, Path]:
    """Everything that is machine code, by its name in the wheel without version and hash."""
    found = {}
    for path in sorted(unpacked.rglob("*")):
        if path.is_file() and path.read_bytes()[:4] == b"\x7fELF":
            name = re.sub(r"-[0-9a-f]{8}\.so.*", ".so", str(path.relative_to(unpacked)))
            found[name.replace(f"-{VERSION}.data", ".data")] = path
    return found


def test_the_name_tells_version_stable_interface_and_platform(wheel: Path) -> None:
    machine = os.uname().machine
    assert wheel.name == f"roastcoffea-{VERSION}-cp311-abi3-manylinux_2_34_{machine}.whl"


def test_the_machine_code_is_what_is_expected(binaries: dict[str, Path]) -> None:
    assert set(binaries) == {
        "roastcoffea/_probe.abi3.so",
        "roastcoffea/_roast.abi3.so",
        "roastcoffea.data/scripts/roast",
        "roastcoffea.data/scripts/roast-serve",
        "roastcoffea.libs/libsqlite3.so",
    }


def test_no_symbol_is_newer_than_the_glibc_of_almalinux_9(binaries: dict[str, Path]) -> None:
    for name, path in binaries.items():
        symbols = run("objdump", "-T", path)
        versions = {
            tuple(map(int, version.split(".")))
            for version in re.findall(r"GLIBC_([0-9.]+)", symbols)
        }
        assert versions, name
        assert max(versions) <= GLIBC, name


def test_only_the_module_that_needs_sqlite_needs_more_than_glibc(
    binaries: dict[str, Path],
) -> None:
    for name, path in binaries.items():
        needed = set(re.findall(r"NEEDED +(\S+)", run("objdump", "-p", path))) - GLIBC_PARTS
        if name == "roastcoffea/_roast.abi3.so":
            (sqlite,) = needed
            assert re.fullmatch(r"libsqlite3-[0-9a-f]{8}\.so\.[0-9.]+", sqlite)
        else:
            assert not needed, name


def test_manual_and_completions_are_there(unpacked: Path) -> None:
    data = unpacked / f"roastcoffea-{VERSION}.data" / "data" / "share"
    assert (data / "man" / "man1" / "roast.1").is_file()
    assert (data / "bash-completion" / "completions" / "roast").is_file()
    assert (data / "zsh" / "site-functions" / "_roast").is_file()
    assert (data / "fish" / "vendor_completions.d" / "roast.fish").is_file()


def test_the_licences_of_what_is_linked_are_there_and_listed(unpacked: Path) -> None:
    info = unpacked / f"roastcoffea-{VERSION}.dist-info"
    bundled = {path.name for path in (info / "licenses" / "bundled").iterdir()}
    assert bundled == {
        "libdeflate",
        "liblz4",
        "liblzma",
        "libmicrohttpd",
        "libsqlite3",
        "libxxhash",
        "libzstd",
        "uplot",
        "util-linux",
    }
    record = (info / "RECORD").read_text()
    assert all(f"licenses/bundled/{name}," in record for name in bundled)
