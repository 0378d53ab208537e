"""The attacks on a plan, each on one of its assumptions (spec 7)."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from colonizer_engines.kernel.findings import AttackVector, Finding, Severity
from colonizer_engines.kernel.plan import Plan


@dataclass(frozen=True, slots=True)
class AttackRules:
    """Where rules for plans differ."""

    absent_measures_are_findings: bool
    """Whether a plan must have `metrics` and `expected_outcome`."""
    min_rationale_length: int
    """Characters that a proposal's rationale must have."""
    irreversible_and_sensitive_is_critical: bool
    absent_rollback_shown_as: str
    scope_documented_shown: bool


def _words(*patterns: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(patterns)})\b", re.IGNORECASE)


def _starts(text: str) -> frozenset[str]:
    """Words of which a text must hold one before a search for something longer is worth its while."""
    return frozenset(text.split())


_PLACEHOLDER = re.compile(
    r"\s*(?:(?:na|n/a|none|tbd|todo|unknown|not applicable)|will (?:revert|undo) manually)\.?\s*", re.IGNORECASE
)
_MIN_ROLLBACK_LENGTH = 20
_BY_HAND = _words("manual", "manually", "smoke test", "verify by hand", "check visually")
_DESTRUCTIVE = frozenset({"delete", "drop", "remove", "truncate", "purge", "wipe"})
_VAGUE_SCOPE = (
    _words("various"),
    _words(r"multiple (?:system|module|service|component)s?"),
    _words(r"related (?:things?|work|changes?)"),
    _words("as needed"),
    _words("wherever applicable"),
    _words(r"general (?:improvements?|refactor(?:ing)?)"),
)
_DOTTED_NAME = re.compile(r"\b[a-z_][a-z0-9_]*(?:\.[a-z_][a-z0-9_]*)+\b")
_MEASURED = re.compile(r"\d|[<>=%≤≥]|better|faster|less|more|reduce|increase", re.IGNORECASE)
_BARE_NAME = re.compile(r"[a-z0-9_-]{1,40}")
_SENSITIVE = _words(
    "auth",
    "authentication",
    "authorization",
    "authtoken",
    "password",
    "credential",
    "secret",
    "encrypt",
    "privileged?",
    "sudo",
    "root",
    "permission",
    "access control",
    "injection",
)
_SENSITIVE_STARTS = _starts(
    "auth authentication authorization authtoken password credential secret encrypt privilege privileged sudo root"
    " permission access injection"
)
_REVIEWED = _words("security review", "security audit", "sast", "guard_ant", "threat model")
_VAGUE_OUTCOME = (
    re.compile(r"\s*(?:it will work|works)\.?\s*\Z", re.IGNORECASE),
    re.compile(r"\bimprove\w*\b.*\boverall\b", re.IGNORECASE | re.DOTALL),
    re.compile(r"\bbetter\b.*\bsystem\b", re.IGNORECASE | re.DOTALL),
    _words("no issues"),
    _words("smoothly"),
    _words("seamlessly"),
    _words("stable"),
)
_DUTY = _words("(?:handle|manage|coordinate|orchestrate|provide|implement|support|wrap)s?")
_DUTY_STARTS = _starts(
    "handle manage coordinate orchestrate provide implement support wrap"
    " handles manages coordinates orchestrates provides implements supports wraps"
)
_DURABLE = (
    _words("create", "add", "introduce", "migrate", "refactor", "replace"),
    _words("module", "service", "framework", "platform", "pipeline", "integration"),
    _words("new (?:api|schema|storage|dependency|subsystem)"),
)
_DURABLE_STARTS = _starts(
    "create add introduce migrate refactor replace module service framework platform pipeline integration new"
)
_UPKEEP = ("maintenance_plan", "owner", "ownership", "deprecation_plan", "runbook")
_ABSTRACT = (
    _words("generic"),
    _words("reusable"),
    _words("extensible"),
    _words("plug-?in"),
    _words("abstract (?:base )?class"),
    _words("interface"),
    _words("framework"),
    _words("platform"),
)
_ABSTRACT_STARTS = _starts("generic reusable extensible plug plugin abstract interface framework platform")
_BACKED = _words(
    r"\d+ (?:caller|use|consumer|client)s?",
    "three (?:or more )?(?:callers|uses)",
    "existing (?:callers|consumers|uses)",
    "proven",
    "demonstrated",
)


def attack(plan: Plan, rules: AttackRules) -> Iterator[Finding]:
    """What all attacks find but those that read files, in their order."""
    yield from _rollback(plan, rules)
    yield from _tests(plan)
    yield from _scope(plan, rules)
    yield from _metrics(plan, rules)
    yield from _circles(plan)
    yield from _dependencies(plan)
    yield from _security(plan)
    yield from _outcome(plan, rules)
    yield from _breadth(plan)
    yield from _upkeep(plan)
    yield from _abstraction(plan)


