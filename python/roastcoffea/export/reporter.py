"""Tables for the terminal: libroast says what is in them, rich draws them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from roastcoffea._roast import Run, Summary, format_bytes, format_time

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from roastcoffea._roast import Summary
    from roastcoffea._roast import Table as MadeTable

_STYLES = {"plain": "", "strong": "bold", "dim": "dim", "alert": "red"}


def rich_table(
    summary: Summary, name: str, width: int | None = None, limit: int | None = None
) -> Table | None:
    """Draw one table of a summary; None if it has nothing to say.

    Parameters
    ----------
    summary, name
        which table of what
    width
        of the terminal: the important columns are kept
    limit
        rows to show; how many more there are stands below the table
    """
    return draw_table(summary.table(name, *(() if width is None else (width - 4, 3))), limit)


def draw_table(made: MadeTable, limit: int | None = None) -> Table | None:
    """Draw a table that libroast made; None if it has no rows."""
    from rich.table import Table

    title, columns, rows = made
    if not rows:
        return None
    left_out = len(rows) - limit if limit is not None and len(columns) > 2 else 0
    if left_out > 0:
        rows = rows[:limit]
    table = Table(title=title, header_style="bold cyan")
    if left_out > 0:
        table.caption = f"... and {left_out:,} more"
    for i, (heading, right) in enumerate(columns):
        table.add_column(
            heading,
            style="magenta" if i else "cyan",
            no_wrap=i == 0,
            justify="right" if right else "left",
        )
    for row in rows:
        table.add_row(*(_cell(text, emphasis) for text, emphasis in row))
    return table


def _cell(text: str, emphasis: str) -> str | Text:
    """Return a string, unless it has a style or rich would read markup or an emoji in it."""
    from rich.text import Text

    if emphasis == "plain" and "[" not in text and ":" not in text:
        return text
    return Text(text, style=_STYLES[emphasis])


def _table(name: str, metrics: Mapping[str, Any]) -> Table | None:
    return rich_table(Run.from_metrics(metrics).summary(), name)


def _always(name: str, metrics: Mapping[str, Any]) -> Table:
    table = _table(name, metrics)
    if table is None:
        raise ValueError(f"there is nothing to show in table {name!r}")
    return table


def format_throughput_table(metrics: Mapping[str, Any]) -> Table:
    """Data rate and volumes."""
    return _always("throughput", metrics)


def format_event_processing_table(metrics: Mapping[str, Any]) -> Table:
    """Events and the three event rates."""
    return _always("events", metrics)


def format_resources_table(metrics: Mapping[str, Any]) -> Table:
    """Workers, cores, memory and how well they were used."""
    return _always("resources", metrics)


def format_timing_table(metrics: Mapping[str, Any]) -> Table:
    """Elapsed time, process time, chunks."""
    return _always("timing", metrics)


def format_fine_metrics_table(metrics: Mapping[str, Any]) -> Table | None:
    """CPU and waiting time from Dask's spans; None without them."""
    return _table("fine", metrics)


def format_chunk_metrics_table(metrics: Mapping[str, Any]) -> Table | None:
    """Statistics of the chunks; None without chunks."""
    return _table("chunks", metrics)


def _format_bytes(num_bytes: float) -> str:
    """Return bytes for people, by powers of 1024.

    >>> _format_bytes(2.5 * 1024**5)
    '2.50 PB'
    """
    return format_bytes(num_bytes)


def _format_time(seconds: float) -> str:
    """Return seconds for people, to a tenth; what that would show as nothing, finer.

    >>> _format_time(12.34), _format_time(187), _format_time(3723.9), _format_time(0.012)
    ('12.3s', '3m 7s', '1h 2m 3s', '12.0ms')
    """
    return format_time(seconds)
