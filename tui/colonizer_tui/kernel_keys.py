"""What the kernel keys do, to the kernel in front."""

from collections.abc import Mapping
from functools import partial

from colonizer_client.cockpit import Cockpit
from colonizer_client.kernel.bridge import Offer
from colonizer_client.kernel.view import Condition, KernelView
from colonizer_tui.deck import Deck
from colonizer_tui.face import Face
from colonizer_tui.kernel_commands import KernelCommands
from colonizer_tui.present.kernel import abilities


class KernelKeys:
    """Turns keys into commands; a key that can do nothing says why."""

    def __init__(self, deck: Deck, cockpit: Cockpit, face: Face) -> None:
        self._deck = deck
        self._cockpit = cockpit
        self._face = face
        self._commands = KernelCommands(cockpit, face, deck.kernel.show_auto_ticks)

    async def do_answer(self) -> None:
        """Reads the kernel's command once more, and runs it if the person agrees."""
        kernel = self._allowed("answer")
        if kernel is not None:
            await self._face.begin(self._commands.agree(kernel))

    async def do_resume(self) -> None:
        """Asks the kernel again at once; in the pruning pane has it make a report."""
        kernel = self._deck.kernel.kernel
        if kernel is None:
            return
        if kernel.condition is not Condition.LIVE:
            self._face.attempt(partial(self._cockpit.kernels.reconnect, kernel.name))
        elif not self._deck.kernel.shows_pruning:
            self._face.tell(f"{kernel.name} answers already; in Pruning this key has it make a report", tone="refusal")
        elif self._allowed("prune") is not None:
            await self._face.begin(self._commands.prune(kernel))

    async def do_propose(self) -> None:
        """Proposes an action."""
        kernel = self._allowed("propose")
        if kernel is not None:
            await self._face.begin(self._propose(kernel))

    async def do_record(self) -> None:
        """Records an outcome."""
        kernel = self._allowed("record")
        if kernel is not None:
            await self._face.begin(self._commands.record(kernel, self._begun()))

    async def do_tick(self) -> None:
        """One tick."""
        kernel = self._allowed("tick")
        if kernel is not None:
            await self._face.begin(self._commands.tick(kernel))

    async def do_auto_tick(self) -> None:
        """Ticks by itself, or no more."""
        kernel = self._allowed("auto_tick")
        if kernel is not None:
            await self._face.begin(self._commands.auto_tick(kernel))

    async def do_deposit(self) -> None:
        """Leaves a trace."""
        kernel = self._allowed("deposit")
        if kernel is not None:
            await self._face.begin(self._commands.deposit(kernel, self._begun()))

    async def do_calm_down(self) -> None:
        """Takes all traces away."""
        kernel = self._allowed("calm_down")
        if kernel is not None:
            await self._face.begin(self._commands.calm_down(kernel))

    async def record_offer(self, kernel: KernelView, offer: Offer) -> None:
        """Records what a colony came to."""
        if self._allowed("record") is not None:
            await self._face.begin(self._commands.record_offer(kernel, offer))

    async def dismiss_offer(self, kernel: KernelView, offer: Offer) -> None:
        """Makes an offer no more."""
        await self._face.begin(self._commands.dismiss_offer(kernel, offer))

    async def do_export(self) -> None:
        """Writes the pruning report into files."""
        kernel = self._allowed("export")
        if kernel is not None:
            await self._face.begin(self._commands.export(kernel))

    async def _propose(self, kernel: KernelView) -> None:
        verdict = await self._commands.propose(kernel, self._begun())
        if verdict is not None:
            self._deck.kernel.show_verdict(verdict.number)

    def _begun(self) -> Mapping[str, str]:
        """What a form begins with: the selected place or agent."""
        return self._deck.kernel.begun

    def _allowed(self, action: str) -> KernelView | None:
        """The kernel if the action is possible with it; else the person is told why not."""
        kernel = self._deck.kernel.kernel
        reason = abilities.refusal(action, kernel)
        if reason:
            self._face.tell(reason, tone="refusal")
            return None
        return kernel
