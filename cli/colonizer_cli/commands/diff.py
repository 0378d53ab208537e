"""`colonizer diff`: what a colony has changed."""

from collections.abc import Mapping

import click

from colonizer_cli import completing, output
from colonizer_cli.options import GlobalOptions, PlainCommand
from colonizer_cli.targets import Targets
from colonizer_client.mothership import calls, wire

_CUT = "note: the diff was truncated; the colony's worktree has the whole thing"


@click.command(cls=PlainCommand)
@click.argument("colony", metavar="ID", shell_complete=completing.colonies)
@click.option("--stat", is_flag=True, help="Count the lines of each file instead.")
@click.pass_obj
def diff(options: GlobalOptions, colony: str, stat: bool) -> None:
    """Print all that a colony has changed, as a unified diff.

    On a terminal control characters are shown and do nothing. Anywhere else the diff is written byte for byte, so
    that `colonizer diff ID | git apply` works: a file made so may hold control characters of the colony's.
    """
    mothership, colony_id = Targets(options).holding(colony)
    body = mothership.ask(calls.diff(colony_id).as_json())
    if options.as_json:
        output.show_json(body)
        return
    fields = wire.mapping(body)
    if wire.flag(fields.get("truncated")):
        output.note(_CUT)
    if not stat:
        output.show_diff(wire.raw(fields.get("diff")))
        return
    files = wire.sequence(fields.get("files"))
    for file in map(wire.mapping, files):
        output.say(f"{_counts(file)} {wire.line(file.get('path'))}")
    output.say(f"{_counts(fields)} across {len(files)} files")


def _counts(fields: Mapping[str, object]) -> str:
    added, removed = (wire.integer(fields.get(key)) or 0 for key in ("added", "removed"))
    return f"+{added:<4} -{removed:<4}"
