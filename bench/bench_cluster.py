"""What following a large cluster costs scheduler and client, and how much memory it takes.

python bench/bench_cluster.py [--seconds N] [--minutes N]

Events: a real scheduler and a real client, each a process of its own, and workers with connections
of their own that send what 10,000 workers send at Dask's own heartbeat. Samples go along with
messages of Dask's, as they do there; what is counted is the CPU time with samples, less that
without them, in many short phases that take turns, with its 95 % confidence interval. Since one
costs little beside the message it goes with, five go with each, and a fifth is counted. What
Dask's messages cost alone is shown beside it: nothing that travels by itself can cost less.

Memory: the real plugins of 2,000 workers and of the scheduler over simulated minutes, with
simulated workers, states and heartbeats, writing to a real run file.
"""

from __future__ import annotations

import argparse
import asyncio
import pickle
import random
import subprocess
import sys
import tempfile
import time
from collections import deque
from pathlib import Path
from statistics import mean, stdev
from types import SimpleNamespace
from typing import Any

from distributed import Client
from distributed.utils import open_port

from result import Figure, row
from roastcoffea import MetricsCollector
from roastcoffea._probe import SAMPLER_COLUMNS, encode_block
from roastcoffea._roast import Run
from roastcoffea.backends.dask import DaskMetricsBackend
from roastcoffea.backends.dask_scheduler import SchedulerProbe
from roastcoffea.backends.dask_worker import WorkerProbe, sampled_columns

WORKERS, HEARTBEAT_S = 10_000, 51
SENDERS = 10
EVENTS_PERCENT, MEMORY_MB = 1.0, 64
PHASE_S, SETTLING_S = 3.0, 1.2
TOGETHER = 5

SENDING = """
import asyncio, pickle, sys
import dask
from distributed import Worker
from roastcoffea.backends.dask_channel import WorkerChannel

dask.config.set({"distributed.worker.profile.enabled": False})
doing = "nothing"

async def listen():
    global doing
    while True:
        doing = (await asyncio.to_thread(sys.stdin.readline)).strip()

async def main():
    address, n, rate, file, topic, together = sys.argv[1:]
    workers = [Worker(address, nthreads=1, memory_limit=0, dashboard=False) for _ in range(int(n))]
    await asyncio.gather(*workers)
    channels = [WorkerChannel(worker, topic) for worker in workers]
    messages = pickle.load(open(file, "rb"))
    print("ready", flush=True)
    listener = asyncio.create_task(listen())
    clock = asyncio.get_running_loop().time
    at, i = clock(), 0
    while doing != "end":
        i += 1
        if doing == "samples":
            for j in range(i * int(together), (i + 1) * int(together)):
                channels[i % len(channels)].leave(messages[j % len(messages)])
        if doing != "nothing":
            workers[i % len(workers)].batched_send({"op": "keep-alive"})
        at = max(at + 1 / float(rate), clock() - 1)
        await asyncio.sleep(max(0, at - clock()))

asyncio.run(main())
"""


def become_many(names: list[str], dask_scheduler: Any) -> None:
    """Let a scheduler believe that it has so many workers more."""
    state = next(iter(dask_scheduler.workers.values()))
    dask_scheduler.workers.update(dict.fromkeys(names, state))


def become_few(names: list[str], dask_scheduler: Any) -> None:
    """Take that back."""
    for name in names:
        dask_scheduler.workers.pop(name, None)


def sampled(rng: random.Random, n: int, width: int, start_ms: int) -> bytes:
    """Return a block as a sampler makes it: most columns stand still, some grow a little.

    It has 0.6 bytes per sample, as on a real run (docs/format-series.md).
    """
    columns = []
    for i in range(width):
        value, column = rng.randrange(1_000_000), []
        for _ in range(n):
            value += rng.randrange(200) if i % 3 == 0 and rng.random() < 0.9 else 0
            column.append(value)
        columns.append(column)
    return encode_block([start_ms + 1000 * i for i in range(n)], columns)


def cpu_s(pid: int) -> float:
    """Return the CPU time of a process, all its threads."""
    total = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        total += int((task / "schedstat").read_text().split()[0])
    return total / 1e9


def phase(pid: int, seconds: float) -> list[float]:
    """Return the CPU seconds per second that another process and this one spend."""
    before, begin = (cpu_s(pid), time.process_time()), time.monotonic()
    time.sleep(seconds)
    after, elapsed = (cpu_s(pid), time.process_time()), time.monotonic() - begin
    return [(b - a) / elapsed for a, b in zip(before, after, strict=True)]


