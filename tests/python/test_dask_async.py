"""Collectors with asynchronous clients, and in event loops that are not their client's."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import pytest
from clusters import INTERVAL_S, local_cluster
from distributed import Client
from leftovers import left, left_on_scheduler, left_on_worker
from slow import Slow, work

from roastcoffea import MetricsCollector


async def left_async(client: Any) -> list[str]:
    names = await client.run_on_scheduler(left_on_scheduler)
    for here in (await client.run(left_on_worker)).values():
        names += here
    return [*names, *(topic for topic in client._event_handlers if "roastcoffea" in topic)]


def test_an_asynchronous_client_is_followed_by_async_with() -> None:
    async def main() -> None:
        async with (
            local_cluster(asynchronous=True) as cluster,
            Client(cluster, asynchronous=True) as client,
        ):
            async with MetricsCollector(
                client, processor_instance=Slow(), worker_tracking_interval=INTERVAL_S
            ) as collector:
                futures = [client.submit(Slow().process, [i], pure=False) for i in range(8)]
                await client.gather(futures)
                collector.set_coffea_report({"entries": 8})
            assert len(collector.chunk_metrics) == 8
            assert len((collector.tracking_data or {})["worker_memory"]) == 2
            assert collector.span_metrics
            assert collector.get_metrics()["total_events"] == 8
            assert await left_async(client) == []

    asyncio.run(main())


def test_a_plain_with_in_the_loop_of_its_client_does_not_wait_for_itself(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main() -> None:
        async with (
            local_cluster(n_workers=1, processes=False, asynchronous=True) as cluster,
            Client(cluster, asynchronous=True) as client,
        ):
            with MetricsCollector(client) as collector:
                assert await client.submit(sum, [1, 2]) == 3
            assert "use `async with`" in caplog.text
            assert collector.summary().metrics()["monitoring_faults"]

    asyncio.run(asyncio.wait_for(main(), 60))


def test_a_client_is_followed_from_another_event_loop(client: Any) -> None:
    async def main() -> MetricsCollector:
        async with MetricsCollector(client) as collector:
            await asyncio.to_thread(work, client, 4)
        return collector

    assert len(asyncio.run(main()).chunk_metrics) == 4
    assert left(client) == []


def test_a_client_that_closes_in_another_event_loops_block_keeps_nobody_waiting() -> None:
    async def main() -> MetricsCollector:
        cluster = local_cluster(n_workers=1, processes=False)
        client = Client(cluster)
        async with MetricsCollector(client, worker_tracking_interval=INTERVAL_S) as collector:
            await asyncio.to_thread(work, client, 2)
            while len(collector.chunk_metrics) < 2:
                await asyncio.sleep(0.05)
            await asyncio.to_thread(client.close)
            await asyncio.to_thread(cluster.close)
        return collector

    collector = asyncio.run(asyncio.wait_for(main(), 30))
    assert len(collector.chunk_metrics) == 2
    assert collector.tracking_data is not None
    assert "ROAST_COLLECT" not in os.environ


def test_a_cancelled_block_leaves_nothing(client: Any) -> None:
    async def main() -> None:
        async with MetricsCollector(client):
            await asyncio.sleep(600)

    async def cancelled() -> None:
        task = asyncio.ensure_future(main())
        await asyncio.sleep(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert left(client) == []
