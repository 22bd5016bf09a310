"""What serving costs: watchers of a growing run, and very many requests.

    python bench/bench_serve.py [--watchers 200] [--seconds 20] [--requests 200000]

Watchers hold a stream of events and fetch the page's data whenever they are told that the run has
changed, as browsers do; the run is committed to once a second. Requests are sent a hundred at a
time. Bounds: 200 watchers below 10 % of a core and 100 MB; no growth of memory or descriptors.
"""

from __future__ import annotations

import argparse
import os
import selectors
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from result import row
from roastcoffea._roast import Run

ROAST = Path(sys.executable).parent / "roast"
BATCH = 100


def cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def rss_mb(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE") / 1e6


def descriptors(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def connect(port: int, path: str) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port))
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    return connection


def watch(run: Run, port: int, pid: int, watchers: int, seconds: float) -> None:
    selector = selectors.DefaultSelector()
    for _ in range(watchers):
        selector.register(connect(port, "/runs/bench/events"), selectors.EVENT_READ, "events")
    told = fetched = 0
    begun, cpu = time.monotonic(), cpu_s(pid)
    committed = begun
    while (now := time.monotonic()) - begun < seconds:
        if now - committed >= 1:
            committed = now
            run.fact("report.entries", int(now * 1000))
            run.commit()
        for key, _ in selector.select(0.05):
            connection = key.fileobj
            assert isinstance(connection, socket.socket)
            data = connection.recv(1 << 20)
            if key.data == "events" and b"event: change" in data:
                told += 1
                other = connect(port, "/runs/bench/data")
                selector.register(other, selectors.EVENT_READ, "data")
            elif key.data == "data":
                fetched += 1
                selector.unregister(connection)
                connection.close()
    used = cpu_s(pid) - cpu
    row(f"{watchers} watchers, CPU", 100 * used / seconds, "% of a core", at_most=10)
    row(f"{watchers} watchers, memory", rss_mb(pid), "MB", at_most=100)
    row(f"{watchers} watchers, told of changes", told / seconds, "events/s")
    row(f"{watchers} watchers, data fetched", fetched / seconds, "requests/s")
    for key in list(selector.get_map().values()):
        selector.unregister(key.fileobj)
        key.fileobj.close()  # type: ignore[union-attr]


def ask(port: int, pid: int, requests: int) -> None:
    paths = ("/healthz", "/api/v1/runs/bench/metrics", "/metrics", "/nothing", "/runs/bench/data")
    batch = "".join(
        f"GET {paths[i % len(paths)]} HTTP/1.1\r\nHost: localhost\r\n\r\n" for i in range(BATCH)
    ).encode()
    before: tuple[float, int] | None = None
    begun, sent = time.monotonic(), 0
    connection = socket.create_connection(("127.0.0.1", port))
    while sent < requests:
        connection.sendall(batch)
        answered = 0
        while answered < BATCH:
            data = connection.recv(1 << 20)
            if not data:
                raise ConnectionError("the server hung up")
            answered += data.count(b"HTTP/1.1 ")
        sent += BATCH
        if before is None and sent >= requests // 10:
            before = (rss_mb(pid), descriptors(pid))
    connection.close()
    assert before is not None
    row(f"{sent:,} requests", sent / (time.monotonic() - begun), "requests/s")
    row(f"memory after {sent:,}", rss_mb(pid) / before[0], of="that after a tenth", at_most=1.05)
    more = descriptors(pid) - before[1]
    row(f"descriptors after {sent:,} beyond a tenth", more, "descriptors", at_most=0)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--watchers", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--requests", type=int, default=200_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.roast"
        run = Run.create(str(path))
        run.fact("run.name", "bench")
        run.fact("run.start_utc_ns", time.time_ns())
        run.commit()
        server = subprocess.Popen(
            [ROAST, "serve", path, "--port", "0"], stdout=subprocess.PIPE, text=True
        )
        assert server.stdout is not None
        port = int(server.stdout.readline().strip().rstrip("/").rsplit(":", 1)[1])
        try:
            watch(run, port, server.pid, options.watchers, options.seconds)
            ask(port, server.pid, options.requests)
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
