"""Which SQLite the extension module uses: Python's own where it can, else the one it came with."""

from __future__ import annotations

import contextlib
import re
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from roastcoffea import _roast

#: Makes a run and reads it again; prints what SQLite did it.
USE = """
import sys
from roastcoffea import _roast
run = _roast.Run.create(sys.argv[1])
run.fact("one", 1)
run.finish()
run.close()
_roast.Run.open(sys.argv[1]).close()
print(*_roast.SQLITE)
"""


def use(path: Path, before: str = "") -> list[str]:
    command = [sys.executable, "-c", before + USE, str(path)]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout.split()


def test_every_function_of_sqlite_that_is_called_goes_through_the_table() -> None:
    symbols = subprocess.run(
        ["nm", "-D", "--undefined-only", _roast.__file__],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    called = {line.split()[-1] for line in symbols.splitlines() if "sqlite3_" in line}
    # That one says which library the module is linked with.
    assert called == {"sqlite3_sourceid"}


def test_python_and_the_module_share_one_sqlite(tmp_path: Path) -> None:
    if sqlite3.sqlite_version_info < (3, 37):
        pytest.skip(f"Python's SQLite is {sqlite3.sqlite_version}, older than 3.37")
    assert use(tmp_path / "a.roast") == [sqlite3.sqlite_version, "True"]


def test_pythons_sqlite_drops_no_lock_of_a_run_that_is_being_written(tmp_path: Path) -> None:
    """With a second copy in the process it would: closing a file ends all locks on it."""
    path = tmp_path / "a.roast"
    run = _roast.Run.create(path)
    run.fact("one", 1)
    run.commit()
    held = locks_on(tmp_path)
    assert held
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        assert connection.execute("SELECT count(*) FROM fact").fetchone()[0] > 0
    assert locks_on(tmp_path) == held
    run.close()


def locks_on(directory: Path) -> set[str]:
    """The locks of this process on the files of a directory."""
    held = set()
    for link in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # the one that lists them
            if (target := link.readlink()).parent == directory:
                about = Path(f"/proc/self/fdinfo/{link.name}").read_text()
                held |= {f"{target.name}: {lock}" for lock in re.findall(r"^lock:.*", about, re.M)}
    return held


def test_a_python_without_sqlite_gets_the_modules_own(tmp_path: Path) -> None:
    before = "import sys; sys.modules['_sqlite3'] = None\n"
    assert use(tmp_path / "a.roast", before)[1] == "False"


@pytest.mark.parametrize("version", ["3.34.1", "3.40.1"])
def test_an_old_or_a_partial_sqlite_is_not_taken(version: str, tmp_path: Path) -> None:
    """As on systems whose Python has an SQLite before 3.37, or one with hidden functions."""
    numbers = [int(part) for part in version.split(".")]
    (tmp_path / "old.c").write_text(
        f'const char *sqlite3_libversion(void) {{ return "{version}"; }}\n'
        f"int sqlite3_libversion_number(void)"
        f" {{ return {numbers[0] * 1000000 + numbers[1] * 1000 + numbers[2]}; }}\n"
        "int sqlite3_threadsafe(void) { return 1; }\n"
    )
    library = tmp_path / "old.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, tmp_path / "old.c"], check=True)
    before = (
        "import ctypes, sys, types\n"
        f"ctypes.CDLL({str(library)!r})\n"
        "fake = types.ModuleType('_sqlite3')\n"
        f"fake.__file__, fake.sqlite_version = {str(library)!r}, {version!r}\n"
        "sys.modules['_sqlite3'] = fake\n"
    )
    assert use(tmp_path / "a.roast", before)[1] == "False"
