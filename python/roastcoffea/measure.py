"""One call of a decorated ``process()``, measured.

The user's method is called in the middle of :func:`run`; everything before and
after it may fail without anybody noticing but :func:`collecting.note_fault`.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Callable
from enum import Enum
from typing import Any

from roastcoffea import collecting, inputs, trees
from roastcoffea.native import Chunk, Records, take_faults

KEY = "__roastcoffea_metrics__"
FLAG = "_roastcoffea_collect_metrics"
#: True beside a flag that a collector has left at False, and not the user
LEFT = "_roastcoffea_left_off"
MAX_FRAMES = 30  # between coffea and a decorated method
MAX_MESSAGE_BYTES = 512
MAX_NAMES_BYTES = 4096

Method = Callable[..., Any]

_running: set[int] = set()  # ids of the events of the chunks that coffea has called
_inside = threading.local()  # .chunk: the one that is measured in this thread, or None


def wanted(processor: Any) -> bool:
    """Tell whether a processor is measured: its own flag counts, then that of the process."""
    try:
        # by no __getattr__ of the user's, which may have an answer for every name
        flag = type(processor).__getattribute__(processor, FLAG)  # type: ignore[call-arg]
        if flag is False and LEFT in getattr(processor, "__dict__", ()):
            flag = None
    except Exception:  # there is no flag
        flag = None
    return collecting.active() if flag is None else bool(flag)


def run(method: Method, processor: Any, args: Any, kwargs: Any) -> Any:
    """Call ``method(processor, events, ...)`` and leave a record of it behind.

    A decorated method that calls others, the one it overrides or those of other processors, is
    one chunk with all their sections. Those that threads of a chunk call with its events have no
    record of their own.
    """
    outer = getattr(_inside, "chunk", None)
    measurement = None
    try:
        if not wanted(processor):
            outer = None
        elif outer is not None:
            outer.lend(processor)
        elif (caller := caller_of_process()) is not Caller.TRACING:
            first = next(iter(kwargs.values()), None)
            events = args[0] if args else kwargs.get("events", first)
            if caller is not Caller.USER or id(events) not in _running:  # else a chunk's thread
                measurement = Measurement(processor, events, caller)
    except Exception as error:
        collecting.note_fault("beginning of a chunk", error)
        outer = None
    if measurement is None:
        try:
            return method(processor, *args, **kwargs)
        finally:
            if outer is not None:
                outer.take_back()
    _inside.chunk = measurement.chunk
    of_coffea = id(events) if measurement.caller is not Caller.USER else None
    if of_coffea is not None:
        _running.add(of_coffea)
    try:
        result = method(processor, *args, **kwargs)
    except BaseException as error:
        measurement.failed(error)
        raise
    finally:
        _inside.chunk = None
        if of_coffea is not None:
            _running.discard(of_coffea)
    return measurement.finished(result)


def is_graph(events: Any) -> bool:
    """Tell whether the events are a graph to be computed later (dask-awkward)."""
    return type(events).__module__.partition(".")[0] == "dask_awkward"


class Measurement:
    """The readings around one call, and the record that they become."""

    def __init__(self, processor: Any, events: Any, caller: Caller) -> None:
        self.chunk = Chunk(processor)  # which knows what measuring takes, from here on
        self.processor = processor
        self.caller = caller
        self.events = events
        self.factory = inputs.factory_of(events)
        self.handle = inputs.handle_of(events, self.factory)
        self.source = inputs.source_of_handle(self.handle)
        self.bytes_before = inputs.requested_bytes(self.source)
        self.metadata = inputs.metadata_of(events)
        self.about = inputs.about(self.metadata)
        self.opened: Any = None
        self.chunk.begin()

    def open_tree(self) -> Any:
        """Return the tree that coffea has open, or else that of the open file."""
        if self.opened is None:
            self.opened = inputs.open_source(self.factory)
        if self.opened is None:
            treename = self.about["tree"] or inputs.DEFAULT_TREE
            self.opened = trees.open_tree(self.handle, treename)
        return self.opened

    def failed(self, error: BaseException) -> None:
        """Record that the user's method raised."""
        try:
            self.chunk.end()
            fields = self.fields("failed")
            fields["error_type"] = type(error).__qualname__
            fields["error_message"] = cut(inputs.clean_text(message_of(error)), MAX_MESSAGE_BYTES)
            self.keep(fields)
        except Exception as fault:
            collecting.note_fault("record of a failed chunk", fault)

    def finished(self, result: Any) -> Any:
        """Record that the user's method returned, and put the record into what it returned."""
        try:
            self.chunk.end()
            graph = is_graph(self.events)
            record = self.keep(self.fields("graph" if graph else "finished"))
            if graph:
                return result
            carried = False
            if self.caller is not Caller.WITHIN_COFFEA and carries(result):
                result, carried = carry(result, record)
            if not carried and self.caller is not Caller.USER and not collecting.is_heard():
                collecting.note_fault(
                    "records that no output carries",
                    "here they have no other way to the collector",
                )
        except Exception as fault:
            collecting.note_fault("record of a chunk", fault)
        return result

    def keep(self, fields: dict[str, Any]) -> Records:
        """Encode the record and hand it on to whoever wants it now."""
        data = self.chunk.encode(fields)
        faults = take_faults()
        if faults is not None:
            collecting.note_fault("section", faults[1], faults[0])
        if collecting.has_sinks():
            collecting.emit(data)
        elif collecting.is_own() or not collecting.leave(data):
            note_local(type(self.processor), data)
        self.chunk.sent()
        return Records.from_bytes(data)

    def fields(self, outcome: str) -> dict[str, Any]:
        """Return what only Python knows of the chunk."""
        worker, host, pid = collecting.identity()
        fields: dict[str, Any] = {
            **self.about,
            "outcome": outcome,
            "worker": worker,
            "host": host,
            "pid": pid,
            "thread": threading.get_ident(),
            "execution": collecting.execution(),
            "metadata": inputs.user_metadata(self.metadata),
        }
        if outcome != "graph":
            number_of_events(self.events, fields)
        file = fields["file"]
        key = (
            fields["dataset"],
            fields["uuid"] or file,
            fields["tree"],
            fields["entry_start"],
            fields["entry_stop"],
        )
        fields["attempt"] = collecting.attempt(key)
        if file is not None:
            collecting.note_outcome(key, outcome == "failed")
        if self.source is not None:
            fields["requested_bytes"] = inputs.requested_bytes(self.source) - self.bytes_before
        if self.handle is None:  # it may have been opened only now
            self.handle = inputs.handle_of(self.events, self.factory)
        if self.handle is not None:
            try:
                self.add_branches(fields)
            except Exception as error:
                collecting.note_fault("branches", error)
        return fields

    def add_branches(self, fields: dict[str, Any]) -> None:
        """Add the branches that were touched, with the bytes that this range of entries needs."""
        touched = inputs.touched_branches(self.factory)
        preloaded = inputs.preloaded_branches(self.factory)
        filename = fields["file"]
        key = (fields["uuid"] or filename, fields["tree"] or inputs.DEFAULT_TREE)
        first = filename is not None and trees.first_time(key)
        if not (touched or preloaded or first):
            return
        names = list(dict.fromkeys(touched + preloaded))
        if names:  # they are known also if the tree cannot be read
            fields["branches"] = [(name, None) for name in names]
        tree = trees.tree_of(key, self.open_tree)
        if first:
            # each process tells the totals of a file, but one chunk its hundreds of branches
            fields["file_metadata"] = metadata = tree.metadata(filename)
            if not fields["entry_start"]:
                metadata["branch_bytes"] = tree.branch_bytes(self.open_tree())
        if not (touched or preloaded) and inputs.access_log(self.factory) is None:
            return
        start, stop = fields["entry_start"], fields["entry_stop"]
        if start is None or stop is None:
            start, stop = 0, fields.get("num_events", 0)
        branches: list[tuple[str, int | None]] = []
        selected = whole = shared = ahead = unused = 0
        never = set(preloaded).difference(touched)
        for name in names:
            branch = tree.branch(self.open_tree, name)
            if branch is None or branch.baskets is None:
                branches.append((name, None))
                continue
            need = branch.baskets.overlapping(start, stop)
            shared += branch.baskets.cut(start, stop)
            branches.append((name, need))
            selected += branch.compressed
            whole += branch.uncompressed
            if name in preloaded:  # read before the counter was looked at
                fields["requested_bytes"] = fields.get("requested_bytes", 0) + need
                ahead += need
                unused += need if name in never else 0
        fields["branches"] = branches
        fields["tree_branches"] = tree.n_branches
        fields["tree_bytes"] = tree.bytes
        fields["selected_bytes"] = selected
        fields["selected_uncompressed_bytes"] = whole
        fields["cut_bytes"] = shared
        if preloaded:
            fields["ahead_bytes"] = ahead
        if never:
            fields["unused_bytes"] = unused
            fields["unused_branches"] = cut("\n".join(sorted(never)), MAX_NAMES_BYTES)


