"""A fuzzer against the port of `roast serve`.

Thousands of slow, half-open, oversized, malformed, pipelined and hostile requests, and random
changes of good ones, from many clients at once. Each is made from the seed and its number alone, so
that a failure names what to repeat. ``ROAST_FUZZ_SECONDS=600`` goes on with further seeds for that
long.
"""

from __future__ import annotations

import asyncio
import os
import random
import socket
import struct
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command import ROAST, make_run
from test_serve import Server, descriptors, memory_kb, serving

SEED = 20_261
REQUESTS = 1500  # of a seed
CLIENTS = 48  # at once
ANSWER_S = 0.15  # so long an answer is waited for
LONG_S = float(os.environ.get("ROAST_FUZZ_SECONDS", "0"))
SECRET = b"nobody sees this"

PATHS = (
    "/", "/healthz", "/metrics", "/metrics?run=one", "/style.css", "/api/v1/runs", "/runs/one/",
    "/runs/one/data", "/runs/one/events", "/api/v1/runs/one/metrics", "/api/v1/runs/one/series",
    "/api/v1/runs/one/chunks?limit=3&cursor=2", "/api/v1/runs/one/chunks?dataset=data",
)  # fmt: skip
HOSTILE_PATHS = (
    "/../secret.txt", "/runs/../secret.txt/", "/runs/%2e%2e%2fsecret.txt/", "/runs/..%5csecret/",
    "/runs/one%00/../secret.txt", "/runs/./one/", "//secret.txt", "/secret.txt", "/%2fetc%2fpasswd",
    "/api/v1/runs/%2e%2e/metrics", "/metrics?run=../secret.txt", "/metrics?run=/etc/passwd",
    "/api/v1/runs/one/chunks?cursor=99999999999999999999", "/api/v1/runs/one/chunks?limit=-1",
    "/api/v1/runs/one/chunks?dataset=%27%20OR%201=1--", "/runs/" + "%41" * 300 + "/",
    "/runs/one/events/../../../secret.txt", "/?" + "a=b&" * 2000, "/%", "/%zz", "/runs/%ff%fe/",
    "*", "http://127.0.0.1/secret.txt", "http://evil.example/", "/runs/one\\..\\secret.txt",
)  # fmt: skip
TOKENS = (
    b"\r\n", b"\n", b"\0", b"\r", b" ", b"\t", b":", b"%", b"..", b"/", b"?", b"&", b"=", b"\xff",
    b"HTTP/1.1", b"HTTP/1.0", b"HTTP/9.9", b"Host:", b"Host: 127.0.0.1\r\n",
    b"Connection: close\r\n",
    b"Content-Length: 5\r\n", b"Content-Length: -1\r\n", b"Transfer-Encoding: chunked\r\n",
    b"Expect: 100-continue\r\n", b"Range: bytes=0-1\r\n", b"Authorization: Basic Og==\r\n",
    b"If-None-Match: \"1\"\r\n", b"Upgrade: websocket\r\n", b"Cookie: a=b; c\r\n", b"A" * 5000,
)  # fmt: skip
METHODS = (
    b"GET",
    b"HEAD",
    b"POST",
    b"PUT",
    b"DELETE",
    b"OPTIONS",
    b"TRACE",
    b"CONNECT",
    b"get",
    b"\xc3",
)


def request(chance: random.Random, path: str | None = None, *headers: bytes) -> bytes:
    """Return a good request, for a path that may be anything."""
    line = (path or chance.choice(PATHS)).encode("utf-8", "surrogateescape")
    lines = [b"GET " + line + b" HTTP/1.1", b"Host: 127.0.0.1", *headers]
    return b"\r\n".join(lines) + b"\r\n\r\n"


def changed(chance: random.Random) -> bytes:
    """Return a request in which some bytes were changed, left out, repeated or put in."""
    data = bytearray(request(chance))
    for _ in range(chance.randint(1, 12)):
        at = chance.randrange(len(data) + 1)
        how = chance.randrange(5)
        if how == 0 and at < len(data):
            data[at] = chance.randrange(256)
        elif how == 1:
            del data[at : at + chance.randint(1, 20)]
        elif how == 2:
            data[at:at] = data[max(0, at - chance.randint(1, 40)) : at] * chance.randint(1, 50)
        elif how == 3:
            data[at:at] = chance.choice(TOKENS)
        else:
            data[at:at] = chance.randbytes(chance.randint(1, 30))
        data = data or bytearray(b"G")
    return bytes(data)


