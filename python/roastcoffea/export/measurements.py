"""Measurement directories: what a run measured, as files that people can read and move.

A measurement holds ``metrics.json``, ``start_end_time.txt``, ``metadata.json``, ``config.json``
where a configuration was given, and ``run.roast`` where it came from a run.
"""

from __future__ import annotations

import ast
import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from roastcoffea._roast import exchange

if TYPE_CHECKING:
    from roastcoffea._roast import Run

FORMAT = "roastcoffea_measurement_v1"

_FILES = ("metrics.json", "start_end_time.txt", "metadata.json", "config.json", "run.roast")


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
        the run to keep with it as ``run.roast``

    Example
    -------
    >>> import tempfile
    >>> place = tempfile.mkdtemp()
    >>> path = save_measurement({"total_events": 7}, 0.0, 2.0, place, "example")
    >>> load_measurement(path).__getitem__("metrics")
    {'total_events': 7}
    """
    now = datetime.now(UTC)
    name = measurement_name or now.strftime("%Y-%m-%d_%H-%M-%S")
    parent = Path(output_dir)
    path = parent / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and not path.is_dir():
        raise NotADirectoryError(f"{path}: is there already, and is not a directory")
    beside = path.resolve()  # a link stays a link
    temporary = Path(tempfile.mkdtemp(prefix=f".{beside.name}.", dir=beside.parent))
    try:
        temporary.chmod(0o755 & ~_umask())
        _write(temporary, metrics, t0, t1, now, config)
        if run is not None:
            run.copy(temporary / "run.roast")
        _move_into_place(temporary, beside)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return path


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _write(
    path: Path, metrics: Mapping[str, Any], t0: float, t1: float, now: datetime, config: Any
) -> None:
    metadata = {
        "timestamp": now.replace(tzinfo=None).isoformat(),
        "elapsed_time_seconds": t1 - t0,
        "format": FORMAT,
    }
    (path / "metrics.json").write_text(
        json.dumps(_serialize_for_json(metrics), indent=2), encoding="utf-8"
    )
    (path / "start_end_time.txt").write_text(f"{t0},{t1}\n", encoding="utf-8")
    (path / "metadata.json").write_text(json.dumps(metadata, indent=2), encoding="utf-8")
    if config is not None:
        (path / "config.json").write_text(
            json.dumps(config, indent=2, default=str), encoding="utf-8"
        )


def _move_into_place(temporary: Path, path: Path) -> None:
    """Move a complete directory; an old one is exchanged, and what is not ours moved over."""
    if not path.exists():
        temporary.rename(path)
        return
    exchange(temporary, path)
    for other in temporary.iterdir():
        if other.name not in _FILES:
            other.rename(path / other.name)


def load_measurement(measurement_path: str | os.PathLike[str]) -> Measurement:
    """Read a measurement back: ``metrics, t0, t1``.

    Raises
    ------
    FileNotFoundError
        no such directory, or it lacks ``metrics.json`` or ``start_end_time.txt``
    ValueError
        the times are not two numbers, or ``metrics.json`` is not JSON
    """
    path = Path(measurement_path)
    if not path.is_dir():
        raise FileNotFoundError(f"Measurement directory not found: {path}")
    metrics_file, timing_file = path / "metrics.json", path / "start_end_time.txt"
    if not metrics_file.exists():
        raise FileNotFoundError(f"Metrics file not found: {metrics_file}")
    if not timing_file.exists():
        raise FileNotFoundError(f"Timing file not found: {timing_file}")
    metrics = json.loads(metrics_file.read_text(encoding="utf-8"))
    if metrics.get("tracking_data") is not None:
        metrics["tracking_data"] = _deserialize_tracking_data(metrics["tracking_data"])
    for key in ("chunk_info", "raw_span_metrics"):
        if isinstance(metrics.get(key), dict):
            metrics[key] = {_tuple_key(k): _tuple_value(v) for k, v in metrics[key].items()}
    try:
        t0, t1 = (float(part) for part in timing_file.read_text(encoding="utf-8").split(","))
    except ValueError:
        raise ValueError(
            f"Invalid timing format in {timing_file}: two numbers separated by a comma are wanted"
        ) from None
    return Measurement((metrics, t0, t1))


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
    """Times become datetimes again, and samples tuples, in every series."""
    result: dict[str, Any] = {}
    for key, series in data.items():
        if not isinstance(series, dict):
            result[key] = series
        elif key == "worker_counts":
            result[key] = {datetime.fromisoformat(t): n for t, n in series.items()}
        else:
            result[key] = {
                worker: [(datetime.fromisoformat(t), value) for t, value in samples]
                for worker, samples in series.items()
            }
    return result
