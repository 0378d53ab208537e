"""A question card: all questions of a prompt, what is chosen so far, and how sending went."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from types import MappingProxyType

from rich.cells import cell_len

from colonizer_client.answers import Chosen
from colonizer_client.mothership.models import Colony, OpenQuestion, Option, Prompt
from colonizer_client.outbox import Delivery
from colonizer_client.text import safe_line
from colonizer_config.value import Value
from colonizer_tui.present import words
from colonizer_tui.present.inspector import RISK_ROLES
from colonizer_tui.present.line import EMPTY, Line, Span, column, cut, labelled, line, spread, wrap
from colonizer_tui.present.states import Glyphs

PREVIEW_LINES = 8
LABEL_WIDTH = 24
"""A longer label has its lines to itself: two options must never look the same because they were cut."""

DESCRIPTION_LINES = 4
"""Lines of an option's description; of the one under the cursor all are shown."""

LEAD_WIDTH = 9
"""Cells before an option's label: the mark of the cursor, the box and the digit."""

LEAST_BESIDE = 12
"""In less room than this a description stands below its label."""


class Spot(Value):
    """Where the cursor of a card stands: a prompt, and an option of it or the free text after the last."""

    prompt: int = 0
    option: int = 0


def heading(colony: Colony, question: OpenQuestion, waited_s: float, refusal: str, width: int) -> list[Line]:
    """Who asks, since when, and what may come of the answer; why it cannot be answered now, where that is so."""
    issue = f" #{colony.issue}" if colony.issue is not None else ""
    title = line(
        Span(colony.key.endpoint, "info"), Span(f" · {colony.repo}{issue} · ", "muted"), Span(colony.title, "strong")
    )
    waits = "a tool call waits for it" if question.is_blocking else "the agent waits for you"
    risk = Span(question.risk.words, RISK_ROLES[question.risk])
    state = Span(safe_line(refusal), "attention") if refusal else Span(f"{words.duration(waited_s)} · {waits}", "muted")
    return [title, spread((state,), (risk,), width), EMPTY]


def prompt_lines(
    question: OpenQuestion,
    place: int,
    chosen: Chosen,
    spot: Spot | None,
    width: int,
    glyphs: Glyphs,
    labels: Mapping[Hashable, str] = MappingProxyType({}),
) -> list[Line]:
    """One prompt: unfolded where the cursor is, or where the card is closed and it is the only one; else one line.

    `spot` is the cursor, None while the card is closed: then no digit stands beside an option. `labels` has the letters
    to jump to spots of the card.
    """
    prompt = question.prompts[place]
    is_here = spot is not None and spot.prompt == place
    unfolded = is_here or (spot is None and len(question.prompts) == 1)
    count, is_open = len(question.prompts), spot is not None
    shown = _title(prompt, place, count, chosen, width, glyphs, is_open=is_open, is_here=is_here, unfolded=unfolded)
    if not unfolded:
        return [labelled(shown[0], labels.get(Spot(place), "")), *shown[1:]]
    for number, option in enumerate(prompt.options):
        is_at = is_here and spot is not None and spot.option == number
        first, *more = _option(prompt, option, number, chosen, width, glyphs, is_open=spot is not None, is_at=is_at)
        shown += [labelled(first, labels.get(Spot(place, number), "")), *more]
    if prompt.options:
        at = Spot(place, len(prompt.options))
        other = _something_else(prompt, chosen, glyphs, is_open=spot is not None, is_at=is_here and spot == at)
        shown.append(labelled(other, labels.get(at, "")))
    return shown


def no_prompts_lines(width: int) -> list[Line]:
    """What stands for a question that carries no questions."""
    return [(Span(part, "strong"),) for part in wrap("It asks without saying what. Answer in your own words:", width)]


def footing(question: OpenQuestion, chosen: Sequence[Chosen], delivery: Delivery | None, is_open: bool) -> Line:
    """How far sending is, or what is missing before it can be done."""
    if delivery is not None:
        return delivery_words(delivery)
    count = max(len(question.prompts), 1)
    done = sum(not given.is_empty for given in chosen)
    if done and not is_open:
        return (Span("draft kept · not sent", "attention"),)
    kept = "draft kept · not sent" if done else ""
    progress = f"{done} of {count} answered" if count > 1 and is_open else ""
    return (Span(" · ".join(filter(None, (progress, kept))), "muted"),)


def delivery_words(delivery: Delivery) -> Line:
    """How a delivery is, in a sign and one line of words."""
    told = safe_line(delivery.words)
    match delivery.state:
        case "queued" | "sending":
            return line(Span("sending…", "active"), Span(f" {told}" if told else "", "attention"))
        case "unsure":
            return Span("? ", "attention-strong"), Span(told, "attention")
        case "confirmed":
            at = "" if delivery.settled_at is None else f" {words.clock_to_the_second(delivery.settled_at)}"
            extra = "" if told == "delivered" else f" · {told}"
            return Span("✓ ", "ok"), Span(f"delivered{at}{extra}", "ok")
        case "elsewhere":
            return Span("✗ ", "attention-strong"), Span("answered elsewhere (your draft is kept)", "attention")
        case "undelivered":
            return Span("? ", "attention-strong"), Span(f"{told} (your draft is kept)", "attention")
        case "refused":
            return Span("✗ ", "danger-strong"), Span(f"refused: {told} (your draft is kept)", "danger")


