"""Writing a run: its file, its commits, and what is noted about the run itself."""

from __future__ import annotations

import os
import platform
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from roastcoffea._roast import Run, __version__
from roastcoffea.measure import cut

MAX_NAME_BYTES = 200  # file systems take 255, with what is put behind

#: Software whose version is kept with a run, where it is in use.
_PACKAGES = ("coffea", "dask", "distributed", "uproot", "awkward", "numpy")


def file_name(name: object) -> str:
    """Return a name as one that a file can have: that of a dataset has slashes, often in front.

    >>> file_name("/DoubleMuon/Run2018A/NANOAOD"), file_name("../x")
    ('_DoubleMuon_Run2018A_NANOAOD', '.._x')
    """
    return cut(str(name).replace("/", "_").replace("\0", "_"), MAX_NAME_BYTES)


def create_file(directory: Path, name: str) -> tuple[Run, Path]:
    """Create ``NAME.roast``, or ``NAME-2.roast``, ... where that is taken."""
    directory.mkdir(parents=True, exist_ok=True)
    for number in range(1, 10_000):
        path = directory / (f"{name}.roast" if number == 1 else f"{name}-{number}.roast")
        try:
            return Run.create(path), path
        except RuntimeError:  # it exists
            continue
    raise FileExistsError(f"{directory / name}.roast and thousands beside it exist")


class Committer:
    """Makes what has arrived durable, once a second, until it is stopped."""

    def __init__(self, run: Run, note_fault: Callable[[str, BaseException], None]) -> None:
        self._run = run
        self._note_fault = note_fault
        self.spent_ns = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, name="roastcoffea", daemon=True)
        try:
            self._thread.start()
        except RuntimeError as error:  # no more threads: the end commits
            note_fault("committing while the run lasts", error)

    @property
    def stopped(self) -> bool:
        """Whether it has been stopped."""
        return self._stop.is_set()

    def _work(self) -> None:
        failed = False
        while not self._stop.wait(1.0):
            try:
                self._run.commit()
            except Exception as error:
                if not failed:
                    self._note_fault("writing the run", error)
                failed = True
            self.spent_ns = time.thread_time_ns()

    def stop(self) -> None:
        """Stop, and wait for a commit that is under way."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()


def note_environment(run: Run) -> None:
    """Note versions, host and number of CPUs: harmless names only."""
    run.fact("env.roastcoffea", __version__)
    run.fact("env.python", platform.python_version())
    run.fact("env.host", platform.node())
    run.fact("env.cpus", os.cpu_count() or 0)
    for package in _PACKAGES:
        version = getattr(sys.modules.get(package), "__version__", None)
        if isinstance(version, str):
            run.fact(f"env.{package}", version)


def note_report(
    run: Run, report: Mapping[str, Any], custom_metrics: Mapping[str, Any] | None
) -> None:
    """Note coffea's report, and why what it lacks is absent."""
    run.add_report(report, custom_metrics)
    run.commit()


def note_spans(run: Run, span_metrics: Mapping[Any, Any]) -> None:
    """Note Dask's fine metrics: ``(kind, prefix, activity, unit)`` to number."""
    run.add_spans(span_metrics)


def number(value: Any) -> int | float | None:
    """Return a plain number, from numpy's too; None for anything else.

    >>> number(3), number("3"), number(True)
    (3, None, None)
    """
    if isinstance(value, bool | str | bytes):
        return None
    try:
        return value.__index__()  # type: ignore[no-any-return]
    except (AttributeError, TypeError):
        pass
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None
