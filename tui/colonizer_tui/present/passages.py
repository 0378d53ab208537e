"""What went over the wire, as rows and as text."""

import re
from collections.abc import Iterator

from colonizer_client.mothership.recorder import Passage
from colonizer_tui.present import words
from colonizer_tui.present.line import CUT, EMPTY, Line, Span, column, line, wrap

METHOD_WIDTH = 7
OUTCOME_WIDTH = 9
PATH_WIDTH = 38
"""Where a reason stands beside the path."""

_ERROR = re.compile(r'"error": "([^"]*)"')
"""A refusal's reason, in JSON as the recorder lays it out."""
NUMBERS_WIDTH = 18

BODY_LINES = 400
"""Of a body that many lines are shown beside the list; `v` shows all."""


def row(passage: Passage, width: int) -> Line:
    """Time, method, path, status, duration and size."""
    room = max(width - 12 - METHOD_WIDTH - OUTCOME_WIDTH - NUMBERS_WIDTH, 8)
    is_status = passage.outcome.isdecimal()
    outcome = "failed" if passage.is_fault and not is_status else passage.outcome
    return line(
        Span(f" {words.clock_to_the_second(passage.at)}  ", "muted"),
        Span(column(passage.method, METHOD_WIDTH), "strong" if passage.duration_s is not None else "info"),
        *_where(passage, room),
        Span(" "),
        Span(column(outcome, OUTCOME_WIDTH), _role(passage) if is_status or passage.is_fault else "muted"),
        Span(column(_duration(passage), 8, right=True) + column(_size(passage), 10, right=True), "muted"),
    )


def caption(width: int) -> Line:
    """The names of the columns."""
    room = max(width - 12 - METHOD_WIDTH - OUTCOME_WIDTH - NUMBERS_WIDTH, 8)
    text = (
        f"  {column('when', 9)} {column('what', METHOD_WIDTH)}{column('where', room)} {column('status', OUTCOME_WIDTH)}"
    )
    return (Span(text + column("took", 8, right=True) + column("size", 10, right=True), "dim"),)


def details(passage: Passage, width: int) -> Iterator[Line]:
    """What was sent and what came, laid out."""
    title = f"{passage.method} {passage.path}"
    yield from ((Span(part, "strong"),) for part in wrap(title, width))
    if passage.outcome:
        yield from ((Span(part, _role(passage)),) for part in wrap(passage.outcome, width))
    for name, body, size in (
        ("sent", passage.sent, passage.sent_bytes),
        ("received", passage.heard, passage.heard_bytes),
    ):
        if size:
            yield EMPTY
            yield (Span(f"{name} · {words.count(size, 'byte')}{_cut(body)}", "muted"),)
            yield from ((Span(part),) for text in body.split("\n")[:BODY_LINES] for part in wrap(text, width))


def whole(passage: Passage) -> str:
    """All that is known of a passage, as one text."""
    pieces = [f"{passage.method} {passage.path}", passage.outcome]
    for name, body, size in (
        ("sent", passage.sent, passage.sent_bytes),
        ("received", passage.heard, passage.heard_bytes),
    ):
        if size:
            pieces += ["", f"{name}, {words.count(size, 'byte')}{_cut(body)}:", body]
    return "\n".join(pieces)


def _where(passage: Passage, room: int) -> Line:
    """The path, and beside it why it came to nothing."""
    why = _why(passage) if passage.is_fault else ""
    width = min(room, PATH_WIDTH) if why else room
    path = Span(column(_middle_cut(passage.path, width), width))
    return path, Span(column(f" {why}", room - width) if why else "", "danger")


def _why(passage: Passage) -> str:
    if not passage.outcome.isdecimal():
        return passage.outcome
    found = _ERROR.search(passage.heard)
    return "" if found is None else found[1]


def _middle_cut(path: str, width: int) -> str:
    """The path in so many characters: paths differ at both ends."""
    if len(path) <= width:
        return path
    end = (width - 1) // 2
    return path[: width - 1 - end] + CUT + path[len(path) - end :]


def _cut(body: str) -> str:
    return ", cut" if body.endswith("…") else ""


def _role(passage: Passage) -> str:
    return "danger" if passage.is_fault else "ok"


def _duration(passage: Passage) -> str:
    if passage.duration_s is None:
        return ""
    return f"{passage.duration_s * 1000:.0f} ms" if passage.duration_s < 9.9995 else f"{passage.duration_s:,.1f} s"


def _size(passage: Passage) -> str:
    size = passage.sent_bytes + passage.heard_bytes
    if not size:
        return ""
    return f"{size:,} B" if size < 10_000 else f"{size / 1000:,.0f} kB"
