"""Rows of results: each benchmark prints one JSON object a line, and tools/bench.py collects them.

    row("a section", best(ours_ns), "ns", at_most=500)
    row("a section", ratio(best(ours_ns), best(others_ns)), of="contextlib", at_most=0.2)

bench/result.h is the same for C. Whether a bound is kept is judged by tools/bench.py alone.
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Callable, Sequence
from typing import NamedTuple


class Figure(NamedTuple):
    """A value, and how far another measurement of it may lie away."""

    value: float
    spread: float = 0.0

    def times(self, factor: float) -> Figure:
        return Figure(self.value * factor, self.spread * abs(factor))

    def less(self, other: Figure) -> Figure:
        return Figure(self.value - other.value, math.hypot(self.spread, other.spread))


def best(values: Sequence[float]) -> Figure:
    """The least of repeated times, where others' work only adds; spread: to the lower quartile."""
    ordered = sorted(values)
    return Figure(ordered[0], ordered[(len(ordered) + 2) // 4] - ordered[0])


def median(values: Sequence[float]) -> Figure:
    """The middle of repeated values; spread: half of what lies between the quartiles."""
    ordered = sorted(values)
    last = len(ordered) - 1
    spread = (ordered[(3 * last + 3) // 4] - ordered[last // 4]) / 2
    return Figure(statistics.median(ordered), spread)


def ratio(value: Figure, reference: Figure) -> Figure:
    """One figure as a share of another from the same run."""
    share = value.value / reference.value
    unsure = math.hypot(value.spread / value.value, reference.spread / reference.value)
    return Figure(share, abs(share) * unsure)


def repeated(function: Callable[[], float], times: int = 3) -> Figure:
    """The best of what a function measures when it is called again."""
    return best([function() for _ in range(times)])


def row(
    name: str,
    figure: Figure | float,
    unit: str = "x",
    *,
    at_most: float | None = None,
    at_least: float | None = None,
    of: str | None = None,
) -> None:
    """Print a result; `of` names the reference, where the figure is a ratio to one."""
    value, spread = figure if isinstance(figure, Figure) else Figure(figure)
    line: dict[str, object] = {"name": name, "value": value, "spread": spread, "unit": unit}
    if at_most is not None:
        line.update(bound=at_most, direction="at most")
    if at_least is not None:
        line.update(bound=at_least, direction="at least")
    if of is not None:
        line["reference"] = of
    print(json.dumps(line), flush=True)


def absent(name: str, why: str) -> None:
    """Print that something could not be measured here."""
    print(json.dumps({"name": name, "absent": why}), flush=True)


def slope(x: Sequence[float], y: Sequence[float]) -> Figure:
    """Fit a line; the spread is the standard error of its slope."""
    fitted, offset = statistics.linear_regression(x, y)
    rest = sum((b - offset - fitted * a) ** 2 for a, b in zip(x, y, strict=True))
    mean = statistics.fmean(x)
    width = sum((a - mean) ** 2 for a in x)
    return Figure(fitted, math.sqrt(rest / max(1, len(x) - 2) / width))


def curve(name: str, over: str, points: dict[int, Figure], unit: str, at_most: float) -> None:
    """Print times over sizes and the exponents that fit them: slopes of their logarithms.

    The bound is that of the last step: at the small end a fixed cost hides how costs grow.
    """
    x = sorted(points)
    y = [points[size] for size in x]
    line = {"curve": name, "over": over, "x": x, "y": [time.value for time in y], "unit": unit}
    print(json.dumps(line), flush=True)
    logs = [math.log(size) for size in x], [math.log(time.value) for time in y]
    row(f"{name}, {x[0]:,} to {x[-1]:,} {over}", slope(*logs), "exponent")
    grown, step = ratio(y[-1], y[-2]), math.log(x[-1] / x[-2])
    last = Figure(math.log(grown.value) / step, grown.spread / grown.value / step)
    row(f"{name}, {x[-2]:,} to {x[-1]:,} {over}", last, "exponent", at_most=at_most)
