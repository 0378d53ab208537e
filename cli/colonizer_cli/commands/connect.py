"""`colonizer connect`: the motherships, kernels and other MCP servers that this person works with."""

import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import click

from colonizer_cli import completing, kernels, output, servers
from colonizer_cli.failures import ExitCode, Failed, end_with, exit_code
from colonizer_cli.health import Health, check
from colonizer_cli.hosts import Addition, Hosts, exposure, remote, removed, signed_out
from colonizer_cli.local import local_engine
from colonizer_cli.options import JSON, TOKEN_FILE, GlobalOptions, PlainGroup
from colonizer_cli.sign_in import agreed, read_address, read_token, secret_line, secret_line_or_none
from colonizer_cli.targets import settings_or_default
from colonizer_client.errors import ClientError
from colonizer_client.text import safe_line
from colonizer_config.address import HttpAddress, StdioAddress
from colonizer_config.endpoints import Endpoint, Origin, known_endpoints
from colonizer_config.errors import NoKeyringError
from colonizer_config.paths import Paths
from colonizer_config.secrets import Place
from colonizer_config.settings import EndpointName, EndpointSettings, Kind
from colonizer_config.token import Token

if TYPE_CHECKING:
    from colonizer_client.kernel.session import KernelSession
    from colonizer_config.edit import SettingsEdit


@click.group(cls=PlainGroup)
def connect() -> None:
    """The motherships, kernels and MCP servers that you work with, next to the local engine."""


@connect.command(takes=(TOKEN_FILE, JSON))
@click.argument("name")
@click.argument("address", required=False)
@click.argument("words", metavar="[-- COMMAND...]", nargs=-1)
@click.option(
    "--kind", type=click.Choice([one.value for one in Kind]), default=Kind.MOTHERSHIP.value, help="What it is."
)
@click.option("--env", multiple=True, metavar="NAME", help="A variable of yours for a COMMAND; may be given again.")
@click.option("--plain-file", is_flag=True, help="Keep the token in a plain file (mode 0600), not in a keyring.")
@click.pass_obj
def add(
    options: GlobalOptions,
    /,
    *,
    name: str,
    address: str | None,
    words: tuple[str, ...],
    kind: str,
    env: tuple[str, ...],
    plain_file: bool,
) -> None:
    """Add a mothership, a kernel or another MCP server under a NAME of your own.

    ADDRESS is HOST[:PORT], https://… or ssh://[USER@]HOST[:PORT][/PORT OVER THERE]; left out, you are asked for it and
    may paste the sign-in link that `colonizer open` shows over there. The token is typed unseen, read from
    --token-file, or from stdin where that is no terminal: never from the command line. It is tried before anything is
    kept.

    A kernel, and every other MCP server, has a URL, with a token where it asks for one, or a COMMAND, which is only
    written down: you agree to its words when it is to run for the first time.
    """
    paths = Paths.from_environment()
    hosts = Hosts(paths)
    hosts.addition(name, "localhost")  # a name that cannot be is told before the person is asked for anything
    if kind != Kind.MOTHERSHIP:
        row = _server_row(name, Kind(kind), address, words, env)
        _add_server(options, hosts.new(row), hosts, paths, plain_file=plain_file)
        return
    if words or env:
        raise click.UsageError("a mothership has no command: did you mean --kind kernel?")
    sign_in = read_address(address)
    added = hosts.addition(name, sign_in.written)
    _warn(added.endpoint)
    token = sign_in.token or read_token(sign_in.address, options.token_file, paths)
    found = _tried(hosts, added.endpoint, token, paths)
    place = _keep(hosts, added.endpoint, token, plain_file=plain_file)
    added.edit.save()
    _tell(added.endpoint, "added", found, place, as_json=options.as_json)


@connect.command(takes=(TOKEN_FILE, JSON))
@click.argument("name", shell_complete=completing.hosts)
@click.option("--plain-file", is_flag=True, help="Keep the token in a plain file (mode 0600), not in a keyring.")
@click.pass_obj
def login(options: GlobalOptions, name: str, plain_file: bool) -> None:
    """Sign in to a mothership or a server of the settings with another token.

    The token, or a sign-in link that holds one, is typed unseen, read from --token-file, or from stdin where that is no
    terminal: never from the command line. It goes to the address in the settings, and is tried before it is kept.
    """
    paths = Paths.from_environment()
    hosts = Hosts(paths)
    endpoint = hosts.find(name)
    address = remote(endpoint)
    _warn(endpoint)
    if options.token_file is not None:
        token = read_token(address, options.token_file, paths)
    else:
        token = hosts.token(endpoint, secret_line(f"Token or sign-in link for {address} (not shown): "))
    found = _tried(hosts, endpoint, token, paths)
    place = _keep(hosts, endpoint, token, plain_file=plain_file)
    _tell(endpoint, "signed in", found, place, as_json=options.as_json)


