"""From a native summary to the documented dicts, with the fallbacks that they keep."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from roastcoffea._roast import Summary
from roastcoffea.metrics import Metrics


def documented(summary: Summary, fallbacks: Mapping[str, Any]) -> Metrics:
    """Return the metrics that ``fallbacks`` names; what is absent has its fallback there."""
    known, absent, estimated = summary.metrics(), summary.absent(), summary.estimated()
    return Metrics(
        {key: known.get(key, fallback) for key, fallback in fallbacks.items()},
        {key: absent[key] for key in fallbacks if key in absent},
        {key: estimated[key] for key in fallbacks if key in estimated},
    )


def merge(metrics: Metrics, part: Mapping[str, Any]) -> None:
    """Add a part; what it says of a key replaces what was said before."""
    for key in part:
        metrics.absent.pop(key, None)
        metrics.estimated.pop(key, None)
    for key in part.keys():  # noqa: SIM118  (what is to be made later stays so)
        metrics[key] = dict.__getitem__(part, key) if isinstance(part, dict) else part[key]
    metrics.absent.update(getattr(part, "absent", {}))
    metrics.estimated.update(getattr(part, "estimated", {}))
