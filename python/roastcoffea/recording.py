"""Writing a run: its file, its commits, and what is noted about the run itself."""

from __future__ import annotations

import logging
import os
import platform
import sys
import threading
import time
import uuid
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from roastcoffea._roast import Run, __version__
from roastcoffea.clock import RunClock
from roastcoffea.inputs import clean_text
from roastcoffea.measure import cut, message_of

logger = logging.getLogger("roastcoffea.collector")

MAX_NAME_BYTES = 200  # file systems take 255, with what is put behind
MAX_ERROR_CHARACTERS = 512

REPORT_FIELDS = ("bytesread", "entries", "processtime", "chunks")

#: Software whose version is kept with a run, where it is in use.
_PACKAGES = ("coffea", "dask", "distributed", "uproot", "awkward", "numpy")


class Faults:
    """What went wrong in monitoring one run: counted and logged, never raised."""

    def __init__(self) -> None:
        self.count = 0
        self._logged: set[str] = set()

    def note(self, doing: str, error: BaseException) -> None:
        """Count a fault; a reason that was logged already, as a full disk, is not logged again."""
        self.count += 1
        reason = f"{type(error).__name__}: {error}"
        if reason not in self._logged:
            self._logged.add(reason)
            logger.warning("roastcoffea: %s: %s", doing, reason)

    def note_remote(self, faults: Mapping[str, int]) -> None:
        """Count those that a back end has heard of, by place."""
        for where, count in faults.items():
            self.count += count
            logger.warning("roastcoffea: on the workers: %s: %d faults", where, count)

    @contextmanager
    def guarded(self, doing: str) -> Iterator[None]:
        """Note whatever goes wrong in work of ours: it never reaches the user's code."""
        try:
            yield
        except Exception as error:
            self.note(doing, error)


class RunWriter:
    """A run from its first fact to its end.

    Attributes
    ----------
    run
        the run: in a file if it was possible to write the first facts there, else in memory; what
        could be written, and its end, in memory where that could not be written to the file
    path
        of the file, None without one
    failed
        whether the file lacks the end of the run, and maybe more
    """

    def __init__(
        self, directory: Path | None, name: str, facts: Mapping[str, Any], faults: Faults
    ) -> None:
        self.faults = faults
        self.pid = os.getpid()
        self.clock = RunClock()
        self.start_utc_ns = self.clock.utc_ns()
        self.path: Path | None = None
        self.failed = False
        facts = {"run.id": uuid.uuid4().hex, "run.start_utc_ns": self.start_utc_ns, **facts}
        if directory is None or not self._create_file(directory, file_name(name), facts):
            self.run = Run.create(None)
            note_facts(self.run, {**facts, "run.name": file_name(name)})
        self._committer = Committer(self.run, faults)

    def _create_file(self, directory: Path, name: str, facts: Mapping[str, Any]) -> bool:
        """Create the file with its first facts; False, and no file, if they cannot be written."""
        path = None
        try:
            self.run, path = create_file(directory, name)
            note_facts(self.run, {**facts, "run.name": path.stem})
            self.run.commit()
        except Exception as error:
            self.faults.note("the run cannot be written, it is kept in memory", error)
            if path is not None:
                remove_file(self.run, path)
            return False
        self.path = path
        return True

    def end(self, elapsed_s: float, error: BaseException | None, cost: Mapping[str, int]) -> None:
        """Write how the block ended, and give the file its resting form."""
        end_utc_ns = self.start_utc_ns + int(elapsed_s * 1e9)
        self._committer.stop()
        with self.faults.guarded("noting what monitoring cost"):
            costs = Counter(cost)
            costs["client_ns"] += self._committer.spent_ns
            note_facts(self.run, {f"monitor.{name}": value for name, value in costs.items()})
        facts: dict[str, Any] = {
            "run.outcome": "finished" if error is None else "failed",
            "run.elapsed_ns": int(elapsed_s * 1e9),
            "run.faults": self.faults.count,
            "run.end_utc_ns": end_utc_ns,
        }
        if error is not None:
            text = clean_text(f"{type(error).__name__}: {message_of(error)}")
            facts["run.error"] = text[:MAX_ERROR_CHARACTERS]
        try:
            note_facts(self.run, facts)
            self.run.commit()
        except Exception as fault:
            self.faults.note("writing the end of the run", fault)
            self.failed = True
            with self.faults.guarded("keeping what was written in memory"):
                self.run = self.run.copy_in_memory()
                facts["run.shortfall"] = f"the run could not be written to its end: {fault}"
                note_facts(self.run, facts)
            return
        with self.faults.guarded("finishing the file"):
            self._finish()

    def _finish(self) -> None:
        """Give the file its resting form. If it was removed, the open run still has everything."""
        path = self.path
        if path is None or os.path.exists(path):
            self.run.finish()
            return
        self.path = None
        raise FileNotFoundError(
            f"{path} was removed while the run lasted: save_measurement() keeps what was measured"
        )


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


def remove_file(run: Run, path: Path) -> None:
    """Remove a file of ours in which nothing could be written."""
    with suppress(Exception):
        run.close()
    for suffix in ("", "-wal", "-shm", "-journal"):
        with suppress(OSError):
            os.unlink(f"{path}{suffix}")


class Committer:
    """Makes what has arrived durable, once a second, until it is stopped."""

    def __init__(self, run: Run, faults: Faults) -> None:
        self._run = run
        self._faults = faults
        self.spent_ns = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, name="roastcoffea", daemon=True)
        with faults.guarded("committing while the run lasts"):  # no more threads: the end commits
            self._thread.start()

    def _work(self) -> None:
        failed = False
        while not self._stop.wait(1.0):
            try:
                self._run.commit()
            except Exception as error:
                if not failed:
                    self._faults.note("writing the run", error)
                failed = True
            self.spent_ns = time.thread_time_ns()

    def stop(self) -> None:
        """Stop, and wait for a commit that is under way."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()


def note_facts(run: Run, facts: Mapping[str, Any]) -> None:
    """Note facts: a value, or None and the reason why it is not known."""
    for name, value in facts.items():
        run.fact(name, *(value if isinstance(value, tuple) else (value,)))


def environment() -> dict[str, Any]:
    """Return versions, host and number of CPUs as facts: harmless names only."""
    facts: dict[str, Any] = {
        "env.roastcoffea": __version__,
        "env.python": platform.python_version(),
        "env.host": platform.node(),
        "env.cpus": os.cpu_count() or 0,
    }
    for package in _PACKAGES:
        version = getattr(sys.modules.get(package), "__version__", None)
        if isinstance(version, str):
            facts[f"env.{package}"] = version
    return facts


def derived_report(items: Collection[Any]) -> dict[str, Any] | None:
    """Return what coffea's work items say of a run whose Runner saved no metrics."""
    if not items:
        return None
    return {
        "entries": sum(item.entrystop - item.entrystart for item in items),
        "chunks": len(items),
        "derived": "counted from the work items: the Runner saved no metrics",
    }


def added_reports(report: Mapping[str, Any] | None, other: Mapping[str, Any]) -> dict[str, Any]:
    """Return the report of several calls of a Runner; what one of them lacks is not known."""
    if report is None:
        return dict(other)
    total = {**report, **other}
    for field in REPORT_FIELDS:
        values = [number(each.get(field)) for each in (report, other)]
        total.pop(field, None)
        if None not in values:
            total[field] = sum(values)
    if "columns" in total:
        total["columns"] = sorted({*report.get("columns", ()), *other.get("columns", ())})
    return total


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
