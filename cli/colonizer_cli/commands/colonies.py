"""`colonizer list` and `colonizer status`: what there is, and how one colony stands."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

import click

from colonizer_cli import completing, output
from colonizer_cli.colony_row import colony_row
from colonizer_cli.failures import Failed, exit_code
from colonizer_cli.local import never_started
from colonizer_cli.mothership import Mothership, patience_s, reach
from colonizer_cli.options import GlobalOptions, PlainCommand
from colonizer_cli.seen import SeenColonies
from colonizer_cli.side_by_side import Job, side_by_side
from colonizer_cli.targets import Targets, tell_other_version
from colonizer_client.errors import ClientError
from colonizer_client.mothership import calls, wire
from colonizer_client.text import safe_line
from colonizer_config.endpoints import Endpoint
from colonizer_config.value import Value

LIST_LIMIT_S = 3.0
"""How long each endpoint may take, so that the fastest ones do not wait for a dead one."""

Fields = Mapping[str, object]


class Wanted(Value):
    """Which colonies are listed."""

    org: str | None = None
    status: str | None = None

    def has(self, session: Fields) -> bool:
        """Whether the colony is one of them: the org is compared as it is written, the status whatever the case."""
        owner = wire.raw(session.get("repo")).partition("/")[0]
        return (self.org is None or self.org in (session.get("org"), owner)) and (
            self.status is None or wire.raw(session.get("status")).lower() == self.status.lower()
        )


class Listing(Value):
    """What one mothership answered."""

    sessions: Sequence[object] = ()
    alerts: Sequence[Fields] = ()
    """Accounts whose sign-in has ended."""


@click.command("list", cls=PlainCommand)
@click.option("--org", help="Only colonies of this org, the owner of the repository.")
@click.option("--status", help="Only colonies in this state: queued, running, waiting_for_answer, pr_opened, …")
@click.option("--parked", is_flag=True, help="The same as --status parked.")
@click.pass_obj
def list_colonies(options: GlobalOptions, org: str | None, status: str | None, parked: bool) -> None:
    """List the colonies, the newest first.

    Without a named host those of every endpoint, with the endpoint's name in the first column.
    """
    if parked and status is not None:
        raise click.UsageError("--parked cannot be used with --status")
    targets = Targets(options)
    wanted = Wanted(org, "parked" if parked else status)
    if targets.named is None:
        _list_all(targets, wanted, as_json=options.as_json)
    else:
        _list_one(targets.one(), wanted, as_json=options.as_json)


@click.command(cls=PlainCommand)
@click.argument("colony", metavar="ID", shell_complete=completing.colonies)
@click.pass_obj
def status(options: GlobalOptions, colony: str) -> None:
    """Show how one colony stands: state, branch, pull request, cost, and what it does now."""
    mothership, colony_id = Targets(options).holding(colony)
    detail = mothership.ask(calls.colony(mothership.endpoint.name, colony_id).as_json())
    if options.as_json:
        output.show_json(detail)
        return
    for label, value in _facts(wire.mapping(detail), colony_id):
        output.say(f"{label:9} {value}")


def _list_one(mothership: Mothership, wanted: Wanted, *, as_json: bool) -> None:
    listing = _read(mothership)
    _tell_alerts(listing.alerts, "")
    rows = [session for session in listing.sessions if wanted.has(wire.mapping(session))]
    if as_json:
        output.show_json(rows)
        return
    for session in rows:
        output.say(colony_row(wire.mapping(session)))
    if not rows:
        output.note("no colonies")


def _list_all(targets: Targets, wanted: Wanted, *, as_json: bool) -> None:
    found = side_by_side(
        {
            endpoint: Job(partial(_read_endpoint, targets, endpoint), patience_s(endpoint, LIST_LIMIT_S))
            for endpoint in targets.endpoints
        }
    )
    for endpoint, listing in found.answers.items():
        _tell_alerts(listing.alerts, f"{endpoint.name}: ")
    found.tell_failures()
    if not found.answers:
        raise Failed("no endpoint answered", exit_code(next(iter(found.failures.values()))))
    rows = [
        _named(endpoint, wire.mapping(session))
        for endpoint, listing in found.answers.items()
        for session in listing.sessions
        if wanted.has(wire.mapping(session))
    ]
    if as_json:
        output.show_json(rows)
        return
    for row in rows:
        output.say(f"{row['endpoint']:10}  {colony_row(row)}")
    if not rows:
        output.note("no colonies")


def _named(endpoint: Endpoint, session: Fields) -> Fields:
    """The session with its endpoint's name first, whatever the server itself puts under that key."""
    name = {"endpoint": endpoint.name}
    return {**name, **session, **name}


def _read_endpoint(targets: Targets, endpoint: Endpoint) -> Listing:
    if never_started(endpoint, targets.paths):
        return Listing()
    mothership = reach(endpoint, targets.paths, LIST_LIMIT_S)
    tell_other_version(mothership)
    listing = _read(mothership)
    rows = map(wire.mapping, listing.sessions)
    SeenColonies(targets.paths).keep(
        endpoint.name, [(wire.raw(row.get("id")), wire.raw(row.get("status"))) for row in rows]
    )
    return listing


def _read(mothership: Mothership) -> Listing:
    answered = mothership.ask(calls.colonies(mothership.endpoint.name).as_json())
    sessions = wire.sequence(wire.mapping(answered).get("sessions", answered))
    try:
        status = mothership.ask(calls.server_status())
    except ClientError:
        return Listing(sessions)  # the list is what was asked for
    return Listing(sessions, [wire.mapping(alert) for alert in wire.sequence(status.get("account_alerts"))])


def _tell_alerts(alerts: Iterable[Fields], where: str) -> None:
    for alert in alerts:
        waiting = wire.integer(alert.get("waiting")) or 0
        colonies = "1 colony" if waiting == 1 else f"{waiting} colonies"
        account = wire.line(alert.get("account"))
        output.note(
            f"! {where}Claude account `{account}` needs sign-in again — {colonies} waiting (cockpit → Accounts)"
        )


def _facts(detail: Fields, colony: str) -> Iterator[tuple[str, str]]:
    """The lines of `status`, each a label and a value of one line."""
    cost = wire.number(detail.get("cost_usd"))
    yield "colony", f"{safe_line(colony)} ({wire.line(detail.get('status')) or '?'})"
    yield "repo", wire.line(detail.get("repo")) or "?"
    yield "branch", wire.line(detail.get("branch")) or "-"
    yield "pr", wire.line(detail.get("pr_url")) or "-"
    yield "cost", "—" if cost is None else f"${cost:.2f}"
    if reason := wire.line(wire.mapping(detail.get("attention")).get("reason")):
        yield "attention", _attention(reason, wire.line(detail.get("claude_account")))
    if now := wire.line(wire.mapping(detail.get("diagnosis")).get("text")):
        yield "now", now
    if error := wire.line(detail.get("error")):
        yield "error", error


def _attention(reason: str, account: str) -> str:
    if reason == "waiting_for_account":
        return f"waiting for Claude account `{account or 'default'}` to work again"
    return reason.replace("_", " ")
