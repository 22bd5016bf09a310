"""The wheel and the source distribution in dist/, and an environment with nothing but the wheel."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DIST = ROOT / "dist"
MAKE_RUN = ROOT / "build" / "tests" / "unit" / "make-run"

#: No path of the developer's environment helps what is tested.
ENVIRONMENT = {
    name: value
    for name, value in os.environ.items()
    if not name.startswith(("LD_", "PYTHON", "VIRTUAL_ENV", "MAKE", "MFLAGS", "PKG_CONFIG"))
}


def find_pythons() -> list[str]:
    """One interpreter of each version from 3.11 on that is here: on the path, or pyenv's."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = []
    for minor in (11, 12, 13, 14):
        name = f"python3.{minor}"
        for candidate in (name, *map(str, sorted(pyenv.glob(f"3.{minor}.*/bin/{name}")))):
            check = [candidate, "-c", f"import sys; sys.exit(sys.version_info[:2] != (3, {minor}))"]
            try:
                subprocess.run(check, check=True, capture_output=True)
            except (OSError, subprocess.CalledProcessError):
                continue
            found.append(candidate)
            break
    return found


PYTHONS = find_pythons()


def run(*command: str | Path, cwd: Path | None = None) -> str:
    """Return what a command prints; a failure shows all of it."""
    result = subprocess.run(
        [str(word) for word in command], cwd=cwd, env=ENVIRONMENT, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def the_only(pattern: str) -> Path:
    found = list(DIST.glob(pattern))
    assert len(found) == 1, f"dist/{pattern}: {found}"
    return found[0]


@pytest.fixture(scope="session")
def wheel() -> Path:
    return the_only("*.whl")


@pytest.fixture(scope="session")
def sdist() -> Path:
    return the_only("*.tar.gz")


@pytest.fixture(scope="session")
def make_environment(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """A new environment in which something was installed; returns its directory."""

    def make(python: str, what: Path, *options: str) -> Path:
        place = tmp_path_factory.mktemp("environment")
        run(python, "-m", "venv", place)
        run(place / "bin" / "python", "-m", "pip", "install", "-q", *options, what)
        return place

    return make


@pytest.fixture(scope="session", params=PYTHONS, ids=[Path(name).name for name in PYTHONS])
def environment(
    request: pytest.FixtureRequest, make_environment: Callable[..., Path], wheel: Path
) -> Path:
    """An environment of each Python that is here, with the wheel and what it asks for."""
    return make_environment(request.param, wheel)


@pytest.fixture(scope="session")
def run_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("run") / "sample.roast"
    run(MAKE_RUN, "finished", path)
    return path
