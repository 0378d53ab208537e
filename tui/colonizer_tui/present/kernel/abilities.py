"""What can be done with a kernel now, and why not."""

from collections.abc import Mapping

from colonizer_client.kernel.view import Condition, KernelView

TOOLS: Mapping[str, str] = {
    "propose": "colony_propose_action",
    "record": "colony_record_outcome",
    "tick": "colony_tick",
    "auto_tick": "colony_tick",
    "prune": "colony_pruning_report",
}
"""What each action calls; all of them change what others see, too."""

OPERATORS = frozenset({"deposit", "calm_down"})
"""What only the operator's own kernel does."""

ACTIONS = frozenset({*TOOLS, *OPERATORS, "export", "answer"})
"""What is done to the kernel in front."""


def refusal(action: str, kernel: KernelView | None) -> str:
    """Why the action is not possible with this kernel now; empty when it is."""
    if kernel is None:
        return "there is no kernel"
    if action == "export":
        return "" if kernel.pruning is not None else "there is no pruning report yet: one is made in Pruning"
    if action == "answer":
        return "" if kernel.consent is not None else "it asks nothing"
    if action not in TOOLS and action not in OPERATORS:
        return ""
    if kernel.condition is Condition.CONSENT_NEEDED:
        return "its command has to be agreed to first"
    if kernel.condition is not Condition.LIVE:
        return f"{kernel.name} does not answer: {kernel.link.error or 'connecting'}"
    if action in OPERATORS:
        reason = f"{kernel.name} lets nobody do this from here: only the local kernel does"
        return "" if kernel.capabilities.has_operator_calls else reason
    tool = TOOLS[action]
    return "" if kernel.capabilities.offers(tool) else f"{kernel.name} has no {tool}"
