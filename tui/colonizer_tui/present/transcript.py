"""A transcript's entries as lines (look: one column for the time, one for who, one for what)."""

from collections.abc import Callable, Iterator

from msgspec import field
from msgspec.structs import replace
from rich.cells import cell_len

from colonizer_client.transcript import Entry, Kind, State
from colonizer_config.value import Value
from colonizer_tui.keys import AS_SHIPPED, Keymap
from colonizer_tui.present import prose, words
from colonizer_tui.present.line import Line, Span, column, cut, fit, spread, width_of, wrap
from colonizer_tui.present.states import Glyphs

UNFOLDED_LINES = 400
"""Lines of one text that are drawn in place; the viewer shows all."""

FOLDED_AT_FIRST = frozenset({Kind.BRIEF, Kind.THINKING, Kind.TOOL, Kind.SETTLER, Kind.NOTICE, Kind.TURN})
TIME_WIDTH = 6


class Sheet(Value):
    """The room in which entries are set."""

    width: int
    glyphs: Glyphs
    keymap: Keymap = field(default_factory=lambda: AS_SHIPPED)
    is_asking: bool = True
    """Whether a question that nobody answered can still be: not where its run has ended."""

    @property
    def who(self) -> int:
        """The width of the column that says who."""
        return 11 if self.width >= 70 else 9

    @property
    def text(self) -> int:
        """The width of the column that says what."""
        return max(self.width - TIME_WIDTH - self.who, 8)

    def row(self, at: float | None, who: str, role: str, text: Line) -> Line:
        """An entry's first line."""
        return (Span(words.clock(at) + " ", "dim"), Span(column(who, self.who - 1) + " ", role), *fit(text, self.text))

    def below(self, text: Line) -> Line:
        """An entry's further lines."""
        return (Span(" " * (TIME_WIDTH + self.who)), *fit(text, self.text))


def lines(entry: Entry, sheet: Sheet, *, is_folded: bool) -> list[Line]:
    """The lines of one entry; never none."""
    return list(_DRAWERS[entry.kind](entry, sheet, is_folded))


def folds(entry: Entry) -> bool:
    """Whether the entry has more than its folded line."""
    return entry.kind in FOLDED_AT_FIRST and bool(entry.body or entry.result or entry.children)


def whole_text(entry: Entry) -> str:
    """Everything that the entry holds, for the viewer."""
    title = f"{entry.title} {entry.argument}".rstrip()
    parts = [title if entry.kind is not Kind.USER else "", entry.body, entry.result]
    if entry.question is not None:
        for prompt in entry.question.prompts:
            parts += [prompt.text, *(f"  {option.label}  {option.description}" for option in prompt.options)]
            parts += [option.preview for option in prompt.options]
    parts += [whole_text(child) for child in entry.children]
    return "\n\n".join(part for part in parts if part)


def _said(entry: Entry, sheet: Sheet, is_folded: bool) -> Iterator[Line]:
    del is_folded
    yield from _texts(entry, sheet, "you", "active-strong", _limited(entry.body, "", sheet))


def _brief(entry: Entry, sheet: Sheet, is_folded: bool) -> Iterator[Line]:
    count = entry.body.count("\n") + 1
    if is_folded:
        yield sheet.row(entry.at, "brief", "active-strong", _folded_text(entry.title, count, sheet))
    else:
        yield from _said(entry, sheet, is_folded)


def _agent(entry: Entry, sheet: Sheet, is_folded: bool) -> Iterator[Line]:
    del is_folded
    texts = _bounded(entry.body, sheet, prose.lines)
    if entry.state is State.RUNNING:
        texts[-1] = (*texts[-1], Span("▍" if not sheet.glyphs.ascii else "_", "active"))
    yield from _texts(entry, sheet, "agent", "info", texts)


