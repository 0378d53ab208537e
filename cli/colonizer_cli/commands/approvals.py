"""`colonizer approvals`: the calls of agents that wait for the person, looked at and decided."""

import json
import sys
import termios
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing, contextmanager, suppress

import click

from colonizer_cli import output
from colonizer_cli.columns import cut, width_of_output
from colonizer_cli.editor import edited
from colonizer_cli.failures import ExitCode, Failed
from colonizer_cli.options import JSON, GlobalOptions, PlainGroup
from colonizer_cli.sign_in import agreed
from colonizer_client.approvals.ledger import Approvals
from colonizer_client.approvals.models import CANNOT_HOLD_BACK, Approval, canonical, has_hidden, payload
from colonizer_client.clock import SystemClock
from colonizer_client.store import Store
from colonizer_client.text import safe_text
from colonizer_config.paths import Paths

WHO = "a person by a plain command"

SHOWN = 50
"""Of those that are over, with `list --all`."""

PREFIX_LEAST = 8
"""Characters of a digest that tell it from any other that the same person was shown."""


@click.group(cls=PlainGroup, invoke_without_command=True)
@click.pass_context
def approvals(ctx: click.Context) -> None:
    """Show and decide the calls of agents that wait for you; see --approve of `colonizer mcp`.

    What you approve is carried out once, exactly as it was shown, when the agent calls again. What nobody decides is
    refused. Each attempt, decision and effect is written into audit.jsonl.
    """
    if ctx.invoked_subcommand is None:
        with click.Context(list_approvals, ctx, "list") as own:
            list_approvals.invoke(own)


@approvals.command("list", takes=(JSON,))
@click.option("--all", "is_all", is_flag=True, help="Also the last ones that are over.")
@click.pass_obj
def list_approvals(options: GlobalOptions, is_all: bool = False) -> None:
    """List the calls that wait, the oldest first."""
    with _opened() as ledger:
        found = tuple(reversed(ledger.newest(SHOWN))) if is_all else ledger.pending()
    if options.as_json:
        output.show_json([_json(approval) for approval in found])
        return
    columns = width_of_output()
    for approval in found:
        output.say(cut(_line(approval), columns))
    if not found:
        output.note("nothing waits for you")


@approvals.command(takes=(JSON,))
@click.argument("approval_id", metavar="ID")
@click.pass_obj
def show(options: GlobalOptions, approval_id: str) -> None:
    """Show one call whole: who asks, what it would do and touch, and every argument."""
    with _opened() as ledger:
        approval = ledger.get(approval_id)
    if options.as_json:
        output.show_json(_json(approval))
    else:
        _show(approval)


@approvals.command(takes=(JSON,))
@click.argument("approval_id", metavar="ID")
@click.option("--digest", metavar="PREFIX", help="The beginning of the digest that was shown; then nothing is asked.")
@click.pass_obj
def approve(options: GlobalOptions, approval_id: str, digest: str | None) -> None:
    """Approve a call, exactly as it is shown."""
    with _opened() as ledger:
        approval = ledger.get(approval_id)
        if digest is None:
            _agree(options, approval)
        elif len(digest) < PREFIX_LEAST:
            raise click.UsageError(f"--digest needs at least {PREFIX_LEAST} characters of it")
        is_shown = digest is None or approval.digest.startswith(digest.lower())
        decided = ledger.approve(approval_id, approval.digest if is_shown else "", WHO)
    _tell(options, decided, "approved: it is carried out when the caller calls again")


@approvals.command(takes=(JSON,))
@click.argument("approval_id", metavar="ID")
@click.pass_obj
def edit(options: GlobalOptions, approval_id: str) -> None:
    """Change a call's arguments in your editor, and approve what you save.

    The caller is told what was changed. An empty file, or one that is left as it was, decides nothing. What the call is
    about, a colony or a repository, cannot be changed: reject it instead.
    """
    from colonizer_server.errors import ToolError  # the tools are needed here alone
    from colonizer_server.proposals import checked_edit

    with _opened() as ledger:
        approval = ledger.get(approval_id)
        if approval.state == "pending":
            before = json.dumps(approval.arguments, indent=2, sort_keys=True) + "\n"
            saved = edited(before, ".json")
            if not saved.strip() or saved == before:
                raise Failed("nothing was changed, and nothing decided", ExitCode.CONFLICT)
            try:
                arguments = checked_edit(approval.request.tool, approval.arguments, _parsed(saved))
            except ToolError as problem:
                raise Failed(f"nothing was decided: {problem}", ExitCode.USAGE) from problem
            decided = ledger.edit(approval_id, approval.digest, arguments, WHO)
        else:
            decided = ledger.approve(approval_id, approval.digest, WHO)  # which says why it cannot be
    if not options.as_json:
        for line in payload(decided.arguments):
            output.say(f"  {line}")
    _tell(options, decided, "approved as you changed it: it is carried out when the caller calls again")


