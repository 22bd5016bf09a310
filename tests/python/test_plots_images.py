"""Every plot looks as it did when somebody last looked at it.

The references in ``tests/data/plots`` are small; what is compared is coarse, so that another
version of Matplotlib or of a font passes, and missing curves do not. Write them anew,
and look at the difference, with

    python tests/python/test_plots_images.py
"""

from __future__ import annotations

import io
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
import test_plots_data as plot_data
from numpy.typing import NDArray
from PIL import Image
from test_plots_data import PLOTS, data_of, strict  # noqa: F401

from roastcoffea.visualization import plots
from roastcoffea.visualization.figure import detached

pytestmark = pytest.mark.slow

REFERENCES = Path(__file__).resolve().parents[1] / "data/plots"
CROWDED = ("plot_cpu_utilization_per_worker_timeline", "plot_chunk_gantt", "plot_time_ledger")
DPI = 36
BLOCK = 6  # pixels
LIMIT = 0.1

Picture = NDArray[np.float64]


def picture(name: str, metrics: plot_data.Data) -> Picture:
    """A plot in colours from 0 to 255."""
    with detached():
        fig, _ = getattr(plots, name)(data_of(name, metrics))
    fig.set_layout_engine("none")  # or the widths of letters would move everything
    file = io.BytesIO()
    fig.savefig(file, format="png", dpi=DPI)
    return pixels_of(file)


def reference(name: str) -> Picture:
    return pixels_of(REFERENCES / f"{name}.png")


def pixels_of(file: io.BytesIO | Path) -> Picture:
    with Image.open(file) as opened:
        return np.asarray(opened.convert("RGB"), dtype=np.float64)


def coarse(pixels: Picture) -> Picture:
    """The mean colour of each block of pixels."""
    rows, columns = (n // BLOCK for n in pixels.shape[:2])
    cut = pixels[: rows * BLOCK, : columns * BLOCK]
    return np.asarray(cut.reshape(rows, BLOCK, columns, BLOCK, 3).mean(axis=(1, 3)))


def differing(a: Picture, b: Picture) -> float:
    """The share of what is drawn that differs visibly."""
    assert a.shape == b.shape
    a, b = coarse(a), coarse(b)
    drawn = np.minimum(a, b).min(axis=2) < 235
    visible = np.abs(a - b).max(axis=2) > 25
    return float((visible & drawn).sum() / drawn.sum())


@pytest.fixture(scope="module")
def demo() -> plot_data.Data:
    return plot_data.make_metrics()


@pytest.fixture(scope="module")
def crowd() -> plot_data.Data:
    return plot_data.make_metrics(200, 60, 1000)


@pytest.mark.parametrize("name", PLOTS)
def test_a_plot_looks_like_its_reference(name: str, demo: plot_data.Data) -> None:
    assert differing(picture(name, demo), reference(name)) < LIMIT


@pytest.mark.parametrize("name", CROWDED)
def test_a_plot_of_200_workers_looks_like_its_reference(name: str, crowd: plot_data.Data) -> None:
    assert differing(picture(name, crowd), reference(f"{name}-200")) < LIMIT


def test_missing_curves_are_noticed(demo: plot_data.Data) -> None:
    name = "plot_worker_activity_timeline"
    data = demo["tracking_data"]
    half = dict(list(data["worker_active_tasks"].items())[:2])
    other = {**demo, "tracking_data": {**data, "worker_active_tasks": half}}
    assert differing(picture(name, other), reference(name)) > LIMIT


def test_another_rendering_of_text_is_not_noticed(demo: plot_data.Data) -> None:
    with mpl.rc_context({"text.hinting": "none", "text.antialiased": False}):
        other = picture("plot_worker_activity_timeline", demo)
    assert differing(other, reference("plot_worker_activity_timeline")) < LIMIT


def main() -> None:
    mpl.use("agg")
    REFERENCES.mkdir(parents=True, exist_ok=True)
    demo, crowd = plot_data.make_metrics(), plot_data.make_metrics(200, 60, 1000)
    for path in REFERENCES.glob("*.png"):
        path.unlink()
    pictures = {name: picture(name, demo) for name in PLOTS}
    pictures |= {f"{name}-200": picture(name, crowd) for name in CROWDED}
    for name, pixels in pictures.items():
        small = Image.fromarray(pixels.astype(np.uint8)).quantize(32)
        small.save(REFERENCES / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main()
