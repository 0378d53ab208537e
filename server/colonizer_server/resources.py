"""The resources over colonies: which there are, and what each one tells, as prose."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

from colonizer_client.attention import Need, inbox, narrowed
from colonizer_client.errors import ClientError
from colonizer_client.identity import ColonyKey, EndpointName
from colonizer_client.mothership import calls
from colonizer_client.mothership.calls import Ask
from colonizer_client.mothership.follow import logged
from colonizer_client.mothership.frames import history
from colonizer_client.mothership.models import Colony, ColonyDetail, OpenQuestion
from colonizer_client.transcript import Entry, Kind, Transcript
from colonizer_config.value import Value
from colonizer_server.fence import DIFF_LIMIT, fenced, named
from colonizer_server.resource_uris import NEEDS_YOU, Aspect, colony_named, template_of, uri_of
from colonizer_server.tools import NO_QUESTION

LISTED_LIMIT = 200
"""Resources that are listed; all others are reached by their template."""

NEEDS_LIMIT = 30
"""Colonies of the inbox that are told with what they ask."""

LAST_EVENTS = 200
"""Events of a transcript, the newest."""

EXCERPT_LIMIT = 2_000
"""Characters that each colony has in the inbox."""


class Offered(Value):
    """A resource as it is listed, or a template for many."""

    uri: str
    title: str
    description: str


class Shelf:
    """The resources of one mothership, whose endpoint is part of their URIs."""

    def __init__(self, ask: Ask, endpoint: EndpointName) -> None:
        self._ask = ask
        self._endpoint = endpoint

    def templates(self) -> tuple[Offered, ...]:
        """The resources that every colony has."""
        return tuple(
            Offered(template_of(self._endpoint, aspect), f"A colony's {words}", description)
            for aspect, (words, description) in _ASPECTS.items()
        )

    async def listed(self, now: float) -> tuple[Offered, ...]:
        """The inbox, and of each colony in it what there is to see; `now` is in seconds by the server's clock."""
        colonies, _ = await self._ask(calls.colonies(self._endpoint))
        return tuple(Offered(uri, *_words_of(uri, self._endpoint)) for uri in listed_uris(colonies, now))

    async def read(self, uri: str, now: float) -> str:
        """What a resource tells.

        Raises:
            UnknownResource: There is none of this URI.
            ClientError: The mothership does not tell.
        """
        if uri == NEEDS_YOU:
            return await self._needs_you(now)
        key, aspect = colony_named(uri, self._endpoint)
        return await self.told(key, aspect)

    async def told(self, key: ColonyKey, aspect: Aspect) -> str:
        """What one aspect of a colony tells; raises ClientError."""
        match aspect:
            case Aspect.STATUS:
                detail = await self._ask(calls.colony(self._endpoint, key.colony))
                return fenced("\n".join(_status_lines(detail)), key)
            case Aspect.QUESTION:
                question = await self._ask(calls.question(key.colony))
                return f"{named(key)}: {NO_QUESTION}" if question is None else _asked(question, key)
            case Aspect.DIFF:
                return await self._diff(key)
            case Aspect.TRANSCRIPT:
                page = await self._ask(calls.log_page(key.colony, limit=LAST_EVENTS))
                transcript = Transcript()
                for item in logged(page, history(page).epoch):
                    transcript.apply(item)
                text = "\n\n".join(filter(None, map(_entry_text, transcript)))
                return fenced(text or "nothing yet", key, keeps_end=True)

    async def _diff(self, key: ColonyKey) -> str:
        diff = await self._ask(calls.diff(key.colony))
        counts = f"{len(diff.files)} files, {diff.added} lines added and {diff.removed} removed"
        cut = " at least: the mothership has cut the diff" if diff.truncated else ""
        files = [f"{file.path} +{file.added} -{file.removed}" for file in diff.files]
        text = "\n".join((f"base: {diff.base}", *files, "", diff.text.rstrip("\n")))
        return f"{named(key)} has changed {counts}{cut}.\n" + fenced(text, key, limit=DIFF_LIMIT)

    async def _needs_you(self, now: float) -> str:
        colonies, _ = await self._ask(calls.colonies(self._endpoint))
        asking = [colony for colony in narrowed(colonies, now)[0] if colony.may_ask][:NEEDS_LIMIT]
        read = await asyncio.gather(*map(self._question, asking))
        questions = {colony.key: found for colony, found in zip(asking, read, strict=True) if found is not None}
        needs = inbox(colonies, questions, now)
        told = [_need_text(number, need, questions) for number, need in enumerate(needs[:NEEDS_LIMIT], 1)]
        left = f"{len(needs) - NEEDS_LIMIT} more are left out." if len(needs) > NEEDS_LIMIT else ""
        opening = f"{len(needs)} rows need a person, the most urgent first." if needs else "Nothing needs a person."
        return "\n\n".join(filter(None, (opening, *told, left)))

    async def _question(self, colony: Colony) -> OpenQuestion | None:
        try:
            return await self._ask(calls.question(colony.key.colony))
        except ClientError:
            return None  # what the list says of the colony is told all the same


