"""What leaves the cockpit on the person's word: texts into a clipboard, addresses into a browser."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from msgspec.structs import replace

from colonizer_tui import browser, clipboard
from colonizer_tui.browser import BrowserFailed
from colonizer_tui.clipboard import Command, CopyFailed
from colonizer_tui.dialogs.choice import Choice, Way
from colonizer_tui.dialogs.confirm import Confirm
from colonizer_tui.face import Face
from colonizer_tui.intents import Copied
from colonizer_tui.present import words
from colonizer_tui.present.links import Link

LINKS_OFFERED = 9

BY_TERMINAL, INTO_FILE = "by terminal", "into file"


class HandoverFace(Face, Protocol):
    """The application as it can hand things over."""

    def send_to_terminal(self, sequence: str) -> None:
        """Writes a control sequence of our own to the terminal."""
        ...


class Handover:
    """Copies and opens. Nothing is written to the terminal, and no browser opened, without being asked for."""

    def __init__(self, face: HandoverFace) -> None:
        self._face = face
        self._way = ""
        """How texts are copied where there is no program, as the person chose for as long as the cockpit runs."""
        self._failed: Command | None = None
        """A clipboard program that failed: it is not asked again."""

    async def copy(self, copied: Copied) -> None:
        """Copies a text; where there is no clipboard program, the person chooses how."""
        copied = replace(copied, text=clipboard.pasteable(copied.text))
        program = clipboard.program(self._face.surroundings.environment)
        if not copied.text:
            self._face.tell("there is nothing to copy", tone="refusal")
        elif program is not None and program != self._failed:
            self._face.start(lambda: self._by_program(program, copied))
        elif self._way and self._can(self._way, copied.text):
            self._by(self._way, copied)
        else:
            await self._face.begin(self._choose_way(copied))

    async def browse(self, links: Sequence[Link]) -> None:
        """Opens one of these links, after asking."""
        if not links:
            self._face.tell("there is no link here, and no pull request", tone="refusal")
        elif len(links) == 1:
            await self._face.begin(self._open(links[0]))
        else:
            await self._face.begin(self._choose_link(links[:LINKS_OFFERED]))

    async def _by_program(self, program: Command, copied: Copied) -> None:
        try:
            await clipboard.give(program, copied.text, self._face.surroundings.environment)
        except CopyFailed as problem:
            self._failed = program
            self._face.tell(f"{problem}: nothing was copied; the same key offers other ways", tone="fault")
        else:
            copied.done()
            self._face.tell(f"copied: {_described(copied)}")

    async def _choose_way(self, copied: Copied) -> None:
        ways = [Way("f", INTO_FILE, f"into a new file that only you can read, in {self._folder}")]
        if self._can(BY_TERMINAL, copied.text):
            ways.insert(0, Way("t", BY_TERMINAL, "by the terminal (OSC 52), which may ignore it in silence"))
        text = "There is no clipboard program here. What you choose is remembered until you quit."
        chosen = await self._face.ask(Choice(f"Copy {_described(copied)}", text, ways))
        if chosen is not None:
            self._way = chosen
            self._by(chosen, copied)

    def _can(self, way: str, text: str) -> bool:
        return way != BY_TERMINAL or clipboard.terminal_sequence(text) is not None

    def _by(self, way: str, copied: Copied) -> None:
        sequence = clipboard.terminal_sequence(copied.text)
        if way == BY_TERMINAL and sequence is not None:
            self._face.send_to_terminal(sequence)
            copied.done()
            self._face.tell(f"given to the terminal: {_described(copied)}")
            return
        try:
            path = clipboard.write_file(copied.text, self._folder)
        except CopyFailed as problem:
            self._face.tell(str(problem), tone="fault")
        else:
            copied.done()
            self._face.tell(f"{_described(copied)} is in {path}")

    @property
    def _folder(self) -> Path:
        return self._face.surroundings.crash_folder / "copied"

    async def _choose_link(self, links: Sequence[Link]) -> None:
        ways = [Way(str(number), str(number), f"{one.host}  {one.address}") for number, one in enumerate(links, 1)]
        chosen = await self._face.ask(
            Choice("Which link?", "Nothing is opened before you have seen where it leads.", ways)
        )
        if chosen is not None:
            await self._open(links[int(chosen) - 1])

    async def _open(self, link: Link) -> None:
        program = browser.opener(self._face.surroundings.environment)
        if program is None:
            text = f"No browser can be opened from here. The address: {link.address} {link.warning}"
            if (
                await self._face.ask(Choice(f"Open {link.host}", text, [Way("y", "copy", "copy the address")]))
                is not None
            ):
                await self.copy(Copied("the address", link.address))
            return
        texts = [link.address, *filter(None, (link.warning,))]
        title = "Open this in the browser?"
        if await self._face.ask(Confirm(title, link.host, texts, yes="open it", is_danger=bool(link.warning))):
            try:
                await browser.show(program, link.address, self._face.surroundings.environment)
            except BrowserFailed as problem:
                self._face.tell(str(problem), tone="fault")
            else:
                self._face.tell(f"{link.host} is opened in the browser")


def _described(copied: Copied) -> str:
    count = copied.text.count("\n") + 1
    return copied.what if count == 1 else f"{copied.what} ({words.count(count, 'line')})"
