"""roast export and roast import, from the outside."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import shutil
import signal
import sqlite3
import subprocess
import time
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from command import ROAST, ROOT, make_run, roast

from roastcoffea import load_measurement
from roastcoffea._probe import Records
from roastcoffea._roast import Run

RULES = ROOT / "docs" / "prometheus-rules.yml"
KINDS = ["finished", "unfinished", "failed", "empty", "hostile"]
PARTS = ["metrics", "chunks", "sections", "files", "tasks", "series"]


def export(run: Path, *words: object) -> str:
    result = roast("export", run, *words)
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout


def lines(run: Path, what: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in export(run, "-f", "jsonl", "-w", what).splitlines()]


def show(path: Path) -> dict[str, Any]:
    result = roast("show", "-f", "json", path)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)["metrics"]  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    directory = tmp_path_factory.mktemp("export")
    for kind in KINDS:
        make_run(directory / f"{kind}.roast", kind)
    return {kind: directory / f"{kind}.roast" for kind in KINDS}


@pytest.fixture(scope="module")
def run(runs: dict[str, Path]) -> Path:
    return runs["finished"]


def same(exported: Any, record: Any) -> bool:
    if isinstance(exported, float):
        return math.isclose(exported, record, rel_tol=1e-12, abs_tol=1e-12)
    if isinstance(exported, dict) and isinstance(record, dict):
        return all(same(value, record[key]) for key, value in exported.items())
    return bool(exported == record)


def test_a_chunk_has_the_keys_and_values_of_the_documented_record(run: Path) -> None:
    records = Records.from_bytes(Run.open(run).chunks())
    rows = lines(run, "chunks")
    assert len(rows) == len(records) == 40
    for row, record in zip(rows, records, strict=True):
        for key, value in row.items():
            if key == "sections":
                times = {section["section_name"]: section["time_delta"] for section in value}
                assert times == record["timing"]
            elif key not in ("memory_sections", "error"):
                assert same(value, record[key]), key
        # what is left out is not known: the record has None, nothing, or the documented 0 for it
        for key in set(record) - set(row):
            assert not record[key], key
    failed = [row for row in rows if row["outcome"] == "failed"]
    assert len(failed) == 4
    assert {row["error_type"] for row in failed} == {"OSError"}
    assert {row["attempt"] for row in rows} == {1}


def test_csv_and_json_lines_tell_the_same(run: Path) -> None:
    for what in PARTS:
        rows = lines(run, what)
        table = list(csv.DictReader(io.StringIO(export(run, "-f", "csv", "-w", what))))
        assert len(table) == len(rows)
        for cells, row in zip(table, rows, strict=True):
            for key, cell in cells.items():
                value = row.get(key, "")
                assert cell == str(value) or float(cell) == value
        markdown = export(run, "-f", "markdown", "-w", what).splitlines()
        assert len(markdown) == len(rows) + 2
        if what != "metrics" and what != "series":
            assert json.loads(export(run, "-w", what)) == rows


@pytest.mark.parametrize("kind", KINDS)
def test_every_run_is_exported_in_every_format(runs: dict[str, Path], kind: str) -> None:
    for what in PARTS:
        json.loads(export(runs[kind], "-w", what))
        lines(runs[kind], what)
        export(runs[kind], "-w", what, "-f", "csv")
    json.loads(export(runs[kind], "-f", "chrome-trace"))
    assert export(runs[kind], "-f", "openmetrics").endswith("# EOF\n")


def test_metrics_are_those_of_show(run: Path) -> None:
    assert json.loads(export(run))["metrics"] == show(run)
    rows = {row["metric"]: row for row in lines(run, "metrics")}
    assert {key: row["value"] for key, row in rows.items() if "value" in row} == show(run)
    assert all("reason" in row for row in rows.values() if row["state"] != "known")


def families(text: str) -> dict[str, Any]:
    parser = pytest.importorskip("prometheus_client.openmetrics.parser")
    return {family.name: family for family in parser.text_string_to_metric_families(text)}


@pytest.mark.parametrize("kind", KINDS)
def test_openmetrics_is_read_by_the_reference_parser(runs: dict[str, Path], kind: str) -> None:
    found = families(export(runs[kind], "-f", "openmetrics", "-p"))
    assert found["roast_run_active"].samples[0].value == (kind == "unfinished")
    assert all(family.documentation for family in found.values())


def test_openmetrics_has_base_units_and_the_labels_of_datasets(run: Path) -> None:
    found = families(export(run, "-f", "openmetrics"))
    metrics = show(run)
    events = {s.labels["dataset"]: s.value for s in found["roast_events"].samples}
    assert set(events) == {"DYJets", "TTbar"}
    assert sum(events.values()) == metrics["total_events_from_chunks"]
    ended = defaultdict(float)
    for sample in found["roast_chunks"].samples:
        ended[sample.labels["outcome"]] += sample.value
    assert ended == {"finished": 36, "failed": 4}

    def value(name: str) -> float:
        return found[name].samples[0].value  # type: ignore[no-any-return]

    rate = metrics["data_rate_gbps"] * 1e9 / 8
    assert value("roast_data_rate_bytes_per_second") == pytest.approx(rate)
    rate = metrics["event_rate_elapsed_khz"] * 1000
    assert value("roast_event_rate_elapsed_hertz") == pytest.approx(rate)
    assert value("roast_processor_cpu_ratio") == pytest.approx(
        metrics["processor_cpu_percent"] / 100
    )
    assert found["roast_elapsed_time_seconds"].unit == "seconds"
    assert not [name for name in found if re.search("worker_(up|cores)$", name)]
    each = families(export(run, "-f", "openmetrics", "--per-worker"))
    assert len(each["roast_worker_up"].samples) == 3
    up = sum(sample.value for sample in each["roast_worker_up"].samples)
    assert up == value("roast_workers")


@pytest.mark.skipif(not shutil.which("promtool"), reason="promtool is not installed")
def test_promtool_has_no_complaint(run: Path) -> None:
    text = export(run, "-f", "openmetrics", "-p")
    counters = re.findall(r"^# TYPE (\S+) counter$", text, re.M)
    # in the older format, which promtool reads, the family of a counter has its suffix, too
    names = "|".join(counters)
    older = re.sub(rf"^(# (?:TYPE|HELP|UNIT) (?:{names})) ", r"\1_total ", text, flags=re.M)
    done = subprocess.run(["promtool", "check", "metrics"], input=older, text=True)
    assert done.returncode == 0
    done = subprocess.run(["promtool", "check", "rules", RULES], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_rules_ask_for_what_is_exported(run: Path) -> None:
    text = export(run, "-f", "openmetrics")
    asked = set(re.findall(r"roast_\w+", RULES.read_text().split("groups:")[1]))
    exported = set(re.findall(r"^(roast_\w+)", text, re.M))
    # the sample has no samples of memory: that one is in test-export.c and in real runs
    assert asked - exported <= {"roast_memory_utilization_max_ratio"}


def test_a_trace_has_every_attempt_on_a_thread_of_its_worker(run: Path) -> None:
    trace = json.loads(export(run, "-f", "chrome-trace"))
    slices = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    rows = lines(run, "chunks")
    assert len(slices) == len(rows)
    names = {
        event["pid"]: event["args"]["name"]
        for event in trace["traceEvents"]
        if event["name"] == "process_name"
    }
    start = min(row["t_start"] for row in rows)
    first = min(event["ts"] for event in slices)
    lanes = defaultdict(list)
    for event, row in zip(slices, rows, strict=True):
        assert names[event["pid"]] == row["worker"]
        assert event["name"] == row["dataset"]
        assert event["cat"] == row["outcome"]
        assert event["dur"] == pytest.approx(row["duration"] * 1e6)
        assert event["ts"] - first == pytest.approx((row["t_start"] - start) * 1e6, abs=2)
        assert event["args"]["sections"] == row["timing"]
        lanes[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
    for spans in lanes.values():
        spans.sort()
        assert all(a[1] <= b[0] + 1e-3 for a, b in pairwise(spans))


def test_a_measurement_goes_out_and_comes_back(run: Path, tmp_path: Path) -> None:
    place = tmp_path / "measurement"
    export(run, "-f", "v1", "-o", place)
    metrics, t0, t1 = load_measurement(place)
    assert t1 - t0 == pytest.approx(show(run)["elapsed_time_seconds"])
    for key, value in show(run).items():
        assert metrics[key] == value
    assert len(metrics["raw_chunk_metrics"]) == 40
    assert metrics["raw_span_metrics"]["execute", "MyProcessor", "thread-cpu", "seconds"] > 0
    assert show(place) == show(run)  # by the run.roast in it
    (place / "run.roast").unlink()
    back = show(place)
    for key, value in show(run).items():
        # a metric of the user is none of ours, and the ledger of tasks is not in metrics.json
        if not key.startswith(("num_retried", "monitoring", "events_per_joule")):
            assert back[key] == pytest.approx(value, rel=1e-6), key
    result = roast("export", run, "-f", "v1", "-o", place)
    assert result.returncode == 2
    assert "is there already" in result.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["measurement"]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["-f", "openmetrics", "-w", "chunks"], "openmetrics holds metrics, not chunks"),
        (["-f", "chrome-trace", "-w", "metrics"], "chrome-trace holds chunks, not metrics"),
        (["-f", "v1"], "--output"),
        (["-f", "v1", "-w", "chunks", "-o", "x"], "--what"),
        (["-p"], "--per-worker"),
        (["-f", "xml"], "there is no format 'xml'"),
        (["-w", "dreams"], "there is no what 'dreams': choose metrics"),
        (["-w", ""], "there is no what ''"),
        (["more"], "too many arguments: 2, not 1"),
    ],
)
def test_what_makes_no_sense_is_refused(run: Path, words: list[str], reason: str) -> None:
    result = roast("export", run, *words)
    assert (result.returncode, result.stdout) == (2, "")
    assert reason in result.stderr


def test_a_file_is_replaced_whole_or_not_at_all(run: Path, tmp_path: Path) -> None:
    target = tmp_path / "chunks.jsonl"
    export(run, "-w", "chunks", "-f", "jsonl", "-o", target)
    before = target.read_text()
    assert before == export(run, "-w", "chunks", "-f", "jsonl")
    damaged = tmp_path / "damaged.roast"
    shutil.copy(run, damaged)
    with sqlite3.connect(damaged) as connection:
        connection.execute("UPDATE chunk SET wall_ns = wall_ns + 1 WHERE id = 40")
    connection.close()
    result = roast("export", damaged, "-w", "chunks", "-f", "jsonl", "-o", target)
    assert result.returncode == 2
    assert "is damaged" in result.stderr
    assert target.read_text() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["chunks.jsonl", "damaged.roast"]
    result = roast("export", run, "-o", tmp_path / "missing" / "x.json")
    assert result.returncode == 2
    assert "cannot be created" in result.stderr


def test_what_a_link_leads_to_is_replaced_and_the_link_stays(run: Path, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "metrics.json", tmp_path / "link.json"
    target.write_text("older")
    link.symlink_to(target)
    assert export(run, "-o", link) == ""
    assert link.is_symlink()
    assert "metrics" in json.loads(target.read_text())
    assert [path.name for path in target.parent.iterdir()] == ["metrics.json"]


def test_a_link_to_what_is_not_there_yet_says_where_it_is_written(
    run: Path, tmp_path: Path
) -> None:
    (tmp_path / "there").mkdir()
    first, second = tmp_path / "first.json", tmp_path / "there" / "second.json"
    first.symlink_to("there/second.json")
    second.symlink_to("metrics.json")
    assert export(run, "-o", first) == ""
    assert first.is_symlink()
    assert second.is_symlink()
    assert "metrics" in json.loads((tmp_path / "there" / "metrics.json").read_text())
    circle = tmp_path / "circle"
    circle.symlink_to("circle")
    result = roast("export", run, "-o", circle)
    assert result.returncode == 2
    assert "it cannot be told where this leads" in result.stderr
    assert circle.is_symlink()


def test_a_link_to_a_run_that_is_in_its_log_alone_is_not_followed(
    run: Path, tmp_path: Path
) -> None:
    log, link = tmp_path / "x.roast-wal", tmp_path / "link"
    log.write_bytes(b"a log")
    link.symlink_to("x.roast")
    result = roast("export", run, "-o", link)
    assert result.returncode == 2
    assert "is a run, and is not overwritten" in result.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "x.roast-wal"]


def test_standard_output_by_its_name_is_standard_output(run: Path, tmp_path: Path) -> None:
    """As /dev/stdout is: a link, which must not be replaced, to a file that has more in it."""
    name, kept = tmp_path / "stdout", tmp_path / "kept.txt"
    name.symlink_to("/proc/self/fd/1")
    kept.write_text("before\n")
    with kept.open("a") as out:
        subprocess.run([ROAST, "export", run, "-o", name], stdout=out, check=True, timeout=60)
    assert name.is_symlink()
    before, _, exported = kept.read_text().partition("\n")
    assert before == "before"
    assert exported == export(run) == export(run, "-o", name)


def test_an_interrupted_export_leaves_nothing_behind(tmp_path: Path) -> None:
    run, target = tmp_path / "run.roast", tmp_path / "chunks.json"
    make_run(run, "large:30000:4:60")
    target.write_text("older")
    for number in (signal.SIGINT, signal.SIGTERM):
        process = subprocess.Popen(
            [ROAST, "export", run, "-w", "chunks", "-o", target],
            # a shell lets its background ignore it
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        while not any(tmp_path.glob("*.part")) and process.poll() is None:
            time.sleep(0.001)
        process.send_signal(number)
        assert process.wait(60) == -number
        assert sorted(path.name for path in tmp_path.iterdir()) == ["chunks.json", "run.roast"]
        assert target.read_text() == "older"


@pytest.mark.parametrize(
    "words", [["export", "-f", "v1", "-o", "out"], ["report", "-o", "out.html"]]
)
def test_what_is_interrupted_leaves_no_part_behind(words: list[str], tmp_path: Path) -> None:
    make_run(tmp_path / "run.roast", "large:30000:4:60")
    before = {path.name for path in tmp_path.iterdir()}
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        process = subprocess.Popen(
            [ROAST, *words, "run.roast"],
            cwd=tmp_path,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        while {path.name for path in tmp_path.iterdir()} == before and process.poll() is None:
            pass
        process.send_signal(number)
        assert process.wait(60) in (-number, 0)  # 0: it was done already
        left = {path.name for path in tmp_path.iterdir()} - before
        assert left <= {words[-1]}
        for path in (tmp_path / name for name in left):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


@pytest.mark.parametrize("kind", ["finished", "unfinished", "empty"])
def test_a_run_is_never_replaced_by_an_export(
    runs: dict[str, Path], tmp_path: Path, kind: str
) -> None:
    other = shutil.copy(runs["failed"], tmp_path / "other.roast")
    for end in ("", "-wal"):
        if (beside := runs[kind].with_name(runs[kind].name + end)).exists():
            shutil.copy(beside, tmp_path / f"run.roast{end}")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    for words in ([], ["-f", "csv"], ["-f", "openmetrics"], ["-f", "v1"]):
        for source in (tmp_path / "run.roast", other):
            result = roast("export", source, *words, "-o", tmp_path / "run.roast")
            assert result.returncode == 2
            assert "overwritten" in result.stderr or "is not replaced" in result.stderr
    assert {path: path.read_bytes() for path in before} == before
    assert not list(tmp_path.glob("*.part*"))


def test_a_damaged_run_is_not_replaced_by_an_export_either(run: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.roast"
    damaged.write_bytes(run.read_bytes()[:-5000])
    result = roast("export", run, "-o", damaged)
    assert (result.returncode, result.stdout) == (2, "")
    assert "damaged.roast: is a run, and is not overwritten" in result.stderr


def test_a_measurement_is_not_replaced_by_its_export(run: Path, tmp_path: Path) -> None:
    place = tmp_path / "measurement"
    export(run, "-f", "v1", "-o", place)
    (place / "run.roast").unlink()
    before = (place / "metrics.json").read_bytes()
    result = roast("export", place, "-o", place / "metrics.json")
    assert result.returncode == 2
    assert "metrics.json: is what is read, and is not overwritten" in result.stderr
    assert (place / "metrics.json").read_bytes() == before
    export(place, "-o", place / "figures.json")
    export(place, "-o", place / "figures.json")


@pytest.mark.parametrize("words", [["-o", "/dev/full"], []])
def test_a_full_disk_is_told(run: Path, words: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(
            [ROAST, "export", run, "-w", "chunks", *words],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert result.returncode == 2
    assert "No space left on device" in result.stderr


def test_a_reader_that_closes_early_is_no_error_of_ours(run: Path) -> None:
    shell = f"{ROAST} export {run} -w chunks -f jsonl | head -n 1"
    result = subprocess.run(["bash", "-c", shell], capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")
    assert len(result.stdout.splitlines()) == 1


def test_an_import_is_a_run_like_the_measurement(run: Path, tmp_path: Path) -> None:
    place = tmp_path / "some measurement"
    export(run, "-f", "v1", "-o", place)
    (place / "run.roast").unlink()
    result = roast("import", place, cwd=tmp_path)
    assert (result.returncode, result.stdout) == (0, "some measurement.roast\n")
    imported = tmp_path / "some measurement.roast"
    assert show(imported) == show(place)
    assert imported.stat().st_mode & 0o777 == 0o600
    assert roast("check", imported).returncode == 0
    before = imported.read_bytes()
    for words in ([], ["-o", imported]):
        result = roast("import", place, *words, cwd=tmp_path)
        assert result.returncode == 2
        assert "is not replaced" in result.stderr
    assert imported.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == [place.name, imported.name]


def test_a_run_file_needs_no_import(run: Path, tmp_path: Path) -> None:
    result = roast("import", run, "-o", tmp_path / "x.roast")
    assert result.returncode == 2
    assert "is a run file already" in result.stderr
    assert list(tmp_path.iterdir()) == []
