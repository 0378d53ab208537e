"""A session whose calls wait for a person, and the person, for tests."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from mcp.client import Client
from mcp_types import CallToolResult, Implementation, TextContent

from client.hand_clock import HandClock
from colonizer_client.approvals.ledger import Approvals
from colonizer_client.approvals.models import Approval
from colonizer_client.mothership.transport import Server
from colonizer_client.store import Store
from colonizer_config.settings import Approve
from colonizer_config.token import Token
from colonizer_server.approver import Approver
from colonizer_server.policy import SettingsInForce
from colonizer_server.scope import Scope
from colonizer_server.serve import ColonyServer
from colonizer_server.session import Session, asking

WHO = "a person in a test"


@dataclass(frozen=True)
class Talk:
    """One client's session."""

    client: Client
    person: Approvals
    """Over a connection of its own, as another process has it."""
    settings: Path
    audit: Path

    async def call(self, tool: str, /, **arguments: object) -> str:
        """What a tool answered."""
        return said(await self.client.call_tool(tool, arguments))

    @property
    def pending(self) -> Approval:
        """The one call that waits."""
        (approval,) = self.person.pending()
        return approval

    def approve(self) -> Approval:
        """The one call that waits, approved."""
        return self.person.approve(self.pending.id, self.pending.digest, WHO)


def said(answer: CallToolResult) -> str:
    (block,) = answer.content
    assert isinstance(block, TextContent)
    return ("ERROR " if answer.is_error else "") + block.text


@asynccontextmanager
async def talking(
    place: Path,
    server: Server,
    *,
    token: str = "a-token",
    approve: Approve = Approve.WRITES,
    wait_s: float = 0.0,
    name: str = "claude-code",
    clock: HandClock | None = None,
) -> AsyncGenerator[Talk]:
    """A session of a client of that name; `place` holds the person's database and settings."""
    clock = clock or HandClock()
    settings = place / "cockpit.toml"
    own, persons = Store(place / "local/cockpit.db"), Store(place / "local/cockpit.db")
    session = Session(Scope.LAUNCH, server, Token(token), "it does not answer", {}, "hq (a host)", approve, wait_s)
    approver = Approver(session, SettingsInForce(settings), lambda: own, clock)
    try:
        async with (
            asking(session) as mothership,
            Client(
                ColonyServer(mothership, session.scope, approver), client_info=Implementation(name=name, version="1")
            ) as client,
        ):
            yield Talk(client, Approvals(persons, clock), settings, place / "local/audit.jsonl")
    finally:
        own.close()
        persons.close()