def attack_rationale(plan: Plan, rules: AttackRules) -> Iterator[Finding]:
    """Whether a proposal says why."""
    length = len(plan.rationale.strip())
    if length < rules.min_rationale_length:
        yield Finding(
            "the rationale says why the action is necessary",
            AttackVector.FALSE_METRIC,
            Severity.LOW,
            {"rationale": plan.rationale[:200], "length": length},
            f"Explain in at least {rules.min_rationale_length} characters why the action is necessary.",
        )


def _no_way_back(plan: Plan) -> bool:
    return not plan.rollback_plan.strip() or bool(_PLACEHOLDER.fullmatch(plan.rollback_plan))


def _sensitive_words(plan: Plan) -> list[str]:
    if plan.words.isdisjoint(_SENSITIVE_STARTS):
        return []
    text = f"{plan.target} {plan.rationale} {plan.scope}"
    found = _SENSITIVE.findall(text)
    return _distinct(found) if found and not _REVIEWED.search(text) else []


def _rollback(plan: Plan, rules: AttackRules) -> Iterator[Finding]:
    text = plan.rollback_plan
    if _no_way_back(plan):
        yield Finding(
            "plan specifies a safe rollback path",
            AttackVector.NO_ROLLBACK,
            Severity.HIGH,
            {"rollback_plan": text.strip() or rules.absent_rollback_shown_as},
            "Provide a concrete rollback_plan describing how to undo the action.",
        )
    elif len(text.strip()) < _MIN_ROLLBACK_LENGTH:
        yield Finding(
            "the rollback plan can be carried out as it stands",
            AttackVector.NO_ROLLBACK,
            Severity.MEDIUM,
            {"rollback_plan": text, "length": len(text.strip())},
            "Give the exact command that undoes the action, and the state that it leaves.",
        )


def _tests(plan: Plan) -> Iterator[Finding]:
    tests = plan.fields.get("tests")
    if tests is None or tests == []:
        yield Finding(
            "The plan includes automated test coverage.",
            AttackVector.NO_TEST_VALUE,
            Severity.HIGH,
            {"tests": "<key absent>" if tests is None else []},
            "Add a `tests` key listing the test file paths or test IDs that will exercise the changed behaviour.",
        )
    elif _BY_HAND.search(text := plan.text("tests")):
        yield Finding(
            "the tests run without a person",
            AttackVector.NO_TEST_VALUE,
            Severity.MEDIUM,
            {"tests": text[:200]},
            "Name test files that run by themselves in place of checks by hand.",
        )


def _scope(plan: Plan, rules: AttackRules) -> Iterator[Finding]:
    if plan.action_type.strip().lower() in _DESTRUCTIVE:
        evidence: dict[str, object] = {"action_type": plan.action_type, "target": plan.target}
        if rules.scope_documented_shown:
            evidence["scope_documented"] = bool(plan.scope.strip())
        critical = rules.irreversible_and_sensitive_is_critical and _no_way_back(plan) and _sensitive_words(plan)
        yield Finding(
            "action blast radius is bounded and reversible",
            AttackVector.SCOPE_CREEP,
            Severity.CRITICAL if critical else Severity.HIGH,
            evidence,
            "Destructive actions require a `scope` field enumerating all affected files, callers,"
            " and dependent modules.",
        )
    if not plan.scope:
        return
    if len(vague := _matches(_VAGUE_SCOPE, plan.scope)) >= 2:
        yield Finding(
            "the scope says what is touched",
            AttackVector.SCOPE_CREEP,
            Severity.MEDIUM,
            {"scope": plan.scope[:300], "vague_patterns_matched": vague},
            "List the files and modules that the action touches.",
        )
    root = plan.target.split(".", 1)[0]
    foreign = [name for name in _DOTTED_NAME.findall(plan.scope) if not name.startswith(root)]
    if len(foreign) >= 3:
        yield Finding(
            "the action stays within its target",
            AttackVector.SCOPE_CREEP,
            Severity.HIGH,
            {"target_root": root, "foreign_module_refs": foreign[:10]},
            "Split the plan, one for each module that it enters.",
        )


def _metrics(plan: Plan, rules: AttackRules) -> Iterator[Finding]:
    given = plan.fields.get("metrics")
    text = "" if given is None else plan.text("metrics")
    if given is None and not rules.absent_measures_are_findings:
        return
    if not text.strip():
        yield Finding(
            "success can be measured",
            AttackVector.FALSE_METRIC,
            Severity.MEDIUM,
            {"metrics": "<key absent>" if given is None else "<empty>"},
            "Add `metrics` with a number that tells success from failure.",
        )
    elif not _MEASURED.search(text):
        yield Finding(
            "the metrics can be measured",
            AttackVector.FALSE_METRIC,
            Severity.LOW,
            {"metrics": text[:200]},
            "Give the metrics a number or a direction.",
        )


