"""What a collector has on a scheduler: put there in one step, taken away in one step.

Everything of a collector is registered under its topic or a name that begins with it. A lease
watches the client that asked for it: when that client goes, in whatever way, the scheduler
itself takes everything away, so that neither a killed client nor a lost connection leaves
plugins behind on a cluster that others use.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING

from distributed.diagnostics.plugin import SchedulerPlugin

from roastcoffea.backends.dask_channel import workers_topic

if TYPE_CHECKING:
    from distributed import Scheduler

#: Events that were overtaken by the end would make the topic anew: it is forgotten once more.
STRAGGLERS_S = 1.0
#: Until a worker is asked again that could not be reached
ASK_AGAIN_S = 1.0

_endings: set[asyncio.Task[None]] = set()  # those under way: the event loop does not keep them


class Lease(SchedulerPlugin):
    """Ends what a collector has on the scheduler when its client goes."""

    def __init__(self, topic: str, client: str) -> None:
        self.name = lease_name(topic)
        self.topic = topic
        self.client = client
        self.ending: asyncio.Task[int] | None = None

    def remove_client(self, scheduler: Scheduler, client: str) -> None:
        """Called by Dask when a client has gone."""
        if client == self.client and self.ending is None:
            self.ending = asyncio.ensure_future(end(self.topic, 0.0, scheduler))


def lease_name(topic: str) -> str:
    """Return the name of the lease of a topic."""
    return f"{topic}-lease"


def begin(topic: str, client: str, dask_scheduler: Scheduler) -> None:
    """Let a client have the events of a topic, from now until it goes; run on the scheduler."""
    lease = Lease(topic, client)
    dask_scheduler.add_plugin(lease, name=lease.name)
    dask_scheduler.subscribe_topic(topic, client)
    broker = getattr(dask_scheduler, "_broker", None)
    if broker is not None:  # events are passed on, not stored
        for name in (topic, workers_topic(topic)):
            broker._topics[name].events = deque(maxlen=0)


async def end(topic: str, wait_s: float, dask_scheduler: Scheduler) -> int:
    """Take away everything that is there under a topic; run on the scheduler.

    A worker that does not answer for so long is not waited for: its plugins go when it answers.

    Returns the nanoseconds that the plugins took there.
    """
    scheduler = dask_scheduler
    spent_ns = 0
    for name in [name for name in scheduler.plugins if str(name).startswith(topic)]:
        if name == topic:  # the SchedulerProbe
            spent_ns = scheduler.plugins[name].stop()
        scheduler.remove_plugin(name)
    _forget(scheduler, topic)
    ending = asyncio.ensure_future(_end_on_workers(topic, scheduler))
    _endings.add(ending)
    ending.add_done_callback(_endings.discard)
    await asyncio.wait([ending], timeout=wait_s)
    return spent_ns


async def _end_on_workers(topic: str, scheduler: Scheduler) -> None:
    names = [name for name in scheduler.worker_plugins if str(name).startswith(topic)]
    for name in names:
        del scheduler.worker_plugins[name]
    await asyncio.gather(*(_remove_from_workers(name, scheduler) for name in names))
    _forget(scheduler, topic)
    asyncio.get_running_loop().call_later(STRAGGLERS_S, _forget, scheduler, topic)


async def _remove_from_workers(name: str, scheduler: Scheduler) -> None:
    """Ask until all have answered or gone: Dask itself gives up where it cannot connect."""
    message = {"op": "plugin-remove", "name": name}
    workers = set(scheduler.workers)
    while workers and scheduler.status.name == "running":
        answers = await scheduler.broadcast(msg=message, workers=workers, on_error="ignore")
        workers = (workers - answers.keys()) & scheduler.workers.keys()
        if workers:
            await asyncio.sleep(ASK_AGAIN_S)


def _forget(scheduler: Scheduler, topic: str) -> None:
    broker = getattr(scheduler, "_broker", None)
    if broker is not None:
        for name in (topic, workers_topic(topic)):
            broker._topics.pop(name, None)
