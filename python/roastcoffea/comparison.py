"""Several runs side by side: what differs between them, and how they scale.

The method is in ``docs/compare.md``; all figures are those of ``roast compare`` and
``roast scaling``, from the same code.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from roastcoffea import _roast
from roastcoffea._roast import Run
from roastcoffea.shown import Shown

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from rich.console import Group

    from roastcoffea._roast import Table
    from roastcoffea.collector import MetricsCollector

    AnyRun: TypeAlias = str | os.PathLike[str] | Run | MetricsCollector

__all__ = ["Comparison", "Scaling", "compare", "scaling"]


class _Answer(Shown):
    """What libroast says about several runs: as data, and as tables."""

    _WIDTH = 120

    def __init__(self, text: str, tables: list[Table]) -> None:
        self._data: dict[str, Any] = json.loads(text)
        self._tables = tables

    def to_dict(self) -> dict[str, Any]:
        """Return all figures, as ``--format json`` of the command prints them."""
        return self._data

    @property
    def table(self) -> Group:
        """The tables of the command, for rich."""
        from rich.console import Group

        from roastcoffea.export.reporter import draw_table

        drawn = [draw_table(table) for table in self._tables]
        return Group(*(table for table in drawn if table is not None))

    def __rich__(self) -> Group:
        return self.table

    def __repr__(self) -> str:
        return str(self)


class Comparison(_Answer):
    """What differs between runs, and what can be said about it."""

    def __init__(self, runs: list[Run], groups: list[int]) -> None:
        super().__init__(*_roast.compare(runs, groups))
        self._runs = runs
        self._groups = groups

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write a page that shows the comparison in any browser, and return its path.

        The runs are read again. The page is one file and needs no network; a file of that name is
        replaced.
        """
        _roast.report_comparison(self._runs, self._groups, path)
        return Path(path)

    def to_pandas(self) -> pd.DataFrame:
        """Return a row for each figure; what is not known is NaN."""
        import pandas as pd

        return pd.DataFrame(self._data["rows"]).fillna(float("nan"))

    def plot(
        self, output_path: str | os.PathLike[str] | None = None, against: int = 1
    ) -> tuple[Figure, Axes]:
        """Plot the change of each figure with its interval, and the noise it must exceed.

        Parameters
        ----------
        output_path
            where to save the figure; its ending tells the format
        against
            which run, or group, is held against the first
        """
        from roastcoffea.visualization.several import plot_comparison

        return plot_comparison(self._data, output_path, against)


class Scaling(_Answer):
    """How throughput grows with the number of cores."""

    def to_pandas(self) -> pd.DataFrame:
        """Return a row for each run."""
        import pandas as pd

        return pd.DataFrame(self._data["points"]).fillna(float("nan"))

    def plot(self, output_path: str | os.PathLike[str] | None = None) -> tuple[Figure, Axes]:
        """Plot the throughput of the runs, and the laws that were fitted to it."""
        from roastcoffea.visualization.several import plot_scaling

        return plot_scaling(self._data, output_path)


def compare(runs: Iterable[AnyRun | Iterable[AnyRun]]) -> Comparison:
    """Tell what differs between runs: around them, then in what an event cost.

    Parameters
    ----------
    runs
        runs, of which each is held against the first; or groups of runs of the same thing, which
        tell how runs vary by themselves. A run is a path, a ``MetricsCollector`` that has
        finished, or a ``Run``.

    Returns
    -------
    Comparison
        with ``.table``, ``.plot()``, ``.report()``, ``.to_pandas()`` and ``.to_dict()``

    Raises
    ------
    ValueError
        there are fewer than two runs or groups, a group is empty, or a run is given twice

    Example
    -------
    ::

        print(roastcoffea.compare(["before.roast", "after.roast"]))
        roastcoffea.compare([before, after]).plot("change.png")   # lists of repeated runs
    """
    opened: list[Run] = []
    groups: list[int] = []
    for number, group in enumerate(runs):
        members = [_open(run) for run in _members(group)]
        if not members:
            raise ValueError(f"group {number} has no runs")
        opened += members
        groups += [number] * len(members)
    return Comparison(opened, groups)


def scaling(runs: Iterable[AnyRun]) -> Scaling:
    """Tell how throughput grows with the number of cores over runs of the same analysis.

    Parameters
    ----------
    runs
        runs with different numbers of workers; several of each size make the intervals of the
        fits mean something

    Returns
    -------
    Scaling
        with ``.table``, ``.plot()``, ``.to_pandas()`` and ``.to_dict()``

    Example
    -------
    ::

        print(roastcoffea.scaling(sorted(Path("runs").glob("*.roast"))))
    """
    opened = [_open(run) for run in runs]
    if not opened:
        raise ValueError("there are no runs")
    return Scaling(*_roast.scaling(opened))


def _members(group: Any) -> list[Any]:
    """Return the runs of a group; a single run is a group of its own."""
    if isinstance(group, str | os.PathLike | Run) or hasattr(group, "run"):
        return [group]
    return list(group)


def _open(run: Any) -> Run:
    if isinstance(run, Run):
        return run
    if isinstance(run, str | os.PathLike):
        return Run.open(run)
    made = getattr(run, "run", None)
    if isinstance(made, Run):
        return made
    raise TypeError(f"a path, a Run or a collector is wanted, not {type(run).__name__}")
