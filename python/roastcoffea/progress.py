"""What has arrived of a run until now, and a line that shows it while the run lasts."""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter, deque
from typing import TYPE_CHECKING

from roastcoffea.native import Records

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

#: Rates are those of so many last seconds.
WINDOW_S = 10.0


class Arrived:
    """Running sums over the events of a run; a back end adds to them as events come."""

    def __init__(self) -> None:
        self.chunks: Counter[str] = Counter()
        self.workers: dict[str, int | None] = {}  # resident bytes; None: not known yet
        self._lock = threading.Lock()  # chunks may come from several threads
        self._start_s = time.monotonic()
        self._marks: deque[tuple[float, int, int]] = deque([(self._start_s, 0, 0)])

    def add_chunks(self, data: bytes) -> None:
        """Add encoded chunk records that are new."""
        with self._lock:
            self.chunks.update(Records.from_bytes(data).totals())

    def add_worker(self, address: str, here: bool) -> None:
        """Note that a worker is here, or has gone."""
        if here:
            self.workers.setdefault(address, None)
        else:
            self.workers.pop(address, None)

    def set_memory(self, address: str, memory_bytes: int) -> None:
        """Note how much memory a worker has now."""
        if address in self.workers:
            self.workers[address] = memory_bytes

    @property
    def memory_bytes(self) -> int | None:
        """Return how much memory the workers have whose memory is known."""
        known = [memory for memory in list(self.workers.values()) if memory is not None]
        return sum(known) if known else None

    def rates(self) -> tuple[float | None, float | None]:
        """Return events and requested bytes per second, over the last seconds.

        What no record has told is None: nobody knows whether it is zero.
        """
        now_s = time.monotonic()
        events, requested = self.chunks["num_events"], self.chunks["requested_bytes"]
        self._marks.append((now_s, events, requested))
        while len(self._marks) > 2 and now_s - self._marks[1][0] >= WINDOW_S:
            self._marks.popleft()
        then_s, events_then, requested_then = self._marks[0]
        span_s = max(now_s - then_s, 1e-3)
        return (
            (events - events_then) / span_s if "num_events" in self.chunks else None,
            (requested - requested_then) / span_s if "requested_bytes" in self.chunks else None,
        )

    @property
    def elapsed_s(self) -> float:
        """Return how long the run has lasted."""
        return time.monotonic() - self._start_s


class Display:
    """One line at the end of a terminal or below a notebook's cell, twice a second."""

    def __init__(self, arrived: Arrived) -> None:
        from rich.live import Live

        self._arrived = arrived
        self._live = Live(
            get_renderable=self.line, console=_console(), refresh_per_second=2, transient=False
        )

    def start(self) -> None:
        """Begin to show."""
        self._live.start()

    def stop(self) -> None:
        """Show the last state, and leave it there."""
        self._live.stop()

    def line(self) -> Text:
        """Return what is shown now."""
        from rich.text import Text

        arrived = self._arrived
        chunks = arrived.chunks
        events_per_s, bytes_per_s = arrived.rates()
        done = _counted(chunks["finished"], "chunk") if chunks["records"] else "- chunks"
        parts: list[tuple[str, str]] = [(f"{done} done", "bold green")]
        if chunks["failed"]:
            parts.append((f"{chunks['failed']:,} failed", "bold red"))
        parts.append(("- Hz" if events_per_s is None else f"{_si(events_per_s)}Hz", ""))
        gbps = "-" if bytes_per_s is None else f"{bytes_per_s * 8 / 1e9:.3g}"
        parts.append((f"{gbps} Gbps", ""))
        if arrived.workers:
            parts.append((_counted(len(arrived.workers), "worker"), ""))
            memory_bytes = arrived.memory_bytes
            parts.append(("- B" if memory_bytes is None else f"{_si(memory_bytes)}B", ""))
        parts.append((_clock(arrived.elapsed_s), "dim"))
        line = Text(no_wrap=True, overflow="ellipsis")
        for i, (text, style) in enumerate(parts):
            line.append(" · " if i else "", style="dim")
            line.append(text, style=style)
        return line


def _console() -> Console:
    """Return coffea's console, where our line stacks with coffea's own progress bars.

    Before rich 14.1 a second display of one console raises: there the two go separate ways.
    """
    from rich.console import Console

    shared = getattr(sys.modules.get("coffea.util"), "coffea_console", None)
    if isinstance(shared, Console) and hasattr(shared, "_live_stack"):
        return shared
    return Console(stderr=True)


def _counted(n: int, thing: str) -> str:
    return f"{n:,} {thing}" if n == 1 else f"{n:,} {thing}s"


def _clock(seconds: float) -> str:
    """Return a duration as people read it off a clock.

    >>> _clock(75), _clock(3675)
    ('1:15', '1:01:15')
    """
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _si(value: float) -> str:
    """Return a number with three digits and a prefix.

    >>> _si(0), _si(950), _si(12_340), _si(1_200_000_000)
    ('0 ', '950 ', '12.3 k', '1.2 G')
    """
    for prefix in ("", "k", "M", "G", "T"):
        if abs(value) < 999.5:
            return f"{value:.3g} {prefix}"
        value /= 1000
    return f"{value:.3g} P"
