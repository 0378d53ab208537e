"""A disk that is full, below the mothership or below the cockpit: what a person reads, and that nothing is lost."""

from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest
from textual import events
from textual.pilot import Pilot

from client.cockpits import Direct
from client.samples import HQ
from colonizer_client.cockpit import Cockpit
from colonizer_client.snapshot import EndpointState
from colonizer_client.store import Store
from colonizer_config.address import SocketAddress
from colonizer_config.token import Token
from colonizer_tui.app import CockpitApp
from colonizer_tui.surroundings import Surroundings
from real_engine import screen_text, until
from served_mothership import OWNER, Served, asks, served

pytestmark = pytest.mark.anyio

ROOM = 1 << 30

LONG = "abcd " * 1_500
"""More than still fits into the pages that a database has."""


class Desk:
    """Somebody at the cockpit of a mothership."""

    def __init__(self, pilot: Pilot[None], cockpit: Cockpit) -> None:
        self.pilot = pilot
        self.cockpit = cockpit

    async def shows(self, *texts: str) -> None:
        """Returns when all the texts are on the screen, wherever its lines are broken."""
        await until(self.pilot, lambda: all(text in " ".join(self.words()) for text in texts))

    def words(self) -> list[str]:
        return screen_text(self.pilot).replace("│", " ").replace("▌", " ").split()

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def type(self, text: str) -> None:
        await self.pilot.press(*("space" if letter == " " else letter for letter in text))


@asynccontextmanager
async def desk(mothership: Served, folder: Path) -> AsyncGenerator[Desk]:
    cockpit = Cockpit(lambda: Store(folder / "cockpit.db"))
    address = SocketAddress(mothership.socket)
    cockpit.add(EndpointState(HQ, str(address)), Direct(address, Token(OWNER)))
    app = CockpitApp(cockpit, Surroundings(crash_folder=folder, default_endpoint=HQ, repo=lambda: "local/clone"))
    async with app.run_test(size=(140, 40), notifications=True) as pilot:
        yield Desk(pilot, cockpit)


async def write_long(it: Desk, times: int = 1) -> None:
    """Opens the message field and puts a long message into it."""
    await it.shows("A task")
    await it.press("m")
    it.pilot.app.post_message(events.Paste(f"{LONG * times}hold on"))
    await it.shows("hold on")


@contextmanager
def full(mothership: Served) -> Generator[None]:
    """While this lasts, the mothership's database cannot grow by a page."""
    store = mothership.mothership.store
    store.limit_pages(1)
    try:
        yield
    finally:
        store.limit_pages(ROOM)


async def test_a_launch_that_cannot_be_stored_brings_the_form_back_and_starts_once_there_is_room(
    tmp_path: Path,
) -> None:
    async with served(tmp_path) as mothership, desk(mothership, tmp_path) as it:
        await it.shows("No colonies yet", "hq ●")
        with full(mothership):
            await it.press("c")
            await it.shows("Colonize on hq")
            await it.type("Say hello")
            await it.press("ctrl+s")
            await it.shows("the disk is full, and nothing was changed", "Say hello")
            assert (await mothership.call("GET", "/api/sessions")).json() == []
        await it.press("ctrl+s")
        await it.shows("1 colony", "Say hello")
        (session,) = (await mothership.call("GET", "/api/sessions")).json()
        assert session["instructions"] == "Say hello"


async def test_an_answer_that_cannot_be_stored_says_why_and_is_taken_once_there_is_room(tmp_path: Path) -> None:
    async with served(tmp_path) as mothership, desk(mothership, tmp_path) as it:
        colony = await mothership.launch(*asks("q1", f"Really? {LONG}"))
        await it.shows("Really?", "a opens the card")
        with full(mothership):
            await it.press("a", "2", "enter")
            await it.shows("not sent again", "the disk is full, and nothing was changed", "your draft is kept")
            assert mothership.session(colony)["status"] == "waiting_for_answer"
            assert mothership.events(colony, "question_answered") == []
        await it.press("enter")
        await it.shows("✓ delivered")
        await mothership.said(colony, "question_answered")
        answers = [event["answers"] for event in mothership.events(colony, "question_answered")]
        assert answers == [{f"Really? {LONG}": "No"}]


async def test_a_message_that_cannot_be_stored_stays_on_its_way_and_arrives_once(tmp_path: Path) -> None:
    async with served(tmp_path) as mothership, desk(mothership, tmp_path) as it:
        colony = await mothership.launch()
        await write_long(it)
        with full(mothership):
            await it.press("enter")
            await it.shows("the disk is full, and nothing was changed")
            assert len(mothership.events(colony, "user_message")) == 1
        await mothership.said(colony, "user_message", text=f"{LONG}hold on")
        assert len(mothership.events(colony, "user_message")) == 2


async def test_a_message_that_the_cockpit_cannot_keep_is_not_sent_and_stays_in_its_field(tmp_path: Path) -> None:
    async with served(tmp_path) as mothership, desk(mothership, tmp_path) as it:
        colony = await mothership.launch()
        await write_long(it, 4)
        (pages,) = it.cockpit.store.rows("PRAGMA page_count")[0]
        it.cockpit.store.rows(f"PRAGMA max_page_count = {pages}")
        await it.press("enter")
        await it.shows("database or disk is full", "hold on")
        assert it.cockpit.snapshot.deliveries == {}
        assert len(mothership.events(colony, "user_message")) == 1
