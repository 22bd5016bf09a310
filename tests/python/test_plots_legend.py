"""Legends stand clear of the axes, whatever the size of the figure."""

from __future__ import annotations

import pytest
from test_plots_data import strict  # noqa: F401

from roastcoffea.visualization import plots
from roastcoffea.visualization.figure import detached

SECONDS = {"processor_cpu": 30.0, "processor_wait": 11.0, "overhead": 5.0, "idle": 10.0}
SPLIT = {"cpu": 3.0, "gil": 1.0, "runqueue": 1.0, "block_io": 1.0}


@pytest.mark.parametrize("height", [2.0, 3.0, 6.0, 12.0])
@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("plot_time_ledger", SECONDS),
        ("plot_wall_split", [{"dataset": "zmm", "wall_split": SPLIT}]),
    ],
)
def test_a_legend_below_the_axes_hides_nothing(name: str, data: object, height: float) -> None:
    with detached():
        fig, ax = getattr(plots, name)(data, figsize=(8.0, height))
    fig.draw_without_rendering()
    legend = ax.get_legend().get_window_extent()
    assert legend.y1 <= ax.xaxis.label.get_window_extent().y0
    assert legend.y0 >= 0
    assert ax.get_window_extent().height > 0.15 * fig.bbox.height
