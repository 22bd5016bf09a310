"""The way of messages from workers to the client: Dask's events, as few of them as possible.

A message that travels alone costs a scheduler ten times what its bytes cost: it has to be woken up
for it, twice, and the client once. So nearly none does:

- A worker leaves what can wait among the messages that Dask is about to send, and it goes along
  with the next of them: the word that a task has ended, or the sign of life that each worker gives
  once a minute (:class:`WorkerChannel`).
- The scheduler passes on in one event what came within a moment from all workers
  (:class:`Outbox`).

Every message is a tuple whose first element says what it is. Who sends which is told in
:mod:`~roastcoffea.backends.dask_worker`, :mod:`~roastcoffea.backends.dask_scheduler` and
:mod:`~roastcoffea.backends.dask_ledger`.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from roastcoffea import collecting

if TYPE_CHECKING:
    from distributed import Scheduler, Worker

Message = tuple[Any, ...]

#: In smaller clusters, whose heartbeats are closer together, nothing waits ...
WAIT_FROM_S = 2.0
#: ... in larger ones as many periods of the heartbeat, if Dask sends nothing meanwhile.
WAIT_PERIODS = 2

#: There the scheduler collects for so long, and everywhere at most so many messages.
COLLECT_S = 1.0
COLLECT_MAX = 1000


def workers_topic(topic: str) -> str:
    """Return the topic under which workers send what the scheduler passes on under ``topic``."""
    return f"{topic}-workers"


class WorkerChannel:
    """Sends the messages of one worker, in their order; used on its event loop."""

    def __init__(self, worker: Worker, topic: str) -> None:
        self.worker = worker
        self.topic = workers_topic(topic)
        self.finished: deque[Message] = deque()
        self.left: dict[str, Any] | None = None  # the last of those that wait for Dask's next
        self.left_since = 0.0

    def heartbeat_s(self) -> float:
        """Return Dask's heartbeat period, which grows with the cluster."""
        heartbeat = self.worker.periodic_callbacks.get("heartbeat")
        return heartbeat.callback_time / 1000 if heartbeat is not None else 0.5

    def send(self, message: Message) -> None:
        """Send a message now, and with it all that waits."""
        self.leave_finished()
        self.worker.log_event(self.topic, message)

    def post(self, message: Message) -> None:
        """Send a message; in a large cluster it may wait for a while."""
        if self.heartbeat_s() < WAIT_FROM_S:
            self.send(message)
        else:
            self.leave_finished()
            self.leave(message)

    def leave(self, message: Message) -> None:
        """Let a message go along with the next one that Dask sends."""
        stream = self.worker.batched_stream
        if stream.comm is None or stream.comm.closed():
            collecting.note_fault("sending", ConnectionError("the scheduler is gone"))
            return  # as Dask does with its own
        if not self.is_waiting():
            self.left_since = time.monotonic()
        self.left = {"op": "log-event", "topic": self.topic, "msg": message}
        stream.buffer.append(self.left)

    def is_waiting(self) -> bool:
        """Tell whether the last that was left has not gone yet."""
        return any(message is self.left for message in self.worker.batched_stream.buffer)

    def put(self, message: Message) -> None:
        """Take a message of the thread of a task: it goes when the task ends, or with a tick."""
        self.finished.append(message)

    def leave_finished(self) -> None:
        """Let what the threads of tasks had go along."""
        while self.finished:
            self.leave(self.finished.popleft())

    def tick(self) -> None:
        """Send what has waited long enough; called several times a second."""
        if self.finished:
            self.leave_finished()
        if self.left is None:
            return
        if not self.is_waiting():
            self.left = None
        elif time.monotonic() - self.left_since >= self.longest_wait_s():
            self.push()

    def push(self) -> None:
        """Let all go that waits."""
        self.leave_finished()
        stream = self.worker.batched_stream
        if stream.buffer and stream.comm is not None and not stream.comm.closed():
            stream.send()

    def longest_wait_s(self) -> float:
        """Return how long a message may wait for one of Dask's."""
        period = self.heartbeat_s()
        return WAIT_PERIODS * period if period >= WAIT_FROM_S else 0.0


class Outbox:
    """Collects on the scheduler what is to be passed on to the client.

    ``remark`` may have a message to add to those that are about to go.
    """

    def __init__(
        self, scheduler: Scheduler, topic: str, remark: Callable[[list[Message]], Message | None]
    ) -> None:
        self.scheduler = scheduler
        self.topic = topic
        self.remark = remark
        self.messages: list[Message] = []
        self.timer: asyncio.TimerHandle | None = None
        self.spent_ns = 0  # when its time had come; else it is part of what called it

    def put(self, message: Message) -> None:
        """Pass a message on soon."""
        self.messages.append(message)
        if len(self.messages) >= COLLECT_MAX:
            self.pass_on()
        elif self.timer is None:
            from distributed.scheduler import heartbeat_interval

            is_large = heartbeat_interval(len(self.scheduler.workers)) >= WAIT_FROM_S
            delay_s = COLLECT_S if is_large else 0.0
            self.timer = asyncio.get_running_loop().call_later(delay_s, self.come_due)

    def come_due(self) -> None:
        """Pass everything on since it has waited long enough."""
        begin_ns = time.thread_time_ns()
        self.pass_on()
        self.spent_ns += time.thread_time_ns() - begin_ns

    def pass_on(self) -> None:
        """Pass everything on now, as one event."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None
        if self.messages:
            messages, self.messages = self.messages, []
            try:
                remark = self.remark(messages)
                if remark is not None:
                    messages.append(remark)
            except Exception as error:  # the messages go all the same
                collecting.note_fault("remarks of the scheduler", error)
            self.scheduler.log_event(self.topic, messages)
