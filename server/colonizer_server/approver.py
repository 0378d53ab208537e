"""Has the calls of agents wait for a person: asked for first, and carried out once, when they are made again.

No tool decides. What forbids a call outright is looked at each time that it is made, right before it is carried out.
"""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal, Protocol

from colonizer_client.approvals.ledger import SECRETS_REFUSED, Approvals
from colonizer_client.approvals.models import Approval, Caller, Request, canonical
from colonizer_client.approvals.secrecy import holds_secret
from colonizer_client.clock import Clock
from colonizer_client.errors import UNKNOWN_FATE, ClientError, Forbidden, NotFound, StoreError
from colonizer_client.store import Store
from colonizer_client.text import safe_line
from colonizer_config.settings import Approve
from colonizer_server.arguments import Arguments, Parameter, read
from colonizer_server.errors import ToolError
from colonizer_server.policy import Policy, SettingsInForce
from colonizer_server.proposals import propose
from colonizer_server.scope import Scope
from colonizer_server.session import Session
from colonizer_server.tools import Mothership, Tool, as_json

LOOK_S = 0.25
"""Between two looks whether a call that waits was decided."""

PROGRESS_S = 5.0
"""Between two notices that a call still waits."""

_UNNAMED = "a client without a name"


class Report(Protocol):
    """Tells a client how far its call is; does nothing for one that did not ask for it."""

    def __call__(self, progress: float, total: float | None = None, message: str | None = None) -> Awaitable[None]:
        """Tells it: seconds waited, and of how many."""
        ...


@dataclass(frozen=True, slots=True)
class Called:
    """One call of a tool."""

    tool: Tool
    given: Mapping[str, object]
    """As the client sent them, raw."""
    client: str
    """The name that the client gives itself, raw."""
    report: Report


