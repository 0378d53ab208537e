"""Hosts that are added, signed in to, changed and removed from the cockpit: real settings, real sockets, real files."""

import re
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager

import keyring
import pytest
from textual import events
from textual.pilot import Pilot

from client.fleet_server import HANG, READER, FleetServer
from client.samples import key, question_body
from colonizer_cli.cockpit_hosts import CockpitHosts
from colonizer_cli.wiring import Wiring
from colonizer_client.identity import EndpointName
from colonizer_client.snapshot import Health
from colonizer_config.address import parse_address
from colonizer_config.paths import Paths
from colonizer_config.secrets import TokenStore
from colonizer_config.settings import LOCAL, load
from colonizer_tui.app import CockpitApp
from colonizer_tui.surroundings import Surroundings
from config.memory_keyring import MemoryKeyring
from loopback_fleet import loopback_fleet, sign_in, silent_server
from real_engine import screen_text, until

pytestmark = pytest.mark.anyio

TOKEN = "5ec7e7" * 10
FIRST_TOKEN = "0" * 63 + "1"
"""What `sign_in` keeps."""

HQ = EndpointName("hq")
SELF = ("GET", "/api/tokens/self")
REFUSED = (401, "missing or invalid API token; run `colonizer open`")


class Bench:
    """The cockpit on settings and a server of this test's own."""

    def __init__(self, server: FleetServer, port: int, app: CockpitApp, pilot: Pilot[None]) -> None:
        self.server, self.port, self.app, self.pilot = server, port, app, pilot
        self.paths = Paths.from_environment()

    @property
    def text(self) -> str:
        return screen_text(self.pilot)

    @property
    def words(self) -> str:
        """What is on the screen, wherever its lines are broken."""
        return " ".join(re.sub("[▌│]", " ", self.text).split())

    async def shows(self, *texts: str) -> None:
        await until(self.pilot, lambda: all(text in self.words for text in texts))

    async def hides(self, text: str) -> None:
        await until(self.pilot, lambda: text not in self.text)

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def type(self, text: str) -> None:
        await self.pilot.press(*(KEYS.get(letter, letter) for letter in text))

    def kept(self, host: str = "") -> str | None:
        found = TokenStore(self.paths).stored(parse_address(host or f"127.0.0.1:{self.port}"))
        return None if found is None else found.token.reveal()

    def endpoints(self) -> list[tuple[str, str | None]]:
        return [(row.name, row.address) for row in load(self.paths.settings).endpoints]

    async def is_live(self) -> None:
        """Returns when the screen knows, which is a moment after the cockpit does."""
        await until(self.pilot, lambda: self.app.deck.view.snapshot.endpoints[HQ].health is Health.LIVE)


KEYS = {":": "colon", "/": "slash", ".": "full_stop", "?": "question_mark", "=": "equals_sign", "_": "underscore"}


@pytest.fixture
def memory_keyring() -> Iterator[MemoryKeyring]:
    before, memory = keyring.get_keyring(), MemoryKeyring()
    keyring.set_keyring(memory)
    yield memory
    keyring.set_keyring(before)


@asynccontextmanager
async def bench(*, is_signed_in: bool = True) -> AsyncGenerator[Bench]:
    server = silent_server()
    server.put("c0ffee00", issue_title="A thing to do")
    with loopback_fleet(server) as port:
        paths = Paths.from_environment()
        if is_signed_in:
            sign_in(port)
        else:
            paths.config.mkdir(parents=True)
            paths.settings.write_text("# mine\n[ui]\nascii = false  # stays\n", encoding="utf-8")
        wiring = Wiring(paths, load(paths.settings))
        wiring.cockpit.remove(LOCAL)  # no engine is needed here
        app = CockpitApp(
            wiring.cockpit,
            Surroundings(crash_folder=paths.data, default_endpoint=HQ, hosts=CockpitHosts(paths, wiring)),
        )
        async with app.run_test(size=(140, 40), notifications=True) as pilot:
            it = Bench(server, port, app, pilot)
            await it.shows("Fleet")
            await it.press("7")
            if is_signed_in:
                await it.is_live()
                await it.press("G")
            yield it


async def test_a_host_is_added_once_its_token_was_tried(memory_keyring: MemoryKeyring) -> None:
    async with bench(is_signed_in=False) as it:
        await it.press("A")
        await it.shows("Add a host")
        await it.type("hq")
        await it.press("tab")
        await it.type(f"127.0.0.1:{it.port}")
        await it.press("tab")
        await it.type(TOKEN)
        assert TOKEN not in it.text
        await it.press("enter")
        await it.shows("hq is added: scope owner, token kept in: keyring")
        await it.is_live()
        assert it.app.deck.connections.list.selected == HQ
        assert it.endpoints() == [("hq", f"127.0.0.1:{it.port}")]
        text = it.paths.settings.read_text(encoding="utf-8")
        assert text.startswith("# mine\n[ui]\nascii = false  # stays\n")
    assert list(memory_keyring.entries.values()) == [TOKEN]


