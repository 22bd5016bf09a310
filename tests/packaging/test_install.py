"""`make install`: what it puts where, and that a program in C can use it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MAKE_RUN = ROOT / "build" / "tests" / "unit" / "make-run"
VERSION = (ROOT / "VERSION").read_text().strip()

#: A make inside a make would take over its jobs and flags.
ENVIRONMENT = {
    name: value
    for name, value in os.environ.items()
    if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "DESTDIR", "PREFIX", "PARTS")
}


def run(*command: str | Path, **variables: str) -> str:
    result = subprocess.run(
        [str(word) for word in command],
        env={**ENVIRONMENT, **variables},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    prefix = tmp_path_factory.mktemp("installed")
    run("make", "-C", ROOT, "install", f"PREFIX={prefix}")
    return prefix


@pytest.fixture(scope="module")
def pkg_config_path(prefix: Path) -> str:
    (found,) = prefix.rglob("roast.pc")
    return str(found.parent)


@pytest.fixture(scope="module")
def run_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("run") / "sample.roast"
    run(MAKE_RUN, "finished", path)
    return path


def test_everything_is_installed_and_nothing_of_python(prefix: Path) -> None:
    files = {str(path.relative_to(prefix)) for path in prefix.rglob("*") if path.is_file()}
    headers = {path.name for path in (ROOT / "libroast" / "include").glob("roast-*.h")}
    assert {
        "bin/roast",
        "bin/roast-serve",
        "share/man/man1/roast.1",
        "share/bash-completion/completions/roast",
        "share/zsh/site-functions/_roast",
        "share/fish/vendor_completions.d/roast.fish",
        "include/roast/metrics/metrics.def",
        "include/roast/run/task.def",
    } <= files
    # The server is a program, no part of the library.
    installed = {Path(name).name for name in files if name.startswith("include/")}
    assert installed == headers - {"roast-serve.h"} | {"metrics.def", "task.def"}
    assert [name for name in files if name.endswith("/libroast.a")]
    assert not [name for name in files if name.endswith((".py", "abi3.so"))]


def test_a_header_needs_nothing_but_what_is_installed(
    prefix: Path, pkg_config_path: str, tmp_path: Path
) -> None:
    flags = run("pkg-config", "--cflags", "roast", PKG_CONFIG_PATH=pkg_config_path).split()
    source = tmp_path / "alone.c"
    for header in sorted((prefix / "include" / "roast").glob("*.h")):
        source.write_text(f"#include <{header.name}>\n#include <{header.name}>\nint alone;\n")
        run("cc", "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", *flags, "-c", source,
            "-o", tmp_path / "alone.o")  # fmt: skip


@pytest.fixture(scope="module")
def example(pkg_config_path: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """examples/c, built outside of the tree."""
    directory = tmp_path_factory.mktemp("example")
    for name in ("rates.c", "Makefile"):
        shutil.copy(ROOT / "examples" / "c" / name, directory)
    run("make", "-C", directory, CFLAGS="-Wall -Wextra -Werror", PKG_CONFIG_PATH=pkg_config_path)
    return directory / "rates"


def test_the_example_in_c_tells_what_the_command_tells(
    prefix: Path, example: Path, run_file: Path
) -> None:
    told = run(example, run_file).splitlines()
    shown = json.loads(run(prefix / "bin" / "roast", "show", "--format", "json", run_file))
    assert f"Total Events: {shown['metrics']['total_events']:,}" in told
    assert f"Number of Chunks: {shown['metrics']['num_chunks']}" in told
    assert len(told) == 5


def test_the_example_in_c_says_why_it_failed(example: Path, tmp_path: Path) -> None:
    result = subprocess.run([example, tmp_path / "none.roast"], capture_output=True, text=True)
    assert result.returncode == 1
    assert "none.roast" in result.stderr


def test_a_staging_directory_stays_out_of_what_is_written(tmp_path: Path) -> None:
    run("make", "-C", ROOT, "install", "PREFIX=/usr", f"DESTDIR={tmp_path}")
    (config,) = tmp_path.rglob("roast.pc")
    text = config.read_text()
    assert "prefix=/usr\n" in text
    assert str(tmp_path) not in text
    assert (tmp_path / "usr" / "bin" / "roast").exists()


def test_a_staging_directory_may_be_relative(tmp_path: Path) -> None:
    stage = os.path.relpath(tmp_path, ROOT)
    run("make", "-C", ROOT, "install", "PREFIX=/usr", f"DESTDIR={stage}")
    assert (tmp_path / "usr" / "bin" / "roast").exists()


def test_pkg_config_tells_the_version(pkg_config_path: str) -> None:
    told = run("pkg-config", "--modversion", "roast", PKG_CONFIG_PATH=pkg_config_path)
    assert told.strip() == VERSION
