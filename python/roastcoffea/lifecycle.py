"""The life of a run: what entering and leaving a collector does, with the cluster and without."""

from __future__ import annotations

import logging
import operator
import os
import time
import uuid
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from roastcoffea import collecting
from roastcoffea._roast import Run
from roastcoffea.backends import make_backend
from roastcoffea.clock import RunClock
from roastcoffea.flags import Flags
from roastcoffea.inputs import clean_text
from roastcoffea.measure import message_of
from roastcoffea.metrics import Metrics, metrics_of_run
from roastcoffea.recording import Committer, create_file, file_name, note_environment, note_spans

if TYPE_CHECKING:
    from types import TracebackType

    from roastcoffea.backends.base import AbstractMetricsBackend
    from roastcoffea.progress import Display

logger = logging.getLogger("roastcoffea.collector")


class Lifecycle(ABC):
    """Makes a run of what happens between entering and leaving.

    Nothing that goes wrong in it reaches the user's code: it is counted and logged.
    """

    client: Any
    backend: str
    track_workers: bool
    worker_tracking_interval: float
    processor_instance: Any
    processor_name: str | None
    output_dir: Path | None
    measurement_name: str | None
    progress: bool
    serve: bool
    _followed: Any  # by the back end: the client, an executor, a manager
    metrics_backend: AbstractMetricsBackend
    coffea_report: Mapping[str, Any] | None
    custom_metrics: Mapping[str, Any] | None
    metrics: Metrics | None
    section_metrics: list[Any]
    _chunk_metrics: Any
    _recorded: list[Mapping[str, Any]]

    def __init__(self) -> None:
        self.t_start: float | None = None
        self.t_end: float | None = None
        self.tracking_data: dict[str, Any] | None = None
        self.span_info: dict[str, Any] | None = None
        self.span_metrics: dict[Any, Any] | None = None
        self.run_path: Path | None = None
        #: Where the run can be looked at, with ``serve=True``
        self.address: str | None = None
        self._run: Run | None = None
        self._looked_at: tuple[list[Any], int] = ([], 0)  # chunk records, and how many they were
        self._faults = 0
        self._reasons: set[str] = set()  # of faults that were told
        self._unwritten: str | None = None  # why the run lacks its end, and maybe more
        self._open = False
        self._holds = False  # collection is switched on, by us
        self._pid = os.getpid()
        self._flags = Flags()
        self._committer: Committer | None = None
        self._display: Display | None = None
        self._start_utc_ns = 0
        self._clock = RunClock()

    @abstractmethod
    def set_coffea_report(
        self, report: Mapping[str, Any], custom_metrics: Mapping[str, Any] | None = None
    ) -> None:
        """Take the report of a run."""

    @abstractmethod
    def _aggregate(self) -> None:
        """Compute the metrics."""

    @abstractmethod
    def _note_custom(self) -> None:
        """Compute the metrics that the user registered."""

    @property
    def run(self) -> Run:
        """The run that is being written, or was."""
        if self._run is None:
            raise RuntimeError("there is no run yet: the collector has not been entered")
        return self._run

    def __enter__(self) -> Self:
        self._refuse_twice()
        try:
            self._begin()
            with self._guarded("opening the channel to the workers"):
                self._open_channel()
            with self._guarded("opening the span"):
                self._enter_span()
        except BaseException as error:  # Ctrl-C: nobody will call __exit__
            self.__exit__(type(error), error, error.__traceback__)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if not self._entered:
            return
        end_utc_ns = self._stop_clock()
        try:
            with self._guarded("reading fine metrics"):
                if self._leave_span(kind, error, traceback):
                    self._note_spans(self.metrics_backend.get_span_metrics(self.span_info))
        finally:
            try:
                if self._open:
                    with self._guarded("closing the channel to the workers"):
                        self._close_channel()
            finally:
                self._end(end_utc_ns, error)

    async def __aenter__(self) -> Self:
        self._refuse_twice()
        try:
            self._begin()
            with self._guarded("opening the channel to the workers"):
                interval = self.worker_tracking_interval if self.track_workers else None
                await self.metrics_backend.open_async(interval)
                self._open = True
            with self._guarded("opening the span"):
                self._enter_span()
        except BaseException as error:  # cancelled: nobody will call __aexit__
            await self.__aexit__(type(error), error, error.__traceback__)
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if not self._entered:
            return
        end_utc_ns = self._stop_clock()
        try:
            with self._guarded("reading fine metrics"):
                if self._leave_span(kind, error, traceback):
                    self._note_spans(
                        await self.metrics_backend.get_span_metrics_async(self.span_info)
                    )
        finally:
            try:
                if self._open:
                    with self._guarded("closing the channel to the workers"):
                        self._open = False
                        data = await self.metrics_backend.close_async(self.track_workers)
                        self._take_tracking(data)
            finally:
                self._end(end_utc_ns, error)

    def _refuse_twice(self) -> None:
        if self._collecting:
            raise RuntimeError("this collector is already collecting")

    def _begin(self) -> None:
        """What the beginning of a run does without the cluster."""
        self._pid = os.getpid()
        if self._run is not None:
            self._forget_last_run()
        if not self._chunk_metrics or self._only_recorded():
            self._chunk_metrics = None  # it was looked at: what will be measured comes, too
        self.t_start = time.perf_counter()
        self._clock = RunClock()
        self._start_utc_ns = self._clock.utc_ns()
        self._run = self._create_run()
        with self._guarded("noting the environment"):
            self._note_setting()
        if self.coffea_report is not None:
            self.set_coffea_report(self.coffea_report, self.custom_metrics)
        self._committer = Committer(self._run, self._note_fault)
        self._set_collecting(True)
        with self._guarded("giving the run to the back end"):
            self.metrics_backend.attach(self._run)
        if self.progress:
            with self._guarded("showing progress"):
                self._show_progress()
        if self.serve:
            with self._guarded("serving the run"):
                self._serve()

    def _only_recorded(self) -> bool:
        """Whether all chunk records are those that were given one by one."""
        records, recorded = self._chunk_metrics, self._recorded
        if not isinstance(records, list) or len(records) != len(recorded):
            return False
        return all(map(operator.is_, records, recorded))  # they may hold what cannot be compared

    def _serve(self) -> None:
        from roastcoffea.serving import serve

        if self.run_path is not None:
            self.run.commit()
            self.address = serve(self.run_path)
            print(f"roastcoffea: the run can be looked at on {self.address}", flush=True)

    def _show_progress(self) -> None:
        from roastcoffea.progress import Arrived, Display

        self.metrics_backend.arrived = arrived = Arrived()
        self._display = Display(arrived)
        self._display.start()

    def _stop_clock(self) -> int:
        self.t_end = time.perf_counter()
        self._set_collecting(False)
        return self._clock.utc_ns()

    def _end(self, end_utc_ns: int, error: BaseException | None) -> None:
        """What the end of a run does without the cluster."""
        if self._display is not None:
            with self._guarded("showing progress"):
                self._display.stop()
            self._display = None
        if self._committer is not None:
            self._committer.stop()
        with self._guarded("noting what monitoring cost"):
            self._note_cost()
        try:
            self._note_end(end_utc_ns, error)
        except Exception as fault:
            self._note_fault("writing the end of the run", fault)
            self._unwritten = f"the run could not be written to its end: {fault}"
        else:
            with self._guarded("finishing the file"):
                self._finish_file()
        with self._guarded("looking for fine metrics"):
            self._warn_without_spans()
        if self.coffea_report is not None:
            with self._guarded("computing the metrics"):
                self._aggregate()
        else:
            with self._guarded("computing the user's metrics"):
                self._note_custom()

    @property
    def _collecting(self) -> bool:
        return self._committer is not None and not self._committer.stopped

    @property
    def _entered(self) -> bool:
        """Whether there is a block to leave here: a forked child's is its parent's."""
        return self._collecting and os.getpid() == self._pid

    def _create_run(self) -> Run:
        """Create the run file, or a run in memory where there is no place for one."""
        name = file_name(self.measurement_name or datetime.now(UTC).strftime("%Y-%m-%d_%H-%M-%S"))
        run = None
        if self.output_dir is not None:
            try:
                run, self.run_path = create_file(self.output_dir, name)
            except Exception as error:
                self._note_fault("the run cannot be written, it is kept in memory", error)
        if run is None:
            run = Run.create(None)
        run.fact("run.id", uuid.uuid4().hex)
        run.fact("run.name", self.run_path.stem if self.run_path is not None else name)
        run.fact("run.start_utc_ns", self._start_utc_ns)
        return run

    def _forget_last_run(self) -> None:
        """Start anew: a collector that is entered again measures another run."""
        self._run = None
        self.coffea_report = self.custom_metrics = None
        self.tracking_data = self.span_info = self.span_metrics = self.metrics = None
        self.section_metrics = []
        self._chunk_metrics = None
        self._recorded = []
        self._looked_at = [], 0
        self._faults = 0
        self._reasons = set()
        self._unwritten = None
        self.t_end = None
        self.run_path = None
        self.address = None
        fresh = make_backend(self.backend, self._followed)
        if type(fresh) is type(self.metrics_backend):  # else somebody has put their own here
            self.metrics_backend = fresh

    def _note_setting(self) -> None:
        run = self.run
        run.fact("processor.name", self.processor_name, "no processor was given")
        run.fact("backend.name", self.backend)
        run.fact("backend.interval_s", float(self.worker_tracking_interval))
        note_environment(run)

    def _note_cost(self) -> None:
        cost = Counter(self.metrics_backend.cost)
        if self._committer is not None:
            cost["client_ns"] += self._committer.spent_ns
        for name, value in cost.items():
            self.run.fact(f"monitor.{name}", value)

    def _note_end(self, end_utc_ns: int, error: BaseException | None) -> None:
        assert self.t_start is not None
        assert self.t_end is not None
        run = self.run
        if error is not None:
            run.fact("run.error", clean_text(f"{type(error).__name__}: {message_of(error)}")[:512])
        run.fact("run.outcome", "finished" if error is None else "failed")
        run.fact("run.elapsed_ns", int((self.t_end - self.t_start) * 1e9))
        run.fact("run.faults", self._faults)
        run.fact("run.end_utc_ns", end_utc_ns)
        run.commit()

    def _finish_file(self) -> None:
        """Give the file its resting form. If it was removed, the open run still has everything."""
        path = self.run_path
        if path is None or os.path.exists(path):
            self.run.finish()
            return
        self.run_path = None
        raise FileNotFoundError(
            f"{path} was removed while the run lasted: save_measurement() keeps what was measured"
        )

    def _set_collecting(self, on: bool) -> None:
        """Switch ``@track_metrics`` on or off: for this process and the children of its pools,
        and for the processor and its class, unless another collector around this one did.
        """
        if on == self._holds:
            return  # the beginning was interrupted
        self._holds = on
        if on:
            collecting.hold_collecting()
            self._flags = Flags(self.processor_instance)
            self._flags.hoist()
        else:
            collecting.release_collecting()
            self._flags.lower()

    # -- fine metrics ------------------------------------------------------------------

    def _enter_span(self) -> None:
        info = self.metrics_backend.create_span("coffea-processing")
        if info is not None:
            info["id"] = info["context"].__enter__()
        self.span_info = info

    def _leave_span(self, *exception: Any) -> bool:
        """Leave the span; False if there is none."""
        if self.span_info is None:
            self.run.fact("backend.spans", None, "this back end has no spans")
            return False
        self.span_info["context"].__exit__(*exception)
        return True

    def _note_spans(self, span_metrics: dict[Any, Any] | None) -> None:
        self.span_metrics = span_metrics
        note_spans(self.run, span_metrics or {})

    def _warn_without_spans(self) -> None:
        """Say that there are no fine metrics, unless the workers' own counts stand in for them."""
        if self.span_metrics == {} and "overhead_cpu_time_seconds" in self._known().absent:
            logger.warning("the span has finished, but no metrics were collected")

    def _known(self) -> Metrics:
        return metrics_of_run(self.run, with_workers=True)

    # -- the channel to the workers ----------------------------------------------------

    def _open_channel(self) -> None:
        if self.track_workers:
            self.metrics_backend.start_tracking(interval=self.worker_tracking_interval)
        else:
            self.metrics_backend.open_channel()
        self._open = True

    def _close_channel(self) -> None:
        self._open = False
        if self.track_workers:
            self._take_tracking(self.metrics_backend.stop_tracking())
        else:
            self.metrics_backend.close_channel()
            self._take_tracking(None)

    def _take_tracking(self, data: dict[str, Any] | None) -> None:
        self.tracking_data = data
        for where, count in self.metrics_backend.faults.items():
            self._faults += count
            logger.warning("roastcoffea: on the workers: %s: %d faults", where, count)

    # -- faults of our own -------------------------------------------------------------

    @contextmanager
    def _guarded(self, doing: str) -> Iterator[None]:
        """What goes wrong in work of ours is noted and never reaches the user's code."""
        try:
            yield
        except Exception as error:
            self._note_fault(doing, error)

    def _note_fault(self, doing: str, error: BaseException) -> None:
        """Count a fault; one whose reason was told already, as that the disk is full, is not told
        again.
        """
        self._faults += 1
        reason = f"{type(error).__name__}: {error}"
        if reason not in self._reasons:
            self._reasons.add(reason)
            logger.warning("roastcoffea: %s: %s", doing, reason)
