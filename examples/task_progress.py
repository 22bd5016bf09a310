"""A progress bar that follows the tasks of a Dask cluster from outside.

The scheduler keeps a running count of the tasks of each name, so asking twice a second costs
it one small message and no plugin; the analysis and its workers are not touched.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from distributed import Client
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

INTERVAL_S = 0.5


@contextmanager
def follow_tasks(client: Client, prefix: str, unit: str = "chunks") -> Iterator[None]:
    """Show how many tasks named `prefix` are done while the block runs.

    The bar goes to stderr, and only to a terminal: piped output stays clean.

    >>> with follow_tasks(client, "DimuonProcessor"):  # doctest: +SKIP
    ...     output, report = runner(fileset, processor)
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(unit),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console) as progress:
        follower = Follower(client, prefix, progress)
        follower.start()
        try:
            yield
        finally:
            follower.stop()


class Follower:
    """Polls the scheduler from a thread and moves the bar."""

    def __init__(self, client: Client, prefix: str, progress: Progress) -> None:
        self.client = client
        self.prefix = prefix
        self.progress = progress
        self.bar = progress.add_task(prefix, total=None)
        self.done_before, _ = self.count()
        self.total = 0
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self.run, name="task-progress", daemon=True)

    def start(self) -> None:
        self.thread.start()

    def stop(self) -> None:
        self.stopping.set()
        self.thread.join()

    def run(self) -> None:
        try:
            while not self.stopping.wait(INTERVAL_S):
                self.refresh()
            self.refresh()
        except OSError:
            return  # the scheduler is gone; the run itself will say so

    def refresh(self) -> None:
        done, known = self.count()
        self.total = max(self.total, known)  # the scheduler forgets tasks whose results are used
        if self.total:
            finished = min(done - self.done_before, self.total)
            self.progress.update(self.bar, completed=finished, total=self.total)

    def count(self) -> tuple[int, int]:
        done, known = self.client.run_on_scheduler(count_tasks, prefix=self.prefix)
        return done, known


def count_tasks(prefix: str, dask_scheduler: Any = None) -> tuple[int, int]:
    """On the scheduler: tasks of that name that ever finished, and those it holds now."""
    tasks = dask_scheduler.task_prefixes.get(prefix)
    if tasks is None:
        return 0, 0
    return tasks.state_counts["memory"], sum(tasks.states.values())
