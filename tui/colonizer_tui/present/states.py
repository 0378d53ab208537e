"""What state a colony is in, as a shape, a word and a role, in that order of trust."""

from collections.abc import Mapping

from colonizer_client.attention import needs_you
from colonizer_client.mothership.models import Colony, OpenQuestion
from colonizer_client.snapshot import EndpointState, Health
from colonizer_config.value import Value

GLYPHS: Mapping[str, tuple[str, str]] = {
    "asks": ("?", "?"),
    "held": ("▲", "!"),
    "failed": ("✗", "x"),
    "stalled": ("◔", "z"),
    "running": ("●", "*"),
    "underway": ("◐", "~"),
    "idle": ("○", "o"),
    "queued": ("…", "."),
    "blocked": ("⊘", "#"),
    "parked": ("‖", "="),
    "open": ("⇡", "^"),
    "done": ("✓", "+"),
    "closed": ("⊖", "-"),
    "stopped": ("■", "s"),
    "nothing": ("∅", "0"),
    "unknown": ("·", "_"),
    "picked": ("•", "*"),
    "message": ("✉", "@"),
    "select": ("▌", ">"),
    "into": ("›", ">"),
    "folded": ("▸", "+"),
    "unfolded": ("▾", "v"),
    "settler": ("↳", "`"),
    "up": ("▲", "^"),
    "bar": ("│", "|"),
    "rule": ("─", "-"),
    "thumb": ("┃", "#"),
    "marked": ("◆", "M"),
    "yes": ("✓", "+"),
    "no": ("✗", "x"),
    "minus": ("−", "-"),
    "live": ("●", "*"),
    "silent": ("○", "o"),
    "arrow": ("→", "->"),
    "hot": ("▲", "!"),
    "call": ("⚑", "!"),
    "warm": ("△", "^"),
    "earlier": ("◂", "<"),
    "later": ("▸", ">"),
    "fast": ("━", "="),
    "slow": ("─", "-"),
    "mark-passed": ("╋", "#"),
    "mark-ahead": ("┼", "+"),
    "share-1": ("█", "B"),
    "share-2": ("▓", "R"),
    "share-3": ("▒", "T"),
    "share-4": ("░", "C"),
    "todo": ("☐", "o"),
}
"""Each glyph, and what stands for it where only ASCII is drawn. All are one cell wide in every terminal."""


class Glyphs(Value):
    """The shapes in use: those of Unicode, or their ASCII stand-ins."""

    ascii: bool = False

    def __getitem__(self, name: str) -> str:
        return GLYPHS[name][self.ascii]


STALE = "stale"
"""The role of everything that a host said which does not answer now."""


class Look(Value):
    """How a colony's state is shown."""

    glyph: str
    """A name of `GLYPHS`."""
    word: str
    role: str
    is_urgent: bool = False
    """A person has to act: the glyph stands in a filled cell."""


_STATUS_LOOKS: Mapping[str, Look] = {
    "queued": Look("queued", "queued", "muted"),
    "blocked": Look("blocked", "blocked", "muted"),
    "starting": Look("underway", "starting", "active"),
    "running": Look("running", "running", "active"),
    "waiting_for_answer": Look("asks", "asks", "attention", is_urgent=True),
    "idle": Look("idle", "idle", "muted"),
    "publishing": Look("underway", "publishing", "active"),
    "pr_opened": Look("open", "pr open", "info"),
    "merged": Look("done", "merged", "ok"),
    "closed": Look("closed", "closed", "muted"),
    "no_changes": Look("nothing", "no changes", "muted"),
    "parked": Look("parked", "parked", "muted"),
    "stopped": Look("stopped", "stopped", "muted"),
    "failed": Look("failed", "failed", "muted"),
}

_ATTENTION_WORDS: Mapping[str, str] = {
    "stalled": "stalled",
    "nudges_exhausted": "stalled",
    "provider_quota_exhausted": "no quota",
    "provider_retry": "retrying",
    "provider_outage": "outage",
    "waiting_for_account": "sign in",
    "agent_failed": "no agent",
    "looping": "looping",
    "hold_timeout": "parked",
    "hold_parked_unanswered": "parked",
    "autopilot_held": "held back",
    "operator_escalation": "escalated",
}

WORDS: frozenset[str] = frozenset(
    {"held", "covered", "answered", *(look.word for look in _STATUS_LOOKS.values()), *_ATTENTION_WORDS.values()}
) | {status.replace("_", " ") for status in _STATUS_LOOKS}
"""All words for a state: those that are shown, and the motherships' own."""


def look(colony: Colony, question: OpenQuestion | None) -> Look:
    """How the colony's state is shown while its host is there."""
    attention = colony.attention
    if colony.status == "failed" and colony.unseen_failure:
        return Look("failed", "failed", "danger", is_urgent=True)
    if attention is not None and attention.is_security_hold and not colony.is_terminal:
        return Look("held", "held", "danger", is_urgent=True)
    if colony.status == "waiting_for_answer":
        return _asking(colony, question)
    if attention is not None and needs_you(colony):
        word = _ATTENTION_WORDS.get(attention.reason, attention.reason.replace("_", " "))
        glyph = "parked" if colony.status == "parked" else "stalled"
        return Look(glyph, word, "attention")
    if colony.superseded is not None and not colony.superseded.kept and colony.status in ("stopped", "parked"):
        return Look("stopped", "covered", "muted")
    return _STATUS_LOOKS.get(colony.status) or Look("unknown", colony.status.replace("_", " "), "muted")


def last_look(colony: Colony, question: OpenQuestion | None, endpoint: EndpointState | None) -> Look:
    """As `look`; of a host that does not answer the last known word, dimmed, for how the colony is now nobody knows."""
    found = look(colony, question)
    return Look("unknown", found.word, STALE) if is_stale(endpoint) else found


def is_stale(endpoint: EndpointState | None) -> bool:
    """Whether what is known of a host's colonies is of the past."""
    if endpoint is None:
        return True
    return endpoint.health is not Health.LIVE and not (endpoint.health is Health.CONNECTING and endpoint.as_of is None)


def is_unsandboxed(colony: Colony, endpoint: EndpointState | None) -> bool:
    """Whether an agent works on this machine with everything that the person may do."""
    return endpoint is not None and endpoint.is_local and colony.sandbox == "none" and colony.is_live


def _asking(colony: Colony, question: OpenQuestion | None) -> Look:
    if colony.answered_while_suspended:
        return Look("asks", "answered", "muted")
    several = "" if question is None or len(question.prompts) < 2 else f" {len(question.prompts)}"
    return Look("asks", f"asks{several}", "attention", is_urgent=True)
