"""Helpers that the documents name."""

from __future__ import annotations

import sys

from roastcoffea._roast import process_memory_mb


def get_process_memory() -> float:
    """Return the resident memory of this process in MB (2**20 bytes).

    psutil is not needed; as documented, the answer is 0.0 where importing psutil is barred.

    >>> get_process_memory() > 1
    True
    """
    if sys.modules.get("psutil", sys) is None:
        return 0.0
    return process_memory_mb()
