"""The documented metrics dict, made from a run's summary."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from roastcoffea import _roast
from roastcoffea.lazy import Later, LazyDict, RecordList

if TYPE_CHECKING:
    from roastcoffea._roast import MetricRow, Run, Summary


class Metrics(LazyDict):
    """The flat dict of metrics, with the reasons of what is missing beside it.

    What may be very large (``chunk_info``, ``tracking_data``, ``raw_chunk_metrics``, ...) is made
    when it is looked at.

    Attributes
    ----------
    absent
        why a metric is not known, by key; the dict holds the documented fallback (0 or None),
        or nothing, for it
    estimated
        how a metric was estimated, by key
    custom
        which keys are metrics of the user's own: ``{key: {"title", "unit", "better"}}``
    run, summary
        the run that they are of, if it is known, and what was computed from it
    """

    def __init__(
        self,
        values: Mapping[str, Any] | Iterable[tuple[str, Any]] = (),
        absent: Mapping[str, str] | None = None,
        estimated: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(values)
        self.absent = dict(absent or {})
        self.estimated = dict(estimated or {})
        self.custom: dict[str, dict[str, str]] = {}
        self.run: Run | None = None
        self.summary: Summary | None = None

    def of_run(self) -> Metrics:
        """Return them as they are in the run, whatever somebody has changed here."""
        assert self.run is not None
        return metrics_of_run(self.run, summary=self.summary)

    def __reduce__(self) -> tuple[Any, ...]:
        state = {"absent": self.absent, "estimated": self.estimated, "custom": self.custom}
        return type(self), (dict(self),), state


@cache
def registry() -> list[MetricRow]:
    """Return the registry of metrics: a row for each."""
    return _roast.metrics()


def metrics_of_run(
    run: Run, *, with_workers: bool | None = None, summary: Summary | None = None
) -> Metrics:
    """Return the documented metrics dict of a run; what is large is made when it is asked for.

    ``with_workers`` says whether worker tracking was on: its keys are there even if it saw
    nothing. None: as the run says. ``summary`` is the run's, where it is known already.
    """
    from roastcoffea.backends.tracking import tracking_of_run

    summary = summary or run.summary()
    follows = -1 if with_workers is None else int(with_workers)
    values, large = run.documented(summary, follows)
    result = Metrics(values, summary.absent(), summary.estimated())
    result.run, result.summary = run, summary
    for key in large:
        result[key] = Later(partial(run.documented, summary, follows, key))
    if "raw_chunk_metrics" in large:
        result["raw_chunk_metrics"] = Later(partial(RecordList.of_run, run))
    result["tracking_data"] = tracking_of_run(run)
    estimated = summary.ledger_estimated()
    if estimated:
        result.estimated["time_ledger"] = f"estimated of each worker: {', '.join(estimated)}"
    if "file_read_metrics" in result and "avg_bytes_read_percent" in result.estimated:
        result.estimated["file_read_metrics"] = result.estimated["avg_bytes_read_percent"]
    if "accessed_branches" in result and "raw_chunk_metrics" not in result:
        result.absent.pop("total_branches_read", None)
    for key, row in summary.custom().items():
        result.custom[key] = {name: row[name] for name in ("title", "unit", "better")}
        if row["reason"] is not None:
            result.absent[key] = row["reason"]
    return result