async def test_a_sign_in_link_gives_address_and_token_wherever_it_is_pasted_and_is_never_seen(
    memory_keyring: MemoryKeyring,
) -> None:
    async with bench(is_signed_in=False) as it:
        await it.press("A")
        await it.type("hq")
        await it.press("tab")
        it.app.post_message(events.Paste(f"http://127.0.0.1:{it.port}/?token={TOKEN}"))
        await it.shows("•••")
        assert TOKEN not in it.text
        assert "token=" not in it.text
        await it.press("ctrl+s")
        await it.shows("hq is added")
        assert it.endpoints() == [("hq", f"http://127.0.0.1:{it.port}")]
        assert it.kept() == TOKEN
    assert list(memory_keyring.entries.values()) == [TOKEN]


async def test_a_token_that_is_refused_is_not_kept_and_the_form_stays(memory_keyring: MemoryKeyring) -> None:
    async with bench() as it:
        it.server.replies[SELF] = REFUSED
        await it.press("l")
        await it.shows(f"Sign in to hq at http://127.0.0.1:{it.port}")
        await it.type("wrong")
        await it.press("enter")
        await it.shows("missing or invalid API token", "•••••")
        assert it.kept() == FIRST_TOKEN
        await it.press("escape")
        await it.hides("Sign in to")
    assert not memory_keyring.entries


@pytest.mark.usefixtures("memory_keyring")
async def test_after_signing_in_the_new_token_counts_at_once() -> None:
    async with bench() as it:
        it.server.standing = READER
        await it.press("l")
        await it.type(TOKEN)
        await it.press("enter")
        await it.shows("signed in to hq: scope read (reader), token kept in: keyring")
        await it.shows("scope read (reader) · keyring", "no live stream for its token")
        assert it.kept() == TOKEN


async def test_without_a_keyring_a_plain_file_is_used_only_when_the_person_says_so() -> None:
    async with bench() as it:
        await it.press("l")
        await it.type(TOKEN)
        await it.press("enter")
        await it.shows("can be kept in the plain file", "ctrl+f go on, keep it in that file esc back")
        assert it.kept() == FIRST_TOKEN
        await it.press("ctrl+f")
        await it.shows("token kept in: plain file")
        assert it.kept() == TOKEN
        (file,) = it.paths.tokens.iterdir()
        assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.usefixtures("memory_keyring")
@pytest.mark.parametrize("host", ["http://evil.example:7878", "https://127.0.0.1.evil.example"])
async def test_a_link_for_another_host_is_refused_and_its_token_sent_nowhere(host: str) -> None:
    async with bench() as it:
        asked = len(it.server.asked)
        await it.press("l")
        await it.type(f"{host}/?token={TOKEN}")
        await it.press("enter")
        await it.shows("this link is for", "nothing was sent")
        assert (it.kept(), len(it.server.asked)) == (FIRST_TOKEN, asked)


@pytest.mark.usefixtures("memory_keyring")
async def test_a_form_that_is_left_while_the_host_is_asked_keeps_nothing() -> None:
    async with bench() as it:
        it.server.replies[SELF] = (HANG, None)
        await it.press("l")
        await it.type(TOKEN)
        await it.press("enter")
        await it.shows("asking http://127.0.0.1", "esc gives up")
        await it.press("enter", "ctrl+s", "escape")
        await it.hides("Sign in to")
        assert it.kept() == FIRST_TOKEN


async def test_signing_out_forgets_the_token_and_stops_all_traffic() -> None:
    async with bench() as it:
        await it.press("O")
        await it.shows("Sign out?", f"hq · http://127.0.0.1:{it.port}")
        await it.press("y")
        await it.shows("hq signed out: its token is forgotten (plain file)", "no token is kept", "l signs in")
        assert it.kept() is None
        asked = len(it.server.asked)
        await it.press("r", "1")
        await it.shows("A thing to do")
        assert len(it.server.asked) == asked
        await it.press("j", "l")
        await it.shows("Sign in to hq")


async def test_another_name_takes_along_what_was_typed_and_the_token() -> None:
    async with bench() as it:
        it.app.cockpit.drafts.keep_message(key("c0ffee00"), "half a word")
        await it.press("E")
        await it.shows("Edit hq", "stay.")
        await it.press("backspace", "backspace")
        await it.type("lab")
        await it.press("ctrl+s")
        await it.shows("lab ●")
        assert it.endpoints() == [("lab", f"127.0.0.1:{it.port}")]
        lab = EndpointName("lab")
        assert it.app.cockpit.drafts.message(key("c0ffee00")._replace(endpoint=lab)) == "half a word"
        assert HQ not in it.app.cockpit.snapshot.endpoints
        assert it.kept() == FIRST_TOKEN
        assert it.app.deck.connections.list.selected == lab


