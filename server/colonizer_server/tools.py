"""The ten tools: what each is called, may do and takes, and how it asks the mothership (spec 5.3, 5.4)."""

import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from colonizer_client.answers import matched
from colonizer_client.errors import Unreachable, Unreadable
from colonizer_client.identity import ColonyId, EndpointName
from colonizer_client.mothership import calls, decode, wire
from colonizer_client.mothership.calls import Ask
from colonizer_client.mothership.repository_map import search, stored_map
from colonizer_client.mothership.transport import Socket
from colonizer_client.text import safe_line
from colonizer_server.arguments import Arguments, Parameter
from colonizer_server.errors import ToolError
from colonizer_server.scope import Scope

NO_QUESTION = "no question is pending for this colony"

NOWHERE = EndpointName("")
"""The endpoint in the rows of this face, which speaks of one mothership only and shows no row."""


def _silent(path: str) -> AbstractAsyncContextManager[Socket]:
    raise Unreachable(f"nobody tells of {path} here")


@dataclass(frozen=True, slots=True)
class Mothership:
    """What the tools of a session ask."""

    ask: Ask
    agent_env: Mapping[str, str]
    """Values of the person's shell for agents; for the local engine's private socket only."""
    listen: Callable[[str], AbstractAsyncContextManager[Socket]] = _silent
    """Opens a WebSocket on a path; raises as `ask`."""
    answers_to: str = ""
    """The fingerprint of the one question that may be answered; empty for whichever is open."""


Work = Callable[[Mothership, Arguments], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool. `work` yields the text of its result; it raises ToolError or ClientError."""

    name: str
    scope: Scope
    description: str
    parameters: tuple[Parameter, ...]
    work: Work
    title: str
    destructive: bool = False
    """Whether it may end something; said of writes."""
    idempotent: bool = False
    """Whether calling it again changes nothing more; said of writes."""

    @property
    def is_read(self) -> bool:
        """Whether it changes nothing."""
        return self.scope is Scope.READ


async def _list_colonies(mothership: Mothership, given: Arguments) -> str:
    org, status = given.maybe_text("org"), given.maybe_text("status")
    rows = map(wire.mapping, wire.sequence(await mothership.ask(calls.colonies(NOWHERE).as_json())))
    return as_json([_row(row) for row in rows if _is_of(row, org) and _is_in(row, status)])


def _row(fields: Mapping[str, object]) -> dict[str, object]:
    own = {"title": fields.get("issue_title")}
    keys = ("id", "repo", "status", "issue", "title", "pr_url", "cost_usd")
    return {key: own[key] if key in own else fields.get(key) for key in keys}


def _is_of(row: Mapping[str, object], org: str | None) -> bool:
    return org is None or org in (row.get("org"), wire.raw(row.get("repo")).partition("/")[0])


def _is_in(row: Mapping[str, object], status: str | None) -> bool:
    return status is None or wire.raw(row.get("status")).lower() == status.lower()


async def _colony_status(mothership: Mothership, given: Arguments) -> str:
    return as_json(await mothership.ask(calls.colony(NOWHERE, _colony(given)).as_json()))


async def _colony_question(mothership: Mothership, given: Arguments) -> str:
    question = await mothership.ask(calls.open_question_as_json(_colony(given)))
    return NO_QUESTION if question is None else as_json(question)


async def _colony_pr(mothership: Mothership, given: Arguments) -> str:
    colony = _colony(given)
    fields = wire.mapping(await mothership.ask(calls.colony(NOWHERE, colony).as_json()))
    url, status, checks = fields.get("pr_url"), fields.get("status"), fields.get("ci_state")
    if not isinstance(url, str):
        return f"{safe_line(colony)}: no pull request yet"
    state = safe_line(status) if isinstance(status, str) else "unknown"
    return f"{safe_line(url)} — {state}" + (f" (checks {safe_line(checks)})" if isinstance(checks, str) else "")


async def _colony_diff(mothership: Mothership, given: Arguments) -> str:
    fields = wire.mapping(await mothership.ask(calls.diff(_colony(given)).as_json()))
    keys = ("id", "repo", "base", "files", "added", "removed", "diff", "truncated")
    left_out = {"diff"} if given.flag("stat_only") else set[str]()
    return as_json({key: fields.get(key) for key in keys if key not in left_out})


async def _search_repo_map(mothership: Mothership, given: Arguments) -> str:
    repo = given.text("repo")
    if "/" not in repo:
        raise ToolError("the repository is owner/repo")
    stored = stored_map(await mothership.ask(calls.repository_map(repo)))
    if stored is None:
        raise ToolError(f"{safe_line(repo)} has no architecture map yet: draw one from the cockpit's Map view")
    return as_json(search(stored, given.text("query")))


async def _answer_colony(mothership: Mothership, given: Arguments) -> str:
    colony = _colony(given)
    asked = await mothership.ask(calls.open_question_as_json(colony))
    if asked is None:
        raise ToolError(NO_QUESTION)
    try:
        question = decode.open_question(asked)
        if mothership.answers_to not in ("", question.fingerprint):
            raise ToolError("the colony asks something else by now: nothing was answered")
        body = matched(question, given.text("answer"))
    except Unreadable as problem:
        raise ToolError(f"the question came back in a shape this server cannot read: {problem}") from problem
    await mothership.ask(calls.answer(colony, body))
    if body.response is not None:
        return f"{safe_line(colony)}: answer sent, sent a free-text note"
    chosen = next(iter(body.answers.values()))
    label = chosen if isinstance(chosen, str) else "".join(chosen)
    return f'{safe_line(colony)}: answer sent, chose "{safe_line(label)}"'


async def _stop_colony(mothership: Mothership, given: Arguments) -> str:
    colony = _colony(given)
    stopped = wire.mapping(await mothership.ask(calls.stop(NOWHERE, colony).as_json()))
    return f"{safe_line(colony)}: {wire.line(stopped.get('result')) or 'stopped'}"


async def _resume_colony(mothership: Mothership, given: Arguments) -> str:
    colony = _colony(given)
    resumed = wire.mapping(await mothership.ask(calls.resume(NOWHERE, colony, mothership.agent_env).as_json()))
    return f"{safe_line(colony)}: resumed ({wire.line(resumed.get('status')) or 'queued'})"


async def _launch_colony(mothership: Mothership, given: Arguments) -> str:
    body: dict[str, object] = {
        "repo": given.text("repo"),
        "issue": given.maybe_number("issue"),
        "instructions": given.maybe_text("task") or "",
        "autopilot": given.maybe_flag("autopilot"),
        "model_override": given.maybe_text("model"),
        **{name: given.flag(name) for name in ("allow_duplicate", "queue_behind_holder", "allow_epic")},
    }
    if mothership.agent_env:
        body["agent_env"] = dict(mothership.agent_env)
    launched = wire.mapping(await mothership.ask(calls.launch_as_json(body)))
    return as_json({"id": launched.get("id"), "status": launched.get("status")})


def _colony(given: Arguments) -> ColonyId:
    return ColonyId(given.text("id"))


def as_json(value: object) -> str:
    """One line of JSON without spaces; half a surrogate pair, which UTF-8 cannot carry, becomes a question mark."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace").decode()


