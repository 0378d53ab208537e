"""`colonizer connect`: the motherships that this person works with."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from colonizer_cli import output
from colonizer_cli.failures import ExitCode, Failed, end_with, exit_code
from colonizer_cli.health import Health, check
from colonizer_cli.local import local_engine
from colonizer_cli.mothership import through
from colonizer_cli.options import JSON, TOKEN_FILE, GlobalOptions, PlainGroup
from colonizer_cli.sign_in import agreed, read_address, read_token
from colonizer_cli.targets import settings_or_default
from colonizer_client.mothership import calls
from colonizer_config.address import HttpAddress, SshAddress
from colonizer_config.endpoints import Endpoint, Origin, known_endpoints
from colonizer_config.errors import NoKeyringError
from colonizer_config.paths import Paths
from colonizer_config.secrets import Place, TokenStore
from colonizer_config.settings import EndpointName, EndpointSettings, Kind
from colonizer_config.token import Token

if TYPE_CHECKING:
    from colonizer_config.edit import SettingsEdit

CHECK_LIMIT_S = 10.0


@click.group(cls=PlainGroup)
def connect() -> None:
    """The motherships that you work with, next to the local engine."""


@connect.command(takes=(TOKEN_FILE, JSON))
@click.argument("name")
@click.argument("address", required=False)
@click.option("--plain-file", is_flag=True, help="Keep the token in a plain file (mode 0600), not in a keyring.")
@click.pass_obj
def add(options: GlobalOptions, name: str, address: str | None, plain_file: bool) -> None:
    """Add a mothership under a NAME of your own.

    ADDRESS is HOST[:PORT], https://… or ssh://[USER@]HOST[:PORT][/PORT OVER THERE]; left out, you are asked for it and
    may paste the sign-in link that `colonizer open` shows over there. The token is typed unseen, read from
    --token-file, or from stdin where that is no terminal: never from the command line. It is tried before anything is
    kept.
    """
    paths = Paths.from_environment()
    _refuse_name(paths, name)
    sign_in = read_address(address)
    edit = _opened(paths)
    edit.add_endpoint(EndpointSettings(EndpointName(name), Kind.MOTHERSHIP, sign_in.written))
    if isinstance(sign_in.address, HttpAddress) and sign_in.address.is_exposed:
        output.note(
            f"colonizer: warning: {sign_in.address} is not encrypted: others may read the token and the rest;"
            " use https, a tunnel or a private network"
        )
    token = sign_in.token or read_token(sign_in.address, options.token_file, paths)
    endpoint = Endpoint(EndpointName(name), Kind.MOTHERSHIP, sign_in.address, Origin.SETTINGS)
    standing = through(endpoint, token, CHECK_LIMIT_S).ask(calls.standing())
    place = _keep(TokenStore(paths), sign_in.address, token, plain_file=plain_file)
    edit.save()
    if options.as_json:
        output.show_json(
            {"name": name, "address": str(sign_in.address), "scope": standing.scope, "token_kept_in": str(place)}
        )
    else:
        output.say(f"{name} added: {sign_in.address}, scope {standing.scope}, token kept in: {place}")


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
@click.argument("name", required=False)
@click.pass_obj
def test_endpoints(options: GlobalOptions, name: str | None) -> None:
    """Ask one mothership, or all, whether it answers and what the token may do. The local engine is started."""
    paths = Paths.from_environment()
    known = known_endpoints(paths, settings_or_default(paths))
    endpoints = [endpoint for endpoint in known if name in (None, endpoint.name)]
    if not endpoints:
        names = ", ".join(endpoint.name for endpoint in known)
        raise Failed(f"there is no endpoint called {name}; known here: {names}", ExitCode.USAGE)
    found = check(endpoints, paths)
    _show(found, as_json=options.as_json)
    code = next((exit_code(health.problem) for health in found.values() if health.problem), ExitCode.DONE)
    end_with(code)


@connect.command(takes=())
@click.argument("name")
def remove(name: str) -> None:
    """Remove an endpoint from the settings, and forget its token."""
    paths = Paths.from_environment()
    edit = _opened(paths)
    before = edit.settings.endpoints
    edit.remove_endpoint(EndpointName(name))
    edit.save()
    gone = next(row.target for row in before if row.name == name)
    still_used = {row.target.identity for row in edit.settings.endpoints}
    places: tuple[Place, ...] = ()
    if isinstance(gone, HttpAddress | SshAddress) and gone.identity not in still_used:
        places = TokenStore(paths).delete(gone)
    output.say(f"{name} removed" + (f"; its token is forgotten ({', '.join(places)})" if places else ""))


@connect.command(takes=())
@click.argument("name")
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


def _refuse_name(paths: Paths, name: str) -> None:
    """Raises SettingsError for a name that cannot be added, before the person is asked for anything."""
    _opened(paths).add_endpoint(EndpointSettings(EndpointName(name), Kind.MOTHERSHIP, "localhost"))


def _keep(tokens: TokenStore, address: HttpAddress | SshAddress, token: Token, *, plain_file: bool) -> Place:
    """Where the token is kept: the keyring, or a plain file where the person wants that."""
    try:
        return tokens.store(address, token, plain_file=plain_file)
    except NoKeyringError as problem:
        if not agreed(f"{problem}. Keep it there?"):
            raise Failed(f"{problem}, with --plain-file; nothing was kept") from problem
        return tokens.store(address, token, plain_file=True)


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
