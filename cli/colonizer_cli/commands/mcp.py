"""`colonizer mcp`: the tools over colonies for agents, on stdin and stdout (spec 5)."""

import signal
import sys
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from functools import cache

import click
from msgspec.structs import replace

from colonizer_cli import output
from colonizer_cli.catalogue_wiring import CatalogueWiring, commands_env
from colonizer_cli.failures import Failed
from colonizer_cli.lazy_group import LazyGroup
from colonizer_cli.local import agents_env, local_engine, repository_here
from colonizer_cli.mothership import Mothership
from colonizer_cli.options import ALL, global_options_of
from colonizer_cli.targets import Targets
from colonizer_client.errors import ClientError, EngineUnavailable
from colonizer_client.mothership import calls
from colonizer_config.endpoints import known_servers
from colonizer_config.paths import Paths
from colonizer_config.settings import Approve
from colonizer_server.scope import Scope, session_scope
from colonizer_server.session import Session
from colonizer_server.tools import startup_line

_NEVER_ASKED = "the MCP stdio transport failed before the first message: stdin ended"


WAIT_LIMIT_S = 3600
"""Nothing waits longer than its approval lives, whatever is given."""

_WAITING = {Approve.WRITES: "calls that change something", Approve.ALL: "all calls"}

_COMMANDS = {"install": "mcp_install:install", "uninstall": "mcp_install:uninstall"}


@click.group(cls=LazyGroup, commands_in=_COMMANDS, shown=ALL, invoke_without_command=True)
@click.option(
    "--scope",
    "asked",
    type=click.Choice([scope.word for scope in Scope]),
    help="How far the tools reach. Without it an owner's token gets read, and a scoped token what it says.",
)
@click.option(
    "--approve",
    type=click.Choice([word.value for word in Approve]),
    help="Which calls wait for you: never (the default), writes, or all; where the settings say more, that goes.",
)
@click.option(
    "--wait",
    "wait_s",
    metavar="SECONDS",
    type=click.FloatRange(0, WAIT_LIMIT_S),
    help="How long a call waits for your decision by itself, else it has to be made again.",
)
@click.option("--catalog", is_flag=True, help="Add four tools that find and call those of your other MCP servers.")
@click.option(
    "--resources",
    "with_resources",
    is_flag=True,
    help="Serve colonies as resources too, with notices of what changes, and two prompts.",
)
@click.pass_context
def mcp(
    ctx: click.Context,
    asked: str | None,
    approve: str | None,
    wait_s: float | None,
    *,
    catalog: bool,
    with_resources: bool,
) -> None:
    """Serve a mothership's colonies to an MCP client on stdin and stdout.

    What the tools may do is the token's scope; --scope can lower it, and raises only what an owner's token starts with.
    `install` writes this server into the settings of a client, `uninstall` takes it out again.
    """
    if ctx.invoked_subcommand is not None:
        given = (
            *(("--scope", asked), ("--approve", approve), ("--wait", wait_s)),
            *(("--catalog", catalog or None), ("--resources", with_resources or None)),
        )
        for option, value in given:
            if value is not None:
                raise click.UsageError(f"{option} goes after `{ctx.invoked_subcommand}`", ctx)
        return
    targets = Targets(global_options_of(ctx))
    mothership = targets.one()
    values = agents_env(targets.settings) if mothership.is_local else {}
    session = _session(mothership, None if asked is None else Scope.named(asked), values)
    session = replace(session, approve=Approve(approve or Approve.NEVER), wait_s=wait_s or 0.0)
    if with_resources:
        session = replace(session, resources_of=mothership.endpoint.name)
    output.note(startup_line(session.scope))
    if (least := Approve.strictest(session.approve, targets.settings.mcp.approve)) is not Approve.NEVER:
        output.note(f"colonizer mcp: {_WAITING[least]} wait for you: `colonizer approvals`")
    if catalog:
        session = replace(session, catalogue_env=commands_env(targets.settings))
        servers = len(known_servers(targets.paths, targets.settings))
        output.note(f"colonizer mcp: with a catalogue of {servers} MCP server{'s' if servers > 1 else ''}")
    if sys.stdin.isatty():
        output.note("an MCP client talks to it on stdin: `colonizer mcp install` sets one up; ctrl+d ends it")
    # Whoever interrupts it has nothing to lose: what was answered was done.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if not _serve(targets.paths, session):
        raise Failed(_NEVER_ASKED)


def _session(mothership: Mothership, asked: Scope | None, agent_env: Mapping[str, str]) -> Session:
    try:
        standing = mothership.ask(calls.standing())
    except ClientError as problem:
        # Whatever the reason, it ends with 1: nobody reads more of a server that does not start (spec 5.1).
        raise Failed(f"cannot read this token's standing from the mothership: {problem}") from problem
    scope = session_scope(standing, asked)
    here = repository_here() if mothership.is_local and scope is Scope.LAUNCH else None
    if here is not None:
        with suppress(ClientError):  # it is no repository, which hinders nobody from launching on others
            mothership.ask(calls.add_local_repository(str(here)))
    endpoint = mothership.endpoint
    where = f"{endpoint.name} ({endpoint.address})"
    return Session(scope, mothership.server, mothership.token, mothership.silence, agent_env, where)


def _serve(paths: Paths, session: Session) -> bool:
    """Serves until stdin ends; whether anything was asked."""
    engine = local_engine(paths)
    try:
        engine.ensure_running()
    except EngineUnavailable as problem:
        output.note(f"colonizer: warning: {problem}; serving from this process instead")
        return _serve_alone(paths, session)
    from colonizer_cli.carrier import Carrier
    from colonizer_engines.mcp_wire import COLONIES_PATH, SESSION

    carrier = Carrier(engine, COLONIES_PATH, sys.stdout.buffer, {SESSION: session.to_header()})
    carrier.carry(sys.stdin.buffer)
    return carrier.was_asked


def _serve_alone(paths: Paths, session: Session) -> bool:
    import asyncio

    from colonizer_client.clock import SystemClock
    from colonizer_client.store import Store
    from colonizer_engines.serve import over_stdio
    from colonizer_server.approver import Approver
    from colonizer_server.policy import SettingsInForce
    from colonizer_server.resource_serving import server_of
    from colonizer_server.session import asking

    async def serve() -> bool:
        engine = local_engine(paths)
        with ExitStack() as stack:

            @cache
            def open_store() -> Store:
                store = Store(paths.engine.cockpit_db)
                stack.callback(store.close)
                return store

            approver = Approver(session, SettingsInForce(paths.settings), open_store, SystemClock())
            wiring = CatalogueWiring(paths, engine.address, engine.token, open_store)
            async with wiring.pool.used(), asking(session) as mothership:
                return await over_stdio(
                    server_of(mothership, session.scope, session.resources_of, approver, wiring.tools(session))
                )

    return asyncio.run(serve())
