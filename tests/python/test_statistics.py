"""The statistics of libroast, against scipy on random input."""

from __future__ import annotations

import subprocess
from itertools import combinations_with_replacement
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "build" / "tests" / "unit" / "calc-statistics"
EXACT = 1e-9


def calc(name: str, *arrays: object) -> list[float]:
    """Ask libroast; each array is a list of numbers."""
    words = [name]
    for array in (*arrays, [], [])[:2]:
        values = np.atleast_1d(np.asarray(array, dtype=float))
        words += [str(len(values)), *(float(v).hex() for v in values)]
    out = subprocess.run(
        [PROGRAM], input=" ".join(words), capture_output=True, text=True, check=True, timeout=60
    ).stdout
    return [float(word) for word in out.split()]


@pytest.mark.parametrize("x", [-38.0, -8.5, -1.96, -1e-9, 0.0, 0.3, 2.5, 9.0])
def test_the_normal_distribution_is_scipys(x: float) -> None:
    assert calc("normal_cdf", [x]) == pytest.approx([stats.norm.cdf(x)], rel=EXACT)


@pytest.mark.parametrize("p", [1e-300, 1e-12, 0.001, 0.025, 0.4999, 0.5, 0.8, 0.975, 1 - 1e-12])
def test_the_normal_quantile_is_scipys(p: float) -> None:
    assert calc("normal_quantile", [p]) == pytest.approx([stats.norm.ppf(p)], rel=EXACT, abs=1e-12)


@pytest.mark.parametrize("df", [1, 1.7, 3, 7, 31, 80.5, 500, 1e5, 1e8])
@pytest.mark.parametrize("t", [-40.0, -3.2, -0.7, 1e-6, 0.0, 1.3, 2.04, 6.0, 25.0])
def test_students_distribution_is_scipys(t: float, df: float) -> None:
    expected = [stats.t.cdf(t, df), 2 * stats.t.sf(abs(t), df)]
    assert calc("t_cdf", [t], [df]) == pytest.approx(expected, rel=EXACT, abs=1e-300)


@pytest.mark.parametrize("df", [1, 2.5, 7, 31, 1000])
@pytest.mark.parametrize("p", [0.001, 0.025, 0.3, 0.5, 0.975, 0.9999])
def test_students_quantile_is_scipys(p: float, df: float) -> None:
    expected = [stats.t.ppf(p, df)]
    assert calc("t_quantile", [p], [df]) == pytest.approx(expected, rel=EXACT, abs=1e-12)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("ties", [False, True])
def test_rank_tests_are_scipys(seed: int, ties: bool) -> None:
    rng = np.random.default_rng(seed)
    a = rng.normal(10, 2, rng.integers(5, 400))
    b = rng.normal(10.4, 2, rng.integers(5, 400))
    if ties:
        a, b = np.round(a), np.round(b)
    expected = stats.mannwhitneyu(b, a, method="asymptotic")
    assert calc("mann_whitney", a, b) == pytest.approx(
        [expected.statistic, expected.pvalue], rel=EXACT
    )
    d = rng.normal(0.3, 1, 200)
    if ties:
        d = np.round(d, 1)
    expected = stats.wilcoxon(d, correction=True, method="asymptotic", alternative="greater")
    two_sided = stats.wilcoxon(d, correction=True, method="asymptotic")
    assert calc("signed_rank", d) == pytest.approx(
        [expected.statistic, two_sided.pvalue], rel=EXACT
    )


@pytest.mark.parametrize("seed", range(6))
def test_the_shift_is_the_median_of_all_averages_and_differences(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.normal(1, 1, 41), rng.normal(2, 1, 38)
    walsh = [(x + y) / 2 for x, y in combinations_with_replacement(a, 2)]
    estimate, low, high = calc("shift_paired", a, [1.96])
    assert estimate == pytest.approx(np.median(walsh), abs=1e-9)
    assert low < estimate < high
    estimate, low, high = calc("shift_unpaired", a, b)
    assert estimate == pytest.approx(np.median(np.subtract.outer(b, a)), abs=1e-9)
    assert low < estimate < high


def test_the_interval_of_a_shift_holds_it_as_often_as_it_says() -> None:
    rng = np.random.default_rng(5)
    held = [
        low < 0.5 < high
        for _, low, high in (
            calc("shift_paired", rng.normal(0.5, 1, 60), [1.96]) for _ in range(300)
        )
    ]
    assert 0.91 <= np.mean(held) <= 0.985


@pytest.mark.parametrize("seed", range(5))
def test_welchs_test_is_scipys(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.normal(0, 1, 3 + seed), rng.normal(1, 3, 9 - seed)
    expected = stats.ttest_ind(b, a, equal_var=False)
    assert calc("welch", a, b) == pytest.approx(
        [expected.statistic, expected.df, expected.pvalue], rel=EXACT
    )


def test_holm_is_the_step_down_of_bonferroni() -> None:
    assert calc("holm", [0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert calc("holm", [0.5, 0.6]) == pytest.approx([1.0, 1.0])


@pytest.mark.parametrize("n", [1, 2, 5, 100])
def test_the_median_is_numpys(n: int) -> None:
    values = np.random.default_rng(n).normal(size=n)
    assert calc("median", values) == pytest.approx([np.median(values)], rel=1e-15)