def _circles(plan: Plan) -> Iterator[Finding]:
    def found(claim: str, severity: Severity, evidence: dict[str, object], remedy: str) -> Finding:
        return Finding(claim, AttackVector.CIRCULAR_ARCHITECTURE, severity, evidence, remedy)

    dependencies = plan.dependencies
    if plan.agent_id and plan.agent_id == plan.target:
        evidence: dict[str, object] = {"agent_id": plan.agent_id, "target": plan.target}
        yield found("the agent does not change itself", Severity.HIGH, evidence, "Let another agent do it.")
    if plan.target in dependencies:
        evidence = {"target": plan.target, "dependencies": list(dependencies)}
        yield found("the target does not depend on itself", Severity.HIGH, evidence, "Extract what both need.")
    for one, other in combinations(dependencies, 2):
        if one.startswith(other + ".") or other.startswith(one + "."):
            remedy = "Extract the shared types, so that neither contains the other."
            yield found("no dependency contains another", Severity.MEDIUM, {"dep_a": one, "dep_b": other}, remedy)
            return


def import_circle(cycle: Sequence[str]) -> Finding:
    """The finding that the target's modules import each other in a circle."""
    return Finding(
        "the target's modules do not import each other in a circle",
        AttackVector.CIRCULAR_ARCHITECTURE,
        Severity.HIGH,
        {"cycle": list(cycle)},
        "Move what the modules share into one that imports none of them.",
    )


def _dependencies(plan: Plan) -> Iterator[Finding]:
    bare = [name for name in plan.dependencies if _BARE_NAME.fullmatch(name)]
    if len(bare) >= 3:
        yield Finding(
            "the packages that it needs are known and vetted",
            AttackVector.DEPENDENCY_RISK,
            Severity.MEDIUM,
            {"suspicious_external_deps": bare[:10]},
            "Justify each package, or do without it.",
        )


def _security(plan: Plan) -> Iterator[Finding]:
    if words := _sensitive_words(plan):
        yield Finding(
            "the change is safe in an area that guards something",
            AttackVector.SECURITY_RISK,
            Severity.HIGH,
            {"sensitive_terms_found": words[:5]},
            "Add a security review and name it in the plan.",
        )


def _outcome(plan: Plan, rules: AttackRules) -> Iterator[Finding]:
    text = plan.text("expected_outcome")
    if not text.strip():
        if "expected_outcome" in plan.fields or rules.absent_measures_are_findings:
            yield Finding(
                "the outcome can be refuted",
                AttackVector.FALSE_METRIC,
                Severity.MEDIUM,
                {"expected_outcome": "<absent>"},
                "Add `expected_outcome`: what will be seen if the plan works.",
            )
    elif len(vague := _matches(_VAGUE_OUTCOME, text)) >= 2:
        yield Finding(
            "the outcome is more than a hope",
            AttackVector.FALSE_METRIC,
            Severity.LOW,
            {"expected_outcome": text[:200], "vague_patterns": vague},
            "Say in numbers what will be seen.",
        )


def _breadth(plan: Plan) -> Iterator[Finding]:
    known = not plan.words.isdisjoint(_DUTY_STARTS)
    verbs: list[str] = _DUTY.findall(f"{plan.rationale} {plan.scope}") if known else []
    depth = plan.target.count(".")
    if len(verbs) >= 5:
        yield Finding(
            "the module has one duty",
            AttackVector.OVER_BROAD_MODULE,
            Severity.MEDIUM,
            {"responsibility_verb_count": len(verbs), "verbs_found": _distinct(verbs)},
            "Split it, one module for each duty.",
        )
    elif depth >= 5:
        yield Finding(
            "the module is where somebody would look for it",
            AttackVector.OVER_BROAD_MODULE,
            Severity.LOW,
            {"target": plan.target, "depth": depth},
            "Move it up, or split what stands above it.",
        )


def _upkeep(plan: Plan) -> Iterator[Finding]:
    if plan.words.isdisjoint(_DURABLE_STARTS):
        return
    text = f"{plan.action_type} {plan.target} {plan.rationale} {plan.scope}"
    signals = _matches(_DURABLE, text)
    if len(signals) >= 2 and not any(plan.text(name).strip() for name in _UPKEEP):
        yield Finding(
            "somebody keeps up what is added",
            AttackVector.HIDDEN_MAINTENANCE_COST,
            Severity.MEDIUM,
            {"durable_change_signals": signals, "maintenance_fields_checked": list(_UPKEEP)},
            "Name an owner, or how it is kept up and taken away.",
        )


def _abstraction(plan: Plan) -> Iterator[Finding]:
    if plan.words.isdisjoint(_ABSTRACT_STARTS):
        return
    text = f"{plan.rationale} {plan.scope}"
    signals = _matches(_ABSTRACT, text)
    if len(signals) >= 2 and not _BACKED.search(text):
        yield Finding(
            "the abstraction has users",
            AttackVector.PREMATURE_ABSTRACTION,
            Severity.LOW,
            {"abstraction_signals": signals, "combined_excerpt": text[:300]},
            "Name three callers, or write it for the one that there is.",
        )


def _matches(patterns: Sequence[re.Pattern[str]], text: str) -> list[str]:
    """The words that each of the patterns found first, for those that found some."""
    return [found.group() for pattern in patterns if (found := pattern.search(text))]


def _distinct(words: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(words))
