"""`colonizer mcp install` and `uninstall`: this program in the settings of MCP clients, and out of them."""

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

from colonizer_cli import output
from colonizer_cli.failures import ExitCode, Failed
from colonizer_cli.local import repository_here
from colonizer_cli.mcp_clients import CLIENTS, PROGRAM, TOKEN_VARIABLE, Launch, is_ours_by_its_words, shown
from colonizer_cli.options import HOST, TOKEN_FILE, GlobalOptions, PlainCommand
from colonizer_cli.sign_in import agreed, read_token, secret_line
from colonizer_cli.targets import Targets
from colonizer_config.address import HttpAddress
from colonizer_config.entry_edit import EntryEdit
from colonizer_config.paths import Paths
from colonizer_config.settings import Approve
from colonizer_config.token import Token
from colonizer_server.scope import Scope

_TOKEN_SHOWN = "col_…"
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")

Command = TypeVar("Command", bound=Callable[..., object])


def _checked_name(ctx: click.Context, parameter: click.Parameter, value: str) -> str:
    if not _NAME.fullmatch(value):
        raise click.BadParameter("letters, digits, - and _, at most 64", ctx, parameter)
    return value


def _of_one_entry(command: Command) -> Command:
    """The argument and options that say which entry of which client is meant."""
    for option in (
        click.option("--project", is_flag=True, help="In the folder you stand in, not for all projects."),
        click.option("--name", default=PROGRAM, callback=_checked_name, help="The server's name in the client."),
        click.argument("client", type=click.Choice(tuple(CLIENTS))),
    ):
        command = option(command)
    return command


@click.command(cls=PlainCommand, takes=(HOST, TOKEN_FILE))
@_of_one_entry
@click.option(
    "--scope",
    type=click.Choice([scope.word for scope in Scope]),
    help="How much the client's agents may do, else what the token may.",
)
@click.option(
    "--approve", type=click.Choice([word.value for word in Approve]), help="Which of their calls wait for you."
)
@click.option("--catalog", is_flag=True, help="Give them the tools of your other MCP servers too.")
@click.option("--resources", is_flag=True, help="Give them colonies as resources too, and two prompts.")
@click.option("--with-token", is_flag=True, help="Write a token there too, in plain text.")
@click.option("--print", "only_print", is_flag=True, help="Show what would be written, and write nothing.")
@click.option("--force", is_flag=True, help="Replace another entry of that name without asking.")
@click.pass_obj
def install(
    options: GlobalOptions,
    /,
    *,
    client: str,
    name: str,
    project: bool,
    scope: str | None,
    approve: str | None,
    catalog: bool,
    resources: bool,
    with_token: bool,
    only_print: bool,
    force: bool,
) -> None:
    """Write this program into the settings of an MCP client, as one of its servers.

    All else in the file stays as it is; `colonizer mcp uninstall` takes it back. With --host the client asks that
    mothership. No token is written, unless you say --with-token: it is the one of COLONIZER_TOKEN or --token-file, or
    you are asked for it; take one of the least scope, from `colonizer token create`.
    """
    if with_token and project:
        raise click.UsageError("a project's files are for others too: a token does not go there")
    chosen, targets = CLIENTS[client], Targets(options)
    limits = (*(("--scope", scope) if scope else ()), *(("--approve", approve) if approve else ()))
    added = (*(("--catalog",) if catalog else ()), *(("--resources",) if resources else ()))
    words = (*_global_words(options, targets, with_token=with_token), "mcp", *limits, *added)
    edit = chosen.open(name, _project_folder(project), os.environ, targets.paths)
    if only_print:
        entry = chosen.entry(Launch(words, {TOKEN_VARIABLE: _TOKEN_SHOWN} if with_token else {}))
        output.say(chosen.snippet(name, entry).rstrip())
        output.note(_forecast(edit, name, is_same=edit.found == entry))
        return
    env = {TOKEN_VARIABLE: _token(options, targets).reveal()} if with_token else {}
    entry = chosen.entry(Launch(words, env))
    if edit.found not in (None, entry) and not (edit.is_ours or force):
        _ask(f"{_other(edit, name)}. Replace it?", "--force replaces it, and `uninstall` puts it back")
    edit.put(entry)
    edit.save()
    if not edit.changes:
        output.say(f"{edit.path} has {name} already: nothing was written")
        return
    output.say(f"{name} is in {edit.path}: {chosen.title} has it from its next start on")
    _warn(edit.path, with_token=with_token)


