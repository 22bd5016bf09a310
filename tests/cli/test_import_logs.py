"""Logs of other executors in place of run files: TaskVine's, and Parsl's monitoring.db."""

from __future__ import annotations

import csv
import json
import os
import random
import shutil
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from command import roast
from oracles import DATA

from roastcoffea._roast import Run

EXCERPT = DATA / "vine-logs"


def metrics(path: Path) -> Any:
    result = roast("show", "--format", "json", path)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)["metrics"]


def rows(path: Path, folder: Path, table: str) -> list[dict[str, Any]]:
    """Return the rows of a view of what was imported."""
    copy = folder / "copy.roast"
    copy.unlink(missing_ok=True)
    Run.open(str(path)).copy(str(copy))
    with sqlite3.connect(copy) as database:
        database.row_factory = sqlite3.Row
        return [dict(row) for row in database.execute(f"SELECT * FROM {table} ORDER BY id")]


def outcomes(tasks: list[dict[str, Any]]) -> dict[str, int]:
    names = {0: "finished", 1: "failed", 2: "lost", 6: "running"}
    return dict(Counter(names[task["outcome"]] for task in tasks))


def test_a_pipe_with_the_name_of_a_log_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "most" / "vine-logs").mkdir(parents=True)
    for folder in (tmp_path, tmp_path / "most" / "vine-logs"):
        os.mkfifo(folder / "transactions")
    result = roast("show", tmp_path)
    assert result.returncode == 2
    assert "directory without a run" in result.stderr
    logs = tmp_path / "logs"
    shutil.copytree(EXCERPT, logs)
    before = roast("show", logs).stdout
    (logs / "taskgraph").unlink(missing_ok=True)
    os.mkfifo(logs / "taskgraph")
    assert roast("show", logs).stdout.splitlines()[0] == before.splitlines()[0]


def test_an_excerpt_with_every_fault(tmp_path: Path) -> None:
    tasks = rows(EXCERPT, tmp_path, "tasks")
    assert outcomes(tasks) == {"finished": 4, "failed": 1, "lost": 1}
    by_key: dict[str, list[Any]] = {}
    for task in tasks:
        by_key.setdefault(task["key"], []).append(task)
    lost, again = by_key["53"]
    assert (lost["attempt"], again["attempt"]) == (1, 2)
    assert lost["worker"] != again["worker"]
    assert lost["stop_utc_ns"] - lost["start_utc_ns"] == 3_726_234_000
    assert (again["file"], again["entry_start"], again["entry_stop"]) == (
        "nano_1.root",
        92000,
        96000,
    )
    assert by_key["65"][0]["error_message"] == "exit code 1"
    assert by_key["65"][0]["cpu_ns"] is None, "what was allotted is no measurement"
    assert by_key["65"][0]["transfer_ns"] < 1e9, "a difference that wrapped around is dropped"
    assert by_key["133"][0]["attempt"] == 2, "coffea submits a chunk that failed anew"
    assert by_key["107"][0]["prefix"] == "recovery"
    assert by_key["107"][0]["file"] is None, "it is no further attempt at the chunk"
    assert metrics(EXCERPT)["num_successful_chunks"] == 3


