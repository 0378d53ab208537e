"""Which modules nobody needs any more (spec 12)."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

IDLE_AFTER_S = 30 * 86400.0
PROTECTED_DEPENDENCY = 2.0
"""A module with a dependency trace of this strength is left alone."""


@dataclass(frozen=True, slots=True)
class Module:
    """What is known of a module's use."""

    path: str
    last_used: float = 0.0
    """Unix seconds; 0 where it never was."""
    call_count: int = 0
    duplicate_of: str | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A module that may go."""

    module: Module
    confidence: float
    """0.50..1."""
    reason: str


def protection(*, human_priority: float, dependency: float) -> str | None:
    """Why a module with these strengths is left alone, or None where it is not."""
    if human_priority > 0:
        return f"people want it (human priority {human_priority:.2f})"
    if dependency >= PROTECTED_DEPENDENCY:
        return f"others depend on it (dependency {dependency:.2f})"
    return None


def scan(modules: Iterable[Module], now: float, protected: Callable[[str], bool]) -> list[Candidate]:
    """The modules that may go, the surest first; `protected` says of a path whether it is left alone."""
    found = [candidate for module in modules if not protected(module.path) and (candidate := _nominate(module, now))]
    return sorted(found, key=lambda candidate: -candidate.confidence)


def _nominate(module: Module, now: float) -> Candidate | None:
    idle_s = now - module.last_used
    days = f"{idle_s / 86400:.1f} days"
    if module.duplicate_of:
        return Candidate(module, 0.85, f"it duplicates {module.duplicate_of}")
    if not module.call_count and not module.last_used:
        return Candidate(module, 0.90, "it was never used")
    if idle_s <= IDLE_AFTER_S:
        return None
    if not module.call_count:
        return Candidate(module, 0.70, f"no calls, idle for {days}")
    if module.call_count < 5:
        return Candidate(module, 0.50, f"low usage: {module.call_count} calls, idle for {days}")
    return None