@connect.command(takes=())
@click.argument("name", shell_complete=completing.hosts)
def logout(name: str) -> None:
    """Forget the token of a mothership or a server, which stays in the settings.

    Over there the token stays what it was: its owner ends it with `colonizer token revoke`.
    """
    hosts = Hosts(Paths.from_environment())
    endpoint = hosts.find(name)
    output.say(signed_out(endpoint, hosts.sign_out(endpoint), hosts.sharing(endpoint)))


@connect.command("list", takes=(JSON,))
@click.pass_obj
def list_endpoints(options: GlobalOptions) -> None:
    """List the endpoints, and whether each answers."""
    paths = Paths.from_environment()
    endpoints = known_endpoints(paths, settings_or_default(paths))
    resting = {
        endpoint: Health("not running")
        for endpoint in endpoints
        if endpoint.origin is Origin.BUILT_IN and not local_engine(paths).is_running()
    }
    asked = check([endpoint for endpoint in endpoints if endpoint not in resting], paths)
    _show({endpoint: (resting | dict(asked))[endpoint] for endpoint in endpoints}, as_json=options.as_json)


@connect.command("test", takes=(JSON,))
@click.argument("name", required=False, shell_complete=completing.hosts)
@click.pass_obj
def test_endpoints(options: GlobalOptions, name: str | None) -> None:
    """Ask one endpoint, or all, whether it answers and what the token may do. The local engine is started.

    The command of a kernel or server is run, once you have agreed to it; you are asked where you did not yet.
    """
    paths = Paths.from_environment()
    known = known_endpoints(paths, settings_or_default(paths))
    endpoints = [endpoint for endpoint in known if name in (None, endpoint.name)]
    if not endpoints:
        names = ", ".join(endpoint.name for endpoint in known)
        raise Failed(f"there is no endpoint called {name}; known here: {names}", ExitCode.USAGE)
    refused = dict(_disagreed(endpoints, paths))
    asked = check([endpoint for endpoint in endpoints if endpoint not in refused], paths, runs_commands=True)
    found = {endpoint: (refused | dict(asked))[endpoint] for endpoint in endpoints}
    _show(found, as_json=options.as_json)
    code = next((exit_code(health.problem) for health in found.values() if health.problem), ExitCode.DONE)
    end_with(code)


@connect.command(takes=())
@click.argument("name", shell_complete=completing.hosts)
def remove(name: str) -> None:
    """Remove an endpoint from the settings, and forget its token."""
    hosts = Hosts(Paths.from_environment())
    output.say(removed(name, hosts.remove(hosts.in_settings(name))))


@connect.command(takes=())
@click.argument("name", shell_complete=completing.hosts)
def default(name: str) -> None:
    """Make a mothership the one that `launch` means where no host is named."""
    edit = _opened(Paths.from_environment())
    edit.set_default_endpoint(EndpointName(name))
    edit.save()
    output.say(f"{name} is the default endpoint")


def _opened(paths: Paths) -> "SettingsEdit":
    """The settings, to be changed; what is broken in them is refused."""
    from colonizer_config.edit import SettingsEdit  # loaded where something is written: the help reads this module too

    return SettingsEdit(paths.settings)


def _warn(endpoint: Endpoint) -> None:
    if words := exposure(endpoint):
        output.note(f"colonizer: warning: {words}")


def _keep(hosts: Hosts, endpoint: Endpoint, token: Token, *, plain_file: bool) -> Place:
    """Where the token is kept: the keyring, or a plain file where the person wants that."""
    try:
        return hosts.keep(endpoint, token, plain_file=plain_file)
    except NoKeyringError as problem:
        if not agreed(f"{problem}. Keep it there?"):
            raise Failed(f"{problem}, with --plain-file; nothing was kept") from problem
        return hosts.keep(endpoint, token, plain_file=True)


