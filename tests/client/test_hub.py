import asyncio

import pytest
from msgspec.structs import replace

from client.hand_clock import LONG_S
from client.samples import HQ, colony, key
from colonizer_client.hub import PENDING_LIMIT, Hub, Subscription
from colonizer_client.snapshot import (
    ColoniesListed,
    ColonyChanged,
    ColonyRemoved,
    EndpointChanged,
    EndpointState,
    QuestionRead,
    Topics,
)

pytestmark = pytest.mark.anyio


def is_rung(subscription: Subscription) -> bool:
    waiting = subscription.changed()
    try:
        waiting.send(None)
    except StopIteration:
        return True
    finally:
        waiting.close()
    return False


async def test_a_reader_hears_of_a_change_and_takes_it_once() -> None:
    hub = Hub()
    reader = hub.subscribe()
    assert reader.take()[1] == Topics()
    async with asyncio.timeout(LONG_S), asyncio.TaskGroup() as tasks:
        heard = tasks.create_task(reader.changed())
        await asyncio.sleep(0)
        assert not heard.done()
        hub.post(ColonyChanged(colony("a")))
    snapshot, topics = reader.take()
    assert snapshot.colonies == {key("a"): colony("a")}
    assert topics.colonies == {key("a")}
    assert reader.take() == (snapshot, Topics())
    assert not is_rung(reader)


async def test_a_new_reader_is_told_all_that_is_known() -> None:
    hub = Hub()
    hub.post(EndpointChanged(EndpointState(HQ, "hq")))
    hub.post(ColonyChanged(colony("a")))
    reader = hub.subscribe()
    assert is_rung(reader)
    snapshot, topics = reader.take()
    assert topics == Topics(frozenset({HQ}), frozenset({key("a")}))
    assert set(snapshot.colonies) == {key("a")}


async def test_each_reader_has_its_own_topics() -> None:
    hub = Hub()
    fast, slow = hub.subscribe(), hub.subscribe()
    hub.post(ColonyChanged(colony("a")))
    assert fast.take()[1].colonies == {key("a")}
    hub.post(ColonyChanged(colony("b")))
    assert fast.take()[1].colonies == {key("b")}
    assert slow.take()[1].colonies == {key("a"), key("b")}


async def test_what_waits_for_a_slow_reader_does_not_grow_with_time() -> None:
    hub = Hub()
    reader = hub.subscribe()
    for number in range(5 * PENDING_LIMIT + 10):
        hub.post(ColonyChanged(replace(colony("a"), updated_at=float(number))))
        assert len(hub._pending) < PENDING_LIMIT  # pyright: ignore[reportPrivateUsage]  # the bound is the point
    snapshot, topics = reader.take()
    assert topics.colonies == {key("a")}
    assert snapshot.colonies[key("a")].updated_at == 5 * PENDING_LIMIT + 9


async def test_events_about_one_colony_keep_their_order() -> None:
    hub = Hub()
    waiting, running = colony("a", status="waiting_for_answer"), colony("a", status="running")
    hub.post(ColonyChanged(waiting))
    hub.post(QuestionRead(key("a"), None))
    hub.post(ColonyChanged(running))
    assert hub.snapshot.colonies[key("a")] == running
    hub.post(ColoniesListed(HQ, ()))
    hub.post(ColonyChanged(waiting))
    assert hub.snapshot.colonies[key("a")] == waiting
    hub.post(ColonyChanged(running))
    hub.post(ColonyRemoved(key("a")))
    assert hub.snapshot.colonies == {}


async def test_a_snapshot_that_was_taken_stays_as_it_was() -> None:
    hub = Hub()
    hub.post(ColonyChanged(colony("a")))
    kept = hub.snapshot
    hub.post(ColonyChanged(colony("b")))
    assert set(kept.colonies) == {key("a")}
    assert set(hub.snapshot.colonies) == {key("a"), key("b")}
    assert hub.snapshot is hub.snapshot


async def test_a_reader_who_left_hears_no_more() -> None:
    hub = Hub()
    reader = hub.subscribe()
    reader.take()
    hub.unsubscribe(reader)
    hub.post(ColonyChanged(colony("a")))
    assert not is_rung(reader)
