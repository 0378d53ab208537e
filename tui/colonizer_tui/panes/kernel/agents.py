"""The agents of a kernel."""

from collections.abc import Sequence

from colonizer_client.kernel.view import Agent, Condition, KernelView
from colonizer_tui.intents import Copied, desk_of
from colonizer_tui.keys import Hint
from colonizer_tui.panes.kernel.kernel_list import KernelList
from colonizer_tui.present.kernel import agents
from colonizer_tui.present.line import Line


class AgentList(KernelList[str]):
    """Agents, the most trusted first."""

    TITLE = "Agents"
    NOTHING = "No agent is known yet: whoever proposes or records is one."
    HELPS = (("propose", "proposes an action in the name of an agent"), ("record", "records an outcome for one"))
    HAS_DETAIL = True

    @property
    def agent(self) -> Agent | None:
        """The selected agent."""
        return None if self.selected is None else self.kernel.agents.get(self.selected)

    @property
    def subject(self) -> str:
        """The selected agent."""
        return "" if self.agent is None else self.agent.name.raw

    def follow(self, had: KernelView) -> None:
        """Takes what changed."""
        if had.agents is not self.kernel.agents:
            self.set_rows(agents.in_order(list(self.kernel.agents.values())))

    def row_line(self, key: str) -> Line:
        """An agent's row."""
        agent = self.kernel.agents.get(key)
        if agent is None:
            return ()
        is_stale = self.kernel.condition is not Condition.LIVE
        return agents.row(agent, self.kernel.preset, self.text_width - 1, self.glyphs, is_stale=is_stale)

    def caption(self, width: int) -> Line:
        """The names of the columns."""
        del width
        return agents.caption(self.text_width - 1)

    def detail(self, width: int) -> Sequence[Line]:
        """The selected agent whole."""
        if self.agent is None:
            return ()
        return agents.detail(self.agent, self.kernel.preset, self.now, width, self.glyphs)

    def hints(self) -> Sequence[Hint]:
        """What helps with an agent."""
        return (Hint("copy", "copy name", reason="" if self.agent else "there is no agent yet"),)

    async def do_copy(self) -> None:
        """Copies the agent's name."""
        if self.agent is not None:
            await desk_of(self).copy(Copied("the agent", self.agent.name.shown))
