"""Servers of ROOT files on the loopback: XRootD from the system's packages, and plain HTTP."""

from __future__ import annotations

import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

START_S = 30.0  # until a server must answer
_RANGE = re.compile(r"bytes=(\d+)-(\d+)$")


@contextmanager
def public_folder() -> Iterator[Path]:
    """Make a folder that a server under another account can read."""
    folder = Path(tempfile.mkdtemp(prefix="roast-remote-"))
    try:
        folder.chmod(0o755)
        yield folder
    finally:
        shutil.rmtree(folder)


def free_port() -> int:
    """Return a port of the loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def xrootd(folder: Path) -> Iterator[str]:
    """Serve a folder by ``root://`` and give the URL in front of its file names."""
    port = free_port()
    config = folder / "xrootd.cfg"
    state = folder / "xrootd"
    state.mkdir()
    config.write_text(
        f"all.export {folder} r/o\nall.adminpath {state}\nall.pidpath {state}\n"
        f"xrd.port {port}\nxrd.network nodnr\n"
    )
    command = ["xrootd", "-c", str(config), "-p", str(port), "-l", str(state / "log")]
    if os.geteuid() == 0:  # which it refuses to be
        nobody = pwd.getpwnam("nobody")
        os.chown(state, nobody.pw_uid, nobody.pw_gid)
        command += ["-R", "nobody"]
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        _wait_for(port, process, state)
        yield f"root://127.0.0.1:{port}/{folder}"
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(5)


def _wait_for(port: int, process: subprocess.Popen[bytes], state: Path) -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    logs = "\n".join(path.read_text() for path in state.rglob("log"))
    raise RuntimeError(f"xrootd does not answer on port {port}:\n{logs[-2000:]}")


class _Files(SimpleHTTPRequestHandler):
    """The folder's files, whole or one range of bytes of them."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        wanted = _RANGE.match(self.headers.get("Range", ""))
        path = Path(self.translate_path(self.path))
        if wanted is None or not path.is_file():
            super().do_GET()
            return
        size = path.stat().st_size
        start, stop = int(wanted[1]), min(int(wanted[2]) + 1, size)
        if start >= stop:
            self.send_error(416)
            return
        with path.open("rb") as file:
            file.seek(start)
            data = file.read(stop - start)
        self.send_response(206)
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Content-Range", f"bytes {start}-{stop - 1}/{size}")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def http(folder: Path) -> Iterator[str]:
    """Serve a folder by ``http://`` with ranges, and give the URL in front of its file names."""
    server = ThreadingHTTPServer(
        ("127.0.0.1", 0), lambda *args: _Files(*args, directory=str(folder))
    )
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
