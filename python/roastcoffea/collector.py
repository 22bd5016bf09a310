"""The collector: a context manager around a coffea run."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from roastcoffea.backends import make_backend, registered
from roastcoffea.gathered import Gathered

if TYPE_CHECKING:
    from roastcoffea.answers import Explanation, Forecast
    from roastcoffea.opened import OpenRun

_NO_CLIENT: Any = object()

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


class MetricsCollector(Gathered):
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

    __signature__ = _documented_signature(__init__)

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
