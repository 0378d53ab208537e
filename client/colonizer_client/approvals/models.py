"""What an agent asks to do, and how far the person's word on it is."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Literal

from colonizer_client.text import has_hidden_characters, safe_line, safe_text
from colonizer_config.value import Value

State = Literal["pending", "approved", "claimed", "done", "failed", "unknown", "rejected", "expired"]

CANNOT_HOLD_BACK = (
    "This caller runs on this machine as you, in no sandbox of ours. The inbox shows what it asks for, and cannot hold"
    " it back: it could change the inbox's database, or ask the mothership by itself."
)


class Caller(Value):
    """Who calls."""

    id: str
    """The same for every session with the same token at the same mothership."""
    client: str
    """The name that the client gives itself, safe to show."""
    is_same_user: bool = True
    """Whether it runs on this machine as the person, where nothing of ours confines it."""


class Request(Value):
    """A call that waits for a person, and all that the person's word will be bound to."""

    caller: Caller
    tool: str
    arguments: Mapping[str, object]
    """Exactly what the tool was given, raw."""
    policy: str
    """The version of the policy by which it waits."""
    mothership: str
    """Where it would be done."""
    summary: str
    """What it would do, in a sentence, safe to show."""
    blast: tuple[str, ...] = ()
    """What it would touch, safe to show: colony, repository, branch, and whether it can be taken back."""
    about: str = ""
    """What it hangs on beside its arguments, such as the fingerprint of the question that is open."""

    @property
    def digest(self) -> str:
        """The digest of its arguments."""
        return digest_of(canonical(self.arguments))


class Approval(Value):
    """A call that waits or waited for a person."""

    id: str
    request: Request
    """As it was asked for."""
    arguments: Mapping[str, object]
    """What is or was to be done: as it was asked for, or as the person edited it. Raw."""
    digest: str
    """The digest of those arguments."""
    state: State
    created_at: float
    expires_at: float
    """When it is refused because nobody decided; once approved, when the approval lapses unused."""
    words: str = ""
    """Why it was rejected, failed or is not known, safe to show."""
    result: str = ""
    """What the tool answered, raw."""
    decided_at: float | None = None
    decided_by: str = ""

    @property
    def is_edited(self) -> bool:
        """Whether the person changed what was asked for."""
        return self.digest != self.request.digest


def canonical(arguments: Mapping[str, object]) -> str:
    """The one text of these arguments: JSON in ASCII, keys in order, without spaces."""
    return json.dumps(arguments, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def digest_of(text: str) -> str:
    """The SHA-256 of a text in ASCII, in hex."""
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def payload(arguments: Mapping[str, object]) -> Iterator[str]:
    """The arguments as lines, whole and safe to show; no text of an argument can pass for another argument."""
    for name, value in sorted(arguments.items()):
        if not isinstance(value, str):
            yield f"{safe_line(name)} = {json.dumps(value)}"
            continue
        shown = safe_text(value)
        if "\n" in shown:
            yield f"{safe_line(name)}:"
            yield from (f"  | {line}" for line in shown.split("\n"))
        else:
            yield f"{safe_line(name)}: {shown}"
        if shown != value:
            # Something in it is shown by a sign, or by nothing at all.
            yield f"  exactly: {json.dumps(value)}"


def has_hidden(arguments: Mapping[str, object]) -> bool:
    """Whether a text among the arguments holds characters that a person would not see."""
    return any(has_hidden_characters(value) for value in arguments.values() if isinstance(value, str))
