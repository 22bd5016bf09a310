"""The collector: a context manager around a coffea run."""

from __future__ import annotations

import inspect
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from roastcoffea._roast import Run, Summary
from roastcoffea.backends import make_backend, registered
from roastcoffea.custom import add_custom
from roastcoffea.lazy import LazyDict, RecordList
from roastcoffea.lifecycle import Lifecycle
from roastcoffea.metrics import Metrics, metrics_of, parts_of, registry
from roastcoffea.recording import note_report

if TYPE_CHECKING:
    from roastcoffea.aggregation.core import MetricsAggregator
    from roastcoffea.answers import Explanation, Forecast
    from roastcoffea.opened import OpenRun

logger = logging.getLogger(__name__)

_NO_CLIENT: Any = object()

ONLY_IN_OUTPUT = "records came in the output alone, which has none of attempts that failed"

ROWS_SHOWN = 10  # of a table of files, branches and so on, in a summary


def _documented_signature(init: Callable[..., None]) -> inspect.Signature:
    """Return the signature that users see: ``*args`` are the first five, in their order."""
    parameters = {
        name: parameter
        for name, parameter in inspect.signature(init).parameters.items()
        if name not in ("self", "args")
    }
    parameters["backend"] = parameters["backend"].replace(default="dask", annotation="str")
    either = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Signature(
        [
            parameter.replace(kind=either) if i < 5 else parameter
            for i, parameter in enumerate(parameters.values())
        ]
    )


