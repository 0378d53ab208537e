"""`colonizer token`: scoped tokens for others, made with the owner's."""

import math
from collections.abc import Mapping

import click

from colonizer_cli import output
from colonizer_cli.options import GlobalOptions, PlainGroup
from colonizer_cli.targets import Targets
from colonizer_client.mothership import calls, wire
from colonizer_client.mothership.models import TokenOrder
from colonizer_client.text import safe_line

NAME_WIDTH = 20


@click.group(cls=PlainGroup)
def token() -> None:
    """Scoped tokens of a mothership; they need its owner's token."""


@token.command("list")
@click.pass_obj
def list_tokens(options: GlobalOptions) -> None:
    """List the tokens: what they are for, never the tokens themselves."""
    rows = wire.sequence(Targets(options).one().ask(calls.tokens().as_json()))
    if options.as_json:
        output.show_json(rows)
        return
    for row in map(wire.mapping, rows):
        output.say(_row(row))
    if not rows:
        output.note("no tokens")


@token.command()
@click.argument("name")
@click.option("--scope", type=click.Choice(("read", "operate", "launch")), required=True, help="How much it may do.")
@click.option("--org", "orgs", multiple=True, help="Limit it to this org; may be given again.")
@click.option(
    "--repo", "repos", multiple=True, metavar="OWNER/REPO", help="Limit it to this repository; may be given again."
)
@click.option("--max-concurrent", type=click.IntRange(min=0), help="The most unfinished colonies that it may have.")
@click.option("--budget-usd-per-day", type=float, help="The most that its colonies may cost on one day (UTC).")
@click.pass_obj
def create(
    options: GlobalOptions,
    /,
    *,
    name: str,
    scope: str,
    orgs: tuple[str, ...],
    repos: tuple[str, ...],
    max_concurrent: int | None,
    budget_usd_per_day: float | None,
) -> None:
    """Make a token. It is printed once and cannot be read again.

    NAME says who uses it, such as "ci".
    """
    if budget_usd_per_day is not None and not math.isfinite(budget_usd_per_day):
        raise click.UsageError("--budget-usd-per-day takes an amount of dollars")
    mint = calls.mint_token(TokenOrder(name, scope, orgs, repos, max_concurrent, budget_usd_per_day))
    mothership = Targets(options).one()
    if options.as_json:
        output.show_json(mothership.ask(mint.as_json()))
        return
    output.say(mothership.ask(mint).reveal())
    output.note("this is the only time the token is shown; store it now — it cannot be read back")


@token.command()
@click.argument("token_id", metavar="ID")
@click.pass_obj
def revoke(options: GlobalOptions, token_id: str) -> None:
    """Revoke a token: from now on it opens nothing."""
    Targets(options).one().ask(calls.revoke_token(token_id))
    if not options.as_json:
        output.say(f"token {safe_line(token_id)} revoked")


def _row(row: Mapping[str, object]) -> str:
    token_id, name, scope = (wire.line(row.get(key)) or "?" for key in ("id", "name", "scope"))
    limits = "/".join(",".join(wire.words(row.get(key))) or "*" for key in ("orgs", "repos"))
    made = wire.line(row.get("created_at"))[:10] or "?"
    return f"{token_id:14} {safe_line(name, limit=NAME_WIDTH):20} {scope:8} {limits:40} created {made}"