_ID = Parameter("id", "The colony's id, as the list and the cockpit show it.", required=True)

TOOLS: tuple[Tool, ...] = (
    Tool(
        "answer_colony",
        Scope.OPERATE,
        "Answers the question that a colony waits on. Read the question first: the answer is the number of one of its"
        " options (from 1), the option's whole label, or free text.",
        (_ID, Parameter("answer", "An option's 1-based number, its label, or free text.", required=True)),
        _answer_colony,
        "Answer a colony",
    ),
    Tool(
        "colony_diff",
        Scope.READ,
        "Everything that a colony has changed against its base branch: counts for each file and the unified diff.",
        (_ID, Parameter("stat_only", "Only the counts, without the diff's text.", "boolean")),
        _colony_diff,
        "Read a colony's diff",
    ),
    Tool(
        "colony_pr",
        Scope.READ,
        "A colony's pull request: its URL and state, or that there is none yet.",
        (_ID,),
        _colony_pr,
        "Find a colony's pull request",
    ),
    Tool(
        "colony_question",
        Scope.READ,
        "The question that a colony waits on: its numbered options, and how risky what it asks about is.",
        (_ID,),
        _colony_question,
        "Read a colony's question",
    ),
    Tool(
        "colony_status",
        Scope.READ,
        "One colony: its status, branch, pull request and cost, and what it does now.",
        (_ID,),
        _colony_status,
        "Look at a colony",
    ),
    Tool(
        "launch_colony",
        Scope.LAUNCH,
        "Starts an agent in a microVM on a repository, or on one of its issues.",
        (
            Parameter("repo", "The repository, as owner/repo.", required=True),
            Parameter(
                "issue", "The issue's number; its title and text go into the prompt. Else task is worked.", "u64"
            ),
            Parameter("task", "What to do, where there is no issue or the issue alone does not say it."),
            Parameter("model", "The model of the main agent, in place of the one that routing chooses."),
            Parameter(
                "autopilot",
                "Whether the mothership opens the pull request by itself once the agent has finished cleanly and"
                " described it. Left out, the install's setting decides.",
                "boolean",
            ),
            Parameter("allow_duplicate", "Start although another colony holds the issue.", "boolean"),
            Parameter("queue_behind_holder", "Wait for the colony that holds the issue.", "boolean"),
            Parameter("allow_epic", "Start although the issue is an epic.", "boolean"),
        ),
        _launch_colony,
        "Launch a colony",
    ),
    Tool(
        "list_colonies",
        Scope.READ,
        "The colonies that this token may see, newest first.",
        (
            Parameter("org", "Only those of this repository owner."),
            Parameter("status", "Only those in this state, such as queued, running, waiting_for_answer or pr_opened."),
        ),
        _list_colonies,
        "List colonies",
    ),
    Tool(
        "resume_colony",
        Scope.OPERATE,
        "Resumes a stopped or parked colony from its kept worktree.",
        (_ID,),
        _resume_colony,
        "Resume a colony",
    ),
    Tool(
        "search_repo_map",
        Scope.READ,
        "The parts of a repository's architecture map that match, each with what it is connected to.",
        (
            Parameter("repo", "The repository, as owner/repo.", required=True),
            Parameter("query", "A label, an id, a type or a source path.", required=True),
        ),
        _search_repo_map,
        "Search a repository's map",
    ),
    Tool(
        "stop_colony",
        Scope.OPERATE,
        "Stops a colony. Its microVM goes away; its worktree is kept, so that it can be resumed.",
        (_ID,),
        _stop_colony,
        "Stop a colony",
        destructive=True,
        idempotent=True,
    ),
)
"""All tools, in the order of their names."""


def tools_at(scope: Scope) -> tuple[Tool, ...]:
    """The tools that a session of this scope has."""
    return tuple(tool for tool in TOOLS if tool.scope <= scope)


def startup_line(scope: Scope) -> str:
    """What the server says of itself on stderr (seed)."""
    return f"colonizer mcp: serving {len(tools_at(scope))} of {len(TOOLS)} tools at scope {scope.word}"
