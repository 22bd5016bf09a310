"""The command `roast`, from the outside: help, what it shows of runs, and which it refuses."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import sqlite3
import subprocess
from pathlib import Path

import pytest
from command import ROOT, make_run, roast

from roastcoffea._roast import Run

VERBS = ["show", "explain", "predict", "list", "metrics"]
TABLES = [
    "throughput",
    "events",
    "resources",
    "timing",
    "fine",
    "chunks",
    "failures",
    "split",
    "ledger",
    "bytes",
    "datasets",
    "sections",
    "branches",
    "tasks",
    "coverage",
    "custom",
]
ESCAPE = "\x1b"


def assert_cannot(result: subprocess.CompletedProcess[str], *words: object) -> None:
    """It could not be done: exit 2, and one message on stderr that says why."""
    assert result.returncode == 2
    assert result.stdout == ""
    for word in words:
        assert str(word) in result.stderr
    assert "Sanitizer" not in result.stderr


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a run of each kind; tests do not change it."""
    directory = tmp_path_factory.mktemp("runs")
    for kind in ("finished", "unfinished", "failed", "empty", "hostile"):
        make_run(directory / f"{kind}.roast", kind)
    return directory


@pytest.fixture
def run(runs: Path, tmp_path: Path) -> Path:
    """A finished run of one's own."""
    return Path(shutil.copy(runs / "finished.roast", tmp_path / "mine.roast"))


# ---- help and version ----


@pytest.mark.parametrize("option", ["--help", "-h", "help"])
def test_help_lists_the_verbs_and_the_exit_codes(option: str) -> None:
    result = roast(option)
    assert result.returncode == 0
    assert result.stderr == ""
    assert all(f"  {verb}" in result.stdout for verb in VERBS)
    assert "Exit codes: 0 success" in result.stdout


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("option", ["--help", "-h"])
def test_every_verb_has_help(verb: str, option: str) -> None:
    result = roast(verb, option)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith(f"Usage: roast {verb}")
    assert "--format" in result.stdout


@pytest.mark.parametrize("words", [[], *[[verb] for verb in VERBS]])
@pytest.mark.parametrize("option", ["--version", "-V"])
def test_version_is_told_everywhere(words: list[str], option: str) -> None:
    result = roast(*words, option)
    version = (ROOT / "VERSION").read_text().strip()
    assert (result.returncode, result.stdout, result.stderr) == (0, f"roast {version}\n", "")


def test_no_verb_is_answered_with_help_on_stderr() -> None:
    assert_cannot(roast(), "Usage: roast VERB")


def test_an_unknown_verb_is_named() -> None:
    assert_cannot(roast("brew"), "'brew'", "roast --help")


@pytest.mark.parametrize("verb", VERBS)
def test_an_unknown_option_points_to_help(verb: str) -> None:
    assert_cannot(roast(verb, "--decaf"), f"roast {verb}: ", "--decaf", f"roast {verb} --help")


@pytest.mark.parametrize("verb", VERBS)
def test_an_unknown_format_is_named(verb: str) -> None:
    assert_cannot(roast(verb, "--format", "xml"), "'xml'", "markdown")


# ---- show ----


def test_show_prints_every_table(runs: Path) -> None:
    result = roast("show", runs / "finished.roast")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("Run sample, started 2026-11-15 20:03:08 UTC\n\nThroughput")
    assert re.search(r"^Data Rate +0\.05 Gbps \(6\.0 MB/s\)$", result.stdout, re.M)
    assert re.search(r"^  • Failed +4$", result.stdout, re.M)
    assert not re.search(r" $", result.stdout, re.M)


