"""`colonizer stop` and `colonizer resume`."""

import click

from colonizer_cli import completing, output
from colonizer_cli.local import agent_env
from colonizer_cli.mothership import Mothership
from colonizer_cli.options import GlobalOptions, PlainCommand
from colonizer_cli.targets import Targets
from colonizer_client.identity import ColonyId
from colonizer_client.mothership import calls, wire
from colonizer_client.text import safe_line


@click.command(cls=PlainCommand)
@click.argument("colony", metavar="ID", shell_complete=completing.colonies)
@click.pass_obj
def stop(options: GlobalOptions, colony: str) -> None:
    """Stop a colony. Its branch and its worktree stay, and it can be resumed."""
    mothership, colony_id = Targets(options).holding(colony)
    reply = mothership.ask(calls.stop(mothership.endpoint.name, colony_id).as_json())
    if options.as_json:
        output.show_json(reply)
    else:
        output.say(f"colony {safe_line(colony_id)}: {wire.line(wire.mapping(reply).get('result')) or 'stopped'}")


@click.command(cls=PlainCommand)
@click.argument("colony", metavar="ID", shell_complete=completing.colonies)
@click.pass_obj
def resume(options: GlobalOptions, colony: str) -> None:
    """Start a stopped, failed or parked colony again, where it left off."""
    targets = Targets(options)
    mothership, colony_id = targets.holding(colony)
    agent = _agent(mothership, colony_id) if mothership.is_local else ""
    environment = agent_env(targets.settings, agent) if mothership.is_local else None
    session = mothership.ask(calls.resume(mothership.endpoint.name, colony_id, environment).as_json())
    if options.as_json:
        output.show_json(session)
    else:
        status = wire.line(wire.mapping(session).get("status")) or "queued"
        output.say(f"colony {safe_line(colony_id)} resumed ({status})")


def _agent(mothership: Mothership, colony: ColonyId) -> str:
    """The agent whose variables the colony's next run needs."""
    detail = mothership.ask(calls.colony(mothership.endpoint.name, colony).as_json())
    return wire.raw(wire.mapping(detail).get("agent"))
