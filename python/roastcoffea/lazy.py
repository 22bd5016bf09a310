"""Dicts and lists that make what they hold when it is looked at.

A run may have a million chunks and millions of samples. The documented dicts and lists hold them
all; these are such dicts and lists, also for ``isinstance`` and ``json``, but nothing is made of
what nobody looks at.
"""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterable, Iterator, Mapping, ValuesView
from typing import Any, SupportsIndex


class Later:
    """A value that is made when it is asked for."""

    __slots__ = ("make",)

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make


class LazyDict(dict[str, Any]):
    """A dict in which a value may be :class:`Later`: it is made once, when it is asked for.

    >>> numbers = LazyDict(one=1, two=Later(lambda: 2))
    >>> numbers["two"], numbers == {"one": 1, "two": 2}
    (2, True)
    """

    def __getitem__(self, key: str) -> Any:
        value = super().__getitem__(key)
        if type(value) is Later:
            value = value.make()
            self[key] = value
        return value

    def _made(self) -> LazyDict:
        for key in self.keys():
            self[key]
        return self

    def __iter__(self) -> Iterator[str]:
        # its being here keeps dict(self) and {**self} from copying what is not made yet
        return super().__iter__()

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value, or the default."""
        return self[key] if key in self else default  # noqa: SIM401

    def items(self) -> ItemsView[str, Any]:  # type: ignore[override]
        """Return a view of the pairs."""
        return dict.items(self._made())

    def values(self) -> ValuesView[Any]:  # type: ignore[override]
        """Return a view of the values."""
        return dict.values(self._made())

    def pop(self, key: str, *default: Any) -> Any:
        """Remove a key and return its value."""
        if key in self:
            self[key]
        return super().pop(key, *default)

    def popitem(self) -> tuple[str, Any]:
        """Remove the last pair and return it."""
        key = next(reversed(self.keys()))
        return key, self.pop(key)

    def setdefault(self, key: str, default: Any = None) -> Any:
        """Return the value; the default becomes it where there is none."""
        super().setdefault(key, default)
        return self[key]

    def copy(self) -> dict[str, Any]:
        """Return a plain dict of the same."""
        return dict(self)

    def __or__(self, other: Any) -> Any:
        return {**self, **other} if isinstance(other, Mapping) else NotImplemented

    def __ror__(self, other: Any) -> Any:
        return {**other, **self} if isinstance(other, Mapping) else NotImplemented

    def __eq__(self, other: object) -> bool:
        return dict.__eq__(self._made(), other._made() if isinstance(other, LazyDict) else other)

    def __ne__(self, other: object) -> bool:
        return dict.__ne__(self._made(), other._made() if isinstance(other, LazyDict) else other)

    __hash__ = None

    def __repr__(self) -> str:
        return dict.__repr__(self._made())


class RecordList(list[Any]):
    """The list of chunk records: as long as nobody looks at one, they stay encoded.

    Attributes
    ----------
    records
        the encoded records, or None once dicts were made of them
    changed
        whether somebody has put records in or taken some out
    """

    def __init__(self, records: Any = None) -> None:
        super().__init__()
        self.records = records
        self.changed = False

    @classmethod
    def of_run(cls, run: Any) -> RecordList:
        """Return the records of a run."""
        from roastcoffea.native import Records

        return cls(Records.from_bytes(run.chunks()))

    def made(self) -> RecordList:
        """Make the dicts, if that has not happened, and return the list itself."""
        if self.records is not None:
            records, self.records = self.records, None
            super().extend(records)
        return self

    def _change(self) -> RecordList:
        self.changed = True
        return self.made()

    def __len__(self) -> int:
        return super().__len__() if self.records is None else len(self.records)

    def __bool__(self) -> bool:
        return len(self) > 0

    def __iter__(self) -> Iterator[Any]:
        return list.__iter__(self.made())

    def __getitem__(self, index: Any) -> Any:
        return list.__getitem__(self.made(), index)

    def __setitem__(self, index: Any, value: Any) -> None:
        list.__setitem__(self._change(), index, value)

    def __delitem__(self, index: SupportsIndex | slice) -> None:
        list.__delitem__(self._change(), index)

    def __contains__(self, item: object) -> bool:
        return list.__contains__(self.made(), item)

    def __reversed__(self) -> Iterator[Any]:
        return list.__reversed__(self.made())

    def __eq__(self, other: object) -> bool:
        return list.__eq__(self.made(), _plain(other))

    def __ne__(self, other: object) -> bool:
        return list.__ne__(self.made(), _plain(other))

    __hash__ = None

    def __add__(self, other: Any) -> Any:
        return list.__add__(self.made(), list(other))

    def __radd__(self, other: Any) -> Any:
        return list(other) + list(self)

    def __iadd__(self, other: Iterable[Any]) -> RecordList:  # type: ignore[misc]
        self.extend(other)
        return self

    def __mul__(self, n: SupportsIndex) -> list[Any]:
        return list.__mul__(self.made(), n)

    __rmul__ = __mul__

    def __repr__(self) -> str:
        return list.__repr__(self.made())

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (list(self),)

    def append(self, item: Any) -> None:
        """Add a record."""
        list.append(self._change(), item)

    def extend(self, items: Iterable[Any]) -> None:
        """Add records."""
        list.extend(self._change(), items)

    def insert(self, index: SupportsIndex, item: Any) -> None:
        """Put a record in."""
        list.insert(self._change(), index, item)

    def pop(self, index: SupportsIndex = -1) -> Any:
        """Take a record out."""
        return list.pop(self._change(), index)

    def remove(self, item: Any) -> None:
        """Take the first record out that is equal."""
        list.remove(self._change(), item)

    def clear(self) -> None:
        """Forget all records."""
        self.records = None
        self.changed = True
        super().clear()

    def index(self, item: Any, *where: SupportsIndex) -> int:
        """Return where a record stands."""
        return list.index(self.made(), item, *where)

    def count(self, item: Any) -> int:
        """Return how many records are equal."""
        return list.count(self.made(), item)

    def copy(self) -> list[Any]:
        """Return a plain list of the same records."""
        return list(self)

    def reverse(self) -> None:
        """Turn the order round."""
        list.reverse(self._change())

    def sort(self, **how: Any) -> None:
        """Sort the records."""
        list.sort(self._change(), **how)


def _plain(other: object) -> object:
    """What C code that compares lists may look into."""
    if isinstance(other, RecordList):
        return other.made()
    return list(other) if type(other).__name__ == "Records" else other  # type: ignore[call-overload]
