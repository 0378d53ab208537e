"""What the host keys do: to the host under the cursor in Connections, elsewhere to the host of the colony."""

from collections.abc import Callable

from colonizer_client.cockpit import Cockpit
from colonizer_client.identity import EndpointName
from colonizer_client.snapshot import EndpointState
from colonizer_tui.deck import Deck
from colonizer_tui.face import Face
from colonizer_tui.host_commands import HostCommands
from colonizer_tui.hosts import Hosts
from colonizer_tui.present import host_abilities
from colonizer_tui.token_commands import TokenCommands


class HostKeys:
    """Turns keys into commands; a key that can do nothing says why."""

    def __init__(self, deck: Deck, cockpit: Cockpit, face: Face, shown: Callable[[str], str]) -> None:
        self._deck = deck
        self._face = face
        self._commands = HostCommands(cockpit, face, shown)
        self._tokens = TokenCommands(cockpit, face, shown)

    async def do_sign_in(self) -> None:
        """Signs in to the host."""
        hosts, state = self._hosts(), self._allowed("sign_in")
        if hosts is not None and state is not None:
            await self._face.begin(self._commands.sign_in(hosts, state))

    async def do_sign_out(self) -> None:
        """Forgets the host's token."""
        hosts, state = self._hosts(), self._allowed("sign_out")
        if hosts is not None and state is not None:
            await self._face.begin(self._commands.sign_out(hosts, state))

    async def do_add(self) -> None:
        """Adds a host."""
        hosts = self._hosts()
        if hosts is not None:
            await self._face.begin(self._add(hosts))

    async def do_edit(self) -> None:
        """Gives the host another name or address."""
        hosts, state = self._hosts(), self._allowed("edit")
        if hosts is not None and state is not None:
            await self._face.begin(self._edit(hosts, state))

    async def do_clean_up(self) -> None:
        """Removes the host."""
        hosts, state = self._hosts(), self._allowed(host_abilities.REMOVE)
        if hosts is not None and state is not None:
            await self._face.begin(self._commands.remove(hosts, state))

    async def do_wire_log(self) -> None:
        """Shows what goes over the host's wire."""
        state = self._allowed("wire_log")
        if state is not None:
            await self._face.begin(self._commands.wire_log(state))

    async def do_tokens(self) -> None:
        """Shows the host's scoped tokens."""
        state = self._allowed("tokens")
        if state is not None:
            await self._face.begin(self._tokens.show(state))

    async def _add(self, hosts: Hosts) -> None:
        self._select(await self._commands.add(hosts))

    async def _edit(self, hosts: Hosts, state: EndpointState) -> None:
        self._select(await self._commands.edit(hosts, state))

    def _select(self, name: EndpointName | None) -> None:
        if name is not None:
            self._deck.connections.select_new(name)

    def _hosts(self) -> Hosts | None:
        hosts = self._face.surroundings.hosts
        if hosts is None:
            self._face.tell("hosts cannot be changed here", tone="refusal")
        return hosts

    def _allowed(self, action: str) -> EndpointState | None:
        """The host if the action is possible with it; else the person is told why not."""
        reason = host_abilities.refusal(action, self._deck.host)
        if reason:
            self._face.tell(reason, tone="refusal")
            return None
        return self._deck.host
