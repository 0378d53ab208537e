"""What a call would do, told to the person who is asked about it; and what is refused without asking anybody."""

from collections.abc import Awaitable, Callable, Mapping

from colonizer_client.answers import matched
from colonizer_client.errors import Forbidden, Refusal
from colonizer_client.identity import ColonyId
from colonizer_client.mothership import calls
from colonizer_client.mothership.models import Attention, Colony
from colonizer_client.text import safe_line
from colonizer_config.value import Value
from colonizer_server.arguments import Arguments, read
from colonizer_server.errors import ToolError
from colonizer_server.tools import NO_QUESTION, NOWHERE, TOOLS, Mothership, Tool

SUBJECTS = frozenset({"id", "repo"})
"""Arguments that say what a call is about. Its blast radius was shown for these: an edit leaves them as they are."""

_TITLE_LIMIT = 60
_QUOTE_LIMIT = 200


class Proposal(Value):
    """What a call would do now. All texts are safe to show."""

    summary: str
    blast: tuple[str, ...]
    about: str = ""
    """What it hangs on beside its arguments: the fingerprint of the question that is open."""


async def propose(mothership: Mothership, tool: Tool, given: Arguments) -> Proposal:
    """What a call would do.

    Raises:
        Forbidden: No person's word would let it through: the colony is held, or its organisation switched off.
        ToolError: It could not be done, whatever the person says.
        ClientError: What it is about cannot be read.
    """
    describe = _DESCRIBED.get(tool.name)
    if describe is None:
        return Proposal(f"{tool.title}.", ("it only reads",) if tool.is_read else ("it is not known what it touches",))
    return await describe(mothership, given)


def checked_edit(tool_name: str, before: Mapping[str, object], after: Mapping[str, object]) -> Mapping[str, object]:
    """The arguments of a call as a person changed them.

    Raises:
        ToolError: They are none of this tool, or the call would be about something else.
    """
    tool = next((tool for tool in TOOLS if tool.name == tool_name), None)
    if tool is None:
        raise ToolError(f"there is no tool {safe_line(tool_name)}")
    known = {parameter.name for parameter in tool.parameters}
    for name in after:
        if name not in known:
            raise ToolError(f"{safe_line(name, limit=60)} is no argument of {tool.name}")
    for name in sorted(SUBJECTS & known):
        if before.get(name) != after.get(name):
            raise ToolError(f"{name} says what the call is about, and cannot be changed: reject it instead")
    return read(tool.parameters, after).given


async def _answer(mothership: Mothership, given: Arguments) -> Proposal:
    colony = await _colony_not_held(mothership, given)
    question = await mothership.ask(calls.question(colony.key.colony))
    if question is None:
        raise ToolError(NO_QUESTION)
    body = matched(question, given.text("answer"))
    asked = " / ".join(prompt.text for prompt in question.prompts)
    if body.response is not None:
        chosen = "a free text"
    else:
        values = (value if isinstance(value, str) else ", ".join(value) for value in body.answers.values())
        chosen = f"“{safe_line(' / '.join(values), limit=_QUOTE_LIMIT)}”"
    summary = f"Answers {_named(colony)} with {chosen}. It asks: “{safe_line(asked, limit=_QUOTE_LIMIT)}”"
    risk = f"risk of what it asks about: {question.risk.value}"
    return Proposal(summary, (*_blast(colony), risk, "cannot be taken back"), question.fingerprint)


async def _stop(mothership: Mothership, given: Arguments) -> Proposal:
    colony = await _colony(mothership, given)
    summary = f"Stops {_named(colony)}; what it does now is cut off, and its worktree kept."
    return Proposal(summary, (*_blast(colony), "can be taken back: it can be resumed"))


async def _resume(mothership: Mothership, given: Arguments) -> Proposal:
    colony = await _colony_not_held(mothership, given)
    summary = f"Resumes {_named(colony)}: its agent works on, which may cost money."
    return Proposal(summary, (*_blast(colony), "can be taken back: it can be stopped; what it did by then stays"))


async def _launch(mothership: Mothership, given: Arguments) -> Proposal:
    repo = given.text("repo")
    await _check_org(mothership, repo.partition("/")[0])
    issue, task = given.maybe_number("issue"), given.maybe_text("task")
    work = " and ".join(filter(None, (f"its issue {issue}" if issue else "", "a task of its own" if task else "")))
    summary = f"Launches a colony on {safe_line(repo)}, for {work or 'nothing that is said'}; it may cost money."
    publishes = ("it may open a pull request by itself",) if given.maybe_flag("autopilot") is not False else ()
    blast = (f"repository {safe_line(repo)}", "a new branch and worktree", *publishes)
    return Proposal(summary, (*blast, "can be taken back: the colony can be stopped; what it did by then stays"))


_DESCRIBED: Mapping[str, Callable[[Mothership, Arguments], Awaitable[Proposal]]] = {
    "answer_colony": _answer,
    "launch_colony": _launch,
    "resume_colony": _resume,
    "stop_colony": _stop,
}


async def _colony(mothership: Mothership, given: Arguments) -> Colony:
    """The colony that a call is about.

    Raises:
        Forbidden: Its organisation is switched off.
        ClientError: It cannot be read.
    """
    colony = (await mothership.ask(calls.colony(NOWHERE, ColonyId(given.text("id"))))).colony
    await _check_org(mothership, colony.repo_raw.partition("/")[0])
    return colony


async def _colony_not_held(mothership: Mothership, given: Arguments) -> Colony:
    """The same, of a colony that is under no security hold.

    Raises:
        Forbidden: It is held, which only a person ends.
    """
    colony = await _colony(mothership, given)
    parked = None if colony.parked is None else Attention(colony.parked.reason)
    if any(reason is not None and reason.is_security_hold for reason in (colony.attention, parked)):
        words = f"colony {colony.shown_id} is on a security hold: only a person can release it, in the cockpit"
        raise Forbidden(words, status=403)
    return colony


async def _check_org(mothership: Mothership, org: str) -> None:
    try:
        is_off = org.casefold() in {name.casefold() for name in await mothership.ask(calls.orgs_switched_off())}
    except Refusal:
        return  # a scoped token may not ask; its mothership refuses by itself
    if is_off:
        raise Forbidden(f"{safe_line(org)} is switched off at this mothership: nothing is done there", status=403)


def _named(colony: Colony) -> str:
    title = f" “{safe_line(colony.title, limit=_TITLE_LIMIT)}”" if colony.title else ""
    return f"colony {colony.shown_id}{title} of {colony.repo}"


def _blast(colony: Colony) -> tuple[str, ...]:
    branch = (f"branch {colony.branch}",) if colony.branch else ()
    return f"colony {colony.shown_id} ({colony.status})", f"repository {colony.repo}", *branch
