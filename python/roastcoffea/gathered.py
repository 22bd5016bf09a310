"""What is known of a run, measured and given by hand, and the metrics that are made of it."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from roastcoffea._roast import Run, Summary
from roastcoffea.custom import add_custom
from roastcoffea.lazy import Later, LazyDict, RecordList
from roastcoffea.lifecycle import Lifecycle
from roastcoffea.metrics import Metrics, metrics_of_run, registry
from roastcoffea.recording import note_report

if TYPE_CHECKING:
    from roastcoffea.aggregation.core import MetricsAggregator

logger = logging.getLogger("roastcoffea.collector")

ONLY_IN_OUTPUT = "records came in the output alone, which has none of attempts that failed"


class Gathered(Lifecycle):
    """Takes what users give and makes metrics of that and of the run.

    The metrics are the run's, computed by the library, unless the run does not have everything:
    then the documented functions on plain data make them.
    """

    def __init__(self) -> None:
        super().__init__()
        self.coffea_report: Mapping[str, Any] | None = None
        self.custom_metrics: Mapping[str, Any] | None = None
        self.metrics: Metrics | None = None
        self.section_metrics: list[Any] = []
        self._run_is_read = False
        self._is_plain = False  # whether the metrics come from plain data, and not from the run
        self._chunk_metrics: Any = None
        self._recorded: list[Mapping[str, Any]] = []

    # -- what users give ---------------------------------------------------------------

    def set_coffea_report(
        self, report: Mapping[str, Any], custom_metrics: Mapping[str, Any] | None = None
    ) -> None:
        """Take the report of ``Runner(savemetrics=True)``.

        Parameters
        ----------
        report
            coffea's report; what it lacks, or says without sense, is absent from the metrics,
            with that reason
        custom_metrics
            ``{dataset: {"entries", "duration", "performance_counters":
            {"num_requested_bytes"}}}``: replaces the report's sums
        """
        if report is not None and not isinstance(report, Mapping):
            logger.warning("the report is not a mapping, but a %s", type(report).__name__)
            report = {}
        self.coffea_report = report
        self.custom_metrics = custom_metrics
        self.metrics = None
        run = self._run
        if run is not None and report is not None:
            with self._guarded("keeping the report"):
                note_report(run, report, custom_metrics)

    def extract_metrics_from_output(self, output: Any) -> None:
        """Take the chunk records out of a coffea output, where it carries them."""
        from roastcoffea.native import Records

        key = "__roastcoffea_metrics__"
        try:
            if key not in output:
                return
            records = output[key]
        except Exception:  # no container, or one with rules of its own
            return
        if isinstance(records, RecordList) and records.records is not None:
            records = records.records
        if not isinstance(records, Records | list):
            logger.warning("Metrics not a list: %s", type(records).__name__)
            return
        try:
            del output[key]
        except Exception:  # it can only be read, or has rules of its own
            logger.debug("the output keeps its records: it cannot be changed")
        self.metrics = None
        if isinstance(records, Records) and self._run is not None:
            with self._guarded("keeping chunk records"):
                self.metrics_backend.take_records()
                if self.run.add_chunks(records.to_bytes()) and self.backend != "dask":
                    self.run.fact("backend.records_shortfall", ONLY_IN_OUTPUT)
                self.run.commit()
                self._chunk_metrics = None
                return
        self._chunk_metrics = RecordList(records) if isinstance(records, Records) else records
        if self._recorded:
            self._chunk_metrics = [*self._chunk_metrics, *self._recorded]

    def set_chunk_metrics(self, records: Any) -> None:
        """Take chunk records, as ``processor._chunk_metrics`` holds them; an empty list changes
        nothing.
        """
        if len(records):
            self.extract_metrics_from_output({"__roastcoffea_metrics__": records})

    def record_chunk_metrics(self, chunk_data: Mapping[str, Any]) -> None:
        """Append a chunk record."""
        self._recorded.append(chunk_data)  # more may come of the run itself
        if isinstance(self._chunk_metrics, list):
            self._chunk_metrics.append(chunk_data)
        self.metrics = None

    def record_section_metrics(self, section_data: Mapping[str, Any]) -> None:
        """Append a section record."""
        self.section_metrics.append(section_data)
        self.metrics = None

    # -- what users get ----------------------------------------------------------------

    @property
    def chunk_metrics(self) -> Any:
        """The chunk records: a sequence of dicts; while a run lasts, those that have arrived."""
        self._take_appended()
        if self._chunk_metrics is not None:
            return self._chunk_metrics
        records = self._read_chunks()
        if self._run is None or not self._collecting:
            self._chunk_metrics = records
        else:
            self._looked_at = records, len(records)
        return records

    @chunk_metrics.setter
    def chunk_metrics(self, records: Any) -> None:
        self._chunk_metrics = records
        self.metrics = None

    def _take_appended(self) -> None:
        """Keep what somebody has appended to the list that was looked at last in a run."""
        (records, n), self._looked_at = self._looked_at, ([], 0)
        if len(records) > n:
            self._recorded.extend(records[n:])

    def _read_chunks(self) -> Any:
        if self._run is None:
            return list(self._recorded)
        records = RecordList.of_run(self._run)
        if self._recorded:
            records.extend(self._recorded)
        return records

    def get_metrics(self) -> Metrics:
        """Return all metrics, in one flat dict.

        Raises
        ------
        RuntimeError
            before the block has been left, or without a report
        """
        if self.metrics is None:
            if self.t_start is None or self.t_end is None:
                raise RuntimeError("Timing not available: the with block has not been left")
            if self.coffea_report is None:
                raise RuntimeError("Coffea report not set: call set_coffea_report(report)")
            self._aggregate()
        if self.metrics is None:
            raise RuntimeError("Metrics aggregation failed")
        return self.metrics

    def _aggregate(self) -> None:
        from roastcoffea.aggregation.documented import merge

        if self.span_metrics and self.processor_name is None:
            logger.warning(
                "Fine metrics cannot tell the processor from Dask's overhead: "
                "give the collector processor_instance="
            )
        self._is_plain = True
        if self._run is None or self._unwritten or self._has_own_aggregator:
            self.metrics = self._aggregate_plain()
            return
        self._take_appended()
        if self._recorded:
            self.chunk_metrics  # noqa: B018  (together with those of the run)
        metrics = metrics_of_run(self._run, with_workers=self.tracking_data is not None)
        plain = None if isinstance(self.tracking_data, LazyDict) else self.tracking_data
        if "avg_workers" in metrics.absent and plain and plain.get("worker_counts"):
            self.metrics = self._aggregate_plain()  # the back end wrote no samples into the run
            self.metrics.run = self._run
            return
        self._is_plain = False
        if self._records_are_given or self.section_metrics:
            merge(metrics, self._chunk_shapes())
        elif "raw_chunk_metrics" in metrics:
            metrics["raw_chunk_metrics"] = Later(lambda: self.chunk_metrics)
        if isinstance(self.tracking_data, LazyDict) and metrics["tracking_data"] is not None:
            self.tracking_data = metrics["tracking_data"]  # that of the whole run
        else:
            metrics["tracking_data"] = self.tracking_data
        if self.span_metrics:
            metrics["raw_span_metrics"] = self.span_metrics
        if self.section_metrics:
            metrics["raw_section_metrics"] = self.section_metrics
        with self._guarded("computing the user's metrics"):
            add_custom(metrics, self._writable)
        self.metrics = metrics

    @property
    def _writable(self) -> Run | None:
        """The run, if what is learned late can still be noted in it."""
        return None if self._run_is_read else self._run

    def _note_custom(self) -> None:
        """Compute the user's metrics also where no report was given."""
        add_custom(self._known(), self._writable)

    def _aggregate_plain(self) -> Metrics:
        """Return the metrics of what was put here by hand, or by a back end without a run."""
        assert self.t_start is not None
        assert self.t_end is not None
        tracking_data = self.tracking_data
        if self._unwritten and not (tracking_data or {}).get("worker_cores"):
            tracking_data = None  # nothing of the workers was written: there were some
        metrics = self.aggregator.aggregate(
            self.coffea_report,
            tracking_data,
            self.t_start,
            self.t_end,
            custom_metrics=self.custom_metrics,
            span_metrics=self.span_metrics,
            processor_name=self.processor_name,
            chunk_metrics=self.chunk_metrics,
            section_metrics=self.section_metrics,
        )
        if self._unwritten and isinstance(metrics, Metrics):  # else an aggregator of the user's
            self._note_unwritten(metrics, self._unwritten)
        return metrics

    def _note_unwritten(self, metrics: Metrics, reason: str) -> None:
        """Say of what comes from a run without its end that there may have been more."""
        metrics.run = self._run
        for key, group, *_ in registry():
            of_run = group in ("worker", "chunk", "coverage", "efficiency") or key == "num_chunks"
            if of_run and key in metrics and key not in metrics.absent:
                metrics.estimated.setdefault(key, reason)

    def _chunk_shapes(self) -> Metrics:
        """Return what the documented dict holds of chunks and sections that somebody gave."""
        from roastcoffea.aggregation.core import aggregate_records

        records = self.chunk_metrics
        counted = [r for r in records if r.get("outcome") not in ("lost", "graph")]
        shapes = aggregate_records(counted, self.section_metrics, self.coffea_report)
        if not self._records_are_given:  # the run has them, and computes the scalars better
            scalars = {key for row in registry() for key in (row[0], *row[8])}
            for key in scalars & shapes.keys():
                del shapes[key]
        if counted:
            shapes["raw_chunk_metrics"] = records
        return shapes

    @property
    def _records_are_given(self) -> bool:
        """Whether the chunk records are dicts that somebody gave, and not the run's."""
        records = self._chunk_metrics
        return isinstance(records, list) and getattr(records, "changed", True)

    @property
    def _has_own_aggregator(self) -> bool:
        """Whether somebody has put another aggregator, or another ``aggregate()``, here."""
        from roastcoffea.aggregation.core import MetricsAggregator

        own = vars(self).get("aggregator")
        return own is not None and (type(own) is not MetricsAggregator or "aggregate" in vars(own))

    @cached_property
    def aggregator(self) -> MetricsAggregator:
        """The aggregation functions, for plain dicts."""
        from roastcoffea.aggregation.core import MetricsAggregator

        try:
            return MetricsAggregator(self.backend)
        except ValueError:  # no parser of its own: its tracking data have the documented keys
            return MetricsAggregator("dask")

    def summary(self) -> Summary:
        """Return what is known now, also in the middle of a run."""
        if self._run is None or self._knows_more:
            return Run.from_metrics(self.get_metrics()).summary()
        return self._run.summary()

    @property
    def _knows_more(self) -> bool:
        """Whether the metrics hold what the run does not: what was put here by hand, or came from
        a back end that writes no samples.
        """
        if self.metrics is None and (self.t_end is None or self.coffea_report is None):
            return False
        if not isinstance(self.tracking_data, LazyDict | None):
            self.get_metrics()  # they are another back end's: this tells whether the run has them
        assigned = not isinstance(self.metrics, Metrics | None)
        given = self._records_are_given or bool(self.section_metrics)
        return assigned or given or self._is_plain or self._has_own_aggregator
