"""`colonizer launch`: start a colony."""

import re
from typing import Any

import click

from colonizer_cli import output
from colonizer_cli.failures import Failed
from colonizer_cli.local import agent_env, repository_here
from colonizer_cli.mothership import Mothership
from colonizer_cli.options import GlobalOptions, PlainCommand
from colonizer_cli.targets import Targets, local_mothership
from colonizer_client.errors import Refusal
from colonizer_client.mothership import calls, wire
from colonizer_client.mothership.models import LaunchOrder

_REPOSITORY = re.compile(r"[A-Za-z0-9._-]{1,100}/[A-Za-z0-9._-]{1,100}")


@click.command(cls=PlainCommand)
@click.argument("repo", metavar="[OWNER/REPO]", required=False)
@click.argument("task", required=False)
@click.option("--issue", type=click.IntRange(min=0), metavar="N", help="Work on this issue; TASK adds to it.")
@click.option("--agent", metavar="ID", help="Run this agent; else the mothership chooses.")
@click.option("--model", help="Run the agent on this model instead of what routing would pick.")
@click.option("--subagent-model", metavar="MODEL", help="Run its subagents on this model.")
@click.option("--autopilot", is_flag=True, help="Open the pull request by itself after a clean finish.")
@click.option("--no-autopilot", is_flag=True, help="Leave the finished work for you, whatever the default is.")
@click.option("--allow-duplicate", is_flag=True, help="Start on an issue that another colony holds.")
@click.option("--queue-behind-holder", is_flag=True, help="Wait for the colony that holds the issue.")
@click.option("--allow-epic", is_flag=True, help="Start on an issue that stands for several others.")
@click.option("--package", help="Fix this package's advisory (with --advisory).")
@click.option("--advisory", help="The advisory that --package is fixed for (GHSA-…, RUSTSEC-…).")
@click.pass_obj
def launch(
    options: GlobalOptions,
    /,
    *,
    repo: str | None,
    task: str | None,
    autopilot: bool,
    no_autopilot: bool,
    package: str | None,
    advisory: str | None,
    **chosen: Any,
) -> None:
    """Start a colony: an agent that works on a task or an issue of a repository.

    With one argument that is no OWNER/REPO, or with --issue alone, it works on the repository that you stand in.
    Changes of your clone that are not committed are not part of what it sees.
    """
    if autopilot and no_autopilot:
        raise click.UsageError("--autopilot cannot be used with --no-autopilot")
    if (package is None) != (advisory is None):
        raise click.UsageError("--package and --advisory go together")
    targets = Targets(options)
    if targets.named is None and task is None and repo is not None and not _REPOSITORY.fullmatch(repo):
        repo, task = None, repo
    if repo is None and targets.named is not None:
        raise click.UsageError("Missing argument 'OWNER/REPO'.")
    if repo is None and task is None and chosen["issue"] is None:
        raise click.UsageError("Say what to do: a TASK, or an issue by --issue N.")
    mothership = targets.one()
    order = LaunchOrder(
        repo=_repository(targets, mothership, repo),
        task=task or "",
        autopilot=True if autopilot else False if no_autopilot else None,
        supply_chain=None if package is None or advisory is None else (package, advisory),
        agent_env=agent_env(targets.settings, chosen["agent"] or "") if mothership.is_local else None,
        **chosen,
    )
    session = mothership.ask(calls.launch(mothership.endpoint.name, order).as_json())
    if options.as_json:
        output.show_json(session)
    else:
        fields = wire.mapping(session)
        colony, status = wire.line(fields.get("id")) or "?", wire.line(fields.get("status")) or "queued"
        output.say(f"colony {colony} started ({status})")


def _repository(targets: Targets, mothership: Mothership, given: str | None) -> str:
    """The name of the repository to work on: the given one, else that of the one that the person stands in.

    The local engine is told of the one that the person stands in, so that it knows it by its name.
    """
    if given is not None and not mothership.is_local:
        return given
    here = repository_here()
    if here is None:
        raise Failed("the folder that you stand in is gone")
    local = mothership if mothership.is_local else local_mothership(targets.paths)
    try:
        found = local.ask(calls.add_local_repository(str(here)))
    except Refusal:
        if given is None:
            raise
        return given
    return found.name_raw if given is None else given
