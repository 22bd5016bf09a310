"""What coffea's Runner returns inside a block, taken on its way to the user.

While a collector is active, ``Runner.run``, through which every call of a Runner goes, is wrapped;
the last collector puts the original back. A call belongs to the collectors that its own context
has entered, else, as in a thread that somebody started, to all that are active.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from contextvars import ContextVar
from importlib.machinery import ModuleSpec, PathFinder
from typing import Any, NamedTuple

from roastcoffea import collecting

HOME = "coffea.processor.executor"


class Returned(NamedTuple):
    """What one call of a Runner had to return."""

    output: Any
    report: Mapping[str, Any] | None  # None: without savemetrics, or the call failed
    processed: Collection[Any]  # coffea's work items


Take = Callable[[Returned], None]

_lock = threading.Lock()
_active: list[Take] = []
_entered: ContextVar[tuple[Take, ...]] = ContextVar("roastcoffea_entered", default=())


def listen(take: Take) -> None:
    """Give what Runners return from now on to ``take``, also if coffea is imported only later."""
    with _lock:
        _active.append(take)
        module = sys.modules.get(HOME)
        if module is not None:
            _wrap(module)
        elif _importing not in sys.meta_path:
            sys.meta_path.insert(0, _importing)
    _entered.set((*_entered.get(), take))


def unlisten(take: Take) -> None:
    """Give it no more; the last one leaves coffea as it was."""
    _entered.set(tuple(other for other in _entered.get() if other != take))
    with _lock:
        _active.remove(take)
        if _active:
            return
        with suppress(ValueError):
            sys.meta_path.remove(_importing)
        runner = getattr(sys.modules.get(HOME), "Runner", None)
        inner = getattr(vars(runner).get("run"), "_roastcoffea_inner", None) if runner else None
        if inner is not None:  # else somebody has wrapped ours, which now only passes on
            runner.run = inner  # type: ignore[union-attr]


def _wrap(module: Any) -> None:
    inner = vars(getattr(module, "Runner", object)).get("run")
    if inner is None or hasattr(inner, "_roastcoffea_inner"):
        return

    @functools.wraps(inner)
    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            result = inner(self, *args, **kwargs)
        except Exception as error:
            _give(Returned, getattr(error, "partial_output", None), None, ())
            raise
        _give(_returned, self, result)
        return result

    run._roastcoffea_inner = inner  # type: ignore[attr-defined]
    module.Runner.run = run


def _returned(runner: Any, result: Any) -> Returned | None:
    """Return what is in the result of ``Runner.run``; None: it is none of a processor's."""
    if hasattr(result, "is_ok"):  # of use_result_type=True
        result = result.value
    if getattr(runner, "use_dataframes", False) or not isinstance(result, Mapping):
        return None
    return Returned(result.get("out"), result.get("metrics"), result.get("processed") or ())


def _give(make: Callable[..., Returned | None], *args: Any) -> None:
    """Give it to whom it belongs. What goes wrong in that never reaches the user's code."""
    takes = [take for take in _entered.get() if take in _active] or list(_active)
    try:
        returned = make(*args)
        if returned is not None:
            for take in takes:
                take(returned)
    except Exception as error:
        collecting.note_fault("what the Runner returned", error)


class _Importing:
    """Finds coffea's module as Python does, and wraps the Runner when it has been executed."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target) if name == HOME else None
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def exec_module(module: Any) -> None:
            execute(module)
            with _lock:
                if _active:
                    _wrap(module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


_importing = _Importing()
