"""`colonizer repo`: the repositories that the local engine knows."""

from pathlib import Path

import click

from colonizer_cli import output
from colonizer_cli.options import JSON, GlobalOptions, PlainGroup
from colonizer_cli.targets import local_mothership
from colonizer_client.mothership import calls, wire
from colonizer_client.text import safe_line
from colonizer_config.paths import Paths


@click.group(cls=PlainGroup)
def repo() -> None:
    """Repositories on this machine that the local engine may work on."""


@repo.command(takes=(JSON,))
@click.argument("path", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--as", "name", metavar="OWNER/NAME", help="Call it so; else by its origin, or local/FOLDER.")
@click.pass_obj
def add(options: GlobalOptions, path: Path, name: str | None) -> None:
    """Make a repository known. Nothing in it changes."""
    added = local_mothership(Paths.from_environment()).ask(
        calls.add_local_repository(str(path.absolute()), name).as_json()
    )
    if options.as_json:
        output.show_json(added)
        return
    fields = wire.mapping(added)
    output.say(f"repository {wire.line(fields.get('name'))} added ({wire.line(fields.get('path'))})")


@repo.command("list", takes=(JSON,))
@click.pass_obj
def list_repositories(options: GlobalOptions) -> None:
    """List the known repositories with their folders."""
    rows = wire.sequence(local_mothership(Paths.from_environment()).ask(calls.local_repositories().as_json()))
    if options.as_json:
        output.show_json(rows)
        return
    for row in map(wire.mapping, rows):
        output.say(f"{wire.line(row.get('name')):24}  {wire.line(row.get('path'))}")
    if not rows:
        output.note("no repositories")


@repo.command(takes=())
@click.argument("name", metavar="OWNER/NAME")
def remove(name: str) -> None:
    """Forget a repository. Nothing on disk changes, and its colonies stay."""
    local_mothership(Paths.from_environment()).ask(calls.remove_local_repository(name))
    output.say(f"repository {safe_line(name)} forgotten; nothing on disk was changed")