class Approver:
    """What lets the calls of one session through, or has them wait."""

    def __init__(
        self, session: Session, settings: SettingsInForce, open_store: Callable[[], Store], clock: Clock
    ) -> None:
        self._session = session
        self._settings = settings
        self._open_store = open_store
        self._clock = clock
        self._opened: Approvals | None = None

    def tools(self, client: str) -> tuple[Tool, ...]:
        """The tools that a client of this name has beside those of its scope."""
        return () if self._policy(client).approve is Approve.NEVER else (self._status_tool(client),)

    async def run(self, called: Called, mothership: Mothership) -> str:
        """The text of the call's result, or what has to happen before it is carried out.

        Raises:
            ToolError: It could not be done, or a person refused it.
            ClientError: It cannot be done, may not be approved, or the approvals cannot be kept.
        """
        policy = self._policy(called.client)
        given = read(called.tool.parameters, called.given)
        if called.tool.name == STATUS_NAME or not policy.covers(called.tool):
            return await called.tool.work(mothership, given)
        request = await self._request(called, given, mothership, policy)
        approval = self._asked(request)
        if approval.state == "pending" and self._session.wait_s > 0:
            approval = await self._decision(approval, called.report)
            if approval.state == "approved":
                request = await self._request(called, given, mothership, self._policy(called.client))
        if approval.state == "approved":
            return await self._carry_out(called.tool, approval, request, mothership)
        return _told(approval)

    async def _request(self, called: Called, given: Arguments, mothership: Mothership, policy: Policy) -> Request:
        """What is asked for, unless it is refused whatever the person would say."""
        caller = self._caller(called.client)
        try:
            if holds_secret(called.given):
                raise Forbidden(SECRETS_REFUSED, status=403)
            proposal = await propose(mothership, called.tool, given)
        except (ToolError, ClientError) as problem:
            self._approvals.refuse(caller, called.tool.name, given.given, str(problem))
            raise
        return Request(
            caller=caller,
            tool=called.tool.name,
            arguments=given.given,
            policy=policy.version,
            mothership=self._session.where,
            summary=proposal.summary,
            blast=(*proposal.blast, f"mothership {self._session.where}"),
            about=proposal.about,
        )

    def _asked(self, request: Request) -> Approval:
        try:
            return self._approvals.ask(request)
        except ClientError as problem:
            if not isinstance(problem, StoreError):
                self._approvals.refuse(request.caller, request.tool, request.arguments, str(problem))
            raise

    async def _decision(self, approval: Approval, report: Report) -> Approval:
        """The approval once it is decided, or after as long as the session waits."""
        began = told = self._clock.monotonic()
        words = f"approval {approval.id} waits for a person"
        await report(0.0, self._session.wait_s, words)
        while approval.state == "pending":
            now = self._clock.monotonic()
            if now - began >= self._session.wait_s:
                break
            if now - told >= PROGRESS_S:
                told = now
                await report(now - began, self._session.wait_s, words)
            await self._clock.sleep(LOOK_S)
            approval = self._approvals.get(approval.id)
        return approval

    async def _carry_out(self, tool: Tool, approval: Approval, request: Request, mothership: Mothership) -> str:
        self._approvals.claim(approval, request)
        fate: Literal["done", "failed", "unknown"] = "unknown"
        result = "the call was cut off while it was carried out"
        try:
            bound = replace(mothership, answers_to=request.about)
            result = await tool.work(bound, read(tool.parameters, approval.arguments))
            fate = "done"
        except (ToolError, ClientError) as problem:
            fate, result = "unknown" if isinstance(problem, UNKNOWN_FATE) else "failed", str(problem)
            raise
        finally:
            # What was done is told to who called; the row says that it is not known.
            with suppress(StoreError):
                self._approvals.settle(approval, fate, result)
        if not approval.is_edited:
            return result
        return f"The person changed the arguments before approving: this was done with {_json(approval)}.\n{result}"

    def _status_tool(self, client: str) -> Tool:
        async def work(mothership: Mothership, given: Arguments) -> str:
            del mothership
            return self._status(given.text("id"), self._caller(client))

        return Tool(
            STATUS_NAME,
            Scope.READ,
            "How a call that waits for a person stands: pending, approved, rejected, expired, done, failed, or unknown;"
            " with its result once it was carried out. It decides nothing.",
            (Parameter("id", "The approval's id, as the call's result told it.", required=True),),
            work,
            "Look at an approval",
        )

    def _status(self, approval_id: str, caller: Caller) -> str:
        approval = self._approvals.get(approval_id)
        if (approval.request.caller.id, approval.request.caller.client) != (caller.id, caller.client):
            raise NotFound(f"there is no approval {safe_line(approval_id, limit=60)}", status=404)
        told: dict[str, object] = {"id": approval.id, "tool": approval.request.tool, "state": approval.state}
        told |= {"expires_at": _moment(approval.expires_at)} if approval.state in ("pending", "approved") else {}
        told |= {"edited": True, "arguments": approval.arguments} if approval.is_edited else {}
        told |= {"reason": approval.words} if approval.words else {}
        told |= {"result": approval.result} if approval.result else {}
        told["next"] = _NEXT[approval.state]
        return as_json(told)

    def _policy(self, client: str) -> Policy:
        return Policy.of(self._session, self._settings.now(), client)

    def _caller(self, client: str) -> Caller:
        return Caller(self._session.caller_id, safe_line(client, limit=60) or _UNNAMED)

    @property
    def _approvals(self) -> Approvals:
        if self._opened is None:
            self._opened = Approvals(self._open_store(), self._clock)
        return self._opened


STATUS_NAME = "approval_status"

_NEXT: Mapping[str, str] = {
    "pending": "wait for the person; ask again later",
    "approved": "call the tool again with the same arguments to have it done",
    "claimed": "it is being carried out",
    "done": "nothing: it was carried out",
    "failed": "it was tried and could not be done; another try needs another approval",
    "unknown": "whether it was carried out is not known: look before you ask for it again",
    "rejected": "do not ask for the same again; the reason may say what else to do",
    "expired": "nobody's word holds any more; calling the tool again asks anew",
}


def _told(approval: Approval) -> str:
    """What a caller is told whose call was not carried out.

    Raises:
        ToolError: A person refused it, or nobody decided in time.
    """
    if approval.state == "pending":
        return (
            f"Not done yet: this call waits for a person's approval, with the id {approval.id}. The person decides in"
            f" the cockpit, or with `colonizer approvals show {approval.id}`; no tool can. Once it is approved, call"
            f" {approval.request.tool} again with the same arguments and it is carried out; {STATUS_NAME} tells how it"
            f" stands. What is not approved until {_moment(approval.expires_at)} is refused."
        )
    if approval.state == "claimed":
        return f"This call, approved as {approval.id}, is being carried out already: {STATUS_NAME} tells the result."
    if approval.state == "rejected":
        reason = f": {approval.words}" if approval.words else ""
        raise ToolError(f"a person rejected this call (approval {approval.id}){reason}")
    raise ToolError(f"approval {approval.id} is {approval.state}: {approval.words or _NEXT[approval.state]}")


def _json(approval: Approval) -> str:
    return canonical(approval.arguments)


def _moment(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