def test_show_in_json_has_its_documented_shape(runs: Path) -> None:
    result = roast("show", runs / "finished.roast", "--format", "json")
    shown = json.loads(result.stdout)
    assert list(shown) == [
        "run",
        "metrics",
        "absent",
        "estimated",
        "custom",
        "time_ledger",
        "tables",
    ]
    assert shown["run"]["finished"] is True
    assert shown["run"]["facts"]["run.name"] == "sample"
    assert shown["metrics"]["total_events"] == 900000
    assert shown["metrics"]["data_rate_gbps"] == pytest.approx(6e7 * 8 / 1e9 / 10, rel=1e-12)
    assert shown["absent"]["peak_memory_bytes"] == "no worker tracking"
    assert not set(shown["metrics"]) & set(shown["absent"])
    assert [table["name"] for table in shown["tables"]] == TABLES
    (table,) = [table for table in shown["tables"] if table["name"] == "datasets"]
    datasets = {row["dataset"]: row for row in table["rows"]}
    assert datasets["TTbar"]["chunks"] + datasets["DYJets"]["chunks"] == 36


def test_show_and_metrics_name_the_same_metrics(runs: Path) -> None:
    shown = json.loads(roast("show", runs / "empty.roast", "-f", "json").stdout)
    known = {metric["key"] for metric in json.loads(roast("metrics", "-f", "json").stdout)}
    assert set(shown["metrics"]) | set(shown["absent"]) == known


def test_show_in_csv_writes_every_table_under_its_name(runs: Path) -> None:
    result = roast("show", runs / "finished.roast", "--format", "csv")
    assert re.findall(r"^# (.*)$", result.stdout, re.M) == TABLES


@pytest.mark.parametrize("table", [*TABLES, "files"])
def test_one_table_in_csv_is_plain_csv(runs: Path, table: str) -> None:
    result = roast("show", runs / "finished.roast", "--table", table, "--format=csv")
    assert result.returncode == 0
    rows = list(csv.reader(io.StringIO(result.stdout)))
    assert len(rows) > 1
    assert len({len(row) for row in rows}) == 1


def test_csv_has_numbers_in_base_units(runs: Path) -> None:
    result = roast("show", runs / "finished.roast", "-t", "datasets", "-f", "csv")
    first = next(csv.DictReader(io.StringIO(result.stdout)))
    assert first["dataset"] == "TTbar"
    assert (int(first["events"]), float(first["wall_s"])) == (300000, 6.36)


def test_show_in_markdown(runs: Path) -> None:
    result = roast("show", runs / "finished.roast", "--format", "markdown", "--table", "timing")
    lines = result.stdout.splitlines()
    assert lines[:4] == ["### Timing Breakdown", "", "| Metric | Value |", "| --- | --- |"]
    assert "| Elapsed Time | 10.0s |" in lines


def test_one_table_alone_in_text_has_no_headline(runs: Path) -> None:
    result = roast("show", runs / "finished.roast", "--table", "timing")
    assert result.stdout.startswith("Timing Breakdown\n")


def test_a_table_with_nothing_in_it_is_answered_with_no(runs: Path) -> None:
    result = roast("show", runs / "empty.roast", "--table", "fine")
    assert (result.returncode, result.stdout) == (1, "")
    assert "empty.roast" in result.stderr
    assert "'fine'" in result.stderr
    assert roast("show", runs / "empty.roast", "-t", "fine", "-f", "csv").stdout == "metric,value\n"


def test_an_unfinished_run_is_shown_with_what_is_known(runs: Path) -> None:
    result = roast("show", runs / "unfinished.roast")
    assert result.returncode == 0
    assert "unfinished" in result.stdout.splitlines()[0]
    assert re.search(r"^Total Chunks +10$", result.stdout, re.M)
    assert re.search(r"^Elapsed Time +N/A \(the run has not finished\)$", result.stdout, re.M)


def test_a_failed_run_says_why(runs: Path) -> None:
    first = roast("show", runs / "failed.roast").stdout.splitlines()[0]
    assert first.endswith("failed: ValueError: no muons")


def test_nothing_in_a_run_is_obeyed_by_the_terminal(runs: Path) -> None:
    for table_format in ("text", "markdown", "json"):
        assert ESCAPE not in roast("show", runs / "hostile.roast", "-f", table_format).stdout
    assert roast("show", runs / "hostile.roast").stdout.count("\n\n") > 2
    json.loads(roast("show", runs / "hostile.roast", "-f", "json").stdout)


def test_a_verb_that_is_nearly_right_is_suggested() -> None:
    assert_cannot(roast("shwo"), "there is no verb 'shwo'; did you mean 'show'?")
    assert "did you mean" not in roast("quux").stderr


