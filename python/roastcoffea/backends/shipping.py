"""Putting roastcoffea where it is missing: on a scheduler and workers that lack it.

The plugins of this module are pickled by value, so that they need nothing at their destination
but distributed itself. They write the package (without what only the client needs) into a
temporary directory and put it on the path. The scheduler gets it first, because it unpickles
what goes to the workers; workers that join later get it when they come.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from distributed.diagnostics.plugin import SchedulerPlugin, WorkerPlugin

from roastcoffea.collecting import PROTOCOL

if TYPE_CHECKING:
    from distributed import Client

#: What only the client needs: not shipped.
CLIENT_ONLY = ("_roast.", "visualization/", "export/", "aggregation/")


def package_files() -> dict[str, bytes]:
    """Return the files of the package that workers need, by their path in it."""
    import roastcoffea

    root = Path(next(iter(roastcoffea.__path__)))
    files = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.suffix in (".py", ".so") and not name.startswith(CLIENT_ONLY):
            files[f"{root.name}/{name}"] = path.read_bytes()
    return files


def unpack(files: dict[str, bytes]) -> bool:
    """Make the package importable in this process; False if it was already.

    One that talks otherwise gives way: what has been imported of it stays with who has it.
    """
    import atexit
    import importlib
    import shutil
    import tempfile
    from pathlib import Path

    try:
        found = getattr(importlib.import_module("roastcoffea.collecting"), "PROTOCOL", None)
    except ImportError:
        found = None
    if found == PROTOCOL:
        return False
    for name in [name for name in list(sys.modules) if name.split(".")[0] == "roastcoffea"]:
        del sys.modules[name]
    directory = Path(tempfile.mkdtemp(prefix="roastcoffea-"))
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    for name, data in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    sys.path.insert(0, str(directory))
    importlib.invalidate_caches()
    return True


class ToScheduler(SchedulerPlugin):
    """Unpacks the package in the scheduler's process."""

    def __init__(self, name: str, files: dict[str, bytes]) -> None:
        self.name = name
        self.files = files

    async def start(self, scheduler: Any) -> None:
        """Called by Dask in the scheduler."""
        unpack(self.files)


class ToWorkers(WorkerPlugin):
    """Unpacks the package in a worker's process, now and in workers that join later."""

    def __init__(self, name: str, files: dict[str, bytes]) -> None:
        self.name = name
        self.files = files

    def setup(self, worker: Any) -> None:
        """Called by Dask in the worker."""
        unpack(self.files)


def lacks_package() -> bool:
    """Whether this process cannot import roastcoffea, or has one that talks otherwise."""
    from importlib import import_module

    try:
        return getattr(import_module("roastcoffea.collecting"), "PROTOCOL", None) != PROTOCOL
    except ImportError:
        return True


_lock = threading.Lock()
_shippers = 0


@contextmanager
def _by_value() -> Iterator[None]:
    """Pickle this module's functions and classes by value, until the last who wants it is done."""
    global _shippers
    import cloudpickle

    module = sys.modules[__name__]
    with _lock:
        if _shippers == 0:
            cloudpickle.register_pickle_by_value(module)
        _shippers += 1
    try:
        yield
    finally:
        with _lock:
            _shippers -= 1
            if _shippers == 0:
                cloudpickle.unregister_pickle_by_value(module)


async def ship(
    client: Client, name: str, answer: Callable[[Awaitable[Any]], Awaitable[Any]]
) -> None:
    """Put the package where it is missing.

    The plugins stay registered under ``name`` for workers that join later; what was unpacked
    stays importable when they are taken away again. ``answer`` awaits what workers are asked, and
    raises TimeoutError where some do not answer.
    """
    with _by_value():
        missing = await client.run_on_scheduler(lacks_package)
        try:
            answers = await answer(client.run(lacks_package, on_error="ignore"))
        except TimeoutError:  # who does not answer may lack it
            answers = {}
        # of workers that come later nobody knows: one that cannot unpickle a plugin does not start
        missing = missing or not answers or any(answers.values())
        if missing:
            files = package_files()
            await client.register_plugin(ToScheduler(name, files), name=name)
            with suppress(TimeoutError):
                await answer(client.register_plugin(ToWorkers(name, files), name=name))
