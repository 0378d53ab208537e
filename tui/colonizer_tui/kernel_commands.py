"""What is done to kernels, each with the dialog that comes before it and the words that come after it."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TypeAlias, TypeVar

from colonizer_client.cockpit import Cockpit
from colonizer_client.errors import ClientError
from colonizer_client.identity import EndpointName
from colonizer_client.kernel.bridge import Offer
from colonizer_client.kernel.models import Recorded, Verdict
from colonizer_client.kernel.view import KernelView
from colonizer_client.text import safe_line
from colonizer_tui.dialogs.confirm import Confirm
from colonizer_tui.dialogs.consent import Consent
from colonizer_tui.dialogs.form import Field, Filled, Form, Terms
from colonizer_tui.face import Face
from colonizer_tui.intents import Tone
from colonizer_tui.present import words
from colonizer_tui.present.kernel import forms, frame, pruning
from colonizer_tui.present.line import Line, Span, line

T = TypeVar("T")

Draft: TypeAlias = tuple[EndpointName, str, tuple[str, ...]]
"""What a form that was left is known by: kernel, form, and the place, agent or offer that it was begun for."""


class NotSent(ClientError):
    """The person looked once more, and did not want it."""


class KernelCommands:
    """The commands of the kernel keys. `changed` is told which kernels tick by themselves, and how often."""

    def __init__(self, cockpit: Cockpit, face: Face, changed: Callable[[Mapping[EndpointName, float]], None]) -> None:
        self._cockpit = cockpit
        self._face = face
        self._changed = changed
        self._left: dict[Draft, Filled] = {}
        """Forms that were left as they were filled in."""
        self._ticking: dict[EndpointName, float] = {}

    async def propose(self, kernel: KernelView, begun: Filled) -> Verdict | None:
        """Asks for a verdict; None where the form was left."""

        async def hand_over(filled: Filled) -> Verdict:
            await self._ask_of_shared(kernel, "Propose this?", f"{filled['action']} on {filled['target']}")
            return await self._cockpit.kernels.propose(kernel.name, forms.proposal(filled))

        return await self._filled(kernel, forms.PROPOSAL, begun, hand_over)

    async def record(self, kernel: KernelView, begun: Filled) -> None:
        """Records an outcome."""

        async def hand_over(filled: Filled) -> str:
            order = forms.outcome(filled)
            word = "passed" if order.tests_passed else "failed"
            target = f"{order.action} on {order.target}: tests {word}"
            await self._ask_of_shared(kernel, "Record this outcome?", target)
            return _of_recorded(order.agent, await self._cockpit.kernels.record(kernel.name, order))

        await self._told(self._filled(kernel, forms.OUTCOME, begun, hand_over))

    async def record_offer(self, kernel: KernelView, offer: Offer) -> None:
        """Records what a colony came to; once more only where the person says so."""

        async def hand_over(filled: Filled) -> str:
            word = forms.acceptance(filled, offer)
            await self._ask_of_shared(kernel, "Record this outcome?", offer.outcome)
            recorded = await self._cockpit.offers.accept(offer.id, word)
            return _of_recorded(safe_line(offer.agent), recorded)

        if offer.state == "sent":
            doubt = "It was sent before, and nobody knows whether it was recorded. Twice recorded it counts twice."
            asked = Confirm("Record it once more?", offer.outcome, [doubt], yes="record it", is_danger=True)
            if await self._face.ask(asked) is not True:
                return
        begun = {"passed": {True: "yes", False: "no", None: ""}[offer.passed]}
        about = (offer.outcome, f"{safe_line(offer.agent)} on {safe_line(offer.target)}")
        await self._told(self._filled(kernel, forms.OFFER, begun, hand_over, about))

    async def dismiss_offer(self, kernel: KernelView, offer: Offer) -> None:
        """Makes an offer no more."""
        texts = [f"{kernel.name} does not learn of this run, and it is not offered again."]
        asked = Confirm("Dismiss this offer?", offer.outcome, texts, yes="dismiss it", is_danger=False)
        if await self._face.ask(asked) is True:
            self._face.attempt(lambda: self._cockpit.offers.dismiss(offer.id))

    async def deposit(self, kernel: KernelView, begun: Filled) -> None:
        """Leaves a trace."""

        async def hand_over(filled: Filled) -> str:
            order = forms.deposit(filled)
            trace = await self._cockpit.kernels.deposit(kernel.name, order)
            strength = "" if trace is None else f": {trace.strength:.3g} now"
            return f"{order.signal.value.replace('_', ' ')} on {order.place}{strength}"

        await self._told(self._filled(kernel, forms.DEPOSIT, begun, hand_over))

    async def calm_down(self, kernel: KernelView) -> None:
        """Takes all traces away."""

        async def hand_over(filled: Filled) -> str:
            calmed = await self._cockpit.kernels.calm_down(kernel.name, forms.calming(filled))
            return f"{kernel.name} is calm: {words.count(calmed.cleared, 'trace')} gone, and it is at tick 0 again"

        await self._told(self._filled(kernel, forms.CALMING, {}, hand_over))

    async def tick(self, kernel: KernelView) -> None:
        """One tick, after asking where others share the kernel."""
        if await self._is_wanted(kernel, "Tick it?", "Every trace fades by one tick, for all who use it."):
            await self._try(lambda: self._cockpit.kernels.tick(kernel.name))

    async def auto_tick(self, kernel: KernelView) -> None:
        """Begins to tick by itself, or ends it."""
        if kernel.name in self._ticking:
            self._end_ticking(kernel.name, f"{kernel.name} no longer ticks by itself")
            return

        async def hand_over(filled: Filled) -> float:
            return forms.seconds(filled["seconds"])

        terms = Terms(
            title=line(Span("Tick ", "strong"), Span(str(kernel.name), "info"), Span(" by itself", "strong")),
            yes="begin",
            waiting="",
            notes=lambda filled: [Span(text, "attention") for text in forms.of_ticking(kernel)],
        )
        fields = [Field("seconds", f"between two ticks; {forms.USUAL_S:g} where nothing is typed")]
        every_s = await self._face.ask(Form(terms, fields, hand_over))
        if every_s is not None:
            self._ticking[kernel.name] = every_s
            self._changed(dict(self._ticking))
            self._face.start(partial(self._keep_ticking, kernel.name, every_s))

    async def prune(self, kernel: KernelView) -> None:
        """Has the kernel make a pruning report, after asking where others share it."""
        told = "Nothing is removed. The kernel keeps how many candidates there were, which its status shows to all."
        if await self._is_wanted(kernel, "Make a pruning report?", told):
            report = await self._try(lambda: self._cockpit.kernels.prune(kernel.name))
            if report is not None:
                self._face.tell(f"{kernel.name}: {report.total:,} may go, {len(report.protected):,} are kept")

    async def export(self, kernel: KernelView) -> None:
        """Writes the pruning report into two new files."""
        report = kernel.pruning
        if report is None:
            return
        texts = {".md": pruning.markdown(kernel, report), ".json": pruning.as_json(kernel, report)}

        async def hand_over(filled: Filled) -> str:
            return await asyncio.to_thread(_written, filled["path"], texts)

        terms = Terms(
            title=line(Span("Export the pruning report of ", "strong"), Span(str(kernel.name), "info")),
            yes="write",
            waiting="writing…",
            notes=lambda filled: [Span("Two new files, .md and .json; none is ever overwritten.", "muted")],
        )
        field = Field(
            "path", "without an ending; from the folder that you stand in", f"pruning-{kernel.name}-{kernel.tick}"
        )
        told = await self._face.ask(Form(terms, [field], hand_over))
        if told is not None:
            self._face.tell(told)

    async def agree(self, kernel: KernelView) -> None:
        """Runs a kernel's command once the person agreed to its exact words."""
        asked = kernel.consent
        if await self._face.ask(Consent(lambda width: frame.consent(kernel, width))) is not True:
            return
        now = self._cockpit.snapshot.kernels.get(kernel.name)
        if now is None or now.consent != asked:
            self._face.tell("its words have changed meanwhile: nothing was started, read them again", tone="fault")
        else:
            self._face.attempt(lambda: self._cockpit.kernels.agree(kernel.name))

    async def _filled(
        self,
        kernel: KernelView,
        form: forms.Form,
        begun: Filled,
        hand_over: Callable[[Filled], Coroutine[object, object, T]],
        about: Sequence[str] = (),
    ) -> T | None:
        """What came of a form, which begins as it was left for the same place, agent or offer.

        What stands in it is about nothing else: it must not be sent for what was selected later.

        Args:
            kernel: The kernel.
            form: The form.
            begun: What stands in its fields at first.
            hand_over: Does what it is for.
            about: What it is about, in words, where no field says so.
        """
        draft = (kernel.name, form.name, tuple(about) or tuple(begun.values()))
        values = self._left.pop(draft, begun)

        def leave(filled: Filled) -> None:
            if any(value != begun.get(name, "") for name, value in filled.items()):
                self._left[draft] = filled

        def notes(filled: Filled) -> Sequence[Span]:
            return [*(Span(text) for text in about), *(Span(text, "attention") for text in form.faults(filled))]

        terms = Terms(
            title=line(Span(f"{form.title} ", "strong"), Span(str(kernel.name), "info"), *_shared(kernel)),
            yes=form.yes,
            waiting=f"asking {kernel.name}…",
            notes=notes,
            left=leave,
        )
        fields = [Field(name, hint, values.get(name, ""), label=label) for name, label, hint in form.fields]
        return await self._face.ask(Form(terms, fields, hand_over))

    async def _told(self, filled: Coroutine[object, object, str | None]) -> None:
        told = await filled
        if told is not None:
            self._face.tell(told)

    async def _ask_of_shared(self, kernel: KernelView, title: str, target: str) -> None:
        """Goes on where the kernel is ours, or the person says so once more.

        Raises:
            NotSent: They did not.
        """
        if not await self._is_wanted(kernel, title, "It leaves traces there that others act upon.", target):
            raise NotSent("nothing was sent; what you typed is still here")

    async def _is_wanted(self, kernel: KernelView, title: str, told: str, target: str = "") -> bool:
        if kernel.capabilities.is_embedded:
            return True
        is_command = kernel.name in self._cockpit.kernels.commands
        whose = (
            "the program that it runs may share it with others"
            if is_command
            else f"whoever uses {kernel.link.address} shares it"
        )
        texts: Sequence[str] = [f"{kernel.name} is not the local kernel: {whose}.", told]
        asked = Confirm(title, target or f"{kernel.name} · {kernel.link.address}", texts, yes="yes", is_danger=False)
        return await self._face.ask(asked) is True

    async def _keep_ticking(self, name: EndpointName, every_s: float) -> None:
        """Ticks until it is ended or fails; begun anew with another pause it ends too."""
        while True:
            await self._cockpit.clock.sleep(every_s)
            if self._ticking.get(name) != every_s:
                return
            try:
                await self._cockpit.kernels.tick(name)
            except ClientError as problem:
                self._end_ticking(name, f"{name} no longer ticks by itself: {problem}", tone="fault")
                return

    def _end_ticking(self, name: EndpointName, words: str, *, tone: Tone = "news") -> None:
        self._ticking.pop(name, None)
        self._changed(dict(self._ticking))
        self._face.tell(words, tone=tone)

    async def _try(self, doing: Callable[[], Coroutine[object, object, T]]) -> T | None:
        try:
            return await doing()
        except ClientError as problem:
            self._face.tell(str(problem), tone="fault")
            return None


def _of_recorded(agent: str, recorded: Recorded) -> str:
    return f"{agent} has trust {recorded.trust:.4g} now and is {recorded.role.replace('_', ' ')}"


def _shared(kernel: KernelView) -> Line:
    return () if kernel.capabilities.is_embedded else (Span("  shared with others", "attention"),)


def _written(stem: str, texts: Mapping[str, str]) -> str:
    """Which files were written.

    Raises:
        NotSent: One of them cannot be written, or is there already.
    """
    path = Path(stem).expanduser()
    files = {path.with_name(path.name + ending): text for ending, text in texts.items()}
    if found := next((file for file in files if file.exists()), None):
        raise NotSent(f"{found} is there already: choose another name")
    try:
        for file, text in files.items():
            with file.open("x", encoding="utf-8") as opened:
                opened.write(text)
    except OSError as problem:
        raise NotSent(f"cannot write {problem.filename or path}: {problem.strerror or problem}") from problem
    return "written: " + ", ".join(str(file) for file in files)
