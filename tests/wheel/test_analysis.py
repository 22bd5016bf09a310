"""A real analysis with the installed wheel, and what builds from the source distribution."""

from __future__ import annotations

import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import PYTHONS, ROOT, run

VERSION = (ROOT / "VERSION").read_text().strip()


@pytest.fixture(scope="module")
def with_coffea(make_environment: Callable[..., Path], wheel: Path) -> Path:
    """The wheel, and links to the developer's other packages: coffea, Dask."""
    environment = make_environment(PYTHONS[0], wheel, "--no-deps")
    (packages,) = environment.glob("lib/python3.*/site-packages")
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if not (packages / entry.name).exists() and "roastcoffea" not in entry.name:
            (packages / entry.name).symlink_to(entry)
    return environment


def test_the_package_is_that_of_the_wheel(with_coffea: Path) -> None:
    told = run(
        with_coffea / "bin" / "python", "-c", "import roastcoffea; print(roastcoffea.__file__)"
    )
    assert told.startswith(str(with_coffea))


def test_the_demo_runs_and_its_run_is_shown(with_coffea: Path, tmp_path: Path) -> None:
    run(
        with_coffea / "bin" / "python", ROOT / "examples" / "demo.py", "--data", tmp_path / "data",
        "--output", tmp_path / "runs", "--events", "6000", "--chunksize", "2000", cwd=tmp_path,
    )  # fmt: skip
    (found,) = (tmp_path / "runs").glob("demo-*.roast")
    shown = run(with_coffea / "bin" / "roast", "show", found)
    assert "Where the Time of Chunks Went" in shown
    run(with_coffea / "bin" / "roast", "check", found)


def test_workers_without_the_package_get_it_from_the_wheel(with_coffea: Path) -> None:
    run(with_coffea / "bin" / "python", "-m", "pytest", "-q", "-p", "no:cacheprovider",
        ROOT / "tests" / "python" / "test_shipping.py", cwd=ROOT)  # fmt: skip


@pytest.mark.timeout(1200)
def test_the_source_distribution_builds_in_a_new_environment(
    make_environment: Callable[..., Path], sdist: Path, run_file: Path
) -> None:
    assert sdist.name == f"roastcoffea-{VERSION}.tar.gz"
    environment = make_environment(PYTHONS[0], sdist)
    assert run(environment / "bin" / "roast", "--version") == f"roast {VERSION}\n"
    told = run(
        environment / "bin" / "python", "-c",
        "import sys, roastcoffea as r; print(r.open_run(sys.argv[1]).metrics['num_chunks'] > 0)",
        run_file,
    )  # fmt: skip
    assert told == "True\n"
