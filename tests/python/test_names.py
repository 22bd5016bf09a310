"""Names that are not UTF-8: every str of such a run is there, and finds its way back."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import roastcoffea
from roastcoffea._roast import TABLES, Run

MAKE_RUN = Path(__file__).resolve().parents[2] / "build" / "tests" / "unit" / "make-run"

#: As make-run has it, and as Python has bytes that are no UTF-8
NAME = b"two\nlines \xff not UTF-8 \xe2\x80\xae turned".decode(errors="surrogateescape")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in which everything that has a name has such a one too."""
    path = tmp_path_factory.mktemp("runs") / "names.roast"
    subprocess.run([MAKE_RUN, "hostile-names", path], check=True)
    return path


def strings(value: Any) -> Iterator[str]:
    """Yield every str in an object."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from strings(key)
            yield from strings(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from strings(inner)


@pytest.mark.parametrize("part", ["datasets", "sections", "files", "branches", "failures"])
def test_every_list_of_a_summary_has_the_name(path: Path, part: str) -> None:
    assert NAME in strings(getattr(Run.open(path).summary(), part)())


def test_the_documented_dicts_have_the_name(path: Path) -> None:
    summary = Run.open(path).summary()
    _, sections = summary.documented()
    assert NAME in sections
    assert NAME in Run.open(path).texts()


def test_tables_and_answers_are_text_that_can_be_printed(path: Path) -> None:
    run = Run.open(path)
    shown = [run.summary().table(name) for name in TABLES]
    for text in strings([shown, run.explain(), run._repr_html_(), run.summary()._repr_html_()]):
        text.encode()
    assert any("not UTF-8" in text for text in strings(shown))


def test_an_opened_run_and_its_records_have_the_same_names(path: Path) -> None:
    run = roastcoffea.open_run(path)
    files = {file["name"] for file in run.run.summary().files()}
    assert NAME in files
    assert set(run.chunks["file"]) <= files | {None}


def test_a_metrics_dict_with_the_name_makes_tables(path: Path) -> None:
    _, sections = Run.open(path).summary().documented()
    again = Run.from_metrics({"num_chunks": 3, "sections": sections}).summary()
    assert {section["name"] for section in again.sections()} == set(sections)


def test_what_a_worker_is_called_finds_its_samples(tmp_path: Path) -> None:
    samples = [["2026-11-15T21:52:52", 100], ["2026-11-15T21:52:54", 250]]
    tracked = {"worker_memory": {NAME: samples}}
    (tmp_path / "metrics.json").write_text(json.dumps({"tracking_data": tracked}))
    run = Run.open(tmp_path)
    (worker,) = run.series_names()
    assert worker == NAME
    times, values = run.series(worker, "rss_bytes")
    assert len(times) == len(values) == 16
    with pytest.raises(TypeError, match="str"):
        run.series(7, "rss_bytes")  # type: ignore[arg-type]


def test_a_message_with_the_name_is_the_message_of_the_exception(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="No such file"):
        Run.open(tmp_path / NAME)


def test_a_measurement_of_another_program_is_read(tmp_path: Path) -> None:
    chunk = {"dataset": NAME, "file": NAME, "duration": 1.0, "num_events": 5, "timing": {NAME: 0.5}}
    (tmp_path / "metrics.json").write_text(json.dumps({"raw_chunk_metrics": [chunk]}))
    summary = Run.open(tmp_path).summary()
    for part in (summary.datasets(), summary.files(), summary.sections(), summary.documented()):
        assert NAME in strings(part)