def whole_text(question: OpenQuestion) -> str:
    """Everything that the card holds, nothing cut."""
    parts: list[str] = [f"risk: {question.risk.words}"]
    for number, prompt in enumerate(question.prompts, 1):
        kind = "choose any" if prompt.multi_select else "choose one" if prompt.options else "in your own words"
        header = f"{prompt.header}: " if prompt.header else ""
        parts.append(f"{number}. {header}{prompt.text} ({kind})")
        for place, option in enumerate(prompt.options, 1):
            described = f"\n     {option.description}" if option.description else ""
            preview = "".join(f"\n     │ {part}" for part in option.preview.split("\n")) if option.preview else ""
            parts.append(f"  {place}) {option.label}{described}{preview}")
    return "\n\n".join(parts)


def _title(
    prompt: Prompt,
    place: int,
    count: int,
    chosen: Chosen,
    width: int,
    glyphs: Glyphs,
    *,
    is_open: bool,
    is_here: bool,
    unfolded: bool,
) -> list[Line]:
    mark, role = " ", "muted"
    if not chosen.is_empty:
        mark, role = glyphs["yes"], "ok"
    if is_here:
        mark, role = glyphs["folded"], "active-strong"
    # While the card is closed digits go elsewhere.
    number = "" if count == 1 else f"{place + 1} " if is_open else "· "
    note = _answer_words(chosen) or ("choose any" if prompt.multi_select else "" if prompt.options else "free text")
    text = prompt.text or prompt.header or "a question without a text"
    lead = f"{number}{mark} " if count > 1 else ""
    if not unfolded:
        asked = line(Span(lead, role), Span(text.strip().partition("\n")[0]))
        return [spread(asked, line(Span(cut(note, min(28, width // 2)), "muted")), width)]
    rows = wrap(text, width - len(lead))
    lines: list[Line] = [line(Span(lead, role), Span(rows[0], "strong"))]
    lines += [line(" " * len(lead), Span(part, "strong")) for part in rows[1:]]
    if prompt.multi_select:
        lines.append(line(" " * len(lead), Span("choose any", "muted")))
    return lines


def _answer_words(chosen: Chosen) -> str:
    written = chosen.other.strip().partition("\n")[0]
    return ", ".join(filter(None, map(safe_line, (*chosen.labels, written))))  # labels are kept raw for the server


def _option(
    prompt: Prompt,
    option: Option,
    number: int,
    chosen: Chosen,
    width: int,
    glyphs: Glyphs,
    *,
    is_open: bool,
    is_at: bool,
) -> Iterator[Line]:
    is_chosen = option.label_raw in chosen.labels
    key = f"{number + 1} " if is_open and number < 9 else glyphs["into"] + " " if is_open else "· "
    role = "strong" if is_at else "active" if is_chosen else ""
    lead = (
        Span("  "),
        Span(glyphs["select"] if is_at else " ", "active"),
        Span(f"{_box(prompt, is_chosen, glyphs)} ", "active" if is_chosen else "dim"),
        Span(key, "key" if is_open else "dim"),
    )
    texts = _option_texts(prompt, option, role, width, is_at=is_at)
    yield (*lead, *next(texts))
    for text in texts:
        yield (Span(" " * LEAD_WIDTH), *text)
    if is_at and option.preview:
        rows = option.preview.split("\n")
        for row in rows[:PREVIEW_LINES]:
            yield Span(f"        {glyphs['bar']} ", "dim"), Span(row, "info")
        if len(rows) > PREVIEW_LINES:
            yield Span(f"        {glyphs['bar']} … ", "dim"), Span("v", "key"), Span(" shows all", "muted")


def _option_texts(prompt: Prompt, option: Option, role: str, width: int, *, is_at: bool) -> Iterator[Line]:
    """The label, whole, and what it means: beside it where there is room, else below."""
    longest = max(cell_len(one.label) for one in prompt.options)
    label_width = max(min(longest, LABEL_WIDTH, width // 3), 8)
    room = max(width - LEAD_WIDTH, 1)
    beside = room - label_width - 2
    is_beside = cell_len(option.label) <= label_width and beside >= LEAST_BESIDE

    def meaning(width: int) -> tuple[str, ...]:
        return wrap(option.description, width, None if is_at else DESCRIPTION_LINES)

    if option.description and is_beside:
        first, *more = meaning(beside)
        yield Span(f"{column(option.label, label_width)}  ", role), Span(first, "muted")
        yield from ((Span(" " * (label_width + 2)), Span(part, "muted")) for part in more)
        return
    yield from ((Span(part, role),) for part in wrap(option.label, room))
    if option.description:
        yield from ((Span(part, "muted"),) for part in meaning(room))


def _something_else(prompt: Prompt, chosen: Chosen, glyphs: Glyphs, *, is_open: bool, is_at: bool) -> Line:
    number = len(prompt.options)
    key = f"{number + 1} " if is_open and number < 9 else "· "
    has_text = bool(chosen.other.strip())
    return (
        Span("  "),
        Span(glyphs["select"] if is_at else " ", "active"),
        Span(f"{_box(prompt, has_text, glyphs)} ", "active" if has_text else "dim"),
        Span(key, "key" if is_open else "dim"),
        Span("something else…", "strong" if is_at else "muted"),
    )


def _box(prompt: Prompt, is_chosen: bool, glyphs: Glyphs) -> str:
    if prompt.multi_select:
        return "[x]" if is_chosen else "[ ]"
    return f"({glyphs['picked']})" if is_chosen else "( )"
