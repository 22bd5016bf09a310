"""Plots of a run with Matplotlib, which only this package imports."""

from __future__ import annotations

from roastcoffea.visualization import plots
from roastcoffea.visualization.plots import *  # noqa: F403

__all__ = plots.__all__
