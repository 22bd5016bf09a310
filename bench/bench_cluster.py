"""What following a large cluster costs scheduler and client, and how much memory it takes.

python bench/bench_cluster.py [--check] [--seconds N] [--minutes N]

Events: a real scheduler and a real client, each a process of its own, and workers with connections
of their own that send samples at the rate of 10,000 workers at Dask's own heartbeat, each event a
message by itself as it would be there. CPU time with the events, less CPU time without them.

Memory: the real plugins of 2,000 workers and of the scheduler over simulated minutes, with
simulated workers, states and heartbeats, writing to a real run file. With --check a missed bound
is exit status 1.
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
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from distributed import Client
from distributed.utils import open_port

from roastcoffea import MetricsCollector
from roastcoffea._probe import Sampler, encode_block
from roastcoffea._roast import Run
from roastcoffea.backends.dask import DaskMetricsBackend
from roastcoffea.backends.dask_scheduler import SchedulerProbe
from roastcoffea.backends.dask_worker import WorkerProbe

WORKERS, HEARTBEAT_S = 10_000, 51
SENDERS = 10
EVENTS_PERCENT, MEMORY_MB = 1.0, 64

SENDING = """
import asyncio, pickle, sys
import dask
from distributed import Worker

dask.config.set({"distributed.worker.profile.enabled": False})

async def main():
    address, n, rate, file = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
    workers = [Worker(address, nthreads=1, memory_limit=0, dashboard=False) for _ in range(n)]
    await asyncio.gather(*workers)
    print("ready", flush=True)
    topic = (await asyncio.to_thread(sys.stdin.readline)).strip()
    messages = pickle.load(open(file, "rb"))
    for i in range(10**9):
        worker = workers[i % n]
        worker.log_event(topic, messages[i % len(messages)])
        await asyncio.sleep(1 / rate)