class Caller(Enum):
    """Who has called a decorated method, and so gets what it returns."""

    COFFEA = 1
    WITHIN_COFFEA = 2  # the user's code that coffea has called
    USER = 3
    TRACING = 4  # coffea, to see what is touched: of no chunk


def caller_of_process() -> Caller:
    """Look who gets the result: only coffea and a user who calls by hand expect our key in it.

    Code that stands between, an override or another decorator, would find it among its own keys.
    """
    coffea = sys.modules.get("coffea.processor.executor")
    if coffea is None:
        return Caller.USER
    calling, tracing = vars(coffea), vars(sys.modules.get("coffea.nanoevents.trace", coffea))
    frame = sys._getframe(2).f_back  # behind run() and the method that calls it
    if frame is not None and frame.f_globals.get("__name__") == "roastcoffea.decorator":
        frame = frame.f_back  # a TrackedMethod that was called
    caller = Caller.COFFEA
    for _ in range(MAX_FRAMES):
        if frame is None:
            break
        names = frame.f_globals
        if names is calling:
            return caller
        if names is tracing:
            return Caller.TRACING
        caller = Caller.WITHIN_COFFEA
        frame = frame.f_back
    return Caller.USER


def number_of_events(events: Any, fields: dict[str, Any]) -> None:
    """Add the number of events, if they have one."""
    try:
        fields["num_events"] = len(events)
    except Exception:
        fields["num_events"] = None


