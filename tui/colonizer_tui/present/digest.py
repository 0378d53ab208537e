"""What is made of all colonies of one mothership together, kept in step with each change.

A mothership may have ten thousand colonies, of which some change at every moment: what a change costs must not depend
on how many there are.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import TypeVar

from colonizer_client.attention import Issue, Need, claims_issue, inbox, issue_of, needs_you
from colonizer_client.identity import ColonyKey
from colonizer_client.mothership.models import Colony, OpenQuestion

T = TypeVar("T")


class Digest:
    """The digest of one mothership's colonies. It holds until `until`, then it has to be made anew."""

    def __init__(self, colonies: Iterable[Colony], now: float) -> None:
        hour = datetime.fromtimestamp(now).replace(minute=0, second=0, microsecond=0)
        self.until = (hour + timedelta(hours=1)).timestamp()
        """The next full hour: at midnight another day's money begins, and a question that nobody answered grows old."""
        self._midnight = hour.replace(hour=0).timestamp()
        self._needing: dict[ColonyKey, Colony] = {}
        self._needing_issues: Counter[Issue] = Counter()
        self._claims: dict[Issue, dict[ColonyKey, Colony]] = {}
        self._costs_today: dict[ColonyKey, float | None] = {}
        self._name_lengths: Counter[int] = Counter()
        self._needs: tuple[Need, ...] | None = None
        for colony in colonies:
            self._add(colony)

    def change(self, before: Colony | None, after: Colony | None) -> None:
        """Takes a colony as it is now in the place of what it was; None where there is none."""
        if before is not None:
            self._remove(before)
        if after is not None:
            self._add(after)

    def judge_again(self) -> None:
        """Has the needs made anew, since the host's clock may be another one."""
        self._needs = None

    def needs(self, questions: Mapping[ColonyKey, OpenQuestion], server_now: float) -> tuple[Need, ...]:
        """What needs the person, most urgent first; the same object as long as nothing bears on it."""
        if self._needs is None:
            rivals = (
                colony
                for issue in self._needing_issues
                for key, colony in self._claims.get(issue, {}).items()
                if key not in self._needing
            )
            self._needs = inbox((*self._needing.values(), *rivals), questions, server_now)
        return self._needs

    @property
    def cost_today_usd(self) -> float:
        """What the colonies created since local midnight cost, as far as is known."""
        return sum(cost for cost in self._costs_today.values() if cost is not None)

    @property
    def cost_is_partial(self) -> bool:
        """Whether the cost of one of them is not known."""
        return None in self._costs_today.values()

    @property
    def longest_name(self) -> int:
        """The length of the longest colony name."""
        return max(self._name_lengths, default=0)

    def _add(self, colony: Colony) -> None:
        issue = issue_of(colony)
        if needs_you(colony):
            self._needs = None
            self._needing[colony.key] = colony
            if issue is not None:
                self._needing_issues[issue] += 1
        if issue is not None and claims_issue(colony):
            self._claims.setdefault(issue, {})[colony.key] = colony
            self._note_claim(issue)
        if colony.created_at >= self._midnight:
            self._costs_today[colony.key] = colony.cost_usd
        self._name_lengths[len(colony_name(colony))] += 1

    def _remove(self, colony: Colony) -> None:
        issue = issue_of(colony)
        if self._needing.pop(colony.key, None) is not None:
            self._needs = None
            if issue is not None:
                _decrement(self._needing_issues, issue)
        if issue is not None and self._claims.get(issue, {}).pop(colony.key, None) is not None:
            self._note_claim(issue)
            if not self._claims[issue]:
                del self._claims[issue]
        self._costs_today.pop(colony.key, None)
        _decrement(self._name_lengths, len(colony_name(colony)))

    def _note_claim(self, issue: Issue) -> None:
        if issue in self._needing_issues:
            self._needs = None


def colony_name(colony: Colony) -> str:
    """A colony's place: the repository's own name, and the issue where there is one."""
    name = colony.repo.rpartition("/")[2] or colony.repo
    return f"{name} #{colony.issue}" if colony.issue is not None else name


def _decrement(counts: Counter[T], item: T) -> None:
    counts[item] -= 1
    if not counts[item]:
        del counts[item]
