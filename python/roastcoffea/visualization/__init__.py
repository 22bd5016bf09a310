"""Plots of a run with Matplotlib, which only this package imports."""

from __future__ import annotations

try:
    import matplotlib  # noqa: F401
except ImportError as error:
    raise ImportError("plots need Matplotlib: pip install matplotlib") from error

from roastcoffea.visualization import plots
from roastcoffea.visualization.plots import *  # noqa: F403

__all__ = plots.__all__
