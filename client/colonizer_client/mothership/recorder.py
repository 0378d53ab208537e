"""What goes over the wire to one mothership while a person looks at it: the last requests, replies and frames.

Nothing is recorded unless somebody looks. Secrets are masked before anything is kept: the tokens in use, whatever has
the shape of one, the values of keys that name one, and the environment that an agent is given.
"""

import json
import re
from collections import deque
from collections.abc import Mapping
from typing import cast

from msgspec.structs import replace

from colonizer_client.clock import Clock
from colonizer_client.text import CUT_MARK, safe_line, safe_text
from colonizer_config.secrets import redact
from colonizer_config.token import Token, redaction
from colonizer_config.value import Value

KEPT = 200
"""Passages beyond this are forgotten, the oldest first."""

SHOWN_CHARS = 4_000
READ_BYTES = 16_000
"""Of a body that much is looked at: enough for what is shown, also where long secrets in it become short."""

PATH_CHARS = 300

_NAMED = re.compile(
    r"(?P<key>\"[a-z_-]{0,40}(?:token|secret|password|passwd|api[_-]?key|authorization|cookie)\"\s*:\s*\")"
    r"(?P<value>(?:[^\"\\]|\\.)+)(?=\"|\Z)",
    re.IGNORECASE,
)
"""A string of JSON under a key that names a secret, be it cut off or not."""

_ENDS = tuple(" \t\r\n\"'<>(){}[],;")
"""What a token in a text ends at."""


class Passage(Value):
    """One request with its reply, or one event of a socket. Every text is safe to show and holds no secret."""

    number: int
    """Counted from 1 on, over all that was recorded."""
    at: float
    """When it began, by our own clock."""
    method: str
    """Of a request; `WS` for the opening and the end of a socket; `sent` or `heard` for a frame."""
    path: str
    outcome: str
    """The status, or what happened in its place; empty for a frame."""
    is_fault: bool = False
    duration_s: float | None = None
    sent_bytes: int = 0
    heard_bytes: int = 0
    sent: str = ""
    """The beginning of what was sent; JSON that is whole has a line for each value."""
    heard: str = ""
    """The beginning of what came, likewise."""


class Recorder:
    """Takes passages; `version` grows with each."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._secrets: list[Token] = []
        self._passages: deque[Passage] = deque(maxlen=KEPT)
        self.version = 0

    @property
    def passages(self) -> tuple[Passage, ...]:
        """The last ones, the oldest first."""
        return tuple(self._passages)

    def know(self, secret: Token) -> None:
        """Masks this token wherever it turns up from now on."""
        if secret not in self._secrets:
            self._secrets.append(secret)

    def exchanged(
        self,
        method: str,
        path: str,
        outcome: str,
        *,
        duration_s: float,
        sent: object = None,
        heard: bytes = b"",
        is_fault: bool = False,
    ) -> None:
        """Takes a request and what became of it; `sent` is its body before it became JSON."""
        body, size_bytes = b"", 0
        if sent is not None:
            body = json.dumps(_without_environment(sent), ensure_ascii=False).encode("utf-8", "surrogatepass")
            size_bytes = len(json.dumps(sent))
        self._take(
            Passage(
                number=self.version + 1,
                at=self._clock.now() - duration_s,
                method=method,
                path=self._line(path),
                outcome=self._line(outcome),
                is_fault=is_fault,
                duration_s=duration_s,
                sent_bytes=size_bytes,
                heard_bytes=len(heard),
                sent=self._shown(body),
                heard=self._shown(heard),
            )
        )

    def socket(self, path: str, outcome: str, *, is_fault: bool = False) -> None:
        """Takes the opening or the end of a socket."""
        now, shown = self._clock.now(), self._line(outcome)
        self._take(Passage(self.version + 1, now, "WS", self._line(path), shown, is_fault))

    def frame(self, path: str, data: str | bytes, *, is_sent: bool = False) -> None:
        """Takes one message of a socket."""
        body = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
        heard = Passage(
            number=self.version + 1,
            at=self._clock.now(),
            method="heard",
            path=self._line(path),
            outcome="",
            heard_bytes=len(body),
            heard=self._shown(body),
        )
        if is_sent:
            self._take(replace(heard, method="sent", sent_bytes=len(body), sent=heard.heard, heard_bytes=0, heard=""))
        else:
            self._take(heard)

    def _take(self, passage: Passage) -> None:
        self.version = passage.number
        self._passages.append(passage)

    def _line(self, text: str) -> str:
        return safe_line(redact(text, self._secrets), limit=PATH_CHARS)

    def _shown(self, body: bytes) -> str:
        if not body:
            return ""
        text = _laid_out(body[:READ_BYTES].decode("utf-8", "replace"))
        masked = redact(_NAMED.sub(lambda found: found["key"] + redaction(len(found["value"])), text), self._secrets)
        if len(body) > READ_BYTES:
            masked = self._without_tail(masked) + CUT_MARK
        return safe_text(masked, limit=SHOWN_CHARS)

    def _without_tail(self, text: str) -> str:
        """The text without what could be the first half of a secret at its end, where no mask fits."""
        text = text[: max(map(text.rfind, _ENDS)) + 1]
        for secret in (token.reveal() for token in self._secrets):
            half = next((size for size in range(len(secret), 0, -1) if text.endswith(secret[:size])), 0)
            text = text[: len(text) - half]
        return text


def _laid_out(text: str) -> str:
    """JSON with a line for each value and nothing escaped, so that no mask is evaded by an escape; else the text."""
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return text


def _without_environment(body: object) -> object:
    """The body, the values of the agent's environment masked."""
    if not isinstance(body, Mapping):
        return body
    fields = dict(cast("Mapping[str, object]", body))
    environment = fields.get("agent_env")
    if isinstance(environment, Mapping):
        values = cast("Mapping[str, object]", environment)
        fields["agent_env"] = {name: redaction(len(str(value))) for name, value in values.items()}
    return fields