def message_of(error: BaseException) -> str:
    """Return what an exception says, even if saying it fails."""
    try:
        return str(error)
    except Exception:
        return "(the exception has no message)"


def cut(text: str, limit: int) -> str:
    """Return the beginning of a text that takes at most ``limit`` bytes as UTF-8."""
    data = text.encode("utf-8", "backslashreplace")
    return data[:limit].decode("utf-8", "ignore")


def carries(result: Any) -> bool:
    """Tell whether a result can take the records along and still be accumulated by coffea."""
    if type(result) is dict:
        return True
    if not isinstance(result, dict) or isinstance(result, Counter):
        return False
    accumulator = sys.modules.get("coffea.processor.accumulator")
    if accumulator is not None and isinstance(result, accumulator.AccumulatorABC):
        accumulator.AccumulatorABC.register(Records)
        factory = getattr(result, "default_factory", None)
        return factory is None or factory in (int, float, list)
    return not hasattr(result, "__add__")


def carry(result: Any, record: Records) -> tuple[Any, bool]:
    """Return the result with the record in it, and whether it is.

    It stands beside those of other calls whose outputs were put together. A plain dict is copied:
    the user's own may be one that every call returns.
    """
    before = result.get(KEY)
    try:
        records = record if before is None else before + record
        if type(result) is dict:
            return {**result, KEY: records}, True
        result[KEY] = records
    except Exception:
        # a mapping with rules of its own: it goes without
        if type(result) is not dict:
            result.pop(KEY, None)
        return result, False
    return result, True


MAX_LOCAL_RECORDS = 1_000_000
_local: dict[str, Records] = {}
_local_generation = 0
_listeners: list[collecting.Send] = []


def note_local(cls: type, data: bytes) -> None:
    """Give a record to the collectors of this process, and to ``processor._chunk_metrics``."""
    for take in list(_listeners) if collecting.is_own() else ():
        try:
            take(data)
        except Exception as error:
            collecting.note_fault("records of this process", error)
    records = local_records(cls)
    if len(records) < MAX_LOCAL_RECORDS:
        records += Records.from_bytes(data)


def listen(take: collecting.Send) -> None:
    """Let a collector take the records that are made in this process from now on."""
    _listeners.append(take)


def unlisten(take: collecting.Send) -> None:
    """Let it take no more."""
    if take in _listeners:
        _listeners.remove(take)


def local_records(cls: type) -> Records:
    """Return the records of a class that were made in this process and run without a channel."""
    global _local_generation
    if _local_generation != collecting.generation():
        _local_generation = collecting.generation()
        _local.clear()
    return _local.setdefault(f"{cls.__module__}.{cls.__qualname__}", Records())
