"""Runs that were written: their tables and series, read when they are looked at."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from roastcoffea._roast import Run, Summary

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd
    import pyarrow as pa  # type: ignore[import-untyped]

    from roastcoffea.lazy import LazyDict, RecordList
    from roastcoffea.metrics import Metrics

_NULL = -(2**63)


def open_run(path: str | os.PathLike[str]) -> OpenRun:
    """Open a run for reading.

    Parameters
    ----------
    path
        a run file, a measurement directory, a folder of TaskVine's logs, or Parsl's
        ``monitoring.db``

    Raises
    ------
    FileNotFoundError
        there is nothing of that name
    OSError
        it cannot be read
    RuntimeError
        a writer has it for itself, as on network file systems
    ValueError
        it is no run, or it is damaged

    Example
    -------
    ::

        run = roastcoffea.open_run("runs/demo.roast")
        run.metrics["total_events"]
        run.chunks["wall_ns"].mean()
        run.sections.to_pandas().groupby("name")["total_ns"].sum()
    """
    return OpenRun(path)


class Series(NamedTuple):
    """Samples of one worker: when, in nanoseconds UTC, and how much."""

    times: npt.NDArray[np.int64]
    values: npt.NDArray[np.int64]


class OpenRun:
    """A run that was written, or is being written; see :func:`open_run`.

    Attributes
    ----------
    path
        of the run file, or of what was imported
    chunks, sections, branches, workers
        tables (:class:`Table`) of chunks, their sections and branches, workers' comings and goings
    series
        ``series[worker][name]`` is a :class:`Series`
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.run = Run.open(path)
        self.path = Path(self.run.path() or path)
        self.chunks = Table(self, "chunk")
        self.sections = Table(self, "section")
        self.branches = Table(self, "branch")
        self.workers = Table(self, "worker_event")
        self.series = SeriesTable(self)

    def __repr__(self) -> str:
        return f"open_run({os.fspath(self.path)!r})"

    def __enter__(self) -> OpenRun:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self.run.close()

    @cached_property
    def facts(self) -> dict[str, int | float | str | None]:
        """Single values about the run."""
        return self.run.facts()

    def number(self, name: str) -> int | float | None:
        """Return a fact that is a number, or None."""
        value = self.facts.get(name)
        return value if isinstance(value, int | float) else None

    def text(self, name: str) -> str | None:
        """Return a fact that is a text, or None."""
        value = self.facts.get(name)
        return value if isinstance(value, str) else None

    @property
    def interval_s(self) -> float:
        """Seconds between two samples."""
        interval = self.number("backend.interval_s")
        return interval if interval and interval > 0 else 1.0

    @property
    def elapsed_s(self) -> float | None:
        """How long the run took; None: it has not finished."""
        elapsed = self.number("run.elapsed_ns")
        return None if elapsed is None else elapsed / 1e9

    @cached_property
    def report(self) -> dict[str, Any]:
        """Coffea's report, as far as the run has it."""
        return report_of(self.facts)

    def write_report(self, path: str | os.PathLike[str]) -> Path:
        """Write a page that shows the run in any browser, and return its path."""
        self.run.report(path)
        return Path(path)

    def _repr_html_(self) -> str:
        """Show the run in a notebook."""
        return str(self.run._repr_html_())

    @cached_property
    def tracking_data(self) -> LazyDict | None:
        """The documented series of the workers; None: they were not followed."""
        from roastcoffea.backends.tracking import tracking_of_run

        return tracking_of_run(self.run)

    @cached_property
    def last_utc_ns(self) -> int:
        """When the run ended; of an unfinished one, when it was last heard of."""
        return last_utc_ns(self.run, self.facts)

    @cached_property
    def files(self) -> list[dict[str, Any]]:
        """What is known of each file: chunks, events, time, what was read of it."""
        return self.summary().files()

    def summary(self) -> Summary:
        """Return all that is computed from the run."""
        return self.run.summary()

    @cached_property
    def metrics(self) -> Metrics:
        """All metrics, as :meth:`MetricsCollector.get_metrics` returns them."""
        from roastcoffea.custom import add_custom
        from roastcoffea.metrics import metrics_of_run

        metrics = metrics_of_run(self.run)
        add_custom(metrics)
        return metrics

    @property
    def chunk_metrics(self) -> RecordList:
        """The documented chunk records."""
        from roastcoffea.lazy import RecordList

        return RecordList.of_run(self.run)

    @cached_property
    def texts(self) -> list[str]:
        """The strings of the run, number 1 first."""
        return self.run.texts()


