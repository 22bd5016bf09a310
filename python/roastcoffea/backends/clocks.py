"""How far the clocks of a cluster are from the client's.

A message cannot arrive before it was sent. One from the client, sent when its clock showed ``a``
and received when the other's showed ``b``, says that the other's clock is behind the client's by
at least ``a - b``; one to the client, sent at ``b`` and received at ``a``, by at most ``a - b``.
The offset lies between the largest of the former and the smallest of the latter. Where zero does
too, as on one host, the clocks may be the same and nothing is corrected.
"""

from __future__ import annotations

from collections.abc import Callable


class Clocks:
    """Bounds of the offsets, by who has the clock.

    ``changed`` is called with a name, the offset that is to be added to its stamps and how far
    off that may be, whenever the correction changes.

    >>> clocks = Clocks(print)
    >>> clocks.asked("worker", 1_000, 41_050)  # it took 50 at most until it got the message
    >>> clocks.heard("worker", 41_060, 1_030)
    worker -40040 10
    >>> clocks.offset_ns("worker")
    -40040
    """

    def __init__(self, changed: Callable[[str, int, int], None]) -> None:
        self._changed = changed
        self._lowest: dict[str, int] = {}
        self._highest: dict[str, int] = {}
        self._offsets: dict[str, int] = {}

    def asked(self, who: str, sent_ns: int, received_ns: int) -> None:
        """Take a message from the client: when it was sent here, and received there."""
        bound = sent_ns - received_ns
        if bound > self._lowest.get(who, bound - 1):
            self._lowest[who] = bound
            self._estimate(who)

    def heard(self, who: str, sent_ns: int, received_ns: int) -> None:
        """Take a message to the client: when it was sent there, and received here."""
        bound = received_ns - sent_ns
        if bound < self._highest.get(who, bound + 1):
            self._highest[who] = bound
            self._estimate(who)

    def _estimate(self, who: str) -> None:
        """Keep the correction while it is possible, so that stamps do not jitter."""
        low, high = self._lowest.get(who), self._highest.get(who)
        if low is None or high is None:
            return
        high = max(low, high)
        known = self._offsets.get(who, 0)
        if low <= known <= high:
            return
        self._offsets[who] = 0 if low <= 0 <= high else (low + high) // 2
        self._changed(who, self._offsets[who], (high - low) // 2)

    def offset_ns(self, who: str) -> int:
        """Return what is to be added to stamps of that clock."""
        return self._offsets.get(who, 0)
