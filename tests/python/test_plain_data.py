"""Plain data become rows of a run, whether they come from JSON or from objects of Python."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from random_input import MISSING, on_random_input, without_missing

from roastcoffea._probe import Records
from roastcoffea._roast import Run


def records_of(run: Run) -> list[dict[str, Any]]:
    return list(Records.from_bytes(run.chunks()))


def summary_of(**parts: Any) -> dict[str, int | float]:
    run = Run.create(None)
    for name, value in parts.items():
        getattr(run, f"add_{name}")(value)
    return run.summary().metrics()


def random_record(rng: random.Random, number: int) -> dict[str, Any]:
    names = [f"branch {i}" for i in range(rng.randint(0, 5))]
    sections = {f"section {i}": rng.uniform(0, 9) for i in range(rng.randint(0, 3))}
    return without_missing(
        {
            "t_start": 1e9 + number,
            "duration": rng.choice((rng.uniform(0, 10), None, "long", 3)),
            "mem_before_mb": rng.choice((MISSING, rng.randint(0, 9000), 1.5)),
            "mem_after_mb": rng.choice((MISSING, 0.25, 10**6)),
            "mem_delta_mb": rng.choice((MISSING, -7.25, None)),
            "bytes_read": rng.choice((MISSING, 10**12, 3.7)),
            "num_events": rng.choice((MISSING, rng.randint(0, 10**6))),
            "dataset": rng.choice(("A", "\N{LATIN SMALL LETTER E WITH ACUTE}", None)),
            "file": rng.choice((MISSING, None, "/a.root", 5)),
            "entry_start": rng.choice((0, 2**40, "first")),
            "accessed_branches": rng.choice((names, None, {"not": "a list"})),
            "branch_bytes": rng.choice((MISSING, dict.fromkeys(names, 7), [])),
            "accessed_bytes": rng.choice((MISSING, 1000)),
            "branches_read_percent": rng.choice((MISSING, 12.5)),
            "bytes_read_percent": rng.choice((MISSING, 25.0, -3)),
            "tree_bytes": rng.choice((MISSING, 8000)),
            "timing": rng.choice((sections, {}, MISSING, 7)),
            "memory": dict.fromkeys(sections, 2.5),
            "sections": [{"section_name": n, "time_delta": 1.0, "count": 4} for n in sections],
            "file_metadata": rng.choice((MISSING, {"total_branches": 9, "filename": "/m.root"})),
            "wall_split": rng.choice((MISSING, {"cpu": 1.0, "gil": 0.5, "samples": 4})),
            "outcome": rng.choice((MISSING, "finished", "skipped", "unheard of")),
            "error": rng.choice((MISSING, MISSING, "it failed", {"no": "text"})),
            "peak_source": rng.choice((MISSING, "exact", 3)),
            "worker": rng.choice((MISSING, "tcp://host:1")),
            "my own": rng.choice((MISSING, {"nested": [1, 2.5, "x", None, True]}, 3)),
        }
    )


def test_a_record_reads_the_same_from_json_and_from_python(tmp_path: Path) -> None:
    @on_random_input
    def compare(rng: random.Random) -> None:
        given = [random_record(rng, i) for i in range(3)]
        run = Run.create(None)
        run.add_records(given)
        (tmp_path / "metrics.json").write_text(json.dumps({"raw_chunk_metrics": given}))
        assert records_of(run) == records_of(Run.open(tmp_path))
        packed = Records()
        packed += given
        assert records_of(run) == list(Records.from_bytes(packed.to_bytes()))

    compare()


class Slow(Mapping[str, Any]):
    """A mapping that is no dict."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.values_ = values

    def __getitem__(self, key: str) -> Any:
        return self.values_[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.values_)

    def __len__(self) -> int:
        return len(self.values_)


def test_mappings_and_numbers_of_any_kind_are_read() -> None:
    plain = {"duration": 1.5, "num_events": 4, "timing": {"a": 0.5}, "dataset": "A"}
    odd = {
        "duration": np.float32(1.5),
        "num_events": np.int64(4),
        "timing": MappingProxyType({"a": np.float64(0.5)}),
        "dataset": "A",
    }
    given = [plain, odd, Slow(plain), MappingProxyType(odd)]
    known = summary_of(records=given)
    assert known["num_chunks"] == 4
    assert known["chunk_duration_std"] == 0
    assert known["total_events_from_chunks"] == 16
    assert summary_of(records=iter(given)) == known


class Broken:
    def __float__(self) -> float:
        raise ZeroDivisionError("on purpose")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("records", [{"duration": Broken()}]),
        ("report", {"entries": Broken()}),
        ("sections", [{"name": "s", "duration": Broken()}]),
        ("spans", {("execute", "P", "thread-cpu", "seconds"): Broken()}),
        ("tracking", {"worker_counts": {0.0: Broken()}}),
        ("metrics", {"total_events": Broken()}),
    ],
)
def test_what_an_object_raises_is_raised(name: str, value: Any) -> None:
    run = Run.create(None)
    with pytest.raises(ZeroDivisionError, match="on purpose"):
        getattr(run, f"add_{name}")(value)
    run.fact("run.name", "the run still takes rows")
    assert run.facts()["run.name"] == "the run still takes rows"


def test_what_is_no_record_is_a_type_error() -> None:
    for given in (5, [5], ["text"], [[1, 2]]):
        with pytest.raises(TypeError):
            Run.create(None).add_records(given)  # type: ignore[arg-type]


def test_instants_are_the_same_in_every_spelling() -> None:
    noon = datetime(2026, 11, 15, 12)
    east = timezone(timedelta(hours=2))
    spellings: list[Any] = [
        lambda s: noon + timedelta(seconds=s),
        lambda s: (noon + timedelta(seconds=s)).replace(tzinfo=UTC),
        lambda s: (noon + timedelta(seconds=s)).replace(tzinfo=UTC).astimezone(east),
        lambda s: (noon + timedelta(seconds=s)).isoformat(),
        lambda s: 1e9 + s,
        lambda s: np.float64(1e15 + s),  # by whatever clock
    ]
    for at in spellings:
        known = summary_of(tracking={"worker_counts": {at(0): 1, at(10): 3, at(20): 3}})
        assert known["avg_workers"] == 2.5
        assert known["peak_workers"] == 3


def test_a_dict_of_metrics_is_taken_at_its_word() -> None:
    class Told(dict[str, Any]):
        absent = {"total_bytes_read": "nobody counted"}
        estimated = {"total_events": "by eye"}
        custom = {"jets": {"title": "Jets", "unit": "jets", "better": "more"}}

    given = Told(total_events=5, elapsed_time_seconds=2.0, total_bytes_read=0, jets=np.int64(7))
    given["per_dataset"] = {None: {"num_chunks": 1, "mean_duration": 2.0}, "A": {"num_chunks": 3}}
    summary = Run.from_metrics(given).summary()
    assert summary.metrics()["total_events"] == 5
    assert summary.metrics()["event_rate_elapsed_khz"] == 0.0025
    assert summary.estimated()["total_events"] == "by eye"
    assert summary.absent()["data_rate_gbps"] == "nobody counted"
    assert summary.custom()["jets"]["value"] == 7
    assert [d["finished"] for d in summary.datasets()] == [1, 3]
    assert [d["name"] for d in summary.datasets()] == [None, "A"]
