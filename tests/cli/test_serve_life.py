"""`roast serve` over time: growing runs, many watchers, clients that take their time."""

from __future__ import annotations

import http.client
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from command import ROAST, ROOT, make_run
from test_serve import Server, descriptors, memory_kb, serving

from roastcoffea._roast import Run


def begin(path: Path) -> Run:
    run = Run.create(str(path))
    run.fact("run.name", path.stem)
    run.fact("run.start_utc_ns", time.time_ns())
    run.commit()
    return run


def until(what: Any, seconds: float = 30) -> Any:
    """Return what a function returns, as soon as that is something, or after a time limit."""
    deadline = time.monotonic() + seconds
    while not (found := what()) and time.monotonic() < deadline:
        time.sleep(0.1)
    return found


def ask_for(server: Server, path: str, method: str = "GET") -> socket.socket:
    """Return a connection on which an answer will come."""
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=30)
    connection.sendall(f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    return connection


def test_runs_of_a_directory_are_told_apart_and_the_latest_is_scraped(tmp_path: Path) -> None:
    first = begin(tmp_path / "first.roast")
    first.fact("report.entries", 1111)
    first.commit()
    with serving(tmp_path) as server:
        assert b"1111" in server.get("/metrics")[2]
        second = begin(tmp_path / "second.roast")  # it comes while the server runs
        second.fact("report.entries", 2222)
        second.commit()
        listed = [run["id"] for run in server.json("/api/v1/runs")["runs"]]
        assert listed == ["first", "second"]
        assert until(lambda: b"2222" in server.get("/metrics")[2])
        assert b"1111" in server.get("/metrics?run=first")[2]
        for name, entries in (("first", 1111), ("second", 2222)):
            told = server.json(f"/api/v1/runs/{name}/metrics")["metrics"]
            assert told["total_events"] == entries
        second.finish()
    first.finish()


def test_a_run_that_is_deleted_is_gone_until_there_is_one_again(tmp_path: Path) -> None:
    path = tmp_path / "second.roast"
    for name in ("first", "second"):
        begin(tmp_path / f"{name}.roast").finish()
    addresses = [f"/api/v1/runs/second/{what}" for what in ("metrics", "chunks", "series")]
    addresses += ["/runs/second/", "/runs/second/data", "/metrics?run=second"]
    with serving(tmp_path) as server:
        assert [server.get(address)[0] for address in addresses] == [200] * 6
        path.unlink()
        assert [run["id"] for run in server.json("/api/v1/runs")["runs"]] == ["first"]
        assert b"second" not in server.get("/")[2]
        assert [server.get(address)[0] for address in addresses] == [404] * 6
        assert server.get("/metrics")[0] == 200
        again = begin(path)
        again.fact("report.entries", 2222)
        again.finish()
        assert [run["id"] for run in server.json("/api/v1/runs")["runs"]] == ["first", "second"]
        assert until(lambda: server.json(addresses[0])["metrics"].get("total_events") == 2222)
    with serving(path) as server:
        path.unlink()
        assert server.json("/api/v1/runs")["runs"] == []
        assert server.get("/metrics")[0] == 404


def test_another_run_under_the_same_name_is_seen_even_if_it_looks_the_same(tmp_path: Path) -> None:
    runs = [tmp_path / "one.roast", tmp_path / "other"]
    for path, entries in zip(runs, (1111, 2222), strict=True):
        run = begin(path)
        run.fact("report.entries", entries)
        run.finish()
        os.utime(path, ns=(10**18, 10**18))
    assert runs[0].stat().st_size == runs[1].stat().st_size
    with serving(tmp_path) as server:
        address = "/api/v1/runs/one/metrics"
        assert server.json(address)["metrics"]["total_events"] == 1111
        runs[1].rename(runs[0])
        assert until(lambda: server.json(address)["metrics"]["total_events"] == 2222)


def test_a_server_that_is_started_again_tells_of_the_run_as_it_is_now(tmp_path: Path) -> None:
    run = begin(tmp_path / "growing.roast")
    path = "/api/v1/runs/growing/metrics"
    process = subprocess.Popen(
        [ROAST, "serve", tmp_path, "--port", "0"], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    server = Server(process, process.stdout.readline())
    tag = server.get(path)[1]["ETag"]
    process.kill()
    process.wait()
    process.stdout.close()
    run.fact("report.entries", 77)
    run.commit()
    with serving(tmp_path) as again:
        status, _, body = again.get(path, If_None_Match=tag)
        assert status == 200, "what the other server told does not count as known"
        assert json.loads(body)["metrics"]["total_events"] == 77
        run.fact("report.entries", 78)
        run.commit()
        assert until(lambda: again.json(path)["metrics"]["total_events"] == 78)
    run.finish()


@pytest.mark.parametrize("inner", ["", "vine-run-info", "vine-run-info/now/vine-logs"])
def test_logs_of_taskvine_are_followed_from_every_folder_around_them(
    inner: str, tmp_path: Path
) -> None:
    logs = tmp_path / "vine-run-info" / "now" / "vine-logs"
    shutil.copytree(ROOT / "tests" / "data" / "vine-logs", logs)
    (logs.parents[1] / "most-recent").symlink_to(logs.parent)  # as TaskVine does
    whole = (logs / "transactions").read_text()
    begun, _, _ = whole.partition(" TASK 53 RUNNING")
    (logs / "transactions").write_text(begun.rpartition("\n")[0] + "\n")
    with serving(tmp_path / inner) as server:
        [run] = server.json("/api/v1/runs")["runs"]
        path = f"/api/v1/runs/{run['id']}/metrics"
        assert server.json(path)["metrics"]["num_task_attempts"] == 1
        (logs / "transactions").write_text(whole)
        assert until(lambda: server.json(path)["metrics"]["num_task_attempts"] == 6)


@pytest.mark.slow
def test_200_watchers_hear_of_a_change(tmp_path: Path) -> None:
    run = begin(tmp_path / "growing.roast")
    with serving(tmp_path / "growing.roast") as server:
        assert server.get("/healthz")[0] == 200
        before = descriptors(server.process.pid)
        watchers = [ask_for(server, "/runs/growing/events") for _ in range(200)]
        heard = [receive(watcher, b"event: change") for watcher in watchers]
        assert all(heard), "each is told the version that holds when it comes"
        run.fact("report.entries", 5)
        run.commit()
        heard = [receive(watcher, b"event: change") for watcher in watchers]
        assert all(heard)
        assert server.get("/healthz")[2] == b"ok\n"
        for watcher in watchers:
            watcher.close()
        run.fact("report.entries", 6)
        run.commit()  # what is written to a client that has gone tells that it has
        assert until(lambda: descriptors(server.process.pid) <= before, 60)
    run.finish()


def receive(connection: socket.socket, wanted: bytes) -> bool:
    """Return whether that comes, from a connection on which it has not come yet."""
    data = b""
    deadline = time.monotonic() + 60
    while wanted not in data and time.monotonic() < deadline:
        if select.select([connection], [], [], 1)[0]:
            piece = connection.recv(65536)
            if not piece:
                return False
            data += piece
    return wanted in data


def test_streams_that_are_only_looked_at_leave_nothing_behind(tmp_path: Path) -> None:
    run = begin(tmp_path / "growing.roast")
    with serving(tmp_path / "growing.roast") as server:
        assert server.get("/runs/growing/events", method="HEAD")[0] == 200
        before_fds = descriptors(server.process.pid)
        for _ in range(300):
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
            connection.request("HEAD", "/runs/growing/events")
            assert connection.getresponse().read() == b""
            connection.close()
            ask_for(server, "/runs/growing/events").close()
        for i in range(3):  # a stream without news notices late that its client has gone
            run.fact("report.entries", i)
            run.commit()
            time.sleep(1.1)
        assert until(lambda: descriptors(server.process.pid) <= before_fds, 60)
    run.finish()


@pytest.mark.slow
def test_a_client_that_sends_a_byte_now_and_then_is_hung_up_on(tmp_path: Path) -> None:
    begin(tmp_path / "one.roast").finish()
    with serving(tmp_path) as server:
        slow = socket.create_connection(("127.0.0.1", server.port), timeout=20)
        begun = time.monotonic()
        ended = False
        while not ended and time.monotonic() - begun < 120:
            try:
                slow.send(b"G")
            except OSError:
                ended = True
            if select.select([slow], [], [], 1)[0]:
                ended = slow.recv(100) == b""
        slow.close()
        assert ended
        assert server.get("/healthz")[0] == 200


def test_a_pipe_among_the_runs_blocks_nobody(tmp_path: Path) -> None:
    begin(tmp_path / "one.roast").finish()
    os.mkfifo(tmp_path / "pipe.roast")
    (tmp_path / "link.roast").symlink_to("/etc/passwd")
    with serving(tmp_path) as server:
        for _ in range(8):  # more than there are threads
            listed = {run["id"]: run for run in server.json("/api/v1/runs")["runs"]}
        assert set(listed) == {"one", "link"}
        assert "error" in listed["link"]
        assert b"root:" not in server.get("/runs/link/data")[2]


@pytest.mark.timed  # on a busy machine answers are made so late that the first ones have been cut
@pytest.mark.skipif("asan" in ROAST, reason="its memory is not that of the server")
def test_answers_that_nobody_takes_are_limited(tmp_path: Path) -> None:
    make_run(tmp_path / "large.roast", "large:100:1000:1200")
    with serving(tmp_path) as server:
        clients = [ask_for(server, "/api/v1/runs/large/series") for _ in range(8)]
        answers = [receive_line(client) for client in clients]
        assert b"HTTP/1.1 503 Service Unavailable" in answers
        assert b"HTTP/1.1 200 OK" in answers
        assert memory_kb(server.process.pid) < 800_000
        assert server.get("/healthz")[0] == 200
        for client in clients:
            client.close()
        assert until(lambda: server.get("/api/v1/runs/large/chunks?limit=1")[0] == 200)


def receive_line(connection: socket.socket) -> bytes:
    connection.settimeout(200)
    return connection.recv(200).split(b"\r\n")[0]


STARTING = """
import sys, time
from roastcoffea import MetricsCollector
with MetricsCollector(output_dir=sys.argv[1], serve=True) as collector:
    print(collector.address, flush=True)
    time.sleep(600)
"""


def test_a_server_beside_a_run_ends_with_it_however_that_ends(tmp_path: Path) -> None:
    program = subprocess.Popen(
        [sys.executable, "-c", STARTING, tmp_path], stdout=subprocess.PIPE, text=True
    )
    assert program.stdout is not None
    port = int(program.stdout.readline().strip().strip("/").rsplit(":", 1)[1])
    socket.create_connection(("127.0.0.1", port), timeout=20).close()
    program.send_signal(signal.SIGKILL)
    program.wait()
    program.stdout.close()
    assert until(lambda: not answers(port))


def answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
    except ConnectionRefusedError:
        return False
    except ConnectionResetError:  # it took the connection and is about to end
        pass
    return True
