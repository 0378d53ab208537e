"""The tools of servers as they are shown: one card each, under a name that no two share."""

from collections.abc import Iterable, Mapping
from typing import cast

from colonizer_client.catalogue.schemas import fault_of
from colonizer_client.identity import EndpointName
from colonizer_client.mothership import wire
from colonizer_client.text import safe_line, safe_text
from colonizer_config.value import Value

NAME_LIMIT = 200
SUMMARY_LIMIT = 160
PROSE_LIMIT = 4_000

_PROSE = frozenset({"title", "description", "$comment"})


class ToolCard(Value):
    """One tool of one server. All texts are safe to show but for what is named raw."""

    endpoint: EndpointName
    tool: str
    raw_tool: str
    """What the server calls it, raw: it is sent back, and never drawn."""
    title: str
    description: str
    is_read: bool
    """Whether the server says of it that it only reads; what says nothing may change something."""
    is_repeatable: bool
    """Whether calling it twice does no more than calling it once."""
    fault: str
    """Why it cannot be called; empty where it can."""
    raw: Mapping[str, object]
    """The server's own row, as it came."""

    @property
    def name(self) -> str:
        """Unique in the catalogue."""
        return f"{self.endpoint}/{self.tool}"

    @property
    def summary(self) -> str:
        """The first sentence of what the server says of it."""
        line = safe_line(self.description) or self.title
        sentence, dot, _ = line.partition(". ")
        return safe_line(sentence + dot.strip(), limit=SUMMARY_LIMIT)

    @property
    def access(self) -> str:
        """`read` or `write`."""
        return "read" if self.is_read else "write"

    @property
    def schema(self) -> Mapping[str, object]:
        """The schema of its arguments, as it came."""
        return wire.mapping(self.raw.get("inputSchema"))


def cards_of(endpoint: EndpointName, rows: Iterable[Mapping[str, object]]) -> tuple[ToolCard, ...]:
    """The cards of a server's tools, in its own order; of two that look alike only the first can be called."""
    cards: dict[str, ToolCard] = {}
    for row in rows:
        card = _card(endpoint, row)
        cards.setdefault(card.tool, card)
    return tuple(cards.values())


def _card(endpoint: EndpointName, row: Mapping[str, object]) -> ToolCard:
    raw_tool = wire.raw(row.get("name"))
    hints = wire.mapping(row.get("annotations"))
    is_read = wire.flag(hints.get("readOnlyHint"))
    return ToolCard(
        endpoint=endpoint,
        tool=safe_line(raw_tool, limit=NAME_LIMIT),
        raw_tool=raw_tool,
        title=wire.line(row.get("title") or hints.get("title"), limit=SUMMARY_LIMIT),
        description=wire.text(row.get("description"), limit=PROSE_LIMIT),
        is_read=is_read,
        is_repeatable=is_read or wire.flag(hints.get("idempotentHint")),
        fault=fault_of(row.get("inputSchema")),
        raw=row,
    )


def shown_schema(value: object) -> object:
    """A schema with its prose made safe to show; names and values stay as they have to be sent."""
    if isinstance(value, list):
        return [shown_schema(inner) for inner in wire.sequence(cast("object", value))]
    fields = wire.maybe_mapping(value)
    if fields is None:
        return value
    return {key: _prose(inner) if key in _PROSE else shown_schema(inner) for key, inner in fields.items()}


def _prose(value: object) -> object:
    """The text made safe; a property that happens to have such a name is a schema itself."""
    return safe_text(value, limit=PROSE_LIMIT) if isinstance(value, str) else shown_schema(value)
