"""The rows and the details of Connections."""

from collections.abc import Iterator
from urllib.parse import urlsplit

from colonizer_client.snapshot import EndpointState, Health
from colonizer_tui.present import words
from colonizer_tui.present.inspector import LABEL_WIDTH
from colonizer_tui.present.line import EMPTY, Line, Span, column, wrap
from colonizer_tui.present.states import Glyphs
from colonizer_tui.present.tokens import bounds
from colonizer_tui.present.view import View

SKEW_SHOWN_S = 2
"""A smaller difference of two clocks is nothing but the way between them."""

_HEALTH = {
    Health.LIVE: ("live", "live", "ok"),
    Health.CONNECTING: ("underway", "connecting", "active"),
    Health.SILENT: ("silent", "no answer", "attention"),
    Health.SIGNED_OUT: ("no", "signed out", "danger"),
}


_UNKNOWN_KEY = "Host key verification failed"
"""What ssh says where it has not been told to trust the host's key."""


def _look(state: EndpointState) -> tuple[str, str, str]:
    """A connection's glyph, word and role."""
    if state.health is Health.LIVE and is_odd(state):
        return "live", "live, check", "attention"
    return _HEALTH[state.health]


def row(state: EndpointState, colonies: int, width: int, glyphs: Glyphs) -> Line:
    """A connection's row."""
    glyph, word, role = _look(state)
    is_live = state.health is Health.LIVE
    latency = f"{state.latency_s * 1000:.0f} ms" if is_live and state.latency_s is not None else words.UNKNOWN
    scope = "" if state.standing is None else state.standing.scope
    pieces = [
        Span(" "),
        Span(glyphs[glyph], role),
        Span(" "),
        Span(column(state.name, 14) + " ", "strong"),
        Span(column(word, 11) + " ", role),
        Span(column(latency, 7, right=True) + "  ", "muted"),
        Span(column(scope, 8) + " ", "muted"),
        Span(column(f"{colonies:,}", 6, right=True) + "  ", "muted"),
    ]
    room = width - 56
    if room > 8:
        pieces.append(Span(column(state.address.removeprefix("http://"), room), "dim"))
    return tuple(pieces)


def caption(width: int) -> Line:
    """The names of the columns."""
    text = f"    {column('host', 14)} {column('state', 11)} {column('answers', 7, right=True)}  {column('scope', 8)} "
    text += column("rows", 6, right=True) + "  "
    return (Span(text + ("address" if width - 56 > 8 else ""), "dim"),)


def details(state: EndpointState, view: View, width: int) -> Iterator[Line]:
    """Everything about one connection."""
    now = view.now
    yield (Span(state.name, "strong"),)
    _, word, role = _look(state)
    since = f" for {words.duration(now - state.since)}" if state.since else ""
    yield (Span(word + since, role),)
    if state.error:
        for text in wrap(state.error, width):
            yield (Span(text, role),)
    if state.retry_at is not None and state.retry_at > now:
        again = f"next try in {words.duration(state.retry_at - now)} · {view.shown('resume')} asks now"
        yield (Span(again, "muted"),)
    if state.address.startswith("ssh://") and _UNKNOWN_KEY in state.error:
        command = _ssh_command(state.address)
        advice = (
            f"Run {command} once in a terminal, to see its key and trust it; then {view.shown('resume')} asks again."
        )
        yield from ((Span(text),) for text in wrap(advice, width))
    if state.health is Health.SIGNED_OUT and state.is_own:
        for text in wrap(
            f"nothing is sent there · {view.shown('sign_in')} signs in · {view.shown('resume')} asks again", width
        ):
            yield (Span(text, "muted"),)
    if state.notice:
        for text in wrap(state.notice, width):
            yield (Span(text, "attention"),)
    yield EMPTY
    yield _fact("address", state.address)
    yield _fact("kind", "local engine, on this machine" if state.is_local else state.kind)
    if state.version:
        yield _fact("version", state.version)
    yield from _standing(state, width)
    is_live = state.health is Health.LIVE
    if state.latency_s is not None:
        yield _fact("answers", f"in {state.latency_s * 1000:.0f} ms" + ("" if is_live else ", when it last did"))
    if state.as_of is not None:
        kept = _followed(state) if is_live else f"as of {words.duration(now - state.as_of)} ago"
        yield from _facts("list", kept, width)
    if is_live and state.fault and state.fault_at is not None:
        yield from _facts("trouble", f"{words.duration(now - state.fault_at)} ago: {state.fault}", width)
    if state.skew_s is not None and abs(state.skew_s) >= SKEW_SHOWN_S:
        ahead = "ahead of" if state.skew_s > 0 else "behind"
        yield from _warning(
            f"Its clock is {words.duration(abs(state.skew_s))} {ahead} ours; ages count by its own.", width
        )
    if state.unreadable_rows:
        yield from _warning(f"{words.count(state.unreadable_rows, 'row')} of its list could not be read.", width)
    if state.is_local:
        yield EMPTY
        for text in wrap(confinement(state), width):
            yield (Span(text, "attention" if state.sandbox == "none" else "muted"),)


def confinement(state: EndpointState) -> str:
    """What an agent of the local engine may do on this machine."""
    if state.sandbox == "none":
        return (
            "Agents run here without a sandbox, as you: they can read and change whatever you can, "
            "the tokens of this program included."
        )
    if state.sandbox:
        return (
            f"Agents run here in a sandbox ({state.sandbox}): they write only their worktree, branch and artifacts, "
            "and do not see your keys in their usual places, nor this program's tokens."
        )
    return ""


def _standing(state: EndpointState, width: int) -> Iterator[Line]:
    standing = state.standing
    if standing is None:
        if state.health is Health.LIVE:
            yield from _facts("token", "works; an older server, which tells no scope", width)
        return
    name = f" ({standing.name})" if standing.name else ""
    place = f" · {state.token_place}" if state.token_place else ""
    yield _fact("token", f"scope {standing.scope}{name}{place}")
    limits = " · ".join(bounds(standing.orgs, standing.repos, standing.max_concurrent, standing.budget_usd_per_day))
    if limits:
        yield from _facts("limits", limits, width)


def _ssh_command(address: str) -> str:
    """What a person types to reach the same machine themselves; the port over there is the mothership's."""
    machine = urlsplit(address).netloc
    place, _, port = machine.rpartition(":")
    return f"ssh -p {port} {place}" if place and port.isdecimal() else f"ssh {machine}"


def _followed(state: EndpointState) -> str:
    """How its list is kept true."""
    if not state.is_polled:
        return "followed live"
    is_owner = state.standing is not None and state.standing.is_owner
    return f"asked for every 3 s: {'it has no live stream' if is_owner else 'no live stream for its token'}"


def is_odd(state: EndpointState) -> bool:
    """Whether there is something about a live connection that the person has to look at."""
    is_skewed = state.skew_s is not None and abs(state.skew_s) >= SKEW_SHOWN_S
    return bool(state.unreadable_rows or state.notice or is_skewed)


def _warning(text: str, width: int) -> Iterator[Line]:
    yield from ((Span(part, "attention"),) for part in wrap(text, width))


def _facts(label: str, value: str, width: int) -> Iterator[Line]:
    """A fact of any length."""
    first, *others = wrap(value, max(width - LABEL_WIDTH, 8)) or ("",)
    yield _fact(label, first)
    yield from (_fact("", part) for part in others)


def _fact(label: str, value: str) -> Line:
    return Span(column(label, LABEL_WIDTH), "muted"), Span(value)
