"""The flags of a processor and its class, by which ``@track_metrics`` knows that it is measured."""

from __future__ import annotations

import logging
from typing import Any

from roastcoffea import collecting
from roastcoffea.measure import FLAG, LEFT

logger = logging.getLogger("roastcoffea.collector")


class ClassFlag:
    """A flag on a class: true while a collector is entered, and only in the process of that.

    A class that is pickled by value gets attributes at its destination, but loses none: what
    arrives there has to mean nothing. The instance takes its own flag along.
    """

    def __init__(self, before: Any = None) -> None:
        self.on = True
        self.before = before  # what the class had, to be given back

    def __get__(self, instance: Any, owner: type | None = None) -> bool | None:
        return True if self.on else None

    def __reduce__(self) -> Any:
        return type(None), ()


class Flags:
    """What switches measuring on while one collector is entered: in this process and the children
    of its pools, and the flags of one processor.

    A processor that takes no attributes has none: a function, an object without ``__dict__``, or
    with rules of its own.
    """

    def __init__(self, processor: Any = None) -> None:
        self.processor = processor
        self.of_class = ClassFlag()
        self.before: Any = None  # what the processor itself had

    def hoist(self) -> None:
        """Let the processor, and others of its class, be measured."""
        collecting.hold_collecting()
        processor, cls = self.processor, type(self.processor)
        if processor is None:
            return
        try:
            own = vars(processor)
            self.of_class = ClassFlag(vars(cls).get(FLAG))
            self.before = None if LEFT in own else own.get(FLAG)
            if LEFT in own:
                delattr(processor, LEFT)
            setattr(processor, FLAG, True)
            setattr(cls, FLAG, self.of_class)
        except Exception:
            logger.debug("the processor takes no attributes")

    def lower(self) -> None:
        """Give back what was before, unless it belongs to another collector or to the user now."""
        collecting.release_collecting()
        if self.processor is None:
            return
        self.of_class.on = False
        try:
            self._lower_own(self.processor)
            self._lower_class(type(self.processor))
        except Exception:
            logger.debug("the processor takes no attributes")

    def _lower_own(self, processor: Any) -> None:
        if vars(processor).get(FLAG) is not True:
            return  # the user has changed it
        setattr(processor, FLAG, self.before or False)
        if self.before is None:
            setattr(processor, LEFT, True)

    def _lower_class(self, cls: type) -> None:
        if vars(cls).get(FLAG, self) not in (self.of_class, None):
            return  # another collector's, who gives back what was before both
        before = self.of_class.before
        while isinstance(before, ClassFlag) and not before.on:
            before = before.before
        if before is None:
            delattr(cls, FLAG)
        else:
            setattr(cls, FLAG, before)
