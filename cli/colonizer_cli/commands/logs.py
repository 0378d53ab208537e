"""`colonizer logs`: what happened in a colony, and what happens."""

from collections.abc import Mapping

import click

from colonizer_cli import completing, output
from colonizer_cli.failures import Failed
from colonizer_cli.mothership import Mothership
from colonizer_cli.options import GlobalOptions, PlainCommand
from colonizer_cli.targets import Targets
from colonizer_client.errors import ClientError, Unreadable
from colonizer_client.identity import ColonyId
from colonizer_client.mothership import calls, wire

SUMMARY_WIDTH = 120

_NO_EVENTS = frozenset({"run_epoch", "session", "replay_done"})
"""Frames about the connection or the colony as a whole."""


@click.command(cls=PlainCommand)
@click.argument("colony", metavar="ID", shell_complete=completing.colonies)
@click.option("-f", "--follow", is_flag=True, help="Print the whole log, then each event as it comes.")
@click.pass_obj
def logs(options: GlobalOptions, colony: str, follow: bool) -> None:
    """Print the last events of a colony."""
    mothership, colony_id = Targets(options).holding(colony)
    if follow:
        _follow(mothership, colony_id, as_json=options.as_json)
        return
    detail = mothership.ask(calls.colony(mothership.endpoint.name, colony_id).as_json())
    for event in wire.sequence(wire.mapping(detail).get("recent_events")):
        _show(wire.mapping(event), as_json=options.as_json)


def _follow(mothership: Mothership, colony: ColonyId, *, as_json: bool) -> None:
    from colonizer_client.mothership.tail import frames

    path = calls.events_path(colony, since=0, epoch=0)
    try:
        for frame in frames(mothership.server, mothership.token, path):
            event = _event(frame)
            if event is not None:
                _show(event, as_json=as_json)
                output.flush()
    except ClientError as problem:
        raise Failed(f"no events stream at {mothership.server}: {problem}") from problem
    except KeyboardInterrupt:
        return


def _event(frame: str | bytes) -> Mapping[str, object] | None:
    try:
        fields = wire.maybe_mapping(wire.parse(frame if isinstance(frame, bytes) else frame.encode()))
    except Unreadable:
        return None
    return None if fields is None or fields.get("type") in _NO_EVENTS else fields


def _show(event: Mapping[str, object], *, as_json: bool) -> None:
    if as_json:
        output.show_json_line(event)
        return
    seq, at = wire.integer(event.get("seq")) or 0, wire.line(event.get("ts"))
    kind, summary = wire.line(event.get("type")) or "event", wire.line(event.get("summary"), SUMMARY_WIDTH)
    output.say(f"{seq:<6} {at:27} {kind:14} {summary}")
