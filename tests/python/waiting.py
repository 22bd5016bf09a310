"""Waiting for what happens elsewhere. It imports nothing: workers load the tests that use it."""

from __future__ import annotations

import time
from collections.abc import Callable


def until(condition: Callable[[], bool], timeout_s: float = 20) -> bool:
    """Wait for a condition."""
    end = time.monotonic() + timeout_s
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False
