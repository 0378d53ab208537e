"""The one table of everything in which kernels differ, and its two columns."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from colonizer_engines.kernel.attacks import AttackRules
from colonizer_engines.kernel.evaporation import Evaporation, LinearEvaporation, ProportionalEvaporation
from colonizer_engines.kernel.findings import WEIGHTS, Severity
from colonizer_engines.kernel.ledger import NOTHING, Cost
from colonizer_engines.kernel.signals import FAST, NORMAL, SLOW, Decay


@dataclass(frozen=True, slots=True)
class Rules:
    """What one kind of kernel does."""

    tool_prefix: str
    """What stands before the names of the tools."""
    errors_in_band: bool
    """Whether a bad argument is answered with a value that holds `error`, not with a failed call."""
    feedback_clamped: bool
    """Whether feedback outside -1..1 is cut, not refused."""
    law: Evaporation
    success_decay: Decay
    test_failure_decay: Decay
    findings_mark_target: bool
    """Whether a proposal's own findings deposit FAILURE and RISK on its target."""
    attack: AttackRules
    shown_maximum: Callable[[Iterable[Severity]], Severity]
    """The severity that a reason calls the greatest of those given."""
    outcome_estimate: Cost
    """What an outcome consumes that says nothing of its cost."""
    outcomes_count_as_proposals: bool
    asked_agents_kept: bool
    """Whether asking for an unknown agent's profile stores one."""
    proposals_refresh_role: bool
    """Whether the role that a proposal brings is stored at once."""
    walks_any_repository: bool
    """Whether a plan's `repo_root` is walked wherever it is."""
    field_kept: bool
    """Whether traces, budget, ticks and the pruning count survive a restart."""
    split_key: Callable[[str], tuple[str, str]]
    """Location and signal type as the summary shows them, from a trace's key."""


PROPOSAL_ESTIMATE = Cost(llm_calls=1, runtime_seconds=5.0)
"""What a proposed action is taken to cost."""


def _gravest(severities: Iterable[Severity]) -> Severity:
    return max(severities, key=lambda severity: WEIGHTS[severity])


def _last_in_the_alphabet(severities: Iterable[Severity]) -> Severity:
    return max(severities)


def _at_last_colon(key: str) -> tuple[str, str]:
    location, _, kind = key.rpartition(":")
    return location, kind


def _at_first_colon(key: str) -> tuple[str, str]:
    location, _, kind = key.partition(":")
    return location, kind


SEED = Rules(
    tool_prefix="",
    errors_in_band=False,
    feedback_clamped=False,
    law=ProportionalEvaporation(base=0.1, gone_at=0.01),
    success_decay=NORMAL,
    test_failure_decay=NORMAL,
    findings_mark_target=False,
    attack=AttackRules(
        absent_measures_are_findings=False,
        min_rationale_length=20,
        irreversible_and_sensitive_is_critical=True,
        absent_rollback_shown_as="",
        scope_documented_shown=False,
    ),
    shown_maximum=_gravest,
    outcome_estimate=PROPOSAL_ESTIMATE,
    outcomes_count_as_proposals=False,
    asked_agents_kept=True,
    proposals_refresh_role=True,
    walks_any_repository=False,
    field_kept=True,
    split_key=_at_last_colon,
)

CODOMYRMEX_1_3 = Rules(
    tool_prefix="codomyrmex.",
    errors_in_band=True,
    feedback_clamped=True,
    law=LinearEvaporation(base=0.1),
    success_decay=SLOW,
    test_failure_decay=FAST,
    findings_mark_target=True,
    attack=AttackRules(
        absent_measures_are_findings=True,
        min_rationale_length=0,
        irreversible_and_sensitive_is_critical=False,
        absent_rollback_shown_as="<absent>",
        scope_documented_shown=True,
    ),
    shown_maximum=_last_in_the_alphabet,
    outcome_estimate=NOTHING,
    outcomes_count_as_proposals=True,
    asked_agents_kept=False,
    proposals_refresh_role=False,
    walks_any_repository=True,
    field_kept=False,
    split_key=_at_first_colon,
)
