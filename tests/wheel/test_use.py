"""The wheel in environments that have nothing else: the command, the server, the module."""

from __future__ import annotations

import json
import re
import subprocess
import urllib.request
from pathlib import Path

from conftest import ENVIRONMENT, ROOT, run

VERSION = (ROOT / "VERSION").read_text().strip()

#: Writes and reads a run; prints SQLite's version and whether it is shared.
USE = """
import sys
from roastcoffea import _probe, _roast, open_run
with open_run(sys.argv[1]) as run:
    assert run.metrics["num_chunks"]
created = _roast.Run.create(sys.argv[2])
created.fact("one", 1)
created.finish()
created.close()
print(*_roast.SQLITE)
"""
#: As in an interpreter that has no SQLite that others can use
WITHOUT = "import sys; sys.modules['_sqlite3'] = None; sys.modules['sqlite3'] = None\n"


def libraries_of(program: Path) -> set[str]:
    """What the loader takes for a program, but glibc's parts: paths, or a name it cannot find."""
    glibc = ("linux-vdso", "libc", "libm", "ld-linux-x86-64", "ld-linux-aarch64")
    found = re.findall(r"^\t(\S+)(?: => (\S+))?", run("ldd", program), re.M)
    return {path or name for name, path in found if Path(name).name.split(".so")[0] not in glibc}


def test_the_command_is_native_and_needs_only_glibc(environment: Path) -> None:
    for name in ("roast", "roast-serve"):
        program = environment / "bin" / name
        assert program.read_bytes()[:4] == b"\x7fELF"
        assert not libraries_of(program)


def test_the_modules_need_only_glibc_and_what_came_with_them(environment: Path) -> None:
    (package,) = environment.glob("lib/python3.*/site-packages/roastcoffea")
    assert not libraries_of(package / "_probe.abi3.so")
    (sqlite,) = libraries_of(package / "_roast.abi3.so")
    assert Path(sqlite).resolve().parent == package.parent / "roastcoffea.libs"


def test_the_command_and_the_module_tell_the_version(environment: Path) -> None:
    assert run(environment / "bin" / "roast", "--version") == f"roast {VERSION}\n"
    told = run(
        environment / "bin" / "python", "-c", "import roastcoffea as r; print(r.__version__)"
    )
    assert told.strip() == VERSION


def test_a_run_is_shown_and_reported(environment: Path, run_file: Path, tmp_path: Path) -> None:
    roast = environment / "bin" / "roast"
    assert "Total Events" in run(roast, "show", run_file)
    assert json.loads(run(roast, "show", "--format", "json", run_file))["metrics"]
    run(roast, "report", run_file, "-o", tmp_path / "page.html")
    assert "<html" in (tmp_path / "page.html").read_text()[:500]


def test_a_run_is_served(environment: Path, run_file: Path) -> None:
    command = [environment / "bin" / "roast", "serve", run_file, "--port", "0"]
    with subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout
            address = re.search(r"http://\S+", server.stdout.readline())
            assert address
            with urllib.request.urlopen(address.group(), timeout=60) as answer:
                assert b"<html" in answer.read()[:500]
        finally:
            server.terminate()


def test_the_module_shares_pythons_sqlite(
    environment: Path, run_file: Path, tmp_path: Path
) -> None:
    python = environment / "bin" / "python"
    told = run(python, "-c", USE, run_file, tmp_path / "new.roast", cwd=tmp_path).split()
    version = run(python, "-c", "import sqlite3; print(sqlite3.sqlite_version)").strip()
    assert told == [version, "True"]


def test_without_pythons_sqlite_the_module_uses_its_own(
    environment: Path, run_file: Path, tmp_path: Path
) -> None:
    python = environment / "bin" / "python"
    told = run(python, "-c", WITHOUT + USE, run_file, tmp_path / "new.roast", cwd=tmp_path)
    assert told.split()[1] == "False"
