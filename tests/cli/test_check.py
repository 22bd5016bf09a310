"""roast check: whole or not, by word and by exit code."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from command import make_run, roast


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("check") / "finished.roast")


def test_a_run_as_it_was_written_is_whole(run: Path) -> None:
    result = roast("check", run)
    assert (result.returncode, result.stderr) == (0, "")
    assert f"{run}: whole, " in result.stdout


def test_a_changed_figure_is_found(run: Path, tmp_path: Path) -> None:
    import sqlite3

    path = tmp_path / "changed.roast"
    shutil.copy(run, path)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE fact SET value = value + 1 WHERE name = 'report.entries'")
    connection.close()
    result = roast("check", path, run)
    assert result.returncode == 1
    assert "changed.roast: is damaged (table fact" in result.stderr
    assert "finished.roast: whole" in result.stdout
    quiet = roast("check", "--quiet", path)
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (1, "", "")


def test_what_is_no_run_cannot_be_checked(tmp_path: Path) -> None:
    other = tmp_path / "other.roast"
    other.write_text("no run at all, but long enough to have a header of its own" * 3)
    result = roast("check", other)
    assert result.returncode == 2
    assert "is not a run file" in result.stderr
    assert roast("check").returncode == 2