def oversized(chance: random.Random) -> bytes:
    """Return a request that is too large somewhere."""
    large = chance.choice((9_000, 33_000, 70_000, 200_000))
    return chance.choice(
        (
            request(chance, "/" + "a" * large),
            request(chance, None, b"X: " + b"y" * large),
            request(chance, None, *([b"X: y"] * (large // 10))),
            request(chance, None, b"Z" * large + b": y"),
            b"G" * large,
            request(chance, "/?" + "a" * large),
        )
    )


def with_body(chance: random.Random) -> bytes:
    """Return a request with a body that is not what its head says."""
    head = chance.choice(METHODS) + b" / HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    body = chance.randbytes(chance.randint(0, 3000))
    framing = chance.choice(
        (
            b"Content-Length: %d\r\n\r\n" % chance.choice((0, 1, len(body), 10**6, 2**63, 10**30)),
            b"Content-Length: 3\r\nContent-Length: 4\r\n\r\n",
            b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % chance.choice((0, 1, 2**31, 2**64 - 1)),
            b"Transfer-Encoding: gzip, chunked\r\nContent-Length: 3\r\n\r\n",
        )
    )
    return head + framing + body


def pipelined(chance: random.Random) -> bytes:
    """Return several requests in one piece, of which the last may be cut."""
    makers: tuple[Callable[[random.Random], bytes], ...] = (request, request, request, changed)
    data = b"".join(chance.choice(makers)(chance) for _ in range(chance.randint(2, 30)))
    return data[: chance.randint(1, len(data))] if chance.random() < 0.3 else data


def hostile(chance: random.Random) -> bytes:
    """Return a request for what nobody should get, or under a name that is not ours."""
    if chance.random() < 0.3:
        hosts = (b"evil.example", b"127.0.0.1.evil.example", b"", b"[::1", b"localhost:80:80", b"@")
        lines = [b"GET /api/v1/runs HTTP/1.1", b"Host: " + chance.choice(hosts)]
        return b"\r\n".join(lines) + b"\r\n\r\n"
    return request(chance, chance.choice(HOSTILE_PATHS))


def noise(chance: random.Random) -> bytes:
    """Return bytes that are no request: anything, or the greeting of TLS."""
    greeting = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"
    return (greeting if chance.random() < 0.3 else b"") + chance.randbytes(chance.randint(1, 4000))


KINDS: tuple[Callable[[random.Random], bytes], ...] = (
    changed,
    changed,
    changed,
    oversized,
    with_body,
    pipelined,
    hostile,
    hostile,
    noise,
    request,
)


class Fuzzer:
    """Sends requests of one seed, and holds the answers against what may be answered."""

    def __init__(self, server: Server, seed: int) -> None:
        self.server = server
        self.seed = seed
        self.sent: Counter[str] = Counter()
        self.answers: Counter[str] = Counter()
        self.wrong: list[str] = []

    async def run(self, n: int) -> None:
        numbers = iter(range(n))
        await asyncio.gather(*(self.client(numbers) for _ in range(CLIENTS)))

    async def client(self, numbers: Iterator[int]) -> None:
        for number in numbers:
            chance = random.Random(self.seed * 1_000_003 + number)
            make = chance.choice(KINDS)
            data = make(chance)
            manner = chance.choice(
                (self.ask, self.ask, self.ask, self.dribble, self.leave, self.reset)
            )
            self.sent[make.__name__] += 1
            self.sent[f"by {manner.__name__}"] += 1
            try:
                self.judge(number, make.__name__, await manner(data, chance))
            except OSError:
                self.answers["hung up"] += 1
            if number % 500 == 499:
                await self.check(number)

    async def open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.server.port)

    async def receive(self, reader: asyncio.StreamReader, seconds: float) -> bytes:
        """Return what comes until nothing has come for a while."""
        data = b""
        while len(data) < 400_000:
            try:
                piece = await asyncio.wait_for(reader.read(65_536), seconds)
            except TimeoutError:
                break
            if not piece:
                break
            data += piece
        return data

    async def ask(self, data: bytes, _: random.Random) -> bytes:
        """Send everything, and wait for the answer."""
        reader, writer = await self.open()
        try:
            writer.write(data)
            return await self.receive(reader, ANSWER_S)
        finally:
            writer.close()

    async def dribble(self, data: bytes, chance: random.Random) -> bytes:
        """Send a few bytes at a time, not all of them, and then see."""
        reader, writer = await self.open()
        try:
            for at in range(0, min(len(data), 60), 4):
                writer.write(data[at : at + 4])
                await writer.drain()
                await asyncio.sleep(0.002)
            if chance.random() < 0.5:
                writer.write(data[60:])
            return await self.receive(reader, ANSWER_S)
        finally:
            writer.close()

    async def leave(self, data: bytes, chance: random.Random) -> bytes:
        """Send a part, close one's own half, and wait; or be silent for a while and go."""
        reader, writer = await self.open()
        try:
            writer.write(data[: chance.randint(0, len(data))])
            if chance.random() < 0.5 and writer.can_write_eof():
                writer.write_eof()
            else:
                await asyncio.sleep(chance.random() * 0.3)
            return await self.receive(reader, ANSWER_S)
        finally:
            writer.close()

    async def reset(self, data: bytes, chance: random.Random) -> bytes:
        """Ask for much, and hang up in the middle of it without a word."""
        _, writer = await self.open()
        plain = writer.get_extra_info("socket")
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.write(chance.choice((data, request(chance, "/api/v1/runs/one/series") * 5)))
        await asyncio.sleep(chance.random() * 0.02)
        writer.transport.abort()
        return b""

    def judge(self, number: int, kind: str, answer: bytes) -> None:
        if SECRET in answer or b"root:x:0:0" in answer:
            self.wrong.append(f"{kind} {number}: a secret was told")
        if not answer:
            self.answers["none"] += 1
            return
        line = answer.split(b"\r\n", 1)[0]
        code = line.split(b" ")[1:2]
        if not line.startswith(b"HTTP/1.") or not code:
            self.wrong.append(f"{kind} {number}: {line[:80]!r} is no answer")
            return
        self.answers[code[0].decode()] += 1
        if code[0].startswith(b"5") and code[0] not in (b"501", b"505"):
            self.wrong.append(f"{kind} {number}: {line[:80]!r}")

    async def check(self, number: int) -> None:
        """See that it serves in the middle of it all."""
        reader, writer = await self.open()
        try:
            writer.write(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            answer = await asyncio.wait_for(reader.readuntil(b"ok\n"), 60)
            if not answer.startswith(b"HTTP/1.1 200"):
                self.wrong.append(f"after {number}: {answer[:80]!r}")
        except (OSError, EOFError, TimeoutError) as error:
            self.wrong.append(f"after {number}: it does not serve: {error!r}")
        finally:
            writer.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    make_run(tmp_path / "one.roast", "large:40:4:60")
    (tmp_path / "secret.txt").write_bytes(SECRET)
    return tmp_path


def settle(server: Server, fds: int) -> int:
    """Return how many descriptors it has when the connections have gone."""
    deadline = time.monotonic() + 40
    while descriptors(server.process.pid) > fds and time.monotonic() < deadline:
        time.sleep(0.1)
    return descriptors(server.process.pid)


@pytest.mark.slow
def test_it_serves_on_whatever_comes(folder: Path) -> None:
    sent: Counter[str] = Counter()
    answers: Counter[str] = Counter()
    with serving(folder) as server:
        pid = server.process.pid
        for path in PATHS[:-3]:
            if "events" not in path:
                assert server.get(path)[0] == 200, path
        before_fds = descriptors(pid)
        first_kb, seed, begin = None, SEED, time.monotonic()
        while seed < SEED + 2 or time.monotonic() - begin < LONG_S:
            fuzzer = Fuzzer(server, seed)
            asyncio.run(fuzzer.run(REQUESTS))
            sent += fuzzer.sent
            answers += fuzzer.answers
            assert fuzzer.wrong == [], f"seed {seed}"
            assert server.process.poll() is None, f"seed {seed}: it has ended"
            if first_kb is None:
                first_kb = memory_kb(pid)
            seed += 1
        assert settle(server, before_fds) <= before_fds, "connections are left"
        after_kb = memory_kb(pid)
        assert server.get("/healthz")[2] == b"ok\n"
        assert server.json("/api/v1/runs")["runs"][0]["id"] == "one"
    print(f"\n{seed - SEED} seeds: {dict(sent)}\nanswers: {dict(answers)}")
    print(f"resident: {first_kb} kB after the first seed, {after_kb} kB at the end")
    assert {"200", "400", "404", "405", "421"} <= set(answers), "every kind of answer was provoked"
    if "asan" not in ROAST:  # it keeps what was freed for a while
        assert after_kb <= first_kb + 4096
