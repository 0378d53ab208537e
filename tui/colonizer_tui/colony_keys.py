"""What the colony keys do, to the colony under the cursor, in whichever workspace they are pressed."""

from collections.abc import Callable, Coroutine, Sequence

from colonizer_client.cockpit import Cockpit
from colonizer_client.identity import EndpointName
from colonizer_client.mothership.models import Colony, LaunchOrder
from colonizer_tui.bulk import BulkCommands
from colonizer_tui.commands import ColonyCommands
from colonizer_tui.deck import Deck
from colonizer_tui.dialogs.launch import LaunchDefaults
from colonizer_tui.dialogs.page import Page
from colonizer_tui.face import Face
from colonizer_tui.intents import Copied, desk_of
from colonizer_tui.present import abilities, endpoints, explain, links
from colonizer_tui.present.line import Line
from colonizer_tui.widgets.ink import ink_of
from colonizer_tui.workspaces.fleet import Fleet
from colonizer_tui.workspaces.needs_you import NeedsYou


class ColonyKeys:
    """Turns keys into commands; a key that can do nothing says why."""

    def __init__(self, deck: Deck, cockpit: Cockpit, face: Face) -> None:
        self._deck = deck
        self._face = face
        self._commands = ColonyCommands(cockpit, face)
        self._bulk = BulkCommands(cockpit, face, self._commands)

    def do_answer(self) -> None:
        """Opens the card in place; from the opened colony, in Needs you."""
        colony = self._allowed("answer")
        if colony is None:
            return
        place = self._deck.workspace
        if not isinstance(place, Fleet | NeedsYou):
            place = self._deck.needs_you
            self._deck.go_to(place)
            self._deck.show_again()
            place.list.select(colony.key)
        place.open_card()

    def do_message(self) -> None:
        """Opens the colony at its message line."""
        colony = self._allowed("message")
        if colony is not None:
            desk_of(self._deck).open_colony(colony.key)
            self._deck.opened.do_message()

    def do_diff(self) -> None:
        """Opens the colony at its changes."""
        colony = self._allowed("diff")
        if colony is not None:
            desk_of(self._deck).open_colony(colony.key, "diff")

    async def do_stop(self) -> None:
        """Stops the colony, or all that are marked."""
        await self._for_one_or_all("stop", self._commands.stop)

    async def do_resume(self) -> None:
        """Resumes the colony, or all that are marked."""
        await self._for_one_or_all("resume", self._commands.resume)

    def do_interrupt(self) -> None:
        """Interrupts the agent's turn."""
        colony = self._allowed("interrupt")
        if colony is not None:
            self._face.start(lambda: self._commands.interrupt(colony))

    async def do_clean_up(self) -> None:
        """Removes the colony's worktree, or those of all that are marked."""
        await self._for_one_or_all("clean_up", self._commands.clean_up)

    async def do_keep(self) -> None:
        """Keeps a colony whose work was covered, or all such that are marked."""
        await self._for_one_or_all("keep", self._commands.keep)

    async def do_publish(self) -> None:
        """Publishes the colony's work."""
        colony = self._allowed("publish")
        if colony is not None:
            await self._face.begin(self._commands.publish(colony))

    async def do_explain(self) -> None:
        """Explains the colony's status."""
        colony, view, keymap = self._allowed("explain"), self._deck.view, self._deck.keymap
        if colony is not None:
            glyphs = ink_of(self._deck).glyphs
            key = keymap.actions["explain"].keys[0]

            def made(width: int) -> Sequence[Line]:
                return explain.explanation(colony, view, keymap, width, glyphs)

            await self._face.begin(self._face.ask(Page("the explanation", key, made)))

    async def do_copy(self) -> None:
        """Copies the colony's id."""
        colony = self._allowed("copy")
        if colony is not None:
            await desk_of(self._deck).copy(Copied(f"the id {colony.shown_id}", colony.key.colony))

    async def do_browse(self) -> None:
        """Opens the colony's pull request in the browser."""
        colony = self._allowed("browse")
        if colony is not None:
            await desk_of(self._deck).browse(links.links(colony.pr_url))

    async def do_colonize(self) -> None:
        """Launches a colony."""
        name = self._face.surroundings.default_endpoint
        refusal = abilities.host_refusal("colonize", self._deck.view.snapshot.endpoints.get(name))
        if refusal:
            self._face.tell(refusal, tone="refusal")
        else:
            await self._face.begin(self._launch(name))

    async def _for_one_or_all(self, action: str, command: Callable[[Colony], Coroutine[object, object, None]]) -> None:
        """Has a command done to the selected colony, or to all that are marked; both begin with a dialog."""
        if marked := self._deck.marked(action):
            await self._face.begin(self._for_all(action, marked))
        elif (colony := self._allowed(action)) is not None:
            await self._face.begin(command(colony))

    async def _for_all(self, action: str, marked: Sequence[Colony]) -> None:
        done = await self._bulk.run(action, marked, self._deck.view)
        self._deck.fleet.list.drop_marks(done)
        self._deck.show_again()

    async def _launch(self, name: EndpointName) -> None:
        key = await self._commands.launch(self._defaults(name))
        if key is not None:
            self._deck.fleet.select_new(key)

    def _defaults(self, name: EndpointName) -> LaunchDefaults:
        state = self._deck.view.snapshot.endpoints[name]
        surroundings = self._face.surroundings
        notes: tuple[str, ...] = ()
        if state.is_local:
            start = "It starts from the branch that is checked out; uncommitted work of yours is not in its worktree."
            notes = (start, endpoints.confinement(state))
        return LaunchDefaults(
            endpoint=name,
            order=LaunchOrder(surroundings.repo()),
            agents=surroundings.agents if state.is_local else (),
            is_local=state.is_local,
            notes=tuple(filter(None, notes)),
        )

    def _allowed(self, action: str) -> Colony | None:
        """The selected colony if the action is possible on it; else the person is told why not."""
        reason = self._deck.why_not(action) or ("" if self._deck.colony is not None else "no colony is selected")
        if reason:
            self._face.tell(reason, tone="refusal")
            return None
        return self._deck.colony