_ASPECTS = {
    Aspect.STATUS: ("status", "Its state, repository, branch, pull request and cost, and what it did last."),
    Aspect.QUESTION: ("question", "What it waits for, with its numbered options and risk."),
    Aspect.DIFF: ("diff", "What it has changed against its base branch."),
    Aspect.TRANSCRIPT: ("transcript", "The end of what it and its tools have said."),
}


def listed_uris(colonies: Iterable[Colony], now: float) -> tuple[str, ...]:
    """The URIs that are listed: the inbox first, then its colonies, each with its question where it asks one."""
    uris = [NEEDS_YOU]
    for colony in narrowed(colonies, now)[0]:
        uris.append(uri_of(colony.key))
        if colony.may_ask:
            uris.append(uri_of(colony.key, Aspect.QUESTION))
    return tuple(uris[:LISTED_LIMIT])


def _words_of(uri: str, endpoint: EndpointName) -> tuple[str, str]:
    if uri == NEEDS_YOU:
        return "What needs you", "Every colony that waits for a person, the most urgent first, with what it asks."
    key, aspect = colony_named(uri, endpoint)
    words, description = _ASPECTS[aspect]
    return f"{words} of {named(key)}".capitalize(), description


def _status_lines(detail: ColonyDetail) -> Iterator[str]:
    colony = detail.colony
    facts: dict[str, object] = {
        "status": colony.status,
        "title": colony.title,
        "repository": colony.repo,
        "issue": colony.issue,
        "branch": colony.branch,
        "base": colony.base,
        "pull request": colony.pr_url,
        "checks": colony.ci_state,
        "cost in USD": colony.cost_usd,
        "attention": colony.attention and f"{colony.attention.reason} {colony.attention.detail}".strip(),
        "error": colony.error,
        "diagnosis": detail.diagnosis,
    }
    yield from (f"{name}: {value}" for name, value in facts.items() if value not in (None, ""))
    if detail.recent:
        yield "last events:"
        yield from (f"  {event.kind}: {event.summary}" for event in detail.recent)


def _asked(question: OpenQuestion, key: ColonyKey) -> str:
    opening = f"{named(key)} waits for an answer; risk: {question.risk.words}."
    return f"{opening}\n{fenced(_question_text(question), key)}"


def _question_text(question: OpenQuestion) -> str:
    lines: list[str] = []
    for prompt in question.prompts:
        lines.append(prompt.text)
        for number, option in enumerate(prompt.options, 1):
            lines.append(f"  {number}. {option.label}" + (f": {option.description}" if option.description else ""))
        if prompt.multi_select:
            lines.append("  (several may be chosen)")
    return "\n".join(lines)


def _need_text(number: int, need: Need, questions: dict[ColonyKey, OpenQuestion]) -> str:
    colony = need.colony
    since = datetime.fromtimestamp(need.since, UTC).isoformat(timespec="seconds")
    risk = f", risk {need.risk.words}" if need.risk is not None else ""
    others = f", with {len(need.colonies) - 1} others" if len(need.colonies) > 1 else ""
    opening = (
        f"{number}. {uri_of(colony.key)}: {need.urgency.name.lower().replace('_', ' ')}{risk}, since {since}{others}"
    )
    question = questions.get(colony.key)
    facts = (
        f"{colony.repo} · {colony.title} · {colony.status}",
        colony.attention.detail if colony.attention is not None else "",
        colony.error,
        _question_text(question) if question is not None else "",
    )
    return f"{opening}\n{fenced(_lines(facts), colony.key, limit=EXCERPT_LIMIT)}"


def _lines(facts: Sequence[str]) -> str:
    return "\n".join(filter(None, facts))


def _entry_text(entry: Entry) -> str:
    """An entry as plain text: who or what, and what was said or came of it."""
    head = " ".join(filter(None, (entry.kind.name.lower(), _title_of(entry), entry.argument)))
    question = _question_text(entry.question) if entry.question is not None else ""
    body = "" if entry.kind in (Kind.TOOL, Kind.THINKING) else entry.body
    return _lines((f"[{head}]", body, question, entry.result, *map(_entry_text, entry.children)))


def _title_of(entry: Entry) -> str:
    # A title that only repeats the first line of its body says nothing.
    return "" if entry.body.startswith(entry.title) and entry.kind is not Kind.THINKING else entry.title
