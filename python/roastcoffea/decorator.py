"""The decorator for ``process()``: one record for each chunk.

What it puts into the user's class must survive being pickled by value and sent to
a worker, so the functions below refer to the rest of the package only by importing
it when they are called.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any, TypeVar, overload

F = TypeVar("F", bound=Callable[..., Any])

CURRENT = "_roastcoffea_current_chunk"
RECORDS = "_chunk_metrics"
MARK = "_roastcoffea_wrapped"


@overload
def track_metrics(func: F) -> F: ...
@overload
def track_metrics(func: None = None) -> Callable[[F], F]: ...
def track_metrics(func: Any = None) -> Any:
    """Measure every call of ``process(self, events)``.

    Parameters
    ----------
    func
        The method, or a function of the events, which coffea takes as a processor, too.
        ``@track_metrics`` and ``@track_metrics()`` do the same.

    Returns
    -------
    A method with the same name, signature and result. While a collector is active,
    or the processor's ``_roastcoffea_collect_metrics`` is true, a result that is a
    dict also has ``__roastcoffea_metrics__``, the records of the chunks in it: if
    coffea gets it, or who calls the method by hand, but not if code that coffea has
    called does.

    Examples
    --------
    >>> class Count:
    ...     _roastcoffea_collect_metrics = True
    ...     @track_metrics
    ...     def process(self, events):
    ...         return {"n": len(events)}
    >>> out = Count().process([1, 2, 3])
    >>> out["n"], out["__roastcoffea_metrics__"][0]["num_events"]
    (3, 3)
    """
    if func is None:
        return track_metrics
    return TrackedMethod(func)


def _wrap_process(func: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(func)
    def process(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        try:
            from roastcoffea.measure import run
        except ImportError:
            return func(self, *args, **kwargs)
        return run(func, self, args, kwargs)

    return process


def _as_method(func: Any) -> Callable[..., Any]:
    """Return what a class has as a function of the instance: a static method, a partial one."""
    if callable(func) and not isinstance(func, staticmethod):
        return func  # type: ignore[no-any-return]

    @functools.wraps(func)
    def call(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        return func.__get__(self, type(self))(*args, **kwargs)

    return call


def _wrap_function(func: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that calls a function of the events alone."""

    def call(processor: Any, /, *args: Any, **kwargs: Any) -> Any:
        return func(*args, **kwargs)

    return _wrap_process(call)


def _wrap_postprocess(inner: Any) -> Callable[..., Any]:
    """Keep our key away from the user's postprocess(), and give it back afterwards."""

    @functools.wraps(inner)
    def postprocess(self: Any, *args: Any, **kwargs: Any) -> Any:
        key = "__roastcoffea_metrics__"
        method = inner.__get__(self, type(self)) if hasattr(inner, "__get__") else inner
        outputs = [value for value in (*args, *kwargs.values()) if isinstance(value, dict)]
        carried = [(output, output.pop(key)) for output in outputs if key in output]
        if not carried:
            return method(*args, **kwargs)
        result = None
        try:
            result = method(*args, **kwargs)
        finally:
            for output, records in (*carried, (result, carried[0][1])):
                try:
                    if isinstance(output, dict) and key not in output:
                        output[key] = records
                except Exception:  # a mapping with rules of its own: it goes without
                    continue
        return result

    setattr(postprocess, MARK, True)
    return postprocess


