"""What can be done with a host now, and why not."""

from colonizer_client.snapshot import EndpointState
from colonizer_tui.present.abilities import ALLOWED, host_refusal

ACTIONS = frozenset({"sign_in", "sign_out", "edit", "wire_log", "tokens"})
"""What is done to the host under the cursor; elsewhere to the host of the colony."""

REMOVE = "clean_up"
"""In Connections it removes a host, elsewhere a colony's worktree."""


def refusal(action: str, state: EndpointState | None) -> str:
    """Why the action is not possible with this host now; empty when it is."""
    if state is None:
        return "no host is selected"
    if action in ("sign_in", "sign_out"):
        if state.is_local:
            return "the local engine keeps its own token: there is nothing to sign in to"
        return ALLOWED if state.is_own else f"{state.name} is on this machine: its own token file signs you in"
    if action in ("edit", REMOVE):
        return ALLOWED if state.is_own else f"{state.name} exists by itself: it is not in your settings"
    if action == "tokens":
        return host_refusal(action, state)
    return ALLOWED
