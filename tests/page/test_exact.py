"""What the page says of a single chunk is what the run says, however many chunks there are."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from embedded import words_of
from playwright.sync_api import Locator, Page, expect

Make = Callable[[str], Path]
Open = Callable[..., Page]
Numbers = npt.NDArray[np.int64]

ROOT = Path(__file__).resolve().parents[2]
ROAST = os.environ.get("ROAST", str(ROOT / ".venv" / "bin" / "roast"))
KIND = "large:270000:20:1200"


FIGURES = ["duration", "cpu_time", "mem_peak_mb"]
COUNTS = ["entry_stop", "num_events", "requested_bytes", "attempt"]
TEXTS = ["dataset", "worker", "outcome"]


@pytest.fixture(scope="module")
def known(make_report: Make) -> pd.DataFrame:
    """The chunks of the run behind the page, by file and first entry."""
    page = make_report(KIND)
    path = page.with_suffix(".csv")
    words = [ROAST, "export", page.with_suffix(".roast"), "-w", "chunks", "-f", "csv", "-o", path]
    subprocess.run(words, check=True)
    place = ["file", "entry_start"]
    return pd.read_csv(path, usecols=place + FIGURES + COUNTS + TEXTS).set_index(place)


def unpack(columns: bytes, column: dict[str, Any]) -> Numbers:
    """Return the numbers of a column; -1 where there is none."""
    n, bits = column["n"], int(column["type"][1:])
    planes = np.frombuffer(columns, np.uint8, n * bits // 8, column["at"]).reshape(-1, n)
    values = np.zeros(n, np.int64)
    for plane in reversed(planes):
        values = values * 256 + plane
    if column.get("delta"):
        values = np.cumsum(values) % 2**bits
    return np.where(values == 2**bits - 1, -1, values * column.get("unit", 1))


def test_columns_hold_what_the_export_says(make_report: Make, known: pd.DataFrame) -> None:
    words, columns = words_of(make_report(KIND))
    chunks = words["chunks"]
    page = {
        key: unpack(columns, about)
        for key, about in {**chunks, **chunks["amounts"]}.items()
        if isinstance(about, dict) and "at" in about
    }
    assert chunks["n"] == len(known) == 270_000
    names = [words["files"][file] for file in page["file"]]
    rows = known.loc[list(zip(names, page["entry_start"], strict=True))]
    assert len(rows) == len(known)

    def of(key: str, factor: float = 1) -> Numbers:
        return np.rint(rows[key].to_numpy() * factor).astype(np.int64)

    for key, exported in (("wall_ns", "duration"), ("cpu_ns", "cpu_time")):
        unit_ns = chunks["amounts"][key]["unit"]
        assert unit_ns <= 100  # the mean chunk takes 0.14 s
        assert np.abs(page[key] - of(exported, 1e9)).max() <= unit_ns / 2
    assert (page["rss_peak_bytes"] == of("mem_peak_mb", 2**20)).all()
    assert (page["requested_bytes"] == of("requested_bytes")).all()
    assert (page["num_events"] == of("num_events")).all()
    assert (page["attempt"] == of("attempt")).all()
    dataset = (page["file_dataset"][page["file"]] + page["other_dataset"]) % len(words["datasets"])
    for key, numbers, texts in (
        ("dataset", dataset, words["datasets"]),
        ("worker", page["worker"], words["workers"]),
        ("outcome", page["outcome"], [outcome["name"] for outcome in chunks["outcomes"]]),
    ):
        assert [texts[i] for i in numbers] == rows[key].to_list()


def exact(value: float) -> str:
    return f"{value:,.9f}".rstrip("0").rstrip(".")


def check(place: Locator, known: pd.DataFrame, units: list[int]) -> None:
    """Compare what is written about a chunk with what was exported."""
    terms = dict(
        zip(
            place.locator("dt").all_inner_texts(),
            place.locator("dd").all_inner_texts(),
            strict=True,
        )
    )
    first, last = (int(text.replace(",", "")) for text in terms["Entries"].split(" to "))
    row = known.loc[terms["File"], first]
    assert last == row["entry_stop"]
    assert terms["Events"].replace(",", "") == str(row["num_events"])
    assert terms["Worker"] == row["worker"]
    assert terms["Dataset"] == row["dataset"]

    def digits(term: str) -> str:
        found = re.search(r"\((.*) (s|bytes)\)", terms[term])
        assert found, terms[term]
        return found[1]

    wall, cpu = (
        round(row[key] * 1e9 / unit) * unit / 1e9
        for key, unit in zip(("duration", "cpu_time"), units, strict=True)
    )
    assert digits("Duration") == exact(wall)
    assert digits("CPU") == exact(cpu)
    assert digits("Peak memory") == f"{round(row['mem_peak_mb'] * 2**20):,}"
    assert digits("Requested") == f"{row['requested_bytes']:,}"


def test_a_chunk_is_shown_with_all_its_digits(
    make_report: Make, open_page: Open, known: pd.DataFrame
) -> None:
    path = make_report(KIND)
    amounts = words_of(path)[0]["chunks"]["amounts"]
    units = [amounts["wall_ns"]["unit"], amounts["cpu_ns"]["unit"]]
    page = open_page(path, "chunks")
    panel = page.locator("#chunks")
    expect(panel.locator(".ranges [role=status]")).to_have_text("270,000 of 270,000 chunks in view")
    longest = known.sort_values("duration", ascending=False, kind="stable").index
    for i in (0, 1, 7, 49):
        row = panel.locator("tbody tr").nth(i)
        assert row.locator("td").nth(1).inner_text() == longest[i][0]
        row.click()
        check(panel.locator(".about"), known, units)
    over = panel.locator(".u-over")
    box = over.bounding_box()
    assert box
    for share in (0.3, 0.5, 0.7):  # where most of them are: duration goes with events
        left, top = share * box["width"], (1 - 0.15 * share) * box["height"]
        over.hover(position={"x": left, "y": top})
        expect(panel.locator(".tooltip")).to_be_visible()
        check(panel.locator(".tooltip"), known, units)
