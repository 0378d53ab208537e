"""What is done to all marked colonies, after one question that names each of them."""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from colonizer_client.cockpit import Cockpit
from colonizer_client.identity import ColonyKey
from colonizer_client.mothership.models import Colony
from colonizer_tui.commands import ColonyCommands
from colonizer_tui.dialogs.bulk import Bulk
from colonizer_tui.face import Face
from colonizer_tui.present import bulk
from colonizer_tui.present.view import View


class BulkCommands:
    """The commands that take many colonies at once."""

    def __init__(self, cockpit: Cockpit, face: Face, commands: ColonyCommands) -> None:
        self._face = face
        self._commands = commands
        self._doings: Mapping[str, Callable[[Colony], Awaitable[object]]] = {
            "stop": lambda colony: cockpit.stop(colony.key),
            "resume": commands.resume_unasked,
            "keep": lambda colony: cockpit.keep(colony.key),
            "clean_up": lambda colony: cockpit.clean_up(colony.key),
        }

    async def run(self, action: str, colonies: Sequence[Colony], view: View) -> frozenset[ColonyKey]:
        """The colonies that it was done to."""
        losses = self._commands.losses if action == "clean_up" else None
        done = await self._face.ask(Bulk(bulk.plan(action, colonies, view), self._doings[action], losses))
        return done or frozenset()
