"""Random figures, among them zero, missing, huge, NaN and things that are no numbers."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

SEEDS = range(300)
MISSING = object()
#: 1e290: a run counts in nanoseconds, which reach that far in seconds
ODD = (0, 0.0, 1e290, 10**25, math.nan, math.inf, -math.inf, None, "many", MISSING)


def on_random_input(test: Callable[[random.Random], None]) -> Callable[[], None]:
    """Run the test with many random sequences; a failure names its seed."""

    def run() -> None:
        for seed in SEEDS:
            try:
                test(random.Random(seed))
            except BaseException as error:
                error.add_note(f"seed {seed}")
                raise

    run.__name__ = test.__name__
    return run


def figure(rng: random.Random, high: float, *, whole: bool = False) -> Any:
    """A figure from 0 to ``high``, or now and then something odd."""
    value = rng.randint(0, int(high)) if whole else rng.uniform(0, high)
    return rng.choice((*ODD, -value)) if rng.random() < 0.15 else value


def without_missing(values: dict[Any, Any]) -> dict[Any, Any]:
    return {key: value for key, value in values.items() if value is not MISSING}


def number(value: Any) -> float | None:
    """The value if it is a finite number."""
    if value is MISSING or isinstance(value, str) or value is None:
        return None
    return value if math.isfinite(value) else None


def usable(value: Any) -> float | None:
    """The value if it is a finite number and not negative."""
    known = number(value)
    return known if known is not None and known >= 0 else None


def same(got: Any, expected: Any, what: str) -> None:
    if expected is None:
        assert got is None, what
    else:
        assert math.isclose(got, expected, rel_tol=1e-9, abs_tol=1e-12), (what, got, expected)


def ratio(part: float | None, *divisors: float | None) -> float | None:
    """Part / divisors, where all are known and positive, and the result is finite."""
    if part is None or any(divisor is None or not divisor > 0 for divisor in divisors):
        return None
    value = float(part)
    for divisor in divisors:
        assert divisor is not None
        value /= divisor
    return value if math.isfinite(value) else None