async def test_another_address_signs_out_and_shows_no_row_of_the_one_before() -> None:
    async with bench() as it:
        await it.press("E", "tab", "end")
        await it.shows("Edit hq")
        await it.press("slash", "x")
        await it.shows("Another address has no token")
        await it.press("ctrl+s")
        await it.shows("signed out", "no token is kept")
        assert it.app.cockpit.snapshot.colonies == {}
        assert it.kept() is None


async def test_removing_a_host_names_what_goes_and_takes_its_rows_along() -> None:
    async with bench() as it:
        it.app.cockpit.drafts.keep_message(key("c0ffee00"), "half a word")
        await it.press("X")
        await it.shows("Remove this host?", "Its token is forgotten here", "what you typed for them stays")
        await it.press("n")
        assert it.kept() == FIRST_TOKEN
        await it.press("X", "y")
        await it.shows("hq is the default endpoint: make another one the default first")
        it.paths.settings.write_text(
            it.paths.settings.read_text(encoding="utf-8").replace('default_endpoint = "hq"\n', ""), encoding="utf-8"
        )
        await it.press("X", "y")
        await it.shows("hq removed; its token is forgotten (plain file)")
        await until(it.pilot, lambda: HQ not in it.app.cockpit.snapshot.endpoints)
        assert (it.endpoints(), dict(it.app.cockpit.snapshot.colonies), it.kept()) == ([], {}, None)
        assert it.app.cockpit.drafts.message(key("c0ffee00")) == "half a word"


async def test_the_wire_log_shows_what_passes_while_it_is_open_and_no_secret() -> None:
    async with bench() as it:
        await it.press("L")
        await it.shows("Wire log of hq", "nothing has passed yet")
        await it.press("r")
        await it.shows("/api/tokens/self", "200", "/api/stream", '"type": "orgs"')  # the last of what comes at first
        it.server.put("c0ffee01", issue_title=f"The token is {FIRST_TOKEN}")
        it.server.questions["c0ffee01"] = question_body("q-1")
        await it.shows("heard", "‹redacted 64 chars›")
        await it.press("v")
        await it.shows("the end")
        await it.press("escape", "escape")
        await it.hides("Wire log")
        assert FIRST_TOKEN not in it.text


async def test_an_owner_sees_makes_and_revokes_tokens_and_a_new_one_is_shown_once() -> None:
    row = {"id": "tok_1", "name": "ci", "scope": "read", "created_at": "2026-11-29T12:00:00Z", "max_concurrent": 3}
    async with bench() as it:
        it.server.replies["GET", "/api/tokens"] = (200, [row])
        it.server.replies["POST", "/api/tokens"] = (200, {"token": f"col_{'5e' * 32}", "id": "tok_2"})
        it.server.replies["DELETE", "/api/tokens/tok_1"] = (200, {"ok": True})
        await it.press("T")
        await it.shows("Tokens of hq", "ci", "3 colonies at once", "never")
        await it.press("A")
        await it.shows("Make a token of hq")
        await it.type("phone")
        await it.press("tab", "end", *["backspace"] * 4)
        await it.type("all")
        await it.press("ctrl+s")
        await it.shows("a scope is read, operate or launch")
        await it.press(*["backspace"] * 3)
        await it.type("operate")
        await it.press("ctrl+s")
        await it.shows(f"col_{'5e' * 32}", "shown this once")
        await it.press("escape")
        await it.shows("cannot be shown again")
        await it.press("y", "f")
        await it.shows("the token phone is in", "copy again")
        await it.press("escape")
        await it.hides("col_")
        assert it.server.sent[-1]["scope"] == "operate"
        await it.press("X")
        await it.shows("Revoke this token?", "hq · ci · scope read (tok_1)")
        await it.press("y")
        await it.shows("the token ci is revoked")
        assert it.server.count("DELETE /api/tokens/tok_1") == 1
        assert it.server.count("GET /api/tokens") == 3


async def test_what_is_no_address_is_said_while_the_form_is_open() -> None:
    async with bench() as it:
        await it.press("E", "tab", "end")
        await it.type("x")
        await it.shows("address has a port that is not a number", "ctrl+s save")
        await it.press("backspace")
        await it.shows("What you typed for its colonies")


async def test_what_cannot_be_done_with_a_host_says_why() -> None:
    async with bench() as it:
        it.server.standing = READER
        await it.press("r")
        await it.shows("scope read")
        await it.is_live()
        await it.press("T")
        await it.shows("the token of hq has scope read; this needs owner")
