"""What an empty list says: where you are connected, what will happen, what to press."""

from colonizer_client.snapshot import EndpointState, Health
from colonizer_tui.present import endpoints
from colonizer_tui.present.line import EMPTY, Line, Span, line, wrap
from colonizer_tui.present.view import View


def first_run(view: View, width: int) -> list[Line]:
    """The lines of an empty list."""
    shown: list[Line] = []
    for state in view.snapshot.endpoints.values():
        shown += _connection(state, width)
    live = [state for state in view.snapshot.endpoints.values() if state.health is Health.LIVE]
    if not live:
        is_wrong = any(state.error for state in view.snapshot.endpoints.values())
        what = "connections: what is wrong; it is tried again by itself" if is_wrong else "connections"
        return [*shown, EMPTY, line(Span(view.shown("connections"), "key"), Span(f"  {what}", "muted"))]
    is_confined = all(state.sandbox != "none" for state in live if state.is_local)
    text = (
        "A colony is an agent that works on a branch and a worktree of its own"
        f"{': your files stay as they are' if is_confined else ''}. "
        "It asks you when it has to, and everything goes on when you close this terminal."
    )
    shown += [EMPTY, (Span("No colonies yet.", "strong"),), *((Span(part),) for part in wrap(text, width)), EMPTY]
    launches = "launch a colony, where you stand or in a repository that you name"
    for action, words in (("colonize", launches), ("help", "all keys"), ("quit", "leave; colonies go on")):
        first, *more = wrap(words, max(width - 9, 1))
        shown.append(line(Span(f"{view.shown(action):>7}", "key"), Span(f"  {first}", "muted")))
        shown += [(Span(f"{'':9}{part}", "muted"),) for part in more]
    return shown


def _connection(state: EndpointState, width: int) -> list[Line]:
    if state.health is Health.LIVE:
        place = "on this machine" if state.is_local else f"at {state.address}"
        words = [
            f"Connected to {state.name}, {place}.",
            endpoints.confinement(state) if state.is_local else "",
            state.notice,
        ]
        roles = ["ok", "attention" if state.sandbox == "none" else "muted", "attention"]
    elif state.health is Health.CONNECTING and not state.error:
        start = "starting the local engine…" if state.is_local else "connecting…"
        words, roles = [f"{state.name}: {start}"], ["active"]
    else:
        words, roles = [f"{state.name}: {state.error or 'no answer'}"], ["danger"]
    return [(Span(part, role),) for text, role in zip(words, roles, strict=True) if text for part in wrap(text, width)]
