"""The collector: a context manager around a coffea run."""

from __future__ import annotations

import functools
import logging
import os
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from datetime import UTC, datetime
from enum import Enum, auto
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

from roastcoffea import runner
from roastcoffea._roast import Run, Summary
from roastcoffea.backends import make_backend, registered
from roastcoffea.backends.base import AbstractMetricsBackend
from roastcoffea.custom import add_custom
from roastcoffea.flags import Flags
from roastcoffea.lazy import Later, RecordList
from roastcoffea.measure import KEY
from roastcoffea.metrics import Metrics, metrics_of_run
from roastcoffea.recording import (
    Faults,
    RunWriter,
    added_reports,
    derived_report,
    environment,
    note_facts,
)

if TYPE_CHECKING:
    from roastcoffea.aggregation.core import MetricsAggregator
    from roastcoffea.answers import Explanation, Forecast

P = ParamSpec("P")
T = TypeVar("T")
Ask = Callable[[str], Callable[..., Awaitable[Any]]]

logger = logging.getLogger(__name__)

_NO_CLIENT: Any = object()
_OF_CLIENT = type("_OfClient", (str,), {"__doc__": "The back end that fits the client."})("dask")

ROWS_SHOWN = 10  # of a table of files, branches and so on, in a summary

ONLY_IN_OUTPUT = "records came in the output alone, which has none of attempts that failed"


class State(Enum):
    """Where a collector is in its life."""

    NEW = auto()
    ENTERING = auto()
    COLLECTING = auto()
    LEAVING = auto()
    LEFT = auto()
    FAILED = auto()  # there is no run, or it could not be written to its end


