"""What is done to colonies, each with the question that comes before it and the words that come after it."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import TypeVar

from msgspec.structs import replace

from colonizer_client.cockpit import Cockpit
from colonizer_client.errors import ClientError, Conflict, NotFound
from colonizer_client.identity import ColonyKey, EndpointName
from colonizer_client.mothership import decode
from colonizer_client.mothership.models import Colony, LaunchOrder
from colonizer_tui.dialogs.choice import Choice, Way
from colonizer_tui.dialogs.confirm import Confirm
from colonizer_tui.dialogs.launch import Launch, LaunchDefaults, folder_of
from colonizer_tui.face import Face
from colonizer_tui.present import leftovers, words

T = TypeVar("T")


class ColonyCommands:
    """The commands of the colony keys."""

    def __init__(self, cockpit: Cockpit, face: Face) -> None:
        self._cockpit = cockpit
        self._face = face
        self._left: dict[EndpointName, LaunchOrder] = {}
        """Launch forms that were left as they were filled in."""

    async def stop(self, colony: Colony) -> None:
        """Stops a colony, after asking."""
        kept = ["Its worktree and its branch are kept; it can be resumed."]
        if colony.key in self._cockpit.snapshot.questions:
            kept.append("Its open question stays unanswered, your draft is kept.")
        if await self._sure("Stop this colony?", colony, kept, yes="stop it", is_danger=False):
            had_ended = await self._try(lambda: self._cockpit.stop(colony.key))
            if had_ended is not None:
                self._face.tell(f"{_name(colony)} {'had ended already' if had_ended else 'is stopped'}")

    async def resume(self, colony: Colony) -> None:
        """Resumes a colony, after asking; a superseded one is kept first."""
        if colony.superseded is not None and not colony.superseded.kept:
            texts = [
                f"{colony.superseded.pr_url} covered its work ({colony.superseded.reason}).",
                "Keep it and resume?",
            ]
            if not await self._sure("Its work was covered", colony, texts, yes="keep and resume", is_danger=False):
                return
            if await self._try(lambda: self._cockpit.keep(colony.key)) is None:
                return
        elif not await self._sure(
            "Resume this colony?", colony, _of_next_run(colony), yes="resume it", is_danger=False
        ):
            return
        resumed = await self._try(lambda: self.resume_unasked(colony))
        if resumed is not None:
            self._face.tell(f"{_name(colony)} is resumed ({resumed.status.replace('_', ' ')})")

    async def keep(self, colony: Colony) -> None:
        """Keeps a superseded colony, after asking."""
        covered = colony.superseded
        by = "" if covered is None else f"{covered.pr_url or 'Another pull request'} covered its work. "
        texts = [f"{by}Kept, it can be resumed; nothing starts by itself."]
        if not await self._sure("Keep this colony?", colony, texts, yes="keep it", is_danger=False):
            return
        if await self._try(lambda: self._cockpit.keep(colony.key)) is not None:
            self._face.tell(f"{_name(colony)} is kept")

    async def publish(self, colony: Colony) -> None:
        """Publishes a colony's work, after naming what others will see."""
        texts = [
            *self._outgoing(colony),
            f"{colony.key.endpoint} commits what is in its worktree, pushes {colony.branch} to {colony.repo} "
            f"and opens a pull request{f' against {colony.base}' if colony.base else ''}: others can see it then.",
            "Its agent ends, if it runs. The worktree stays until it is cleaned up.",
        ]
        if not await self._sure("Publish this colony's work?", colony, texts, yes="publish it", is_danger=False):
            return
        if await self._try(lambda: self._cockpit.publish(colony.key)) is not None:
            self._face.tell(f"{_name(colony)} is being published; how that ends is told by its state")

    def _outgoing(self, colony: Colony) -> Iterator[str]:
        """How much was changed when its changes were last read, where they were."""
        state = self._cockpit.snapshot.diffs.get(colony.key)
        if state is not None and state.diff is not None and state.diff.files:
            diff, least = state.diff, "at least " if state.diff.truncated else ""
            yield f"As last read: {least}{words.count(len(diff.files), 'file')}, +{diff.added:,} −{diff.removed:,}."

    async def resume_unasked(self, colony: Colony) -> Colony:
        """Starts a colony's next run, with what its agent needs of this environment where it runs on this machine.

        Raises:
            ClientError: It is not resumed.
        """
        env = self._face.surroundings.agent_env(colony.agent) if self._is_local(colony.key.endpoint) else {}
        return await self._cockpit.resume(colony.key, env or None)

    async def clean_up(self, colony: Colony) -> None:
        """Removes a colony's worktree, after naming what would be lost."""
        title = "Remove this colony's worktree?"
        texts = ["The files in its out folder are lost too."]
        if not await self._sure(title, colony, texts, yes="remove it", first=lambda: self.losses(colony)):
            return
        if await self._try(lambda: self._cockpit.clean_up(colony.key)) is not None:
            self._face.tell(f"the worktree of {_name(colony)} is removed; branch {colony.branch} is kept")

    async def interrupt(self, colony: Colony) -> None:
        """Stops the agent's turn."""
        if await self._try(lambda: self._done(self._cockpit.interrupt(colony.key))) is not None:
            self._face.tell(f"{_name(colony)}: the turn is interrupted; the colony goes on")

    async def launch(self, defaults: LaunchDefaults) -> ColonyKey | None:
        """Launches a colony from the form.

        After a refusal the form is back as it was filled in, with the reason; what the mothership offers is offered.
        """
        key = self._cockpit.idempotency_key()
        left = self._left.pop(defaults.endpoint, defaults.order)
        order = await self._fill_in(replace(defaults, order=left))
        while order is not None:
            try:
                order = await self._in_known_repository(defaults, order)
                colony = await self._cockpit.launch(
                    defaults.endpoint, replace(order, idempotency_key=key, agent_env=self._agent_env(defaults, order))
                )
            except Conflict as conflict:
                key = self._cockpit.idempotency_key()
                order = await self._after_conflict(order, conflict) or await self._fill_in(
                    replace(defaults, order=order, error=str(conflict))
                )
            except ClientError as problem:
                order = await self._fill_in(replace(defaults, order=order, error=str(problem)))
            else:
                self._face.tell(f"{_name(colony)} is {colony.status}")
                return colony.key
        return None

    async def _fill_in(self, defaults: LaunchDefaults) -> LaunchOrder | None:
        """The order as the person wants it; what they leave is there when they come back."""
        form = Launch(defaults)
        order = await self._face.ask(form)
        if order is None and form.filled != defaults.order:
            self._left[defaults.endpoint] = form.filled
        return order

    async def _in_known_repository(self, defaults: LaunchDefaults, order: LaunchOrder) -> LaunchOrder:
        """The order with a repository's name where the person gave its folder."""
        folder = folder_of(order.repo) if defaults.is_local else ""
        if not folder:
            return order
        repository = await self._cockpit.add_repository(defaults.endpoint, folder)
        return replace(order, repo=repository.name_raw)

    def _agent_env(self, defaults: LaunchDefaults, order: LaunchOrder) -> dict[str, str] | None:
        """What the agent needs of this environment, where it runs on this machine."""
        agent = order.agent or next(iter(defaults.agents), "")
        return (self._face.surroundings.agent_env(agent) or None) if defaults.is_local else None

    async def _after_conflict(self, order: LaunchOrder, conflict: Conflict) -> LaunchOrder | None:
        """The order with the way out that the person chose, None where there is none or none is taken."""
        holder = decode.holder(conflict.body)
        ways: list[Way] = []
        if holder is not None:
            ways.append(Way("s", "allow_duplicate", "start a second colony anyway"))
            if holder.can_queue:
                ways.append(Way("b", "queue_behind_holder", f"wait behind colony {holder.colony}"))
        elif "allow_epic" in str(conflict):
            ways.append(Way("e", "allow_epic", "start on the epic anyway"))
        if not ways:
            return None
        chosen = await self._face.ask(Choice("The mothership refuses this launch", str(conflict), ways))
        return None if chosen is None else _with(order, chosen)

    async def losses(self, colony: Colony) -> Sequence[str]:
        """What cleaning up loses and keeps; in general terms where the mothership does not tell."""
        try:
            left = await self._cockpit.leftovers(colony.key)
        except NotFound:
            return ("What is not committed in it is lost.", leftovers.kept(colony, None))
        except ClientError as problem:
            return (f"What is not committed in it is lost; how much that is cannot be told: {problem}",)
        return (*leftovers.losses(left), leftovers.kept(colony, left))

    async def _sure(
        self,
        title: str,
        colony: Colony,
        texts: list[str],
        *,
        yes: str,
        is_danger: bool = True,
        first: Callable[[], Awaitable[Sequence[str]]] | None = None,
    ) -> bool:
        target = f"{colony.key.endpoint} · {colony.repo} · {colony.title} ({colony.shown_id})"
        said = await self._face.ask(Confirm(title, target, texts, yes=yes, is_danger=is_danger, first=first))
        return said is True

    async def _try(self, doing: Callable[[], Awaitable[T]]) -> T | None:
        try:
            return await doing()
        except ClientError as problem:
            self._face.tell(str(problem), tone="fault")
            return None

    async def _done(self, doing: Awaitable[None]) -> bool:
        await doing
        return True

    def _is_local(self, endpoint: EndpointName) -> bool:
        state = self._cockpit.snapshot.endpoints.get(endpoint)
        return state is not None and state.is_local


def _of_next_run(colony: Colony) -> list[str]:
    """What a resumed colony begins with."""
    texts = [f"Its next run goes on in its worktree, on {colony.branch or 'its branch'}, as they are; its log is kept."]
    if colony.pending_notes:
        waiting = (
            "The message that waits is"
            if colony.pending_notes == 1
            else f"The {colony.pending_notes} messages that wait are"
        )
        texts.append(f"{waiting} handed to it.")
    return texts


def _name(colony: Colony) -> str:
    return f"{colony.title} ({colony.shown_id})"


def _with(order: LaunchOrder, way: str) -> LaunchOrder:
    return replace(order, **{way: True})
