"""What the forms of a kernel ask for, and the orders that they become."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence

from colonizer_client.errors import BadRequest
from colonizer_client.kernel.bridge import Offer
from colonizer_client.kernel.models import SIGNAL_TYPES, DepositOrder, OutcomeOrder, ProposalOrder, SignalType
from colonizer_client.kernel.recording import Acceptance
from colonizer_client.kernel.view import KernelView
from colonizer_config.value import Value

Filled = Mapping[str, str]

RATIONALE_LEAST = 20
FASTEST_S = 1.0
USUAL_S = 10.0
SLOWEST_S = 3_600.0
STRONGEST = 10.0

_DECAYS: Mapping[str, float] = {"fast": 3.0, "normal": 1.0, "slow": 0.2}


class Form(Value):
    """One form."""

    name: str
    title: str
    yes: str
    fields: Sequence[tuple[str, str, str]]
    """Name, label and hint of each field."""
    faults: Callable[[Filled], Sequence[str]]
    """What is to be said of what stands in the fields now."""


def proposal(filled: Filled) -> ProposalOrder:
    """The action to be judged.

    Raises:
        BadRequest: Something that it needs is missing.
    """
    _need(filled, "agent", "action", "target", "rationale")
    evidence = filled["evidence"] or "{}"
    if not _is_json(evidence):
        raise BadRequest("the evidence has to be JSON, or nothing at all")
    return ProposalOrder(
        filled["agent"], filled["action"], filled["target"], filled["rationale"], filled["rollback"], evidence
    )


def outcome(filled: Filled) -> OutcomeOrder:
    """The outcome to be recorded.

    Raises:
        BadRequest: Something that it needs is missing, or is not what it should be.
    """
    _need(filled, "agent", "action", "target", "outcome", "passed")
    passed, feedback = _passed(filled), _feedback(filled) or 0.0
    return OutcomeOrder(filled["agent"], filled["action"], filled["target"], filled["outcome"], passed, feedback)


def acceptance(filled: Filled, offer: Offer) -> Acceptance:
    """The person's word on an offer.

    Raises:
        BadRequest: Something that it needs is missing, or is not what it should be.
    """
    _need(filled, "passed")
    return Acceptance(_passed(filled), _feedback(filled), again=offer.state == "sent")


def deposit(filled: Filled) -> DepositOrder:
    """The trace to be left.

    Raises:
        BadRequest: Something that it needs is missing, or is not what it should be.
    """
    _need(filled, "target", "signal", "strength")
    signal, strength = _signal(filled["signal"]), _number(filled["strength"])
    if signal is None:
        raise BadRequest(f"the signal has to be one of {', '.join(SIGNAL_TYPES)}")
    if strength is None or not 0 < strength <= STRONGEST:
        raise BadRequest(f"the strength has to be a number above 0, up to {STRONGEST:g}")
    decay = _DECAYS.get(filled["decay"] or "normal")
    if decay is None:
        raise BadRequest(f"it fades {' or '.join(_DECAYS)}")
    return DepositOrder(filled["target"], signal, strength, decay)


def calming(filled: Filled) -> str:
    """Why a kernel is calmed down.

    Raises:
        BadRequest: Nothing was said.
    """
    _need(filled, "reason")
    return filled["reason"]


def seconds(text: str) -> float:
    """The pause between two ticks.

    Raises:
        BadRequest: It is no number, or none that makes sense.
    """
    found = _number(text or f"{USUAL_S}")
    if found is None or not FASTEST_S <= found <= SLOWEST_S:
        raise BadRequest(f"a number of seconds from {FASTEST_S:g} to {SLOWEST_S:g}")
    return found


def of_ticking(kernel: KernelView) -> Sequence[str]:
    """What ticking by itself means."""
    who = "who use it from this machine" if kernel.capabilities.is_embedded else "who share it, on whatever machine"
    return (
        f"It changes what others see: with every tick all traces fade, for all agents {who}.",
        "It goes on while this program runs, in whichever workspace you are; the same key ends it.",
    )


def _need(filled: Filled, *names: str) -> None:
    missing = [name for name in names if not filled[name]]
    if missing:
        raise BadRequest(f"still needed: {', '.join(missing)}")


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _passed(filled: Filled) -> bool:
    passed = _yes_or_no(filled["passed"])
    if passed is None:
        raise BadRequest("whether the tests passed has to be yes or no")
    return passed


def _feedback(filled: Filled) -> float | None:
    if not filled["feedback"]:
        return None
    feedback = _number(filled["feedback"])
    if feedback is None or not -1 <= feedback <= 1:
        raise BadRequest("the feedback has to be a number from -1 to 1")
    return feedback


def _signal(text: str) -> SignalType | None:
    word = text.strip().lower().replace(" ", "_")
    return next((signal for signal in SIGNAL_TYPES if signal.value == word), None)


def _yes_or_no(text: str) -> bool | None:
    word = text.strip().lower()
    return True if word in ("y", "yes") else False if word in ("n", "no") else None


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _of_proposal(filled: Filled) -> Iterator[str]:
    if 0 < len(filled["rationale"]) < RATIONALE_LEAST:
        yield f"A rationale of less than {RATIONALE_LEAST} characters counts against it."
    if filled["rationale"] and not filled["rollback"]:
        yield "Without a rollback plan it counts as one that cannot be undone."
    if filled["evidence"] and not _is_json(filled["evidence"]):
        yield "The evidence is no JSON yet."


def _of_outcome(filled: Filled) -> Iterator[str]:
    if filled["passed"] and _yes_or_no(filled["passed"]) is None:
        yield "Whether the tests passed: yes or no."


def _of_deposit(filled: Filled) -> Iterator[str]:
    if filled["signal"] and _signal(filled["signal"]) is None:
        yield f"The signals: {', '.join(SIGNAL_TYPES)}."


_LOST = ("All traces are taken away, the budgets and the tick begin anew. Trust and history stay.",)

PROPOSAL = Form(
    "propose",
    "Propose an action to",
    "propose",
    (
        ("agent", "agent", "who would do it"),
        ("action", "action", "such as patch_file, run_tests, merge_pr"),
        ("target", "target", "the module or file that it touches"),
        ("rationale", "why", "at least 20 characters"),
        ("rollback", "rollback", "the exact way back, and what is then so"),
        ("evidence", "evidence", 'JSON, such as {"tests": ["test_login.py"]}; may be empty'),
    ),
    lambda filled: tuple(_of_proposal(filled)),
)

OUTCOME = Form(
    "record",
    "Record an outcome in",
    "record",
    (
        ("agent", "agent", "who did it"),
        ("action", "action", "such as patch_file"),
        ("target", "target", "the module or file that it touched"),
        ("outcome", "outcome", "what happened, in words"),
        ("passed", "passed", "did the tests pass? yes or no"),
        ("feedback", "feedback", "yours, from -1 to 1; may be empty"),
    ),
    lambda filled: tuple(_of_outcome(filled)),
)

OFFER = Form(
    "offer",
    "Record what a colony came to in",
    "record",
    (
        ("passed", "passed", "did the tests pass? yes or no"),
        ("feedback", "feedback", "yours, from -1 to 1; may be empty"),
    ),
    lambda filled: tuple(_of_outcome(filled)),
)

DEPOSIT = Form(
    "deposit",
    "Leave a trace in",
    "leave it",
    (
        ("target", "place", "the module or file that it is about"),
        ("signal", "signal", "such as need, human_priority, risk"),
        ("strength", "strength", "above 0, up to 10; a person's trace weighs twice"),
        ("decay", "fades", "fast, normal or slow; normal where nothing is typed"),
    ),
    lambda filled: tuple(_of_deposit(filled)),
)

CALMING = Form(
    "calm_down", "Calm down", "calm down", (("reason", "why", "for the log of the kernel"),), lambda _: _LOST
)