class MetricsCollector(Lifecycle):
    """Measures what happens inside a ``with`` block.

    Parameters
    ----------
    client
        a Dask client, or a coffea executor (its client is used); without one, or with an executor
        that has none, the local back end, and that of TaskVine for its executor
    backend
        name of the back end: ``"dask"``, ``"local"``, ``"taskvine"`` or one that
        :func:`roastcoffea.backends.register_backend` knows. As a second positional argument
        anything else is the output directory.
    track_workers
        whether to follow the workers
    worker_tracking_interval
        seconds between two samples of a worker, from 0.05 to 60
    processor_instance
        the processor: its class name tells its tasks from Dask's overhead
    output_dir
        where to write the run, as ``DIR/NAME.roast``, while it lasts; without it the run is kept
        in memory
    measurement_name
        the run's name; the time in UTC if none is given
    progress
        whether to show a line with chunks, rates, workers and memory while the run lasts
    serve
        whether to show the run in a browser while it grows (:attr:`address`); needs ``output_dir``

    Example
    -------
    ::

        with MetricsCollector(client, processor_instance=processor, output_dir="runs") as collector:
            output, report = runner(fileset, processor)
            collector.set_coffea_report(report)
        collector.print_summary()
    """

    def __init__(
        self,
        client: Any = _NO_CLIENT,
        *args: Any,
        backend: str | None = None,
        track_workers: bool = True,
        worker_tracking_interval: float = 1.0,
        processor_instance: Any = None,
        output_dir: str | os.PathLike[str] | None = None,
        measurement_name: str | None = None,
        progress: bool = False,
        serve: bool = False,
    ) -> None:
        if args:
            second, *rest = args
            if isinstance(second, str) and second in registered():
                backend = second
            else:
                output_dir = second
            names = ("track_workers", "worker_tracking_interval", "processor_instance")
            if len(rest) > len(names):
                raise TypeError(f"at most 5 positional arguments are taken, not {len(args) + 1}")
            positional = dict(zip(names, rest, strict=False))
            track_workers = positional.get("track_workers", track_workers)
            worker_tracking_interval = positional.get(
                "worker_tracking_interval", worker_tracking_interval
            )
            processor_instance = positional.get("processor_instance", processor_instance)
        if track_workers and not 0.05 <= worker_tracking_interval <= 60:
            raise ValueError(
                "worker_tracking_interval must be from 0.05 to 60 seconds, "
                f"not {worker_tracking_interval!r}"
            )
        executor = None
        if client is not _NO_CLIENT and client is not None:
            client, executor = _client_of(client)
        if backend is None and _is_executor(executor, "TaskVineExecutor"):
            backend = "taskvine"
        elif backend is None:
            backend = "local" if client is _NO_CLIENT else "dask"

        super().__init__()
        self.client = None if client is _NO_CLIENT else client
        self.backend = backend
        self.track_workers = track_workers
        self.worker_tracking_interval = worker_tracking_interval
        self.processor_instance = processor_instance
        self.processor_name = (
            None if processor_instance is None else type(processor_instance).__name__
        )  # coffea names tasks after the class, those of a function or partial too
        self.output_dir = Path(output_dir) if output_dir is not None else None
        self.measurement_name = measurement_name
        if serve and self.output_dir is None:
            raise ValueError("serve=True shows the run file: output_dir says where it goes")
        self.progress = progress
        self.serve = serve
        self._followed = executor if self.client is None and backend != "dask" else self.client
        self.metrics_backend = make_backend(backend, self._followed)
        self.coffea_report: Mapping[str, Any] | None = None
        self.custom_metrics: Mapping[str, Any] | None = None
        self.metrics: Metrics | None = None
        self.section_metrics: list[Any] = []
        self._run_is_read = False
        self._is_plain = False  # whether the metrics come from plain data, and not from the run
        self._chunk_metrics: Any = None
        self._recorded: list[Mapping[str, Any]] = []

    __signature__ = _documented_signature(__init__)

    @classmethod
    def from_run(cls, path: str | os.PathLike[str]) -> MetricsCollector:
        """Return a collector of a run that was written: its metrics, tables and plots.

        Parameters
        ----------
        path
            a run file, or a measurement directory that holds one

        Example
        -------
        ::

            collector = MetricsCollector.from_run("runs/demo.roast")
            collector.print_summary()
        """
        from roastcoffea.opened import open_run

        return cls._of_opened(open_run(path))

    @classmethod
    def _of_opened(cls, opened: OpenRun) -> MetricsCollector:
        collector = cls(backend="local")
        collector.backend = opened.text("backend.name") or "local"
        collector.processor_name = opened.text("processor.name")
        collector.worker_tracking_interval = opened.interval_s
        collector.run_path = opened.path
        collector.coffea_report = opened.report
        collector.tracking_data = opened.tracking_data
        collector.span_metrics = opened.run.spans() or None
        collector.t_start = 0.0
        collector._start_utc_ns = int(opened.number("run.start_utc_ns") or 0)
        elapsed_s = opened.elapsed_s  # None: killed, or still going on
        if elapsed_s is None:
            elapsed_s = (opened.last_utc_ns - collector._start_utc_ns) / 1e9
        collector.t_end = elapsed_s
        collector._run = opened.run
        collector._run_is_read = True
        return collector

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
        from roastcoffea._probe import Records

        records = RecordList(Records.from_bytes(self._run.chunks()))
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
        self._is_plain = self._run is None or self._has_own_aggregator or bool(self._unwritten)
        if self._run is None or self._is_plain:
            self.metrics = self._aggregate_plain()
            if self._unwritten:
                self._note_unwritten(self.metrics, self._unwritten)
            return
        summary = self._run.summary()
        metrics = metrics_of(summary, with_workers=self.tracking_data is not None)
        if "avg_workers" in metrics.absent and (self.tracking_data or {}).get("worker_counts"):
            self._is_plain = True  # the back end wrote no samples into the run
            self.metrics = self._aggregate_plain()
            self.metrics.run = self._run
            return
        if "total_cpu_time" in metrics.absent:
            self._take_fallbacks(metrics)
        merge(metrics, self._chunk_shapes(summary, metrics))
        metrics.update(parts_of(summary))
        metrics["tracking_data"] = self.tracking_data
        if self.span_metrics:
            metrics["raw_span_metrics"] = self.span_metrics
        if self.section_metrics:
            metrics["raw_section_metrics"] = self.section_metrics
        metrics.run = self._run
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
        return self.aggregator.aggregate(
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

    def _note_unwritten(self, metrics: Metrics, reason: str) -> None:
        """Say of what comes from a run without its end that there may have been more."""
        metrics.run = self._run
        for key, group, *_ in registry():
            of_run = group in ("worker", "chunk", "coverage", "efficiency") or key == "num_chunks"
            if of_run and key in metrics and key not in metrics.absent:
                metrics.estimated.setdefault(key, reason)

    def _take_fallbacks(self, metrics: Metrics) -> None:
        """Without a process time the documented dict counts with the elapsed time."""
        from roastcoffea.aggregation.workflow import aggregate_workflow_metrics

        assert self.coffea_report is not None
        assert self.t_start is not None
        assert self.t_end is not None
        documented = aggregate_workflow_metrics(
            self.coffea_report, self.t_start, self.t_end, self.custom_metrics
        )
        for key in ("total_cpu_time", "event_rate_cpu_total_khz", "avg_cpu_time_per_chunk"):
            metrics[key] = documented[key]

    def _chunk_shapes(self, summary: Summary, metrics: Metrics) -> Metrics:
        """Return what the documented dict holds of the chunks beyond single figures."""
        from roastcoffea.aggregation.branch_coverage import branches_of_report
        from roastcoffea.aggregation.core import aggregate_records
        from roastcoffea.shapes import chunk_shapes

        records = self.chunk_metrics
        if self._records_are_given or self.section_metrics:
            counted = [r for r in records if r.get("outcome") not in ("lost", "graph")]
            shapes = aggregate_records(counted, self.section_metrics, self.coffea_report)
            if not self._records_are_given:  # the run has them, and computes the scalars better
                scalars = {key for row in registry() for key in (row[0], *row[8])}
                for key in scalars & shapes.keys():
                    del shapes[key]
        elif "num_successful_chunks" in metrics:
            counted = records
            shapes = chunk_shapes(self.run, summary, metrics)
            if not metrics.get("total_branches_read"):
                shapes.update(branches_of_report(self.coffea_report))
        else:
            return Metrics(branches_of_report(self.coffea_report))
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
            return Summary.from_metrics(self.get_metrics())
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

    def print_summary(self) -> None:
        """Print the tables; in the middle of a run, what is known until then."""
        from rich.console import Console

        from roastcoffea._roast import TABLES
        from roastcoffea.export.reporter import rich_table

        console = Console()
        summaries = [self.summary()]
        if self._run is not None and self._knows_more:
            summaries.append(self._run.summary())
        for name in TABLES:
            tables = (rich_table(s, name, console.width, ROWS_SHOWN) for s in summaries)
            table = next((table for table in tables if table is not None), None)
            if table is not None:
                console.print()
                console.print(table)
        console.print()

    def explain(self) -> Explanation:
        """Return where the run lost time: see :func:`roastcoffea.explain`."""
        from roastcoffea.answers import explain

        return explain(self)

    def predict(self, workers: int | Sequence[int] = (), **options: Any) -> Forecast:
        """Return how long it would take otherwise: see :func:`roastcoffea.predict`."""
        from roastcoffea.answers import predict

        return predict(self, workers, **options)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write a page that shows the run in any browser, and return its path.

        The page is one file and needs no network; in the middle of a run it shows what is known
        until then. A file of that name is replaced, but not a run.
        """
        self.run.report(path)
        return Path(path)

    def _repr_html_(self) -> str:
        """Show the tables in a notebook; before there is a run, say so."""
        if self._run is not None and not self._knows_more:
            return self._run._repr_html_()
        if self.metrics is not None:
            return self.summary()._repr_html_()
        return "<p>A roastcoffea collector that has not been entered yet.</p>"

    def plot_all(self, directory: str | os.PathLike[str]) -> list[Path]:
        """Draw every plot for which there is data, as PNG files, and return their paths.

        What could not be drawn, and why, is in the result's ``absent``.
        """
        from roastcoffea.visualization import plot_all

        return plot_all(self, directory)

    def save_measurement(
        self, output_dir: str | os.PathLike[str], measurement_name: str | None = None
    ) -> Path:
        """Write the measurement directory and return its path.

        Raises
        ------
        RuntimeError
            before the block has been left
        """
        if self.t_start is None or self.t_end is None:
            raise RuntimeError("Cannot save measurement before context manager completes")
        from roastcoffea.export.measurements import save_measurement

        start = self._start_utc_ns / 1e9
        end = start + (self.t_end - self.t_start)
        return save_measurement(
            self.get_metrics(), start, end, output_dir, measurement_name, run=self._run
        )


def _is_executor(thing: Any, name: str) -> bool:
    """Tell whether it is one of coffea's, by name: coffea may not be imported at all."""
    return any(cls.__name__ == name for cls in type(thing).__mro__)


def _client_of(first: Any) -> tuple[Any, Any]:
    """Return the Dask client, which the argument is or has, and the coffea executor, if it is one
    without a client.
    """
    if hasattr(first, "scheduler_info"):
        return first, None
    if not hasattr(first, "client"):
        return (_NO_CLIENT, first) if _is_executor(first, "ExecutorBase") else (first, None)
    if first.client is None:
        raise ValueError("the executor has no client yet: pass the client, or set executor.client")
    return first.client, None