def _thinking(entry: Entry, sheet: Sheet, is_folded: bool) -> Iterator[Line]:
    count = entry.body.count("\n") + 1
    if is_folded:
        yield sheet.row(entry.at, "thinking", "dim", _folded_text(entry.title, count, sheet, "dim"))
        return
    yield from _texts(entry, sheet, "thinking", "dim", _limited(entry.body, "muted", sheet))


def _tool(entry: Entry, sheet: Sheet, is_folded: bool) -> Iterator[Line]:
    mark, role = {
        State.DONE: (sheet.glyphs["yes"], "ok"),
        State.FAILED: (sheet.glyphs["no"], "danger"),
        State.RUNNING: (sheet.glyphs["underway"], "active"),
    }[entry.state]
    outcome = entry.result.strip().partition("\n")[0] if entry.state is State.FAILED else ""
    room = sheet.text - 2
    outcome = cut(outcome, room // 2)
    argument = (Span(f"{mark} ", role), Span(cut(entry.argument, room - cell_len(outcome) - 2)))
    text = spread(argument, (Span(outcome, "danger"),), sheet.text) if outcome else argument
    yield sheet.row(entry.at, entry.title, "muted", text)
    if not is_folded:
        for body, body_role in ((entry.body, "dim"), (entry.result, "muted" if not outcome else "danger")):
            yield from (sheet.below(line) for line in _limited(body, body_role, sheet))


def _settler(entry: Entry, sheet: Sheet, is_folded: bool) -> Iterator[Line]:
    name = entry.speaker.name if entry.speaker is not None else "settler"
    state = {State.DONE: "done", State.FAILED: "failed", State.RUNNING: _activity(entry)}[entry.state]
    role = {State.DONE: "muted", State.FAILED: "danger", State.RUNNING: "active"}[entry.state]
    last = next((child.body or child.title for child in reversed(entry.children) if child.kind is Kind.AGENT), "")
    said = last.partition("\n")[0] or entry.title
    steps = words.count(sum(child.kind is Kind.TOOL for child in entry.children), "step")
    tail = (Span(f"  {state} · {steps}", role),)
    text: Line = (Span(f"{sheet.glyphs['settler']} ", "dim"), Span(cut(said, sheet.text - 2 - width_of(tail))), *tail)
    yield sheet.row(entry.at, name, "muted", text)
    if not is_folded:
        inner = replace(sheet, width=sheet.width - 4)
        for child in entry.children:
            for drawn in lines(child, inner, is_folded=child.kind in FOLDED_AT_FIRST):
                yield (Span("    ", "dim"), *drawn)


def _activity(entry: Entry) -> str:
    """What a settler is doing, by the last thing it did."""
    last = entry.children[-1] if entry.children else None
    if last is None:
        return "working"
    if last.kind is Kind.THINKING:
        return "thinking"
    return "writing" if last.kind is Kind.AGENT and last.state is State.RUNNING else "working"


def _question(entry: Entry, sheet: Sheet, is_folded: bool) -> Iterator[Line]:
    del is_folded
    is_unanswered = entry.state is State.RUNNING
    is_open = is_unanswered and sheet.is_asking
    role = "attention-strong" if is_open else "muted"
    texts: list[Line] = [(Span(part, "strong" if is_open else ""),) for part in wrap(entry.title, sheet.text)]
    if is_open:
        texts.append((Span(sheet.keymap.shown("answer"), "key"), Span(" opens the card", "muted")))
    elif is_unanswered:
        texts.append((Span("nobody answered: the question went with its run", "muted"),))
    else:
        texts += [(Span(part, "muted"),) for part in wrap(entry.result, sheet.text, 3)]
    yield from _texts(entry, sheet, "asks", role, texts)


def _turn(entry: Entry, sheet: Sheet, is_folded: bool) -> Iterator[Line]:
    cost = "" if entry.cost_usd is None else f" · {words.dollars(entry.cost_usd)}"
    bar = sheet.glyphs["rule"]
    role = "danger" if entry.state is State.FAILED else "dim"
    room = sheet.width - TIME_WIDTH - len(f"{bar * 2}  {cost}")
    start = f"{bar * 2} {cut(entry.title, room)}{cost} "
    yield (
        Span(words.clock(entry.at) + " ", "dim"),
        Span(start, role),
        Span(bar * (sheet.width - TIME_WIDTH - cell_len(start)), "faint"),
    )
    if entry.body and not is_folded:
        yield from (sheet.below(line) for line in _limited(entry.body, role, sheet))


def _notice(entry: Entry, sheet: Sheet, is_folded: bool) -> Iterator[Line]:
    role = {"warn": "attention", "error": "danger"}.get(entry.level, "dim")
    more = f" {sheet.glyphs['folded']}" if entry.body and is_folded else ""
    texts: list[Line] = [(Span(part, role),) for part in wrap(entry.title + more, sheet.text, 6)]
    yield from _texts(entry, sheet, "", "dim", texts)
    if entry.body and not is_folded:
        yield from (sheet.below(line) for line in _limited(entry.body, "muted", sheet))


def _mark(entry: Entry, sheet: Sheet, is_folded: bool) -> Iterator[Line]:
    del is_folded
    role = "attention" if entry.level != "info" else "muted"
    bar = sheet.glyphs["rule"]
    text = f" {cut(entry.title, sheet.width - 8)} "
    size = cell_len(text)
    side = max((sheet.width - size) // 2, 2)
    yield (Span(bar * side, "faint"), Span(text, role), Span(bar * max(sheet.width - side - size, 0), "faint"))


def _texts(entry: Entry, sheet: Sheet, who: str, role: str, texts: list[Line]) -> Iterator[Line]:
    yield sheet.row(entry.at, who, role, texts[0] if texts else ())
    yield from (sheet.below(text) for text in texts[1:])


def _limited(text: str, role: str, sheet: Sheet) -> list[Line]:
    """A body's lines, all in one role; none of an empty one."""

    def drawn(start: str, width: int) -> list[Line]:
        return [(Span(part, role),) for part in wrap(start, width)]

    return _bounded(text, sheet, drawn) if text else []


def _bounded(text: str, sheet: Sheet, drawn: Callable[[str, int], list[Line]]) -> list[Line]:
    """What `drawn` makes of a text; of a very long one no more is made than is shown, and the rest is told."""
    width = sheet.text
    start = text[: UNFOLDED_LINES * (width + 1)]
    shown = drawn(start, width)
    if len(shown) <= UNFOLDED_LINES and len(start) == len(text):
        return shown
    room, whole = UNFOLDED_LINES, 0
    for paragraph in start.split("\n")[: None if len(start) == len(text) else -1]:
        room -= len(wrap(paragraph, width))
        whole += room >= 0
    return [*shown[:UNFOLDED_LINES], _more(text.count("\n") + 1 - whole, sheet.keymap.shown("view"))]


def _more(count: int, key: str) -> Line:
    text = f"… {words.count(count, 'more line')}: " if count > 0 else "… more: "
    return Span(text, "muted"), Span(key, "key"), Span(" shows all", "muted")


def _folded_text(first: str, count: int, sheet: Sheet, role: str = "") -> Line:
    tail = f" {sheet.glyphs['folded']} {words.count(count, 'line')}" if count > 1 else ""
    return Span(cut(first, sheet.text - len(tail)), role), Span(tail, "dim")


_DRAWERS = {
    Kind.USER: _said,
    Kind.BRIEF: _brief,
    Kind.AGENT: _agent,
    Kind.THINKING: _thinking,
    Kind.TOOL: _tool,
    Kind.SETTLER: _settler,
    Kind.QUESTION: _question,
    Kind.TURN: _turn,
    Kind.NOTICE: _notice,
    Kind.MARK: _mark,
}
