"""Measurement directories: what a run measured, as files that people can read and move.

A measurement holds ``metrics.json``, ``start_end_time.txt``, ``metadata.json``, ``config.json``
where a configuration was given, and ``run.roast`` where it came from a run. Raw records and series
are in ``metrics.json`` too, up to 10 MB; what would be more is in ``run.roast`` only, and is read
from there when it is looked at: ``metadata.json`` names it under ``in_run``.
"""

from __future__ import annotations

import ast
import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from roastcoffea._roast import save_v1
from roastcoffea.lazy import Later, LazyDict
from roastcoffea.metrics import Metrics
from roastcoffea.recording import file_name

if TYPE_CHECKING:
    from roastcoffea._roast import Run

#: What grows with the chunks and samples of a run, and can be read back from it
_RAW = ("tracking_data", "raw_chunk_metrics", "chunk_info", "file_metadata", "file_read_metrics")


class Measurement(tuple[dict[str, Any], float, float]):
    """What :func:`load_measurement` returns: ``metrics, t0, t1``, also by name.

    >>> m = Measurement(({"total_events": 3}, 0.0, 1.5))
    >>> metrics, t0, t1 = m
    >>> m["metrics"]["total_events"], m["t1"]
    (3, 1.5)
    """

    __slots__ = ()
    _NAMES = ("metrics", "t0", "t1")

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            if key not in self._NAMES:
                raise KeyError(key)
            key = self._NAMES.index(key)
        return super().__getitem__(key)


def _serialize_key(key: Any) -> str:
    return key.isoformat() if isinstance(key, datetime) else str(key)


def _serialize_for_json(value: Any) -> Any:
    """Turn what JSON does not know into what it does: times, tuples, numpy's numbers."""
    if isinstance(value, str | bool | int | float | None):
        return value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {_serialize_key(k): _serialize_for_json(v) for k, v in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_serialize_for_json(item) for item in value]
    if hasattr(value, "tolist"):  # numpy's arrays and scalars
        return _serialize_for_json(value.tolist())
    try:
        return [_serialize_for_json(item) for item in value]  # Records, and other sequences
    except TypeError:
        return value