def test_a_wrong_table_lists_the_tables(run: Path) -> None:
    assert_cannot(roast("show", run, "-t", "chunk"), "there is no table 'chunk'", "chunks", "files")


def test_show_wants_one_run(runs: Path) -> None:
    assert_cannot(roast("show"), "missing RUN")
    assert_cannot(
        roast("show", runs / "empty.roast", runs / "failed.roast"), "too many arguments: 2, not 1"
    )


def test_an_unknown_table_is_named(runs: Path) -> None:
    assert_cannot(roast("show", runs / "empty.roast", "--table", "beans"), "'beans'")


def test_looking_at_a_run_changes_nothing(run: Path) -> None:
    before = run.read_bytes(), run.stat().st_mtime_ns
    roast("show", run)
    roast("list", run.parent)
    assert (run.read_bytes(), run.stat().st_mtime_ns) == before
    assert list(run.parent.iterdir()) == [run]


# ---- runs that are none ----


def test_a_missing_run(tmp_path: Path) -> None:
    assert_cannot(roast("show", tmp_path / "no.roast"), tmp_path / "no.roast", "No such file")


def test_a_directory(tmp_path: Path) -> None:
    assert_cannot(roast("show", tmp_path), tmp_path, "directory")


def test_an_empty_file(tmp_path: Path) -> None:
    (tmp_path / "x.roast").touch()
    assert_cannot(roast("show", tmp_path / "x.roast"), tmp_path / "x.roast", "empty")


def test_a_file_of_another_kind(tmp_path: Path) -> None:
    (tmp_path / "x.roast").write_text("dear diary\n" * 100)
    assert_cannot(roast("show", tmp_path / "x.roast"), "x.roast: is not a run file")
    with sqlite3.connect(tmp_path / "y.roast") as db:
        db.execute("CREATE TABLE diary(entry)")
    assert_cannot(roast("show", tmp_path / "y.roast"), "SQLite database, but not a run file")


