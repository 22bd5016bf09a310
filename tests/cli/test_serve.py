"""`roast serve`: what it answers, to whom, and that it goes on whatever it is asked."""

from __future__ import annotations

import base64
import http.client
import json
import os
import random
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from command import ROAST, make_run

from roastcoffea._roast import Run


class Server:
    """A server, and what it answers."""

    def __init__(self, process: subprocess.Popen[str], address: str) -> None:
        self.process = process
        self.host, port = address.removeprefix("http://").strip("/\n").rsplit(":", 1)
        self.port = int(port)

    def get(
        self, path: str, method: str = "GET", **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            names = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, headers=names)
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def json(self, path: str) -> Any:
        status, _, body = self.get(path)
        assert status == 200, body
        return json.loads(body)

    def send(self, data: bytes, wait_s: float = 0.2) -> bytes:
        """Send bytes as they are, and return what comes back at once."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=5) as connection:
            connection.sendall(data)
            connection.settimeout(wait_s)
            try:
                return connection.recv(65536)
            except (TimeoutError, ConnectionError):
                return b""


@contextmanager
def serving(*words: str | Path) -> Iterator[Server]:
    process = subprocess.Popen(
        [ROAST, "serve", *words, "--port", "0"], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    address = process.stdout.readline()
    try:
        assert address.startswith("http://"), "it did not start"
        yield Server(process, address)
    finally:
        process.terminate()
        assert process.wait(20) == 0
        process.stdout.close()


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    make_run(folder / "one.roast", "large:40:4:60")
    make_run(folder / "a <b>&.roast", "hostile")
    (folder / "secret.txt").write_text("nobody sees this")
    return folder


@pytest.fixture(scope="module")
def server(runs: Path) -> Iterator[Server]:
    with serving(runs) as server:
        yield server


def test_it_lists_runs(server: Server) -> None:
    listed = server.json("/api/v1/runs")["runs"]
    assert {run["id"] for run in listed} == {"one", "a <b>&"}
    status, headers, page = server.get("/")
    assert status == 200
    assert headers["Content-Type"].startswith("text/html")
    assert b"a &lt;b&gt;&amp;" in page
    assert b"a <b>" not in page


def test_a_run_has_page_metrics_chunks_and_series(server: Server, runs: Path) -> None:
    assert b"<!doctype html>" in server.get("/runs/one/")[2]
    shown = subprocess.run(
        [ROAST, "show", "-f", "json", runs / "one.roast"], capture_output=True, check=True
    )
    told = server.json("/api/v1/runs/one/metrics")
    assert told["metrics"] == json.loads(shown.stdout)["metrics"]
    assert "worker_counts" in server.json("/api/v1/runs/one/series")
    assert server.get("/healthz")[2] == b"ok\n"
    status, headers, text = server.get("/metrics?run=one")
    assert status == 200
    assert headers["Content-Type"].startswith("application/openmetrics-text")
    assert text.endswith(b"# EOF\n")


def test_a_run_that_came_later_is_found_by_its_address(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        assert server.get("/api/v1/runs/later/metrics")[0] == 404
        make_run(tmp_path / "later.roast", "empty")
        assert "metrics" in server.json("/api/v1/runs/later/metrics")
        make_run(tmp_path / "last.roast", "empty")
        assert server.get("/runs/last/")[0] == 200


def test_one_of_several_runs_may_be_called_run(tmp_path: Path) -> None:
    for name in ("run", "other"):
        make_run(tmp_path / f"{name}.roast", "empty")
    with serving(tmp_path) as server:
        assert {run["id"] for run in server.json("/api/v1/runs")["runs"]} == {"run", "other"}
    (tmp_path / "metrics.json").write_text("{}")  # as in a measurement
    with serving(tmp_path) as server:
        assert {run["id"] for run in server.json("/api/v1/runs")["runs"]} == {tmp_path.name}


def test_what_is_no_run_does_not_stand_between_prometheus_and_the_runs(tmp_path: Path) -> None:
    make_run(tmp_path / "older.roast", "failed")
    make_run(tmp_path / "good.roast", "finished")
    (tmp_path / "text.roast").write_text("no run")
    (tmp_path / "folder.roast").mkdir()
    for age, name in enumerate(["folder.roast", "text.roast", "good.roast", "older.roast"]):
        os.utime(tmp_path / name, (1e9 - age, 1e9 - age))
    with serving(tmp_path) as server:
        status, _, body = server.get("/metrics")
        assert status == 200
        assert b'outcome="finished"' in body
        (tmp_path / "good.roast").unlink()
        (tmp_path / "older.roast").unlink()
        status, _, body = server.get("/metrics")
        assert (status, b"folder.roast: is a directory" in body) == (500, True)


def test_chunks_come_in_pages(server: Server, runs: Path) -> None:
    exported = subprocess.run(
        [ROAST, "export", "--what", "chunks", "--format", "jsonl", runs / "one.roast"],
        capture_output=True,
        check=True,
    )
    everything = [json.loads(line) for line in exported.stdout.splitlines()]
    found: list[Any] = []
    cursor: int | None = 0
    while cursor is not None:
        page = server.json(f"/api/v1/runs/one/chunks?limit=2&cursor={cursor}")
        assert len(page["chunks"]) <= 2
        found += page["chunks"]
        cursor = page["next"]
    assert found == everything
    dataset = next(chunk["dataset"] for chunk in everything if chunk.get("dataset"))
    some = server.json(f"/api/v1/runs/one/chunks?dataset={dataset}")["chunks"]
    assert some == [chunk for chunk in everything if chunk.get("dataset") == dataset]
    for query in ("limit=0", "limit=99999999", "cursor=-1", "cursor=x", "limit="):
        assert server.get(f"/api/v1/runs/one/chunks?{query}")[0] == 400


def test_nothing_else_is_readable(server: Server) -> None:
    for path in (
        "/secret.txt", "/runs/secret.txt/", "/runs/../secret.txt", "/runs/%2e%2e/secret.txt/",
        "/runs/..%2fsecret.txt/", "/api/v1/runs/..%2f..%2fetc%2fpasswd/metrics", "/runs//", "//",
        "/runs/one", "/runs/one/data/../../secret.txt", "/runs/one%00/", "/../../etc/passwd",
    ):  # fmt: skip
        status, _, body = server.get(path)
        assert status == 404, path
        assert b"nobody sees this" not in body
    assert server.get("/", method="POST")[0] == 405
    assert server.get("/runs/one/", method="DELETE")[0] == 405


def test_other_names_of_this_host_are_refused(server: Server) -> None:
    for host in ("evil.example", "127.0.0.1.evil.example", "localhost.evil", "", "[::1"):
        assert server.get("/", Host=host)[0] in (400, 421), host
    for host in ("localhost", f"localhost:{server.port}", "127.0.0.1", "[::1]:80"):
        assert server.get("/healthz", Host=host)[0] == 200, host


def test_what_a_client_has_is_not_sent_again(server: Server) -> None:
    _, headers, _ = server.get("/runs/one/data")
    tag = headers["ETag"]
    for has in (tag, f"W/{tag}", f'"1", {tag}', f'W/"1",W/{tag} , "2"', "*"):
        status, _, body = server.get("/runs/one/data", If_None_Match=has)
        assert (status, body) == (304, b""), has
    for has in ('"1"', tag.strip('"'), f'"0{tag[1:]}', '"*"'):
        assert server.get("/runs/one/data", If_None_Match=has)[0] == 200, has


def test_a_port_that_is_taken_is_named(server: Server, runs: Path) -> None:
    result = subprocess.run(
        [ROAST, "serve", runs, "--port", str(server.port)],
        capture_output=True,
        text=True,
        timeout=20,
    )
    assert result.returncode == 2
    assert f"127.0.0.1, port {server.port}: Address already in use" in result.stderr


def test_a_token_is_wanted_where_others_can_ask(runs: Path, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("a long enough secret\n")
    refused = subprocess.run(
        [ROAST, "serve", runs, "-a", "0.0.0.0"], capture_output=True, text=True, timeout=20
    )
    assert refused.returncode == 2
    assert "token" in refused.stderr
    with serving(runs, "--token-file", token) as server:
        basic = base64.b64encode(b"me:a long enough secret").decode()
        wrong = base64.b64encode(b"me:another long secret!").decode()
        assert server.get("/healthz")[0] == 401
        assert server.get("/healthz")[1]["WWW-Authenticate"].startswith("Basic")
        assert server.get("/healthz", Authorization="Bearer a long enough secret")[0] == 200
        assert server.get("/healthz", Authorization=f"Basic {basic}")[0] == 200
        for header in ("Bearer a long enough secre", "Bearer ", f"Basic {wrong}", "Basic %%%", "x"):
            assert server.get("/healthz", Authorization=header)[0] == 401, header
    token.write_text("short\n")
    result = subprocess.run(
        [ROAST, "serve", runs, "-t", token], capture_output=True, text=True, timeout=20
    )
    assert result.returncode == 2
    assert "16 characters" in result.stderr


def test_a_growing_run_is_followed(tmp_path: Path) -> None:
    path = tmp_path / "growing.roast"
    run = Run.create(str(path))
    run.fact("run.name", "growing")
    run.fact("run.start_utc_ns", time.time_ns())
    run.commit()
    with serving(path) as server:
        assert server.get("/")[0] == 302
        assert server.get("/")[1]["Location"] == "/runs/growing/"
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
        connection.request("GET", "/runs/growing/events")
        stream = connection.getresponse()
        assert stream.readline() == b"event: change\n"
        run.fact("report.entries", 1234)
        run.commit()
        lines = []
        while lines.count(b"event: change\n") == 0:
            lines.append(stream.readline())
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            told = server.json("/api/v1/runs/growing/metrics")["metrics"]
            if told.get("total_events") == 1234:
                break
            time.sleep(0.2)
        assert told["total_events"] == 1234
        connection.close()
        run.finish()
        deadline = time.monotonic() + 10
        while server.json("/api/v1/runs")["runs"][0]["outcome"] and time.monotonic() < deadline:
            time.sleep(0.2)


def descriptors(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def memory_kb(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1])
    raise AssertionError("no VmRSS")


def test_bad_requests_leave_it_serving(server: Server) -> None:
    chance = random.Random(11)
    host = f"Host: 127.0.0.1:{server.port}\r\n".encode()
    for data in (
        b"\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00" * 50,
        b"GET / HTTP/1.1\r\n" + host + b"Content-Length: 99999999999\r\n\r\nx",
        b"POST / HTTP/1.1\r\n" + host + b"Transfer-Encoding: chunked\r\n\r\nfffffff\r\n",
        b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n" + host + b"\r\n",
        b"GET / HTTP/1.1\r\n" + host + b"X: " + b"y" * 100_000 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + host + b"X: y\r\n" * 5000 + b"\r\n",
    ):  # fmt: skip
        server.send(data)
    request = b"GET /api/v1/runs/one/chunks?limit=3 HTTP/1.1\r\n" + host + b"\r\n"
    for _ in range(150):
        damaged = bytearray(request)
        for _ in range(chance.randint(1, 8)):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        server.send(bytes(damaged), wait_s=0.02)
    half_open = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(100)]
    for connection in half_open[::2]:
        connection.sendall(b"GET / HT")
    assert server.get("/healthz")[0] == 200
    for connection in half_open:
        connection.close()


def test_many_requests_leave_nothing_behind(server: Server) -> None:
    pid = server.process.pid

    def ask(n: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
        for i in range(n):
            connection.request("GET", ("/healthz", "/runs/one/data", "/metrics?run=one")[i % 3])
            connection.getresponse().read()
        connection.close()

    ask(300)
    before_fds, before_kb = descriptors(pid), memory_kb(pid)
    ask(3000)
    assert descriptors(pid) <= before_fds + 2
    if "asan" not in ROAST:  # it keeps what was freed for a while
        assert memory_kb(pid) <= before_kb + 4096