asyncio.run(main())
"""


def sampled(rng: random.Random, n: int, width: int, start_ms: int) -> bytes:
    """Return a block as a sampler makes it: most columns stand still, some grow a little."""
    columns = []
    for i in range(width):
        value, column = rng.randrange(1_000_000), []
        for _ in range(n):
            value += rng.randrange(8) if i % 4 == 0 else 0
            column.append(value)
        columns.append(column)
    return encode_block([start_ms + 1000 * i for i in range(n)], columns)


def cpu_s(pid: int) -> float:
    """Return the CPU time of a process, all its threads."""
    total = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        total += int((task / "schedstat").read_text().split()[0])
    return total / 1e9


def phase(spent: Callable[[], list[float]], seconds: float) -> list[float]:
    """Return what is spent per second, over some of them."""
    before, begin = spent(), time.monotonic()
    time.sleep(seconds)
    after, elapsed = spent(), time.monotonic() - begin
    return [(b - a) / elapsed for a, b in zip(before, after, strict=True)]


def bench_events(seconds: float) -> bool:
    rng = random.Random(1)
    columns = Sampler(1.0).columns
    width, rate = columns.count(",") + 1, WORKERS / HEARTBEAT_S
    now_ms = time.time_ns() // 1_000_000
    messages = [
        (
            "samples",
            f"tcp://10.0.{i // 250}.{i % 250}:40000",
            [(columns, sampled(rng, HEARTBEAT_S, width, now_ms))],
            time.time_ns(),
            10**9,
        )
        for i in range(200)
    ]
    address = f"tcp://127.0.0.1:{open_port()}"
    dask = str(Path(sys.executable).with_name("dask"))
    port = address.rpartition(":")[2]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "messages"
        file.write_bytes(pickle.dumps(messages))
        options = ["--host", "127.0.0.1", "--port", port, "--no-dashboard"]
        scheduler = subprocess.Popen([dask, "scheduler", *options], cwd=directory, **quiet)
        sender = subprocess.Popen(
            [sys.executable, "-c", SENDING, address, str(SENDERS), str(rate), str(file)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=directory,
            text=True,
        )
        try:
            assert sender.stdin is not None
            assert sender.stdout is not None
            with Client(address, timeout=60) as client:
                assert sender.stdout.readline() == "ready\n"
                with MetricsCollector(
                    client, worker_tracking_interval=60, output_dir=directory
                ) as collector:
                    backend: Any = collector.metrics_backend

                    def spent(pid: int = scheduler.pid) -> list[float]:
                        return [cpu_s(pid), time.process_time()]

                    time.sleep(2)
                    without = phase(spent, seconds)
                    sender.stdin.write(f"{backend.topic}\n")
                    sender.stdin.flush()
                    time.sleep(2)
                    events = backend.cost["events"]
                    with_events = phase(spent, seconds)
                    events = max(backend.cost["events"] - events, 1)
                    sender.kill()
        finally:
            sender.kill()
            scheduler.kill()
            sender.wait()
            scheduler.wait()
    each = [(a - b) * seconds / events for a, b in zip(with_events, without, strict=True)]
    percent = sum(each) * rate * 100
    print(
        f"{events / seconds:.0f} events/s of {HEARTBEAT_S} rows of {width} series: "
        f"{each[0] * 1e6:.0f} us of CPU on the scheduler, {each[1] * 1e6:.0f} us on the client"
    )
    print(
        f"{WORKERS:,} workers, {rate:.0f} events/s, scheduler and client together: "
        f"{percent:.2f} % of a core, bound {EVENTS_PERCENT} %"
    )
    return percent <= EVENTS_PERCENT


class SimulatedClock:
    """Time as the simulation wants it."""

    def __init__(self) -> None:
        self.now_ns = time.time_ns()

    def utc_ns(self) -> int:
        return self.now_ns

    def step_ns(self) -> int:
        return 0


class SimulatedScheduler:
    """Passes events on as Dask does: to the client as bytes, then to the plugin."""

    def __init__(self, backend: DaskMetricsBackend) -> None:
        self.backend = backend
        self.workers: dict[str, Any] = {}
        self.plugin: SchedulerProbe | None = None

    def log_event(self, topic: str, msg: Any) -> None:
        self.backend._receive((0.0, pickle.loads(pickle.dumps(msg))))
        if self.plugin is not None:
            self.plugin.log_event(topic, msg)


def simulated_worker(address: str, scheduler: SimulatedScheduler) -> Any:
    return SimpleNamespace(
        address=address,
        log_event=scheduler.log_event,
        monitor=SimpleNamespace(quantities={"cpu": deque([50.0]), "memory": deque([10**9])}),
        state=SimpleNamespace(
            executing_count=1, ready=(), constrained=(), waiting=(), nbytes=10**6
        ),
        data={},
        periodic_callbacks={},
    )


def resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


def bench_memory(workers: int, minutes: float) -> bool:
    rng = random.Random(2)
    clock: Any = SimulatedClock()
    heartbeat_s = workers // 200 + 1
    columns = Sampler(1.0).columns
    width = columns.count(",") + 1
    start_ms = clock.now_ns // 1_000_000
    blocks = [sampled(rng, heartbeat_s, width, start_ms) for _ in range(64)]
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "run.roast"
        backend = DaskMetricsBackend(SimpleNamespace())  # type: ignore[arg-type]
        backend.attach(Run.create(path))
        backend.clock = clock
        scheduler = SimulatedScheduler(backend)
        scheduler.plugin = plugin = SchedulerProbe("topic", clock.utc_ns())
        asyncio.run(plugin.start(scheduler))  # type: ignore[arg-type]
        plugin.clock = clock
        probes = []
        for i in range(workers):
            address = f"tcp://10.{i // 65536}.{i // 256 % 256}.{i % 256}:40000"
            scheduler.workers[address] = SimpleNamespace(
                host="host", metrics={}, nthreads=1, memory_limit=10**10, occupancy=2.5
            )
            plugin.add_worker(scheduler, address)  # type: ignore[arg-type]
            probe = WorkerProbe("topic", 1.0, clock.utc_ns())
            probe.worker = simulated_worker(address, scheduler)
            probe.rows, probe.sampler, probe.clock = [], None, clock
            probe.expected = probe.spent_ns = 0
            probes.append(probe)
        before, begin = resident_mb(), time.process_time()
        for second in range(int(minutes * 60)):
            clock.now_ns += 1_000_000_000
            for i, probe in enumerate(probes):
                probe.sample()
                if (second + i) % heartbeat_s == 0:
                    probe.sampler = SimpleNamespace(
                        columns=columns,
                        take=lambda: blocks[rng.randrange(64)],
                        state=lambda: {"cpu_ns": 0},
                    )
                    probe.send()
            backend.run.commit()
        grown, spent = resident_mb() - before, time.process_time() - begin
        backend.run.finish()
        size = path.stat().st_size
    print(
        f"{workers:,} workers, {minutes:g} minutes: {grown:.1f} MB more memory, bound {MEMORY_MB} "
        f"MB; {size / 1e6:.0f} MB of run file; {spent:.0f} s of CPU, simulation included"
    )
    return grown <= MEMORY_MB


def main() -> int:
    parser = argparse.ArgumentParser(description="What following a large cluster costs.")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--seconds", type=float, default=20, help="of each phase of the events")
    parser.add_argument("--workers", type=int, default=2_000)
    parser.add_argument("--minutes", type=float, default=20, help="that are simulated")
    options = parser.parse_args()
    kept = [bench_events(options.seconds), bench_memory(options.workers, options.minutes)]
    return 1 if options.check and not all(kept) else 0


if __name__ == "__main__":
    sys.exit(main())