def test_a_truncated_run(run: Path) -> None:
    os.truncate(run, run.stat().st_size // 2)
    assert_cannot(roast("show", run), run, "truncated")


def test_a_run_with_a_changed_figure(run: Path) -> None:
    with sqlite3.connect(run) as db:
        db.execute("UPDATE fact SET value=value*2 WHERE name='report.entries'")
    assert_cannot(roast("show", run), run, "damaged", "checksum")
    assert_cannot(roast("show", run, "-f", "json"), run, "damaged")


def test_a_run_of_a_newer_major_version(run: Path) -> None:
    with sqlite3.connect(run) as db:
        db.execute("PRAGMA user_version=2000")
    assert_cannot(roast("show", run), run, "newer version (format 2.0", "update roastcoffea")


def test_a_run_of_a_newer_minor_version_is_shown(run: Path) -> None:
    before = roast("show", run).stdout
    with sqlite3.connect(run) as db:
        db.execute("PRAGMA user_version=1009")
        db.execute("CREATE TABLE novelty(id INTEGER PRIMARY KEY, value)")
    assert roast("show", run).stdout == before


def test_a_run_that_may_not_be_read(run: Path) -> None:
    run.chmod(0)
    nobody = {"user": 65534, "group": 65534, "extra_groups": []} if os.getuid() == 0 else {}
    try:
        result = roast("show", run, **nobody)
    except PermissionError:
        pytest.skip("we are root, and nobody else may run the command where it is")
    assert_cannot(result, run, "Permission denied")


def test_a_directory_that_may_not_be_entered(run: Path) -> None:
    """It is not said to be one without a run: nobody looked."""
    closed = run.parent / "closed"
    closed.mkdir(mode=0)
    nobody = {"user": 65534, "group": 65534, "extra_groups": []} if os.getuid() == 0 else {}
    try:
        result = roast("show", closed, **nobody)
    except PermissionError:
        pytest.skip("we are root, and nobody else may run the command where it is")
    assert_cannot(result, closed, "Permission denied")


def test_controls_of_eight_bits_do_not_reach_the_terminal(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "a.roast")
    run.fact("run.name", "\u009b31m\u0085é\u00a0")
    run.finish()
    assert roast("show", tmp_path / "a.roast").stdout.startswith("Run ??31m??é\u00a0, started")


def test_a_slow_run_is_not_shown_as_one_at_rest(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "slow.roast")
    for name, value in {"start_utc_ns": 10**18, "end_utc_ns": 10**18 + 10**11}.items():
        run.fact(f"run.{name}", value)
    run.fact("run.elapsed_ns", 10**11)
    run.fact("run.outcome", "finished")
    run.fact("report.entries", 2_000)
    run.finish()
    shown = roast("show", tmp_path / "slow.roast", "-t", "events").stdout
    assert re.search(r"^Event Rate \(Elapsed Time\) +0\.02 kHz$", shown, re.M)
    assert roast("list", tmp_path).stdout.splitlines()[-1].endswith(" 0.02")


# ---- list ----


def test_list_tells_the_state_of_every_run(runs: Path) -> None:
    result = roast("list", runs)
    assert (result.returncode, result.stderr) == (0, "")
    states = re.findall(r"^(\w+)\.roast .* UTC (\w+)", result.stdout, re.M)
    assert dict(states) == {
        "finished": "finished",
        "unfinished": "unfinished",
        "failed": "failed",
        "empty": "finished",
        "hostile": "failed",
    }


def test_list_in_csv_and_json(runs: Path) -> None:
    rows = {r["run"]: r for r in csv.DictReader(io.StringIO(roast("list", runs, "-fcsv").stdout))}
    assert float(rows["finished.roast"]["elapsed_s"]) == 10
    assert rows["empty.roast"]["events"] == ""
    table = json.loads(roast("list", runs, "-f", "json").stdout)
    assert {row["run"]: row["events"] for row in table["rows"]}["finished.roast"] == 900000


def test_list_looks_in_roast_dir_or_here(runs: Path, run: Path) -> None:
    assert "finished.roast" in roast("list", env={"ROAST_DIR": str(runs)}).stdout
    assert "mine.roast" in roast("list", cwd=run.parent).stdout
    assert "mine.roast" in roast("list", cwd=run.parent, env={"ROAST_DIR": ""}).stdout


def test_a_run_that_cannot_be_read_is_listed_with_the_reason(run: Path) -> None:
    (run.parent / "broken.roast").write_text("not a run")
    result = roast("list", run.parent)
    assert result.returncode == 0
    assert re.search(r"^broken\.roast +is not a run file", result.stdout, re.M)
    assert re.search(r"^mine\.roast .*finished", result.stdout, re.M)


def test_a_directory_without_runs_is_answered_with_no(tmp_path: Path) -> None:
    result = roast("list", tmp_path)
    assert (result.returncode, result.stdout) == (1, "")
    assert str(tmp_path) in result.stderr


def test_list_names_a_directory_that_is_none(run: Path) -> None:
    assert_cannot(roast("list", run), run, "Not a directory")
    assert_cannot(roast("list", run.parent / "no"), run.parent / "no", "No such file")
    assert_cannot(roast("list", run.parent, run.parent), "too many arguments")


# ---- metrics ----


def test_metrics_explains_all_of_them() -> None:
    metrics = json.loads(roast("metrics", "--format", "json").stdout)
    keys = [metric["key"] for metric in metrics]
    assert len(set(keys)) == len(keys) > 40
    assert all(metric["title"] and metric["unit"] and metric["formula"] for metric in metrics)
    aliases = [alias for metric in metrics for alias in metric["aliases"]]
    assert "wall_time" in aliases
    assert not set(aliases) & set(keys)
    assert len(roast("metrics").stdout.splitlines()) == len(keys) + 2


def test_a_metric_is_found_by_its_older_name() -> None:
    (metric,) = json.loads(roast("metrics", "wall_time", "-f", "json").stdout)
    assert metric["key"] == "elapsed_time_seconds"


def test_an_unknown_metric_is_named() -> None:
    assert_cannot(roast("metrics", "caffeine"), "'caffeine'")