@approvals.command(takes=(JSON,))
@click.argument("approval_id", metavar="ID")
@click.option("--reason", default="", help="What the caller reads.")
@click.pass_obj
def reject(options: GlobalOptions, approval_id: str, reason: str) -> None:
    """Reject a call; the same one is refused for ten minutes."""
    with _opened() as ledger:
        decided = ledger.reject(approval_id, WHO, reason)
    _tell(options, decided, "rejected")


@contextmanager
def _opened() -> Generator[Approvals]:
    with closing(Store(Paths.from_environment().engine.cockpit_db)) as store:
        yield Approvals(store, SystemClock())


def _agree(options: GlobalOptions, approval: Approval) -> None:
    """Shows the call whole and asks; returns where the person says yes, and where there is nothing to decide."""
    if approval.state != "pending":
        return
    if not options.as_json:
        _show(approval)
        output.flush()
        _drop_typed_ahead()
        if agreed("Approve this?"):
            return
    raise Failed("not approved: without a terminal, say --digest with the digest that was shown", ExitCode.CONFLICT)


def _drop_typed_ahead() -> None:
    """Forgets keys that were pressed before there was anything to read: they answer another question."""
    if sys.stdin is not None and sys.stdin.isatty():
        with suppress(termios.error):
            termios.tcflush(sys.stdin, termios.TCIFLUSH)


def _tell(options: GlobalOptions, approval: Approval, words: str) -> None:
    if options.as_json:
        output.show_json(_json(approval))
    else:
        output.say(f"{approval.id} {words}")


def _parsed(text: str) -> Mapping[str, object]:
    try:
        value: object = json.loads(text)
    except ValueError as problem:
        raise Failed(f"nothing was decided: this is no JSON: {problem}", ExitCode.USAGE) from None
    if not isinstance(value, dict):
        raise Failed("nothing was decided: the arguments are a JSON object", ExitCode.USAGE)
    return {str(name): inner for name, inner in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def _show(approval: Approval) -> None:
    for line in _lines(approval):
        output.say(line)


def _lines(approval: Approval) -> Iterator[str]:
    """Everything that a person has to know to decide."""
    request = approval.request
    yield f"{approval.id}  {_state(approval)}"
    yield f"{request.caller.client} asks to call {request.tool}"
    yield request.summary
    yield from (f"  - {line}" for line in request.blast)
    if approval.is_edited:
        yield "Asked for:"
        yield from (f"  {line}" for line in payload(request.arguments))
        yield "Changed to:"
    else:
        yield "Arguments, whole:"
    yield from (f"  {line}" for line in payload(approval.arguments))
    if has_hidden(approval.arguments):
        yield "CAREFUL: the arguments hold hidden characters; each is shown as a sign, and exactly behind it."
    yield f"digest {approval.digest}"
    if approval.words:
        yield f"reason: {approval.words}"
    if approval.result:
        yield "Result:"
        yield from (f"  | {line}" for line in safe_text(approval.result).split("\n"))
    if request.caller.is_same_user:
        yield CANNOT_HOLD_BACK


def _line(approval: Approval) -> str:
    request = approval.request
    return f"{approval.id:8}  {_state(approval):28}  {request.caller.client:16}  {request.tool:14}  {request.summary}"


def _state(approval: Approval) -> str:
    if approval.state in ("pending", "approved"):
        return f"{approval.state} until {time.strftime('%H:%M:%S', time.localtime(approval.expires_at))}"
    if approval.state == "unknown":
        return "unknown whether it was done"
    return approval.state


def _json(approval: Approval) -> Mapping[str, object]:
    request = approval.request
    return {
        "id": approval.id,
        "state": approval.state,
        "client": request.caller.client,
        "caller": request.caller.id,
        "mothership": request.mothership,
        "tool": request.tool,
        "summary": request.summary,
        "blast": request.blast,
        "arguments": approval.arguments,
        "canonical": canonical(approval.arguments),
        "digest": approval.digest,
        "hidden_characters": has_hidden(approval.arguments),
        "asked_for": request.arguments,
        "policy": request.policy,
        "created_at": approval.created_at,
        "expires_at": approval.expires_at,
        "decided_at": approval.decided_at,
        "decided_by": approval.decided_by,
        "words": approval.words,
        "result": approval.result,
        "caution": CANNOT_HOLD_BACK if request.caller.is_same_user else "",
    }