@pytest.mark.parametrize("name", ["clean", "faults", "unfinished"])
def test_taskvine_agrees_with_the_truth(name: str, logs: Path, tmp_path: Path) -> None:
    folder = logs / "taskvine" / name
    truth = json.loads((folder / "truth/truth.json").read_text())
    expected = truth["expected_from_logs"]
    with (folder / "truth/tasks.csv").open() as table:
        known = list(csv.DictReader(table))
    tasks = rows(folder, tmp_path, "tasks")
    by_key: dict[str, list[Any]] = {}
    for task in tasks:
        by_key.setdefault(task["key"], []).append(task)

    retrieved = [task for task in tasks if task["outcome"] in (0, 1)]
    assert len(retrieved) == expected["tasks_retrieved"]
    assert sum(t["compute_ns"] for t in retrieved) == round(expected["exec_s"] * 1e6) * 1000
    assert sum(t["cpu_ns"] or 0 for t in tasks) == round(expected["cpu_s"] * 1e6) * 1000
    assert sum(t["cpu_ns"] is None for t in retrieved) == expected["retrieved_without_cpu"]
    assert [
        (int(t["key"]), t["worker"], t["start_utc_ns"] // 1000, t["stop_utc_ns"] // 1000)
        for t in tasks
        if t["outcome"] == 2
    ] == [(t["task"], t["worker"], t["from_us"], t["until_us"]) for t in expected["lost_attempts"]]
    assert len([t for t in tasks if t["outcome"] == 6]) == len(expected["open_tasks"])

    kinds = {"preprocess": "preprocessing", "process": "processing", "retry": "processing"}
    kinds |= {"accumulate": "accumulating", "recovery": "recovery"}
    for row in known:
        attempts = by_key.get(row["task_id"], [])
        assert len(attempts) == int(row["attempts_started"])
        assert sum(t["outcome"] == 2 for t in attempts) == int(row["attempts_lost"])
        if attempts:
            assert {t["prefix"] for t in attempts} == {kinds[row["kind"]]}
            assert attempts[-1]["worker"] == row["last_worker"]
        if attempts and row["exit_code"]:
            assert (attempts[-1]["outcome"] == 1) == (row["exit_code"] != "0")

    lives: dict[str, dict[str, int]] = {}
    for event in rows(folder, tmp_path, "worker_events"):
        key = "disconnected_us" if event["kind"] == 3 else "connected_us"
        lives.setdefault(event["worker"], {}).setdefault(key, event["utc_ns"] // 1000)
    assert lives == {
        worker: {
            key: life[key]
            for key in ("connected_us", "disconnected_us")
            if life.get(key) is not None
        }
        for worker, life in expected["workers"].items()
    }

    facts = Run.open(str(folder)).facts()
    assert facts["vine.tasks"] == len(known)
    assert facts["vine.sent_bytes"] == expected["transfer_input_bytes"]
    assert facts["vine.received_bytes"] == expected["transfer_output_bytes"]
    assert ("run.end_utc_ns" in facts) == (name != "unfinished")
    if name == "faults":  # the one whose application told which task is which chunk
        assert metrics(folder)["num_successful_chunks"] == truth["truth"]["distinct_chunks_ok"]
        assert metrics(folder)["total_events_from_chunks"] == truth["truth"]["events"]


RUNS = ["clean", "faults", "unfinished", "deco", "killw", "failing", "dv_vine", "dv_fc"]


def transactions(folder: Path) -> list[list[str]]:
    """Return the words of each record; what follows the fifth word is one."""
    (log,) = folder.rglob("transactions")
    lines = log.read_text().splitlines()
    return [line.split(None, 5) for line in lines if not line.startswith("#")]


def attempts_read_plainly(folder: Path) -> list[tuple[str, int, str, str]]:
    """Return key, number, worker and outcome of each attempt, as the records follow each other.

    A library that serves function calls is left out: it is no task of the analysis.
    """
    libraries = {words[3] for words in transactions(folder) if words[2] == "LIBRARY"}
    begun: dict[str, list[list[Any]]] = {}
    for _, _, kind, task, state, *rest in transactions(folder):
        if kind != "TASK" or task in libraries:
            continue
        attempts = begun.setdefault(task, [])
        if state == "RUNNING":
            attempts.append([rest[0].split()[0], "running"])
        elif state == "RETRIEVED":
            result, code, _ = rest[0].split(None, 2)
            attempts[-1][1] = "finished" if (result, code) == ("SUCCESS", "0") else "failed"
        elif state == "READY" and attempts and attempts[-1][1] == "running":
            attempts[-1][1] = "lost"
    return sorted(
        (task, number, worker, outcome)
        for task, attempts in begun.items()
        for number, (worker, outcome) in enumerate(attempts, 1)
    )


@pytest.mark.parametrize("name", RUNS)
def test_taskvine_agrees_with_a_plain_reading_of_its_records(
    name: str, logs: Path, tmp_path: Path
) -> None:
    folder = logs / "taskvine" / name
    libraries = {words[3] for words in transactions(folder) if words[2] == "LIBRARY"}
    seen: Counter[str] = Counter()
    found = []
    for task in rows(folder, tmp_path, "tasks"):
        if task["key"] not in libraries:
            seen[task["key"]] += 1
            (outcome,) = outcomes([task])
            found.append((task["key"], seen[task["key"]], task["worker"], outcome))
    assert sorted(found) == attempts_read_plainly(folder)


@pytest.mark.parametrize("name", RUNS)
def test_workers_of_taskvine_join_and_leave_when_the_log_says(
    name: str, logs: Path, tmp_path: Path
) -> None:
    folder = logs / "taskvine" / name
    connected = [
        (int(time), worker)
        for time, _, kind, worker, what, *_ in transactions(folder)
        if kind == "WORKER" and what == "CONNECTION"
    ]
    left = [
        (int(time), worker)
        for time, _, kind, worker, what, *_ in transactions(folder)
        if kind == "WORKER" and what == "DISCONNECTION"
    ]
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    for event in rows(folder, tmp_path, "worker_events"):
        times = last if event["kind"] == 3 else first
        times.setdefault(event["worker"], event["utc_ns"] // 1000)
    assert sorted((time, worker) for worker, time in first.items()) == connected
    assert sorted((time, worker) for worker, time in last.items()) == left
    most = now = 0
    for _, change in sorted([(t, 1) for t, _ in connected] + [(t, -1) for t, _ in left]):
        now += change
        most = max(most, now)
    assert metrics(folder)["peak_workers"] == most == 2


@pytest.mark.parametrize(
    ("name", "chunks", "successful", "failed", "lost"),
    [("deco", 12, 12, 0, 0), ("killw", 12, 12, 0, 1), ("failing", 12, 11, 2, 0)],
)
def test_chunks_of_taskvine_count_once(
    name: str, chunks: int, successful: int, failed: int, lost: int, logs: Path, tmp_path: Path
) -> None:
    folder = logs / "taskvine" / name
    found = metrics(folder)
    assert found["num_successful_chunks"] == successful
    assert (found["num_failed_chunks"], found["num_lost_chunks"]) == (failed, lost)
    assert found["total_events_from_chunks"] == 20_000 * successful
    tasks = rows(folder, tmp_path, "tasks")
    assert len({(t["file"], t["entry_start"]) for t in tasks if t["entry_stop"]}) == chunks
    again = sum(t["prefix"] == "recovery" for t in tasks)
    assert (again > 0) == (name == "killw")


@pytest.mark.parametrize("name", ["dv_vine", "dv_fc"])
def test_tasks_of_daskvine_are_no_chunks(name: str, logs: Path, tmp_path: Path) -> None:
    folder = logs / "taskvine" / name
    found = metrics(folder)
    assert not {"num_chunks", "num_successful_chunks"} & set(found)
    known = [t for t in rows(folder, tmp_path, "tasks") if t["prefix"]]
    assert outcomes(known) == {"finished": 7}
    assert found["num_lost_tasks"] == 0
    spent = {
        words[3]: json.loads(words[5].split(None, 3)[3])
        for words in transactions(folder)
        if words[2] == "TASK" and words[4] == "RETRIEVED"
    }
    for task in known:
        measured = spent[task["key"]]
        wall_s = measured["time_worker_end"][0] - measured["time_worker_start"][0]
        assert task["compute_ns"] == pytest.approx(wall_s * 1e9, abs=2_000)


@pytest.mark.parametrize("name", ["clean", "faults"])
def test_parsl_agrees_with_the_truth(name: str, logs: Path, tmp_path: Path) -> None:
    path = logs / "parsl" / name / "monitoring.db"
    with (path.parent / "truth/tries.csv").open() as table:
        known = list(csv.DictReader(table))
    tasks = rows(path, tmp_path, "tasks")
    assert len(tasks) == len(known)
    for task, row in zip(tasks, known, strict=True):
        assert (int(task["key"]), task["attempt"]) == (int(row["task_id"]), int(row["try_id"]) + 1)
        assert task["worker"].endswith(f":{row['pid']}")
        assert task["outcome"] == (0 if row["final_status"] == "exec_done" else 1)
        assert task["start_utc_ns"] == round(float(row["running"]) * 1e6) * 1000
        assert task["stop_utc_ns"] == round(float(row["running_ended"]) * 1e6) * 1000
        if row["resource_samples"] == "1":
            assert task["cpu_ns"] is None, "one sample tells nothing"
        else:
            assert task["cpu_ns"] == pytest.approx(float(row["cpu_diff_s"]) * 1e9, abs=1e6)
    failed = [task for task in tasks if task["outcome"] == 1]
    assert [task["error_type"] for task in failed] == ["Exception"] * (name == "faults")
    found = metrics(path)
    assert found["num_tasks"] == 104
    assert found["num_task_attempts"] == len(known)
    assert found["peak_workers"] == 2
    wall = {"clean": 319.25, "faults": 200.38}[name]
    assert found["elapsed_time_seconds"] == pytest.approx(wall, abs=0.01)


def ledger(path: Path) -> dict[str, float]:
    """Return the seconds of each part that is known, over all workers."""
    result = roast("show", "--format", "json", path)
    assert result.returncode == 0, result.stderr
    total: dict[str, float] = {}
    for row in json.loads(result.stdout)["time_ledger"].values():
        for part, seconds in row.items():
            total[part] = total.get(part, 0.0) + seconds
    return total


@pytest.mark.parametrize("name", ["clean", "faults", "unfinished"])
def test_the_ledger_of_taskvine_agrees_with_its_tasks(
    name: str, logs: Path, tmp_path: Path
) -> None:
    folder = logs / "taskvine" / name
    tasks = [t for t in rows(folder, tmp_path, "tasks") if t["prefix"] == "processing"]
    lasts = {id(t): (t["stop_utc_ns"] - t["start_utc_ns"]) / 1e9 for t in tasks}
    found = ledger(folder)
    cpu = sum(t["cpu_ns"] or 0 for t in tasks) / 1e9
    measured = sum(lasts[id(t)] for t in tasks if t["cpu_ns"] is not None)
    rest = sum(lasts[id(t)] for t in tasks if t["cpu_ns"] is None)
    assert found["processor_cpu"] == pytest.approx(cpu, abs=0.01)
    assert found["processor_wait"] == pytest.approx(measured - cpu, abs=0.01)
    assert found.get("processor", 0) == pytest.approx(rest, abs=0.01)
    assert not {"tasks", "tasks_cpu", "serialize"} & set(found)


def test_the_ledger_of_parsl_does_not_tell_tasks_apart(logs: Path) -> None:
    path = logs / "parsl/clean/monitoring.db"
    found = ledger(path)
    assert not {"processor_cpu", "processor_wait", "processor", "overhead"} & set(found)
    assert found["tasks_cpu"] == pytest.approx(metrics(path)["task_cpu_seconds"], abs=0.01)
    in_tasks = found["tasks_cpu"] + found["tasks_wait"] + found["tasks"]
    assert in_tasks == pytest.approx(577.41, abs=0.01)
    assert sum(found.values()) == pytest.approx(2 * 319.25, abs=0.02)


def test_logs_without_an_end_have_no_elapsed_time(logs: Path, tmp_path: Path) -> None:
    path = tmp_path / "monitoring.db"
    shutil.copyfile(logs / "parsl/clean/monitoring.db", path)
    with sqlite3.connect(path) as database:  # as if it had been killed in the last task
        database.execute("UPDATE workflow SET time_completed = NULL")
        database.execute(
            "DELETE FROM status WHERE task_id = 103 AND task_status_name NOT IN"
            " ('pending', 'launched', 'running')"
        )
        database.execute("UPDATE try SET task_try_time_returned = NULL WHERE task_id = 103")
    for log in (path, logs / "taskvine/unfinished"):
        result = roast("show", "--format", "json", log)
        told = json.loads(result.stdout)
        assert "elapsed_time_seconds" not in told["metrics"]
        assert told["absent"]["elapsed_time_seconds"] == "the run has not finished"
        explained = json.loads(roast("explain", "--format", "json", log).stdout)
        assert not {f["rule"] for f in explained["findings"]} & {"after-chunks", "chunks-large"}
    assert outcomes(rows(path, tmp_path, "tasks")) == {"finished": 103, "running": 1}


def test_a_log_is_found_from_every_folder_around_it(logs: Path) -> None:
    around = logs / "taskvine/clean"
    [run] = (around / "vine-run-info").iterdir()
    told = {
        roast("show", path).stdout
        for path in (around, around / "vine-run-info", run, run / "vine-logs")
    }
    assert len(told) == 1
    assert told.pop().startswith(f"Run {run.name}, ")


def test_the_latest_of_several_runs_counts(tmp_path: Path) -> None:
    for name in ("2026-01-01T000000", "2026-01-02T000000"):
        shutil.copytree(EXCERPT, tmp_path / name / "vine-logs")
    (tmp_path / "most-recent").symlink_to("/nowhere")
    assert roast("show", tmp_path).stdout.startswith("Run 2026-01-02T000000, ")


def test_damaged_logs_are_no_crash(tmp_path: Path) -> None:
    chance = random.Random(7)
    whole = (EXCERPT / "transactions").read_bytes()
    header = whole.index(b"\n") + 1
    logs = tmp_path / "vine-logs"
    shutil.copytree(EXCERPT, logs)
    for _ in range(60):
        damaged = bytearray(whole)
        for _ in range(chance.randint(1, 30)):
            at = chance.randrange(header, len(damaged))
            if chance.random() < 0.3:
                del damaged[at : at + chance.randrange(1, 200)]
            elif chance.random() < 0.3:
                damaged[at:at] = damaged[at : at + chance.randrange(1, 300)]
            else:
                damaged[at] = chance.randrange(256)
        (logs / "transactions").write_bytes(damaged[: chance.randrange(header, len(damaged))])
        result = roast("show", tmp_path)
        assert result.returncode == 0, result.stderr


def test_a_database_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "monitoring.db"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE workflow (run_id TEXT)")
    result = roast("show", path)
    assert result.returncode == 2
    assert "not a run file" in result.stderr


def test_an_empty_monitoring_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "monitoring.db"
    with sqlite3.connect(path) as database:
        for table in ("workflow", "task", "try", "status", "node", "resource"):
            database.execute(f'CREATE TABLE "{table}" (run_id TEXT)')
    result = roast("show", path)
    assert result.returncode == 2
    assert "Parsl" in result.stderr