def sample_messages(names: list[str]) -> list[tuple[Any, ...]]:
    """Return what workers send at a heartbeat, as many rows as they have then."""
    rng = random.Random(1)
    now_ms = time.time_ns() // 1_000_000
    widths = [columns.count(",") + 1 for columns in sampled_columns()]
    blocks = [
        [(i, sampled(rng, HEARTBEAT_S, width, now_ms)) for i, width in enumerate(widths)]
        for _ in range(100)
    ]
    return [
        ("samples", name, blocks[i % len(blocks)], time.time_ns(), 10**9)
        for i, name in enumerate(names)
    ]


def bench_events(seconds: float) -> None:
    rate = WORKERS / HEARTBEAT_S
    names = [f"tcp://10.0.{i // 250}.{i % 250}:40000" for i in range(WORKERS)]
    address = f"tcp://127.0.0.1:{open_port()}"
    dask = str(Path(sys.executable).with_name("dask"))
    port = address.rpartition(":")[2]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    spent: dict[str, list[list[float]]] = {}
    turns = max(3, int(seconds / PHASE_S))
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "messages"
        file.write_bytes(pickle.dumps(sample_messages(names)))
        options = ["--host", "127.0.0.1", "--port", port, "--no-dashboard"]
        scheduler = subprocess.Popen([dask, "scheduler", *options], cwd=directory, **quiet)
        sender = None
        try:
            with (
                Client(address, timeout=60) as client,
                MetricsCollector(
                    client, worker_tracking_interval=60, output_dir=directory
                ) as collector,
            ):
                backend: Any = collector.metrics_backend
                arguments = [address, SENDERS, rate, file, backend.topic, TOGETHER]
                sender = subprocess.Popen(
                    [sys.executable, "-c", SENDING, *map(str, arguments)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    cwd=directory,
                    text=True,
                )
                assert sender.stdin is not None
                assert sender.stdout is not None
                assert sender.stdout.readline() == "ready\n"
                client.run_on_scheduler(become_many, names)
                for doing in ["nothing"] * 3 + ["messages", "samples"] * turns:
                    sender.stdin.write(f"{doing}\n")
                    sender.stdin.flush()
                    time.sleep(SETTLING_S)
                    spent.setdefault(doing, []).append(phase(scheduler.pid, PHASE_S))
                client.run_on_scheduler(become_few, names)
                sender.kill()
        finally:
            if sender is not None:
                sender.kill()
                sender.wait()
            scheduler.kill()
            scheduler.wait()
        size = sum(path.stat().st_size for path in Path(directory).glob("*.roast"))
    nothing, messages, samples = (
        [[spent[doing][i][j] for i in range(len(spent[doing]))] for j in (0, 1)]
        for doing in ("nothing", "messages", "samples")
    )
    alone = mean(messages[0]) - mean(nothing[0])
    ours = [
        [(b - a) / TOGETHER for a, b in zip(messages[j], samples[j], strict=True)] for j in (0, 1)
    ]
    both = [a + b for a, b in zip(*ours, strict=True)]
    unsure = stdev(both) / len(both) ** 0.5
    together = Figure(mean(both), unsure)
    row("a message of Dask's own, scheduler", alone / rate * 1e6, "us")
    row("samples that go with one, scheduler", mean(ours[0]) / rate * 1e6, "us")
    row("samples that go with one, client", mean(ours[1]) / rate * 1e6, "us")
    row("samples that go with one, both", mean(both) / alone, of="that message itself")
    row("run file", size / 1e6, "MB")
    name = f"events of {WORKERS:,} workers, scheduler and client"
    row(name, together.times(100), "% of a core", at_most=EVENTS_PERCENT)


class SimulatedClock:
    """Time as the simulation wants it."""

    def __init__(self) -> None:
        self.now_ns = time.time_ns()

    def utc_ns(self) -> int:
        return self.now_ns

    def step_ns(self) -> int:
        return 0


class SimulatedScheduler:
    """Passes events on as Dask does: those of workers to the plugin, its own to the client."""

    def __init__(self, backend: DaskMetricsBackend) -> None:
        self.backend = backend
        self.workers: dict[str, Any] = {}
        self.plugin: SchedulerProbe | None = None

    def log_event(self, topic: str, msg: Any) -> None:
        self.backend._receive((0.0, pickle.loads(pickle.dumps(msg))))

    def take(self, message: Any) -> None:
        assert self.plugin is not None
        self.plugin.log_event(self.plugin.workers_topic, message)


def simulated_worker(address: str) -> Any:
    return SimpleNamespace(
        address=address,
        monitor=SimpleNamespace(quantities={"cpu": deque([50.0]), "memory": deque([10**9])}),
        state=SimpleNamespace(
            executing_count=1, ready=(), constrained=(), waiting=(), nbytes=10**6
        ),
        data={},
    )


def resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


class Simulation:
    """The plugins of workers and scheduler, and the client's back end with a real run file."""

    def __init__(self, workers: int, path: Path, heartbeat_s: int) -> None:
        self.rng = random.Random(2)
        self.clock: Any = SimulatedClock()
        self.heartbeat_s = heartbeat_s
        width = SAMPLER_COLUMNS.count(",") + 1
        start_ms = self.clock.now_ns // 1_000_000
        self.blocks = [sampled(self.rng, heartbeat_s, width, start_ms) for _ in range(64)]
        self.backend = DaskMetricsBackend(SimpleNamespace())  # type: ignore[arg-type]
        self.backend.attach(Run.create(path))
        self.backend.clock = self.clock
        self.backend._columns = sampled_columns()
        self.scheduler = SimulatedScheduler(self.backend)
        self.plugin = SchedulerProbe("topic", "client", self.clock.utc_ns(), follow=True)
        self.scheduler.plugin = self.plugin
        self.workers = workers
        self.probes: list[WorkerProbe] = []

    async def start(self) -> None:
        await self.plugin.start(self.scheduler)  # type: ignore[arg-type]
        self.plugin.clock = self.clock
        for i in range(self.workers):
            address = f"tcp://10.{i // 65536}.{i // 256 % 256}.{i % 256}:40000"
            self.scheduler.workers[address] = SimpleNamespace(
                host="host", metrics={}, nthreads=1, memory_limit=10**10, occupancy=2.5
            )
            self.plugin.add_worker(self.scheduler, address)  # type: ignore[arg-type]
            probe = WorkerProbe("topic", 1.0, self.clock.utc_ns(), self.backend._columns)
            probe.worker = simulated_worker(address)
            probe.channel = SimpleNamespace(post=self.scheduler.take)  # type: ignore[assignment]
            probe.rows, probe.sampler, probe.clock = [], None, self.clock
            probe.expected_ns = probe.spent_ns = probe.watched_ns = 0
            self.probes.append(probe)

    def second(self, number: int) -> None:
        """Let a second pass, at whose end some of the workers send."""
        self.clock.now_ns += 1_000_000_000
        for i, probe in enumerate(self.probes):
            probe.sample()
            if (number + i) % self.heartbeat_s == 0:
                self.send(probe)
        self.pass_on()

    def send(self, probe: WorkerProbe) -> None:
        probe.sampler = SimpleNamespace(
            take=lambda: self.blocks[self.rng.randrange(64)],
            cpu_ns=0,
        )
        probe.send_samples()

    def pass_on(self) -> None:
        self.plugin.outbox.pass_on()  # its timer does not run: the simulation never waits
        self.backend.run.commit()


async def bench_memory(workers: int, minutes: float) -> None:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "run.roast"
        simulation = Simulation(workers, path, heartbeat_s=workers // 200 + 1)  # as Dask has it
        await simulation.start()
        before = resident_mb()
        for second in range(int(minutes * 60)):
            simulation.second(second)
        grown = resident_mb() - before
        simulation.backend.run.finish()
        size = path.stat().st_size
    name = f"memory of {workers:,} workers in {minutes:g} minutes"
    row(name, grown, "MB", at_most=MEMORY_MB)
    row("their run file", size / 1e6, "MB")


def main() -> int:
    parser = argparse.ArgumentParser(description="What following a large cluster costs.")
    parser.add_argument(
        "--seconds", type=float, default=30, help="of each kind of phase of the events"
    )
    parser.add_argument("--workers", type=int, default=2_000)
    parser.add_argument("--minutes", type=float, default=20, help="that are simulated")
    options = parser.parse_args()
    bench_events(options.seconds)
    asyncio.run(bench_memory(options.workers, options.minutes))
    return 0


if __name__ == "__main__":
    sys.exit(main())
