"""UTC that no clock step changes."""

from __future__ import annotations

import time


class RunClock:
    """The wall clock as it was at one instant, and the monotonic clock since.

    >>> clock = RunClock()
    >>> clock.utc_ns() <= clock.utc_ns()
    True
    """

    def __init__(self) -> None:
        self.offset_ns = time.time_ns() - time.monotonic_ns()

    def utc_ns(self) -> int:
        """Return the time in nanoseconds since 1970."""
        return self.offset_ns + time.monotonic_ns()

    def step_ns(self) -> int:
        """Return by how much the wall clock was set since."""
        return time.time_ns() - self.utc_ns()
