"""The example notebook runs from top to bottom, and is stored without what it printed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
TOUR = EXAMPLES / "tour.ipynb"


@pytest.fixture(scope="module")
def stored() -> Any:
    return nbformat.read(TOUR, as_version=4)


@pytest.fixture(scope="module")
def executed(stored: Any) -> Any:
    """The notebook after it ran, in a kernel of this environment."""
    import copy

    notebook = copy.deepcopy(stored)
    resources = {"metadata": {"path": str(EXAMPLES)}}
    NotebookClient(notebook, timeout=300, resources=resources).execute()
    return notebook


def outputs_of(notebook: Any, containing: str) -> list[Any]:
    """Return what the one cell with these words put out."""
    (cell,) = [c for c in notebook.cells if c.cell_type == "code" and containing in c.source]
    return list(cell.outputs)


def test_it_is_stored_without_outputs(stored: Any) -> None:
    nbformat.validate(stored)
    for cell in stored.cells:
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert cell.execution_count is None


def test_the_collector_and_the_answers_are_shown_as_html(executed: Any) -> None:
    (shown,) = [c for c in executed.cells if c.source == "collector"]
    assert "Throughput" in shown.outputs[-1].data["text/html"]
    (explained,) = outputs_of(executed, "collector.explain()")  # once, and not by rich as well
    assert "could save" in explained.data["text/html"]
    *_, compared = outputs_of(executed, "roastcoffea.compare(")  # behind the line of progress
    assert compared.output_type == "execute_result"
    assert "Runs" in compared.data["text/plain"]
    assert "Runs" in compared.data["text/html"]


def test_plots_are_drawn(executed: Any) -> None:
    drawn = [output for output in outputs_of(executed, "plot_wall_split") if "data" in output]
    assert sum("image/png" in output.data for output in drawn) == 3
    (compared,) = outputs_of(executed, "comparison.plot()")
    assert "image/png" in compared.data


def test_progress_is_shown_while_it_runs(executed: Any) -> None:
    """It is in a widget of rich, whose last content is stored with the notebook."""
    assert outputs_of(executed, 'measure("first"')
    assert "chunks done" in str(executed.metadata["widgets"])