def report_of(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return coffea's report, as far as the facts of a run have it."""
    report: dict[str, Any] = {
        name.removeprefix("report."): value
        for name, value in facts.items()
        if name.startswith("report.") and value is not None
    }
    if "columns" in report:
        report["columns"] = str(report["columns"]).split("\n")
    return report


def last_utc_ns(run: Run, facts: Mapping[str, Any]) -> int:
    """Return when a run ended; of an unfinished one, when it was last heard of."""
    end = facts.get("run.end_utc_ns")
    if isinstance(end, int | float):
        return int(end)
    stops = memoryview(run.columns("worker_event", ["utc_ns"])["utc_ns"]).cast("q")
    last = max(stops, default=int(facts.get("run.start_utc_ns") or 0))
    for worker, names in run.series_names().items():
        for name in names[:1]:
            times = memoryview(run.series(worker, name)[0]).cast("q")
            last = max(last, max(times, default=last))
    return last


class Column(NamedTuple):
    """What is known of a column of a table."""

    name: str
    stored: str
    type: str
    unit: str
    since: int
    title: str
    meaning: str


class Table(Sequence[dict[str, Any]]):
    """A table of a run: a sequence of dicts, or columns as NumPy arrays.

    Columns are read when they are asked for, several at a time in one pass by :meth:`read`. Their
    names and units are those of ``docs/format.md``; strings stand without their ``_text``.
    """

    def __init__(self, opened: OpenRun, name: str) -> None:
        self.name = name
        self._opened = opened
        self._data: dict[str, bytes] = {}

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of its columns."""
        return tuple(self.infos)

    @cached_property
    def infos(self) -> dict[str, Column]:
        """What is known of each column: type, unit, title and meaning."""
        from roastcoffea._roast import tables

        (columns,) = (columns for name, _, _, columns in tables() if name == self.name)
        infos = (Column(*column) for column in columns)
        return {info.name: info for info in infos if info.type in ("int", "text")}

    @property
    def _stored(self) -> list[str]:
        return [info.stored for info in self.infos.values()]

    def _names(self, names: Sequence[str]) -> list[str]:
        return [self.infos[name].stored for name in names]

    def _load(self, stored: Sequence[str]) -> None:
        missing = [name for name in stored if name not in self._data]
        if missing:
            self._data |= self._opened.run.columns(self.name, missing)

    def _numbers(self, stored: str) -> memoryview:
        self._load([stored])
        return memoryview(self._data[stored]).cast("q")

    def __len__(self) -> int:
        return len(self._numbers(self._stored[0]))

    def read(self, *names: str) -> dict[str, Any]:
        """Return columns by name, read in one pass; without names, all of them."""
        self._load(self._names(names or self.columns))
        return {name: self.column(name) for name in names or self.columns}

    def column(self, name: str) -> Any:
        """Return a column: integers as they are in memory, masked where some are not known;
        strings as an array of objects.
        """
        import numpy as np

        info = self.infos[name]
        numbers = np.frombuffer(self._numbers(info.stored), dtype=np.int64)
        unknown = numbers == _NULL
        if info.type == "text":
            texts = np.array([None, *self._opened.texts], dtype=object)
            return texts[np.where(unknown, 0, numbers)]
        return np.ma.MaskedArray(numbers, mask=unknown) if unknown.any() else numbers

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return self.column(key)
        if isinstance(key, slice):
            return [self[i] for i in range(*key.indices(len(self)))]
        index = key + len(self) if key < 0 else key
        if not 0 <= index < len(self):
            raise IndexError(f"there is no row {key}")
        self._load(self._stored)
        return self._row(index)

    def _row(self, index: int) -> dict[str, Any]:
        texts = self._opened.texts
        row: dict[str, Any] = {}
        for name, info in self.infos.items():
            value: Any = self._numbers(info.stored)[index]
            if value == _NULL:
                value = None
            elif info.type == "text":
                value = texts[value - 1]
            row[name] = value
        return row

    def __iter__(self) -> Iterator[dict[str, Any]]:
        self._load(self._stored)
        return (self._row(i) for i in range(len(self)))

    def to_pandas(self) -> pd.DataFrame:
        """Return it as a DataFrame; what is not known is ``<NA>``, strings are categories."""
        import numpy as np
        import pandas as pd

        self._load(self._stored)
        frame: dict[str, Any] = {}
        for name, info in self.infos.items():
            numbers = np.frombuffer(self._numbers(info.stored), dtype=np.int64)
            unknown = numbers == _NULL
            if info.type == "text":
                codes, which = np.unique(numbers[~unknown], return_inverse=True)
                places = np.full(len(numbers), -1, dtype=np.int64)
                places[~unknown] = which
                names = [self._opened.texts[code - 1] for code in codes]
                frame[name] = pd.Categorical.from_codes(places, names)
            elif unknown.any():
                frame[name] = pd.arrays.IntegerArray(np.where(unknown, 0, numbers), unknown)
            else:
                frame[name] = numbers
        return pd.DataFrame(frame, copy=False)

    def to_arrow(self) -> pa.Table:
        """Return it as a pyarrow Table; strings are dictionaries."""
        import numpy as np
        import pyarrow as pa

        self._load(self._stored)
        arrays: dict[str, Any] = {}
        for name, info in self.infos.items():
            numbers = np.frombuffer(self._numbers(info.stored), dtype=np.int64)
            unknown = numbers == _NULL
            if info.type == "text":
                codes = pa.array(np.where(unknown, 0, numbers - 1), mask=unknown)
                arrays[name] = pa.DictionaryArray.from_arrays(codes, self._opened.texts)
            else:
                arrays[name] = pa.array(numbers, mask=unknown if unknown.any() else None)
        return pa.table(arrays)


class SeriesTable(Mapping[str, Mapping[str, Series]]):
    """``series[worker][name]``: the samples of every worker, decoded when they are asked for."""

    def __init__(self, opened: OpenRun) -> None:
        self._opened = opened

    @cached_property
    def _names(self) -> dict[str, list[str]]:
        return self._opened.run.series_names()

    def __getitem__(self, worker: str) -> Mapping[str, Series]:
        return WorkerSeries(self._opened, worker, self._names[worker])

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class WorkerSeries(Mapping[str, Series]):
    """The series of one worker, by name."""

    def __init__(self, opened: OpenRun, worker: str, names: Sequence[str]) -> None:
        self._opened = opened
        self._worker = worker
        self._names = names

    def __getitem__(self, name: str) -> Series:
        import numpy as np

        if name not in self._names:
            raise KeyError(name)
        times, values = (
            np.frombuffer(data, dtype=np.int64)
            for data in self._opened.run.series(self._worker, name)
        )
        unknown = values == _NULL
        return Series(times, np.ma.MaskedArray(values, mask=unknown) if unknown.any() else values)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
