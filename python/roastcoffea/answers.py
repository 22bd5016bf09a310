"""Answers about a run: why it took as long as it did, how long another would take.

libroast finds and simulates; here the answers become objects that notebooks and terminals show.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from roastcoffea._roast import Run, format_time
from roastcoffea.shown import Hanging, Shown

if TYPE_CHECKING:
    from rich.console import Group, RenderableType

    from roastcoffea._roast import Table
    from roastcoffea.collector import MetricsCollector
    from roastcoffea.opened import OpenRun

    AnyRun: TypeAlias = Run | OpenRun | MetricsCollector | str | os.PathLike[str]


def _run_of(run: AnyRun) -> Run:
    """Return the run of a collector, or the one in whatever holds a run."""
    if isinstance(run, Run):
        return run
    if isinstance(run, (str, os.PathLike)):
        return Run.open(run)
    return run._shown_run() if hasattr(run, "_shown_run") else run.run


class Explanation(Shown, Sequence[dict[str, Any]]):
    """The findings, those that could save most time first.

    A finding is a dict: ``rule``, ``title``, ``saves_s`` (None where no time can be told),
    ``share`` of the run, ``estimated``, ``threshold``, ``evidence``, ``subjects`` and ``try``.

    Attributes
    ----------
    checked
        the rules that found nothing, each with ``rule`` and ``why_not``
    elapsed_s, threads
        of the run
    """

    def __init__(self, document: dict[str, Any]) -> None:
        self.findings: list[dict[str, Any]] = document["findings"]
        self.checked: list[dict[str, str]] = document["checked"]
        self.elapsed_s: float | None = document["elapsed_s"]
        self.threads: float = document["threads"]

    def __getitem__(self, index: Any) -> Any:
        return self.findings[index]

    def __len__(self) -> int:
        return len(self.findings)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.findings)

    def __repr__(self) -> str:
        return f"<Explanation: {', '.join(f['rule'] for f in self.findings) or 'no finding'}>"

    def __rich__(self) -> Group:
        from rich.console import Group
        from rich.text import Text

        parts: list[RenderableType] = []
        for number, finding in enumerate(self.findings, 1):
            parts.append(Hanging(f"{number}. ", finding["title"], "bold"))
            parts.append(Hanging("   ", _savings(finding), "bold yellow"))
            parts.extend(Hanging("   - ", line) for line in finding["evidence"])
            parts.extend(
                Hanging("   - ", f"{subject['kind']} {subject['name']}: {subject['value']}")
                for subject in finding["subjects"]
            )
            parts.append(Hanging("   try: ", finding["try"]))
            parts.append(Hanging("   ", f"rule {finding['rule']}, {finding['threshold']}", "dim"))
            parts.append(Text())
        return Group(*(parts or [Text(f"No rule found lost time ({len(self.checked)} rules).")]))


def _savings(finding: dict[str, Any]) -> str:
    if finding["saves_s"] is None:
        return "no time is told"
    about = "about " if finding["estimated"] else ""
    return f"could save {about}{format_time(finding['saves_s'])}, {finding['share']:.0%} of the run"


def explain(run: AnyRun) -> Explanation:
    """Return where a run lost time, ranked by the time that could be saved.

    Parameters
    ----------
    run
        what :func:`~roastcoffea.open_run` opens, a collector, or an open run

    Example
    -------
    ::

        for finding in roastcoffea.explain("runs/demo.roast"):
            print(finding["title"], finding["saves_s"], finding["try"])
    """
    return Explanation(json.loads(_run_of(run).explain()))


class Forecast(Shown, Sequence[dict[str, Any]]):
    """The predictions, one for each number of workers.

    A prediction is a dict: ``workers``, ``threads``, ``chunksize`` (None: as it was), ``chunks``,
    ``makespan_s`` with ``low_s`` and ``high_s`` (5 % and 95 % of the simulations),
    ``idle_share``, ``tail_s``, ``cost_s``, ``memory_bytes`` and ``fails``.

    Attributes
    ----------
    measured
        the run itself: ``workers``, ``chunks``, ``elapsed_s`` and what its simulation gives
    recommended, advice
        what was asked for by a deadline or a cost; None without
    assumptions
        what the simulation takes for granted
    """

    def __init__(self, text: str, table: Table) -> None:
        document: dict[str, Any] = json.loads(text)
        self._table = table
        self.predictions: list[dict[str, Any]] = document["predictions"]
        self.measured: dict[str, Any] = document["measured"]
        self.simulations: int = document["simulations"]
        self.recommended: dict[str, Any] | None = document["recommended"]
        self.advice: str | None = document["advice"]
        self.assumptions: list[str] = document["assumptions"]

    def __getitem__(self, index: Any) -> Any:
        return self.predictions[index]

    def __len__(self) -> int:
        return len(self.predictions)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.predictions)

    def __repr__(self) -> str:
        told = ", ".join(f"{p['workers']}: {format_time(p['makespan_s'])}" for p in self)
        return f"<Forecast by workers: {told}>"

    def __rich__(self) -> Group:
        from rich.console import Group
        from rich.text import Text

        from roastcoffea.export.reporter import draw_table

        drawn = draw_table(self._table)
        parts: list[RenderableType] = [] if drawn is None else [drawn]
        if self.advice is not None:
            parts.append(Text(f"Recommended: {self.advice}\n", style="bold"))
        parts.append(Text(f"Assumed, in {self.simulations} simulations each:", "dim"))
        parts.extend(Hanging("  - ", line, "dim") for line in self.assumptions)
        return Group(*parts)


def predict(
    run: AnyRun,
    workers: int | Sequence[int] = (),
    *,
    chunksize: int | None = None,
    fail_rate: float | None = None,
    deadline: float | None = None,
    cost: float | None = None,
) -> Forecast:
    """Return how long a run would take with other workers, or cut into other chunks.

    Parameters
    ----------
    run
        what :func:`~roastcoffea.open_run` opens, a collector, or an open run
    workers
        numbers of workers; without: as many as there were
    chunksize
        events of a chunk; without: the chunks as they were
    fail_rate
        share of attempts that fail, from 0 to 1; without: as it was
    deadline
        seconds: recommends the fewest workers that make it
    cost
        seconds of workers' time: recommends the fastest that stays within

    Raises
    ------
    ValueError
        an argument makes no sense, or both a deadline and a cost are given

    Example
    -------
    ::

        for row in roastcoffea.predict("runs/demo.roast", [1, 10, 100]):
            print(row["workers"], row["makespan_s"], row["low_s"], row["high_s"])
    """
    if deadline is not None and cost is not None:
        raise ValueError("a deadline or a cost is wanted, not both")
    if fail_rate is not None and not 0 <= fail_rate < 1:
        raise ValueError(f"a fail rate is from 0 to 1, not {fail_rate!r}")
    for name, value in (("chunksize", chunksize), ("deadline", deadline), ("cost", cost)):
        if value is not None and not value > 0:
            raise ValueError(f"{name} must be positive, not {value!r}")
    numbers = [workers] if isinstance(workers, int) else list(workers)
    rate = -1.0 if fail_rate is None else fail_rate
    return Forecast(
        *_run_of(run).predict(numbers, chunksize or 0, rate, deadline or 0.0, cost or 0.0)
    )
