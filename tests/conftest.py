"""What the tests of several folders share; it also puts this folder on the path."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest
from oracles import DATA


@pytest.fixture(scope="session")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The recorded runs of other executors, each in EXECUTOR/RUN."""
    folder = tmp_path_factory.mktemp("logs")
    for archive in (DATA / "logs").glob("*.tar.xz"):
        executor, run = archive.name.removesuffix(".tar.xz").split("-")
        with tarfile.open(archive) as tar:
            tar.extractall(folder / executor / run, filter="data")
    return folder


@pytest.fixture(scope="session")
def root_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the ROOT files that `rootfiles` writes, NAME.root."""
    from rootfiles import write_all

    folder = tmp_path_factory.mktemp("root")
    write_all(folder)
    return folder