def _second_may_be_directory(
    init: Callable[Concatenate[Any, P], None],
) -> Callable[Concatenate[Any, P], None]:
    """Let the second positional argument be the output directory: whatever names no back end.

    By keyword it is a back end, and one that is unknown an error.
    """

    @functools.wraps(init)
    def __init__(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> None:
        if len(args) > 1 and args[1] not in registered():
            kwargs["output_dir"] = args[1]
            args = (args[0], _OF_CLIENT, *args[2:])  # type: ignore[assignment]
        init(self, *args, **kwargs)

    return __init__


class MetricsCollector:
    """Measures what happens inside a ``with`` block, or an ``async with`` block.

    The report and the chunk records of a coffea ``Runner`` that is called in the block are taken
    as it returns. What is given by hand replaces them.

    Parameters
    ----------
    client
        a Dask client, or a coffea executor (its client is used); without one, or with an executor
        that has none, the local back end, and that of TaskVine for its executor
    backend
        name of the back end: ``"dask"``, ``"local"``, ``"taskvine"`` or one that
        :func:`roastcoffea.backends.register_backend` knows; without, the one that fits the
        client. As a second positional argument anything else is the output directory.
    track_workers
        whether to follow the workers
    worker_tracking_interval
        seconds between two samples of a worker, from 0.05 to 60
    processor_instance
        the processor: its class name distinguishes its tasks from Dask's overhead
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
        collector.print_summary()
    """

    @_second_may_be_directory
    def __init__(
        self,
        client: Any = _NO_CLIENT,
        backend: str = _OF_CLIENT,
        track_workers: bool = True,
        worker_tracking_interval: float = 1.0,
        processor_instance: Any = None,
        *,
        output_dir: str | os.PathLike[str] | None = None,
        measurement_name: str | None = None,
        progress: bool = False,
        serve: bool = False,
    ) -> None:
        if track_workers and not 0.05 <= worker_tracking_interval <= 60:
            raise ValueError(
                "worker_tracking_interval must be from 0.05 to 60 seconds, "
                f"not {worker_tracking_interval!r}"
            )
        if serve and output_dir is None:
            raise ValueError("serve=True shows the run file: output_dir says where it goes")
        executor = None
        if client is not _NO_CLIENT and client is not None:
            client, executor = _client_of(client)
        if backend is _OF_CLIENT and _is_executor(executor, "TaskVineExecutor"):
            backend = "taskvine"
        elif backend is _OF_CLIENT:
            backend = "local" if client is _NO_CLIENT else "dask"
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
        self.progress = progress
        self.serve = serve
        self._followed = executor if self.client is None and backend != "dask" else self.client
        self.metrics_backend = make_backend(backend, self._followed)
        self._lock = threading.Lock()  # around what Runners of several threads return
        self._forget()

    def _forget(self) -> None:
        """Start anew: a collector that is entered again measures another run."""
        self._state = State.NEW
        self._faults = Faults()
        self._leaving = AsyncExitStack()  # what leaving the block has to do, the last first
        self._flags: Flags | None = None
        self._writer: RunWriter | None = None
        self._run: Run | None = None
        self.run_path: Path | None = None
        #: URL of the live page, with ``serve=True``
        self.address: str | None = None
        self.t_start: float | None = None
        self.t_end: float | None = None
        self.span_info: dict[str, Any] | None = None
        self.span_metrics: dict[Any, Any] | None = None
        self.tracking_data: dict[str, Any] | None = None
        self.coffea_report: Mapping[str, Any] | None = None
        self.custom_metrics: Mapping[str, Any] | None = None
        self.metrics: Metrics | None = None
        self.section_metrics: list[Any] = []
        self._in_run: dict[str, Any] = {}  # of what may be given, the objects that the run has
        self._taken: Mapping[str, Any] | None = None  # the report, as the Runners returned it
        self._outputs: list[Any] = []  # whose records were taken, and are still in them
        self._given: Any = None  # chunk records in place of the run's
        self._recorded: list[Any] = []  # chunk records beside the run's
        self._shown: RecordList | None = None  # what was shown last of run and recorded
        self._n_shown = 0  # what is behind that, somebody has appended

    @classmethod
    def from_run(cls, path: str | os.PathLike[str]) -> MetricsCollector:
        """Return a collector of a run that was written: its metrics, tables and plots.

        Parameters
        ----------
        path
            whatever :func:`~roastcoffea.open_run` opens

        Example
        -------
        ::

            collector = MetricsCollector.from_run("runs/demo.roast")
            collector.print_summary()
        """
        from roastcoffea.opened import open_run

        opened = open_run(path)
        collector = cls(backend="local")
        collector.backend = opened.text("backend.name") or "local"
        collector.processor_name = opened.text("processor.name")
        collector.worker_tracking_interval = opened.interval_s
        collector.run_path = opened.path
        collector.coffea_report = opened.report
        collector.tracking_data = opened.tracking_data
        collector.span_metrics = opened.run.spans() or None
        collector._in_run = {
            "report": collector.coffea_report,
            "tracking": collector.tracking_data,
            "spans": collector.span_metrics,
        }
        start_utc_ns = opened.number("run.start_utc_ns") or 0
        collector.t_start, collector.t_end = 0.0, opened.elapsed_s  # None: killed, or going on
        if collector.t_end is None:
            collector.t_end = (opened.last_utc_ns - start_utc_ns) / 1e9
        collector._run = opened.run
        collector._state = State.LEFT
        return collector

    @property
    def run(self) -> Run:
        """The run that is being written, or was."""
        if self._run is None:
            raise RuntimeError("there is no run yet: the collector has not been entered")
        return self._run

    # -- entering and leaving ----------------------------------------------------------
    #
    # Both kinds of block take the same steps; only what the back end does is awaited.

    def __enter__(self) -> Self:
        _drive(self._enter(self._blocking))
        return self

    async def __aenter__(self) -> Self:
        await self._enter(self._awaited)
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        _drive(self._leave(error))

    async def __aexit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        await self._leave(error)

    def _awaited(self, method: str) -> Callable[..., Awaitable[Any]]:
        """Return a method of the back end that an event loop awaits."""
        return getattr(self.metrics_backend, method)  # type: ignore[no-any-return]

    def _blocking(self, method: str) -> Callable[..., Awaitable[Any]]:
        """Return the same method of any back end, which waits in place of suspending."""
        return partial(getattr(AbstractMetricsBackend, method), self.metrics_backend)

    async def _enter(self, asked: Ask) -> None:
        if self._state in (State.ENTERING, State.COLLECTING, State.LEAVING):
            raise RuntimeError("this collector is already collecting")
        if self._state is not State.NEW:
            self._forget()
            with self._faults.guarded("making the back end anew"):
                fresh = make_backend(self.backend, self._followed)
                if type(fresh) is type(self.metrics_backend):  # else somebody has put theirs here
                    self.metrics_backend = fresh
        self._state = State.ENTERING
        try:
            with self._faults.guarded("starting the run"):
                self._begin()
            with self._faults.guarded("opening the channel to the workers"):
                await self._open_channel(asked)
            with self._faults.guarded("opening the span"):
                self._enter_span(asked)
        except BaseException as error:  # Ctrl-C, or cancelled: nobody will leave the block
            await self._leave(error)
            raise
        self._state = State.COLLECTING

    def _begin(self) -> None:
        """Begin the run: all that is done without the cluster."""
        self.t_start = time.perf_counter()
        self._leaving.push_async_exit(self._end)
        name = self.measurement_name or datetime.now(UTC).strftime("%Y-%m-%d_%H-%M-%S")
        setting = {**self._setting(), **environment()}
        self._writer = writer = RunWriter(self.output_dir, name, setting, self._faults)
        self._run, self.run_path = writer.run, writer.path
        if self.coffea_report is not None:
            self.set_coffea_report(self.coffea_report, self.custom_metrics)
        self._flags = Flags(self.processor_instance)
        self._flags.hoist()
        with self._faults.guarded("listening to the Runner"):
            runner.listen(self._take_returned)
            self._leaving.callback(self._stop_listening)
        with self._faults.guarded("giving the run to the back end"):
            self.metrics_backend.attach(writer.run)
        if self.progress:
            with self._faults.guarded("showing progress"):
                self._show_progress()
        if self.serve and self.run_path is not None:
            with self._faults.guarded("serving the run"):
                self._serve(self.run_path)

    def _setting(self) -> dict[str, Any]:
        return {
            "processor.name": (self.processor_name, "no processor was given"),
            "backend.name": self.backend,
            "backend.interval_s": float(self.worker_tracking_interval),
        }

    async def _open_channel(self, asked: Ask) -> None:
        interval = self.worker_tracking_interval if self.track_workers else None
        await asked("open_async")(interval)
        self._leaving.push_async_callback(self._close_channel, asked)

    async def _close_channel(self, asked: Ask) -> None:
        with self._faults.guarded("closing the channel to the workers"):
            self.tracking_data = data = await asked("close_async")(self.track_workers)
            if not data or self.run.columns("worker_event", ["utc_ns"])["utc_ns"]:
                self._in_run["tracking"] = data
            self._faults.note_remote(self.metrics_backend.faults)

    def _enter_span(self, asked: Ask) -> None:
        info = self.metrics_backend.create_span("coffea-processing")
        if info is None:
            self.run.fact("backend.spans", None, "this back end has no spans")
            return
        info["id"] = info["context"].__enter__()
        self.span_info = info
        self._leaving.push_async_exit(partial(self._leave_span, asked))

    async def _leave_span(self, asked: Ask, *exception: Any) -> None:
        with self._faults.guarded("reading fine metrics"):
            assert self.span_info is not None
            self.span_info["context"].__exit__(*exception)
            self.span_metrics = await asked("get_span_metrics_async")(self.span_info)
            self.run.add_spans(self.span_metrics)
            self._in_run["spans"] = self.span_metrics

    def _show_progress(self) -> None:
        from roastcoffea.progress import Arrived, Display

        self.metrics_backend.arrived = arrived = Arrived()
        display = Display(arrived)
        display.start()
        self._leaving.callback(self._stop_display, display)

    def _stop_display(self, display: Any) -> None:
        with self._faults.guarded("showing progress"):
            display.stop()

    def _serve(self, path: Path) -> None:
        from roastcoffea.serving import serve

        self.address = serve(path)
        print(f"roastcoffea: live page: {self.address}", flush=True)

    async def _leave(self, error: BaseException | None) -> None:
        """Leave the block, if there is one to leave here: a forked child's is its parent's."""
        if self._state not in (State.ENTERING, State.COLLECTING):
            return
        if self._writer is not None and self._writer.pid != os.getpid():
            return
        self._state = State.LEAVING
        self.t_end = time.perf_counter()
        if self._flags is not None:
            self._flags.lower()
        try:
            with self._faults.guarded("leaving the block"):
                traceback = error.__traceback__ if error else None
                await self._leaving.__aexit__(type(error) if error else None, error, traceback)
        finally:
            failed = self._writer is None or self._writer.failed
            self._state = State.FAILED if failed else State.LEFT

    async def _end(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        """End the run: all that is done without the cluster."""
        writer = self._writer
        if writer is None:
            return
        assert self.t_start is not None
        assert self.t_end is not None
        writer.end(self.t_end - self.t_start, error, self.metrics_backend.cost)
        self._show_anew()
        self._run, self.run_path = writer.run, writer.path
        if writer.failed:  # the copy in memory takes what the file did not
            self._in_run = {"tracking": self._in_run.get("tracking")}
            if not (self.tracking_data or {}).get("worker_cores"):
                self.tracking_data = None  # nothing of the workers was written: there were some
        with self._faults.guarded("looking for fine metrics"):
            self._warn_without_spans()
        if self.coffea_report is not None:
            with self._faults.guarded("computing the metrics"):
                self._aggregate()
        else:
            with self._faults.guarded("computing the user's metrics"):
                add_custom(self._known(), self._run)

    def _warn_without_spans(self) -> None:
        """Say that there are no fine metrics, unless the workers' own counts stand in for them."""
        if self.span_metrics == {} and "overhead_cpu_time_seconds" in self._known().absent:
            logger.warning("the span has finished, but no metrics were collected")

    def _known(self) -> Metrics:
        return metrics_of_run(self.run, with_workers=True)

    # -- what Runners return -----------------------------------------------------------

    def _take_returned(self, returned: runner.Returned) -> None:
        """Take report and records of a Runner that was called in the block."""
        if self._writer is None or self._writer.pid != os.getpid():
            return
        with self._lock, self._faults.guarded("taking what the Runner returned"):
            self._take_records(returned.output)
            report = returned.report
            if not isinstance(report, Mapping):
                report = derived_report(returned.processed)
            if report is not None and self.coffea_report is self._taken:  # else one by hand wins
                self.set_coffea_report(added_reports(self._taken, report))
                self._taken = self.coffea_report

    def _take_records(self, output: Any) -> None:
        from roastcoffea.native import Records

        if isinstance(output, Mapping) and isinstance(records := output.get(KEY), Records):
            self._add_records(records)
            self._outputs.append(output)

    def _stop_listening(self) -> None:
        runner.unlisten(self._take_returned)
        for output in self._outputs:
            with suppress(Exception):  # the user has taken it out, or it cannot be changed
                del output[KEY]
        self._outputs = []

    def _add_records(self, records: Any) -> None:
        """Add records to the run; those that came already by another way count once."""
        self.metrics_backend.take_records()
        if self.run.add_chunks(records.to_bytes()) and self.backend != "dask":
            self.run.fact("backend.records_shortfall", ONLY_IN_OUTPUT)
        self.run.commit()
        self._show_anew()

    # -- what users give ---------------------------------------------------------------

    def set_coffea_report(
        self, report: Mapping[str, Any], custom_metrics: Mapping[str, Any] | None = None
    ) -> None:
        """Take the report of ``Runner(savemetrics=True)`` in place of what was taken so far.

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
            with self._faults.guarded("keeping the report"):
                self._add_report(run)
                run.commit()
                self._in_run["report"] = report

    def extract_metrics_from_output(self, output: Any) -> None:
        """Take the chunk records out of a coffea output, where it carries them."""
        from roastcoffea.native import Records

        try:
            if KEY not in output:
                return
            records = output[KEY]
        except Exception:  # no container, or one with rules of its own
            return
        if isinstance(records, RecordList) and records.records is not None:
            records = records.records
        if not isinstance(records, Records | list):
            logger.warning("Metrics not a list: %s", type(records).__name__)
            return
        try:
            del output[KEY]
        except Exception:  # it can only be read, or has rules of its own
            logger.debug("the output keeps its records: it cannot be changed")
        self.metrics = None
        if isinstance(records, Records) and self._run is not None:
            with self._faults.guarded("keeping chunk records"):
                self._add_records(records)
                self._given = None
                return
        records = RecordList(records) if isinstance(records, Records) else records
        self._show_anew()
        self._given = [*records, *self._recorded] if self._recorded else records

    def set_chunk_metrics(self, records: Any) -> None:
        """Take chunk records, as ``processor._chunk_metrics`` holds them; an empty list changes
        nothing.
        """
        if len(records):
            self.extract_metrics_from_output({KEY: records})

    def record_chunk_metrics(self, chunk_data: Mapping[str, Any]) -> None:
        """Append a chunk record."""
        self._keep_appended()
        self._recorded.append(chunk_data)
        if isinstance(self._given, list):
            self._given.append(chunk_data)
        if self._shown is not None and self._shown.changed:
            self._shown.append(chunk_data)
            self._n_shown += 1
        else:
            self._shown = None
        self.metrics = None

    def record_section_metrics(self, section_data: Mapping[str, Any]) -> None:
        """Append a section record."""
        self.section_metrics.append(section_data)
        self.metrics = None

    # -- what users get ----------------------------------------------------------------

    @property
    def chunk_metrics(self) -> Any:
        """The chunk records: a sequence of dicts; while a run lasts, those that have arrived."""
        if self._given is not None:
            return self._given
        if self._run is None:
            return self._recorded
        if self._state not in (State.LEFT, State.FAILED):
            self._show_anew()
        if self._shown is None:
            self._shown = RecordList.of_run(self._run)
            if self._recorded:
                self._shown.extend(self._recorded)
                self._shown.changed = False  # it is what the run has, and what was recorded
            self._n_shown = len(self._shown)
        return self._shown

    @chunk_metrics.setter
    def chunk_metrics(self, records: Any) -> None:
        self._given = records
        self.metrics = None

    def _keep_appended(self) -> None:
        """Keep what somebody has appended to the list that was shown last."""
        if self._shown is not None:
            self._recorded.extend(self._shown[self._n_shown :])
            self._n_shown = len(self._shown)

    def _show_anew(self) -> None:
        """Let more records be shown."""
        self._keep_appended()
        self._shown = self.metrics = None

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
        if self.span_metrics and self.processor_name is None:
            logger.warning(
                "Fine metrics cannot distinguish the processor from Dask's overhead: "
                "give the collector processor_instance="
            )
        if self._has_own_aggregator():
            self.metrics = self._aggregate_by(self.aggregator)
            return
        run = self._effective_run()
        metrics = metrics_of_run(run, with_workers=self.tracking_data is not None)
        if run is self._run and self.tracking_data is not None:  # on the run's own grid
            self.tracking_data = self._in_run["tracking"] = metrics["tracking_data"]
        metrics["tracking_data"] = self.tracking_data
        if "raw_chunk_metrics" in metrics:
            metrics["raw_chunk_metrics"] = Later(lambda: self.chunk_metrics)
        if self.span_metrics:
            metrics["raw_span_metrics"] = self.span_metrics
        if self.section_metrics:
            metrics["raw_section_metrics"] = self.section_metrics
        with self._faults.guarded("computing the user's metrics"):
            written = self._writer is not None
            add_custom(metrics, run if written or run is not self._run else None)
            if written and run is not self._run:
                add_custom(metrics, self._run)
        self.metrics = metrics

    def _has_own_aggregator(self) -> bool:
        """Whether somebody has put another aggregator, or another ``aggregate()``, here."""
        from roastcoffea.aggregation.core import MetricsAggregator

        own = vars(self).get("aggregator")
        return own is not None and (type(own) is not MetricsAggregator or "aggregate" in vars(own))

    def _aggregate_by(self, aggregator: MetricsAggregator) -> Metrics:
        """Let an aggregator of the user's own make the metrics of plain data, as documented."""
        assert self.t_start is not None
        assert self.t_end is not None
        metrics = aggregator.aggregate(
            self.coffea_report,
            self.tracking_data,
            self.t_start,
            self.t_end,
            custom_metrics=self.custom_metrics,
            span_metrics=self.span_metrics,
            processor_name=self.processor_name,
            chunk_metrics=self.chunk_metrics,
            section_metrics=self.section_metrics,
        )
        if isinstance(metrics, Metrics):
            metrics.run = None  # it lacks what the aggregator has changed
        return metrics

    def _effective_run(self) -> Run:
        """Return the run; where something was given in its place, a copy in memory that has it."""
        given = self._given_parts()
        if self._run is None:
            assert self.t_start is not None
            assert self.t_end is not None
            run = Run.create(None)
            note_facts(run, self._setting())
            run.add_times(self.t_start, self.t_end)
        elif given:
            run = self._run.copy_in_memory(tuple(table for tables, _ in given for table in tables))
        else:
            return self._run
        for _, add in given:
            add(run)
        return run

    def _given_parts(self) -> list[tuple[tuple[str, ...], Callable[[Run], object]]]:
        """Return what was given by hand, or by a back end that writes no rows: the tables that it
        replaces, and what adds it to a run.
        """
        parts: list[tuple[tuple[str, ...], Callable[[Run], object]]] = []
        if self._given is not None or (self._shown is not None and self._shown.changed):
            tables = ("chunk", "section", "branch", "task")
            parts.append((tables, lambda run: run.add_records(self.chunk_metrics)))
        elif self._recorded:
            parts.append(((), lambda run: run.add_records(self._recorded)))
        if self.section_metrics:
            parts.append(((), lambda run: run.add_sections(self.section_metrics)))
        if self.span_metrics is not self._in_run.get("spans"):
            parts.append((("span",), lambda run: run.add_spans(self.span_metrics)))
        if self.tracking_data is not self._in_run.get("tracking"):
            parts.append((("worker_event", "series", "sample"), self._add_tracking))
        if self.coffea_report is not self._in_run.get("report"):
            parts.append(((), self._add_report))
        return parts

    def _add_tracking(self, run: Run) -> None:
        """Add the workers as the back end's parser reads them, if it has one of its own."""
        from roastcoffea.aggregation.core import add_tracking

        add_tracking(run, self.tracking_data, self.aggregator.parser)

    def _add_report(self, run: Run) -> None:
        report = self.coffea_report or {}
        run.add_report(report, self.custom_metrics)
        run.fact("report.derived", report.get("derived"), "the report is coffea's own")

    def _shown_run(self) -> Run:
        """Return the run that tables, pages and answers are of: that of the metrics."""
        if self._run is None:
            self.get_metrics()  # or say what is missing
        if self.metrics is None:
            return self._effective_run()
        run = getattr(self.metrics, "run", None)
        return run if run is not None else Run.from_metrics(self.metrics)

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
        return self._shown_run().summary()

    def print_summary(self) -> None:
        """Print the tables; in the middle of a run, what is known until then."""
        from rich.console import Console

        from roastcoffea._roast import TABLES
        from roastcoffea.export.reporter import rich_table

        console = Console()
        summary = self.summary()
        for name in TABLES:
            table = rich_table(summary, name, console.width, ROWS_SHOWN)
            if table is not None:
                console.print()
                console.print(table)
        console.print()

    def explain(self) -> Explanation:
        """Return where the run lost time: see :func:`roastcoffea.explain`."""
        from roastcoffea.answers import explain

        return explain(self._shown_run())

    def predict(self, workers: int | Sequence[int] = (), **options: Any) -> Forecast:
        """Return how long it would take otherwise: see :func:`roastcoffea.predict`."""
        from roastcoffea.answers import predict

        return predict(self._shown_run(), workers, **options)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write a page that shows the run in any browser, and return its path.

        The page is one file and needs no network; in the middle of a run it shows what is known
        until then. A file of that name is replaced, but not a run.
        """
        self._shown_run().report(path)
        return Path(path)

    def _repr_html_(self) -> str:
        """Show the tables in a notebook; before there is a run, say so."""
        if self._run is not None or self.metrics is not None:
            return self._shown_run()._repr_html_()
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

        start_utc_ns = self._run.facts()["run.start_utc_ns"] if self._run is not None else 0
        start = float(start_utc_ns or 0) / 1e9
        end = start + (self.t_end - self.t_start)
        return save_measurement(
            self.get_metrics(), start, end, output_dir, measurement_name, run=self._shown_run()
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


def _drive(steps: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never suspends."""
    try:
        steps.send(None)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]
    raise RuntimeError("a step of a plain `with` block has suspended")
