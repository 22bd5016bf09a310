"""The version is written in one place, and told the same everywhere."""

from __future__ import annotations

import importlib.metadata
import os
import re
import subprocess
import tomllib
from pathlib import Path

import roastcoffea

ROOT = Path(__file__).resolve().parents[2]
ROAST = os.environ.get("ROAST", str(ROOT / ".venv" / "bin" / "roast"))
VERSION = (ROOT / "VERSION").read_text().strip()


def test_the_command_the_module_and_the_package_tell_the_same_version() -> None:
    told = subprocess.run([ROAST, "--version"], capture_output=True, text=True, check=True).stdout
    assert told == f"roast {VERSION}\n"
    assert roastcoffea.__version__ == VERSION
    assert importlib.metadata.version("roastcoffea") == VERSION


def test_the_changelog_begins_with_this_version() -> None:
    headings = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert re.split(r"[ ,]", headings[0])[0] == VERSION


def test_the_version_sorts_above_the_other_package_on_pypi() -> None:
    assert tuple(map(int, VERSION.split("."))) > (0, 1, 2)


def test_nothing_sends_users_to_the_other_package_on_pypi() -> None:
    tracked = subprocess.run(
        ["git", "grep", "-I", "-n", "-E", r"pip install [^`]*\broastcoffea($|[^-/_.a-z])"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert tracked.returncode == 1, tracked.stdout + tracked.stderr


def test_nothing_else_in_the_build_states_a_version_of_its_own() -> None:
    for name in ("meson.build", "pyproject.toml", "web/package.json", "libroast/meson.build"):
        assert VERSION not in (ROOT / name).read_text(), name


def test_the_oldest_versions_are_named_alike() -> None:
    pins = (ROOT / "requirements-oldest.txt").read_text()
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]["dask"]
    assert len(extras) == 2
    for package, version in (extra.split(">=") for extra in extras):
        assert f"\n{package}=={version}\n" in pins
        for document in ("README.md", "docs/install.md"):
            text = (ROOT / document).read_text()
            assert re.search(rf"{package}.*{re.escape(version)}", text), (document, package)