def save_measurement(
    metrics: Mapping[str, Any],
    t0: float,
    t1: float,
    output_dir: str | os.PathLike[str],
    measurement_name: str | None = None,
    config: Any = None,
    *,
    run: Run | None = None,
) -> Path:
    """Write a measurement directory and return its path.

    A reader never sees half of it: it is written beside its place and moved there when it is
    complete, replacing a measurement of that name. Other files in that directory are kept.

    Parameters
    ----------
    metrics
        the metrics, as :meth:`MetricsCollector.get_metrics` returns them
    t0, t1
        start and end, in seconds
    output_dir
        the directory to put it in; made where it is missing
    measurement_name
        its name; the time in UTC if none is given
    config
        anything that belongs to the measurement; kept as ``config.json``
    run
        the run to keep with it as ``run.roast``; that of the metrics, if they know theirs

    Example
    -------
    >>> import tempfile
    >>> place = tempfile.mkdtemp()
    >>> path = save_measurement({"total_events": 7}, 0.0, 2.0, place, "example")
    >>> load_measurement(path).__getitem__("metrics")
    {'total_events': 7}
    """
    run = run or getattr(metrics, "run", None)
    name = measurement_name or datetime.now(UTC).strftime("%Y-%m-%d_%H-%M-%S")
    path = Path(output_dir) / file_name(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and not path.is_dir():
        raise NotADirectoryError(f"{path}: is there already, and is not a directory")
    text = None if config is None else json.dumps(config, indent=2, default=str)
    summary = None
    if isinstance(metrics, Metrics) and metrics.run is run and metrics.summary is not None:
        summary, pairs = metrics.summary, _changed(metrics)
    else:
        pairs = {_serialize_key(key): metrics[key] for key in metrics}
    save_v1(
        run,
        path.resolve(),  # a link stays a link
        summary,
        float(t0),
        float(t1),
        text,
        {
            key.encode("utf-8", "surrogateescape"): None if value is _GONE else _json(value)
            for key, value in pairs.items()
        },
    )
    return path


_GONE = object()


def _changed(metrics: Metrics) -> dict[str, Any]:
    """Return what somebody has changed in the metrics of a run."""
    of_run = metrics.of_run()
    changed = {key: _GONE for key in of_run.keys() if key not in metrics}  # noqa: SIM118
    for key in metrics:
        if key not in of_run or not metrics.is_same(key, of_run):
            changed[key] = metrics[key]
    return changed


def _json(value: Any) -> str:
    """Return the JSON of a value that stands among the metrics."""
    return json.dumps(_serialize_for_json(value), indent=2).replace("\n", "\n  ")


def load_measurement(measurement_path: str | os.PathLike[str]) -> Measurement:
    """Read a measurement back: ``metrics, t0, t1``.

    Raises
    ------
    FileNotFoundError
        no such directory, or it lacks ``metrics.json`` or ``start_end_time.txt``, and has no
        ``run.roast`` that tells the same
    ValueError
        the times are not two numbers, or ``metrics.json`` is not JSON
    """
    path = Path(measurement_path)
    if not path.is_dir():
        raise FileNotFoundError(f"Measurement directory not found: {path}")
    metrics_file, timing_file = path / "metrics.json", path / "start_end_time.txt"
    run_file = path / "run.roast"
    if not metrics_file.exists() and run_file.exists():
        metrics = _metrics_of_run(run_file)
    elif not metrics_file.exists():
        raise FileNotFoundError(f"Metrics file not found: {metrics_file}")
    else:
        metrics = _read_metrics(metrics_file)
        _add_from_run(metrics, path)
    if timing_file.exists():
        return Measurement((metrics, *_read_times(timing_file)))
    if run_file.exists():
        start, end = _times_of_run(run_file)
        return Measurement((metrics, start, end))
    raise FileNotFoundError(f"Timing file not found: {timing_file}")


def _read_metrics(file: Path) -> dict[str, Any]:
    metrics = json.loads(file.read_text(encoding="utf-8"))
    if not isinstance(metrics, dict):
        raise ValueError(f"{file}: an object of metrics is wanted, not a {type(metrics).__name__}")
    if isinstance(metrics.get("tracking_data"), dict):
        metrics["tracking_data"] = _deserialize_tracking_data(metrics["tracking_data"])
    for key in ("chunk_info", "raw_span_metrics"):
        if isinstance(metrics.get(key), dict):
            metrics[key] = {_tuple_key(k): _tuple_value(v) for k, v in metrics[key].items()}
    return LazyDict(metrics)


def _read_times(file: Path) -> tuple[float, float]:
    try:
        t0, t1 = (float(part) for part in file.read_text(encoding="utf-8").split(","))
    except ValueError:
        raise ValueError(
            f"Invalid timing format in {file}: two numbers separated by a comma are wanted"
        ) from None
    return t0, t1


def _metrics_of_run(file: Path) -> dict[str, Any]:
    from roastcoffea.opened import open_run

    return open_run(file).metrics


def _times_of_run(file: Path) -> tuple[float, float]:
    from roastcoffea.opened import open_run

    with open_run(file) as run:
        start = (run.number("run.start_utc_ns") or 0) / 1e9
        return start, start + (run.elapsed_s or 0.0)


def _add_from_run(metrics: dict[str, Any], path: Path) -> None:
    """Let the metrics that are in the run only be read from there when they are looked at."""
    try:
        metadata = json.loads((path / "metadata.json").read_text(encoding="utf-8"))
        in_run = [key for key in metadata.get("in_run", ()) if key in _RAW]
    except (OSError, ValueError, AttributeError, TypeError):  # an old one, or none
        return
    if not in_run:
        return
    if not (path / "run.roast").exists():
        raise FileNotFoundError(f"Run file not found: {path / 'run.roast'} has {', '.join(in_run)}")

    @cache
    def of_run() -> dict[str, Any]:
        return _metrics_of_run(path / "run.roast")

    def later(key: str) -> Later:
        return Later(lambda: of_run()[key])

    for key in in_run:
        metrics[key] = later(key)


def _tuple_key(key: str) -> Any:
    """``"('execute', 'X', 'thread-cpu', 'seconds')"`` is the tuple that it shows."""
    if not key.startswith("("):
        return key
    try:
        value = ast.literal_eval(key)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return key
    return value if isinstance(value, tuple) else key


def _tuple_value(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _deserialize_tracking_data(data: Mapping[str, Any]) -> dict[str, Any]:
    """Times become datetimes again, and samples tuples; what is no series stays as it is."""
    return {key: _deserialize_series(key, series) for key, series in data.items()}


def _deserialize_series(key: str, series: Any) -> Any:
    try:
        if key == "worker_counts":
            return {datetime.fromisoformat(t): n for t, n in series.items()}
        return {
            worker: [(datetime.fromisoformat(t), value) for t, value in samples]
            for worker, samples in series.items()
        }
    except (AttributeError, TypeError, ValueError):
        return series
