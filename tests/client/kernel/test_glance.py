"""A kernel's field and agents as a plain command reads them."""

from collections.abc import Mapping

import pytest

from client.hand_clock import HastyClock
from client.kernel.real_kernel import KernelConnector
from colonizer_client.errors import RateLimited
from colonizer_client.kernel import calls, glance
from colonizer_client.kernel.models import OutcomeOrder
from colonizer_client.kernel.pace import Pacer
from colonizer_client.kernel.replies import Reply
from colonizer_client.kernel.session import KernelSession, Wire
from colonizer_client.mothership.wire import mapping

pytestmark = pytest.mark.anyio


async def test_the_most_hazardous_places_come_first_and_what_was_not_told_is_not_absent() -> None:
    connector, clock = KernelConnector(), HastyClock()
    elsewhere = KernelConnector(is_embedded=True, kernel=connector.kernel)
    async with connector.open("") as wire, elsewhere.open("") as embedded:
        session = KernelSession(wire, Pacer(clock), is_embedded=False)
        whole = KernelSession(embedded, Pacer(clock), is_embedded=True)
        assert (await glance.field(session)).rows == (await glance.field(whole)).rows == ()
        assert await glance.agents(session) == await glance.agents(whole) == ()
        for agent, target, passed in (
            ("ant", "b", False),
            ("ant", "b", False),
            ("bee", "a", True),
            ("ant", "c", False),
        ):
            await session.run(calls.record(OutcomeOrder(agent, "patch_file", target, "done", passed)))
        told = await glance.field(session)
        assert [(row.place.shown, row.hazard) for row in told.rows] == [("b", 6.0), ("c", 3.0), ("a", 0.0)]
        assert (await glance.field(whole)).rows == told.rows
        assert ((await glance.field(whole)).is_whole, told.is_whole) == (True, False)
        for one in (session, whole):
            assert [row["agent_id"] for row in map(mapping, await glance.agents(one))] == ["ant", "bee"]
        busy = KernelSession(Busy(wire, queries=8), Pacer(clock), is_embedded=False)
        rows = (await glance.field(busy)).rows
        assert [row.strengths.count(None) for row in rows] == [0, 4, 6]
        assert rows[-1].hazard is None


class Busy:
    """A kernel that refuses queries from some number on, since it had too many of them."""

    def __init__(self, wire: Wire, queries: int) -> None:
        self.facts = wire.facts
        self._wire = wire
        self._left = queries

    async def call(self, tool: str, arguments: Mapping[str, object], timeout_s: float) -> Reply:
        if tool == "colony_pheromone_query":
            self._left -= 1
            if self._left < 0:
                raise RateLimited("too many")
        return await self._wire.call(tool, arguments, timeout_s)
