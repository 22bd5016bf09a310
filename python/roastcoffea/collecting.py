"""Whether this process collects, who it is, and where finished chunk records go.

A back end that has a channel to the client adds a sink in every worker process.
Executors without a channel switch collection on by the processor's flag
``_roastcoffea_collect_metrics`` or by the environment variable ``ROAST_COLLECT``,
which pool children inherit; their records ride in the output, and children of pools
also leave them in the files that ``ROAST_RECORDS`` names, one a line.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
from collections.abc import Callable
from typing import NamedTuple

from roastcoffea.clock import RunClock

Send = Callable[[bytes], None]
ChunkKey = tuple[object, ...]

#: What scheduler, workers and client send each other: another number is another package.
PROTOCOL = 5

COLLECT_VARIABLE = "ROAST_COLLECT"
RECORDS_VARIABLE = "ROAST_RECORDS"
RECORD_HEAD_BYTES = 4  # in those files, before each record: how long it is
MAX_FAILED_CHUNKS = 10_000  # of which the number of attempts is remembered

logger = logging.getLogger("roastcoffea")

_lock = threading.Lock()
_sinks: dict[str, dict[str | None, Send]] = {}  # by name, then by worker
_faults: dict[str, int] = {}
_failures: dict[ChunkKey, int] = {}
_worker: str | None = None
_ask_worker: Callable[[], str | None] | None = None
_ask_execution: Callable[[], int | None] | None = None
_host: str | None = None
_generation = 0
_clock = RunClock()
_holders = 0
_holder_pid = 0
_variable_before: str | None = None


class Identity(NamedTuple):
    """Where a chunk ran."""

    worker: str | None
    host: str
    pid: int


def add_sink(name: str, send: Send, worker: str | None = None) -> None:
    """Give every record that is finished from now on to ``send`` as bytes.

    Where several workers share a process, each adds a sink of the same name: a record goes to
    the one of the worker that ran the chunk.
    """
    _begin_clock()
    with _lock:
        _sinks[name] = {**_sinks.get(name, {}), worker: send}
    new_run()


def remove_sink(name: str, worker: str | None = None) -> None:
    """Stop sending to a sink; one that is not there is no error."""
    with _lock:
        rest = {key: send for key, send in _sinks.get(name, {}).items() if key != worker}
        if rest:
            _sinks[name] = rest
        else:
            _sinks.pop(name, None)


def has_sinks() -> bool:
    """Tell whether anybody takes records as they are finished."""
    return bool(_sinks)


def is_own() -> bool:
    """Tell whether a collector of this process is entered: it finds the records here."""
    return _holders > 0 and _holder_pid == os.getpid()


def is_heard() -> bool:
    """Tell whether records of this process reach a collector also without an output."""
    return bool(_sinks) or is_own() or any(map(os.path.exists, _record_files()))


def _record_files() -> list[str]:
    return [path for path in os.environ.get(RECORDS_VARIABLE, "").split("\n") if path]


def add_record_file(path: str) -> None:
    """Let the children of pools leave their records in a file, too."""
    with _lock:
        os.environ[RECORDS_VARIABLE] = "\n".join([*_record_files(), path])


def remove_record_file(path: str) -> None:
    """Leave the environment as it was."""
    with _lock:
        rest = "\n".join(other for other in _record_files() if other != path)
        if rest:
            os.environ[RECORDS_VARIABLE] = rest
        else:
            os.environ.pop(RECORDS_VARIABLE, None)


def leave(data: bytes) -> bool:
    """Leave records for the collectors of the process that has started this one; False: for none.

    Each is appended by one call, behind its length. A file that has gone is not made anew.
    """
    left = False
    for path in _record_files():
        try:
            file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError:
            continue
        try:
            os.write(file, len(data).to_bytes(RECORD_HEAD_BYTES, "little") + data)
            left = True
        finally:
            os.close(file)
    return left


def active() -> bool:
    """Tell whether decorated processors without a flag of their own are measured."""
    return bool(_sinks) or os.environ.get(COLLECT_VARIABLE, "0") not in ("", "0")


def shares_process() -> bool:
    """Tell whether several workers are in this process."""
    return any(len(sends) > 1 for sends in list(_sinks.values()))


def emit(data: bytes) -> None:
    """Hand one or more encoded records to every sink. A sink that fails is a fault, no error."""
    worker = identity().worker if shares_process() else None
    for name, sends in list(_sinks.items()):
        send = sends.get(worker) or next(iter(sends.values()))
        try:
            send(data)
        except Exception as error:
            note_fault(f"sink {name}", error)


def hold_collecting() -> None:
    """Switch collection on in this process and in the children of its pools, until as many
    collectors have let go of it.
    """
    global _holders, _holder_pid, _variable_before
    _begin_clock()
    with _lock:
        if _holders == 0:
            _variable_before = os.environ.get(COLLECT_VARIABLE)
            os.environ[COLLECT_VARIABLE] = "1"
            _holder_pid = os.getpid()
        _holders += 1
    new_run()


def release_collecting() -> None:
    """Let go of :func:`hold_collecting`; the last one leaves the environment as it was."""
    global _holders
    with _lock:
        _holders -= 1
        if _holders:
            return
        if _variable_before is None:
            os.environ.pop(COLLECT_VARIABLE, None)
        else:
            os.environ[COLLECT_VARIABLE] = _variable_before


def _begin_clock() -> None:
    """Note what time it is, unless somebody collects already and goes on by that clock."""
    global _clock
    if _sinks or _holders:
        return
    from roastcoffea.native import set_utc_offset

    _clock = RunClock()
    set_utc_offset(_clock.offset_ns)


def clock() -> RunClock:
    """Return the clock of this process, as it was when the first who collects now began."""
    return _clock


def note_fault(where: str, error: BaseException | str, count: int = 1) -> None:
    """Count a fault of our own; the first one of each place is logged."""
    with _lock:
        seen = _faults.get(where, 0)
        _faults[where] = seen + count
    if not seen:
        logger.warning("%s: measured less than was asked for: %r", where, error)


def faults() -> dict[str, int]:
    """Return how often what went wrong in this process, by place."""
    with _lock:
        return dict(_faults)


def set_identity(
    worker: str | None = None,
    host: str | None = None,
    ask_worker: Callable[[], str | None] | None = None,
    ask_execution: Callable[[], int | None] | None = None,
) -> None:
    """Name this process; a back end does this once, where it knows better.

    ``ask_worker`` returns the worker of the calling thread, where several share a process, and
    ``ask_execution`` the number of the execution of a task that it runs.
    """
    global _worker, _host, _ask_worker, _ask_execution
    _worker = worker
    _ask_worker = ask_worker
    _ask_execution = ask_execution
    if host is not None:
        _host = host


def forget_identity(worker: str) -> None:
    """Take back the name of a worker that has closed in this process."""
    global _worker, _ask_worker, _ask_execution
    if _worker == worker:
        _worker = None
        if not _sinks:
            _ask_worker = _ask_execution = None


def identity() -> Identity:
    """Return worker name, host and process id. The last is asked for anew: processes fork."""
    global _host
    if _host is None:
        _host = socket.gethostname()
    worker = _worker
    if _ask_worker is not None and (worker is None or shares_process()):
        worker = _ask_worker() or worker
    pid = os.getpid()
    return Identity(worker or f"{_host}:{pid}", _host, pid)


def execution() -> int | None:
    """Return the number of the execution of a task that this thread runs, if that is known."""
    return None if _ask_execution is None else _ask_execution()


def attempt(key: ChunkKey) -> int:
    """Return the number of this attempt at a chunk in this process, from 1 on."""
    return _failures.get(key, 0) + 1


def note_outcome(key: ChunkKey, failed: bool) -> None:
    """Remember a failed attempt, so that the next one has the next number."""
    if not failed:
        _failures.pop(key, None)
        return
    with _lock:
        if key not in _failures and len(_failures) >= MAX_FAILED_CHUNKS:
            _failures.pop(next(iter(_failures)))
        _failures[key] = _failures.get(key, 0) + 1


def new_run() -> None:
    """Begin anew with what is told once per file and process, and with counting attempts."""
    global _generation
    _generation += 1
    with _lock:
        _failures.clear()


def generation() -> int:
    """Return a number that changes whenever a run begins."""
    return _generation