def _server_row(
    name: str, kind: Kind, address: str | None, words: tuple[str, ...], env: tuple[str, ...]
) -> EndpointSettings:
    """An MCP server by its URL, or by its command, whose first word then came in the address's place."""
    if address is None:
        what = "kernel" if kind is Kind.KERNEL else "server"
        raise click.UsageError(f"say the {what}'s URL, or its command after --")
    if not words and address.lower().startswith(("http://", "https://")):
        return EndpointSettings(EndpointName(name), kind, read_address(address).written, env=env)
    return EndpointSettings(EndpointName(name), kind, command=(address, *words), env=env)


def _add_server(options: GlobalOptions, added: Addition, hosts: Hosts, paths: Paths, *, plain_file: bool) -> None:
    endpoint = added.endpoint
    found: Mapping[str, str] = {}
    place: Place | None = None
    if isinstance(endpoint.address, HttpAddress):
        _warn(endpoint)
        token = _token_or_none(endpoint.address, options, paths)
        found = _tried(hosts, endpoint, token, paths)
        place = None if token is None else _keep(hosts, endpoint, token, plain_file=plain_file)
    elif options.token_file is not None:
        raise click.UsageError("--token-file goes with a URL: a command has no token")
    added.edit.save()
    _tell(endpoint, "added", found, place, as_json=options.as_json)
    if not found and not options.as_json:
        output.note(f"it runs once you have agreed to its words: `colonizer connect test {endpoint.name}` asks")


def _token_or_none(address: HttpAddress, options: GlobalOptions, paths: Paths) -> Token | None:
    if options.token_file is not None:
        return read_token(address, options.token_file, paths)
    given = secret_line_or_none(f"Token for {address}, where it asks for one (not shown): ")
    return None if given is None else Token(given)


def _tried(hosts: Hosts, endpoint: Endpoint, token: Token | None, paths: Paths) -> Mapping[str, str]:
    """What the endpoint says to the token: what it may do, or of an MCP server what that is.

    Raises:
        ClientError: It refuses the token, or does not answer.
    """
    if endpoint.kind is Kind.KERNEL:
        return {"server": kernels.run(kernels.connector(endpoint, paths, token), _server) or "nameless"}
    if endpoint.kind is not Kind.MOTHERSHIP:
        found = servers.ask(endpoint, paths, token)
        return {"server": found.name or "nameless", "tools": str(found.tools)}
    assert token is not None, "a mothership asks for one"
    return {"scope": hosts.standing(endpoint, token).scope}


async def _server(session: "KernelSession") -> str:
    return session.capabilities.server


def _disagreed(endpoints: Iterable[Endpoint], paths: Paths) -> Iterator[tuple[Endpoint, Health]]:
    """The kernels and servers whose command the person does not agree to."""
    for endpoint in endpoints:
        try:
            kernels.agree(endpoint, paths)
        except ClientError as problem:
            yield endpoint, Health("not agreed", problem=problem)


def _tell(endpoint: Endpoint, what: str, found: Mapping[str, str], place: Place | None, *, as_json: bool) -> None:
    """What came of it: where the endpoint is, what it said when it was tried, and where its token is kept."""
    address = endpoint.address
    where = shlex.join(address.command) if isinstance(address, StdioAddress) else str(address)
    if as_json:
        kept = {"token_kept_in": None if place is None else str(place)}
        output.show_json({"name": endpoint.name, "address": where, **found, **kept})
        return
    told = [f"{key} {words}" for key, words in found.items()]
    told += [] if place is None else [f"token kept in: {place}"]
    output.say(safe_line(f"{endpoint.name} {what}: {', '.join((where, *told))}"))


def _show(found: Mapping[Endpoint, Health], *, as_json: bool) -> None:
    if as_json:
        output.show_json([health.to_json(endpoint) for endpoint, health in found.items()])
        return
    for endpoint, health in found.items():
        latency = "-" if health.latency_ms is None else f"{health.latency_ms:.0f} ms"
        output.say(
            f"{endpoint.name:10}  {endpoint.kind:10}  {health.state:11}  {latency:>7}  {health.scope or '-':8}"
            f"  {endpoint.address}"
        )
    for endpoint, health in found.items():
        if health.problem is not None:
            output.note(f"colonizer: {endpoint.name}: {health.problem}")