@click.command(cls=PlainCommand, takes=())
@_of_one_entry
@click.option("--force", is_flag=True, help="Take out an entry of that name that is not ours, without asking.")
def uninstall(client: str, name: str, project: bool, force: bool) -> None:
    """Take this program out of the settings of an MCP client.

    Where nobody else changed the file since, it is again what it was before, to the byte; where an entry of the same
    name was replaced, that one is back.
    """
    edit = CLIENTS[client].open(name, _project_folder(project), os.environ, Paths.from_environment())
    if edit.found is not None and not (edit.is_ours or is_ours_by_its_words(edit.found) or force):
        _ask(f"{_other(edit, name)}. Take it out?", "--force takes it out")
    restores = edit.restores
    edit.take_back()
    edit.save()
    if not edit.changes:
        output.say(f"{edit.path} has no {name}: nothing was written")
    elif edit.text is None:
        output.say(f"{edit.path} is removed: there was none before")
    elif restores:
        output.say(f"{name} in {edit.path} is again what it was before")
    else:
        output.say(f"{name} is no more in {edit.path}")


def _global_words(options: GlobalOptions, targets: Targets, *, with_token: bool) -> tuple[str, ...]:
    """The options that stand before the command, so that it means the mothership that is named now."""
    if targets.named is None or not isinstance(address := targets.named.address, HttpAddress):
        return ()
    host = ("--host", options.host or f"{address.named_host}:{address.port or 80}")
    if options.token_file is None or with_token:
        return host
    return (*host, "--token-file", str(options.token_file.absolute()))


def _token(options: GlobalOptions, targets: Targets) -> Token:
    """The token that was given for this. The owner's, which is at hand, is never taken by itself."""
    if offered := os.environ.get(TOKEN_VARIABLE, "").strip():
        return Token(offered)
    if options.token_file is not None and targets.named is not None:
        assert isinstance(targets.named.address, HttpAddress), "a host is named by HOST[:PORT]"
        return read_token(targets.named.address, options.token_file, targets.paths)
    return Token(secret_line("Token to write there, better a scoped one (not shown): "))


def _project_folder(project: bool) -> Path | None:
    if not project:
        return None
    folder = repository_here()
    if folder is None:
        raise Failed("the folder that you stand in is gone", ExitCode.USAGE)
    return folder


def _ask(question: str, otherwise: str) -> None:
    if not agreed(question):
        raise Failed(f"{question.partition('. ')[0]}; nothing was written: {otherwise}", ExitCode.CONFLICT)


def _other(edit: EntryEdit, name: str) -> str:
    return f"{edit.path} has another {name}: {shown(edit.found)}"


def _forecast(edit: EntryEdit, name: str, *, is_same: bool) -> str:
    if is_same:
        return f"{edit.path} has this already"
    if edit.found is None or edit.is_ours:
        return f"this would be written to {edit.path}"
    return f"{_other(edit, name)}; only with --force would this take its place"


def _warn(file: Path, *, with_token: bool) -> None:
    if shutil.which(PROGRAM) is None:
        output.note(f"colonizer: warning: {PROGRAM} is not on the PATH here; the client has to find it on its own")
    if with_token and file.stat().st_mode & 0o077:
        output.note(f"colonizer: warning: others may read {file}, with the token in it: chmod 600 it")
