"""What the running period cost, and how long it still lasts."""

from collections.abc import Sequence

from colonizer_client.kernel.models import Budget, Budgets
from colonizer_client.kernel.view import KernelView
from colonizer_tui.present import words
from colonizer_tui.present.line import Line, Span, column, wrap
from colonizer_tui.present.states import STALE, Glyphs

_NAME_WIDTH = 25
_NUMBERS = 22
CLOSE = 0.8
"""The share of a ceiling from which on it is worth a look."""


def caption(width: int) -> Line:
    """The names of the columns."""
    told = column("used", _NUMBERS, right=True)
    return (Span(" " + column("budget", _NAME_WIDTH) + " " * _bar(width) + told, "dim"),)


def _bar(width: int) -> int:
    return max(min(width - _NAME_WIDTH - _NUMBERS - 7, 60), 6)


def row(budget: Budget, width: int, glyphs: Glyphs, *, is_fed: bool, is_stale: bool) -> Line:
    """A budget's row: a bar up to its ceiling."""
    bar = _bar(width)
    share = min(budget.used / budget.ceiling, 1.0) if budget.ceiling > 0 else 1.0
    filled = max(round(share * bar), 1) if budget.used > 0 else 0
    role = "danger" if share >= 1 else "attention" if share >= CLOSE else "ok"
    told = f"{_amount(budget.used)} of {_amount(budget.ceiling)}"
    shown = (
        Span(column(budget.name.replace("_", " "), _NAME_WIDTH), "" if is_fed else "dim"),
        Span(glyphs["fast"] * filled, role),
        Span(glyphs["slow"] * (bar - filled), "faint"),
        Span(column(told, _NUMBERS, right=True), "" if is_fed else "dim"),
        Span(column(f"{share * 100:.0f}%", 6, right=True), (role if share >= CLOSE else "muted") if is_fed else "dim"),
    )
    return tuple(Span(piece.text, STALE) for piece in shown) if is_stale else shown


def _amount(number: float) -> str:
    return f"{number:,.10g}" if number == int(number) else f"{number:,.3f}".rstrip("0")


def foot(kernel: KernelView, budgets: Budgets, now: float, width: int) -> Sequence[Line]:
    """How long the period lasts, and what is to be known of budgets that nothing moves."""
    shown: list[Line] = []
    ends_at = budgets.ends_at
    if ends_at is not None:
        left = ends_at - now
        told = (
            f"the period begins anew in {words.duration(left)}"
            if left > 0
            else "the period begins anew with the next call"
        )
        share = min(max(1 - left / budgets.period_s, 0.0), 1.0) if budgets.period_s else 1.0
        shown.append((Span(f" {told}", ""), Span(f" · {share * 100:.0f}% of it is over", "muted")))
    if not kernel.budgets_are_fed:
        told = "This kernel is never told what an outcome cost, so its budgets stand still: they say nothing."
        shown += [(Span(f" {part}", "attention"),) for part in wrap(told, width - 2)]
    else:
        told = "An action whose estimate would pass a ceiling is held, whatever its score."
        shown += [(Span(f" {part}", "muted"),) for part in wrap(told, width - 2)]
    return shown