class TrackedMethod:
    """What :func:`track_metrics` returns until the class it stands in is complete.

    The class then gets a plain function instead, the attributes that are promised
    for a decorated class, and a postprocess() that never sees our key. A function
    that stands in no class stays this, and is its own processor.
    """

    def __init__(self, func: Callable[..., Any]) -> None:
        functools.update_wrapper(self, func)
        self._function = _wrap_process(_as_method(func))

    def __set_name__(self, owner: type, name: str) -> None:
        setattr(owner, name, self._function)
        prepare(owner)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        # here only if it was assigned to a class that was complete already
        for cls in (owner or type(instance)).__mro__:
            for name, value in list(vars(cls).items()):
                if value is self:
                    self.__set_name__(cls, name)
        return self._function.__get__(instance, owner)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function of the events, or the method as one of processor and events."""
        if not args or len(args) + ("events" in kwargs) == 1:
            return _wrap_function(self.__wrapped__)(self, *args, **kwargs)  # type: ignore[attr-defined]
        return self._function(*args, **kwargs)

    def __reduce__(self) -> Any:
        from roastcoffea.measure import FLAG, LEFT

        func: Any = self.__wrapped__  # type: ignore[attr-defined]
        name = getattr(func, "__name__", "")
        here: Any = getattr(sys.modules.get(func.__module__), name, None)
        if isinstance(here, TrackedMethod) and here.__wrapped__ is func:  # type: ignore[attr-defined]
            func.__qualname__ = f"{name}.__wrapped__"  # where pickle finds it: its name is ours
        flags = {name: value for name, value in vars(self).items() if name in (FLAG, LEFT)}
        return TrackedMethod, (func,), flags or None


def prepare(owner: type) -> None:
    """Give a class what every decorated one has."""
    for name, descriptor in ((CURRENT, CurrentChunk()), (RECORDS, LocalRecords())):
        if name not in vars(owner):
            setattr(owner, name, descriptor)
    hide_key(owner)
    if "__init_subclass__" not in vars(owner) or not hasattr(
        vars(owner)["__init_subclass__"], MARK
    ):
        watch_subclasses(owner)


def hide_key(cls: type) -> None:
    """Wrap the postprocess() of a class, its own or an inherited one, once."""
    inner = inspect.getattr_static(cls, "postprocess", None)
    if inner is None or getattr(inner, "__isabstractmethod__", False):
        return
    if not hasattr(inner, MARK):
        cls.postprocess = _wrap_postprocess(inner)  # type: ignore[attr-defined]


def watch_subclasses(owner: type) -> None:
    """Do the same for every subclass with a postprocess() of its own."""
    inner = vars(owner).get("__init_subclass__")

    def __init_subclass__(cls: Any, /, **kwargs: Any) -> None:
        if inner is not None:
            inner.__get__(None, cls)(**kwargs)
        else:
            super(owner, cls).__init_subclass__(**kwargs)  # type: ignore[arg-type]
        try:
            from roastcoffea.decorator import hide_key
        except ImportError:
            return
        hide_key(cls)

    hook: Any = classmethod(__init_subclass__)
    setattr(hook, MARK, True)
    owner.__init_subclass__ = hook  # type: ignore[method-assign]


class CurrentChunk:
    """``processor._roastcoffea_current_chunk``: that of the calling thread, while it runs one.

    A dict that is put there by hand is kept in the instance as if this were not here.
    """

    _roastcoffea_descriptor = True

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        from roastcoffea.native import chunk_of

        chunk = chunk_of(instance)
        if chunk is None:
            chunk = getattr(instance, "__dict__", {}).get(CURRENT)
        if chunk is None:
            raise AttributeError(f"no chunk of this {type(instance).__name__} is running")
        return chunk

    def __set__(self, instance: Any, value: Any) -> None:
        from roastcoffea.native import expect_containers

        instance.__dict__[CURRENT] = value
        expect_containers()

    def __delete__(self, instance: Any) -> None:
        try:
            del instance.__dict__[CURRENT]
        except (AttributeError, KeyError):
            raise AttributeError(CURRENT) from None


class LocalRecords:
    """``processor._chunk_metrics``: what ran in this process and had no channel to a client."""

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        from roastcoffea.measure import local_records

        return local_records(type(instance) if owner is None else owner)


def _extract_chunk_metadata(events: Any) -> dict[str, Any]:
    """Return what identifies a chunk; without ``num_events`` if the events have no length."""
    from roastcoffea import inputs, measure

    fields: dict[str, Any] = {}
    measure.number_of_events(events, fields)
    if fields["num_events"] is None:
        del fields["num_events"]
    about = inputs.about(inputs.metadata_of(events))
    for name in ("dataset", "file", "uuid", "entry_start", "entry_stop"):
        fields[name] = about[name]
    return fields


def _extract_file_metadata(
    file_handle: Any, filename: str | None = None, treename: str = "Events"
) -> dict[str, Any] | None:
    """Return the documented ``file_metadata`` of an open file, or None."""
    from roastcoffea import trees

    try:
        opened = trees.open_tree(file_handle, treename)
        tree = trees.Tree(opened)
        return {**tree.metadata(filename), "branch_bytes": tree.branch_bytes(opened)}
    except Exception:
        return None
