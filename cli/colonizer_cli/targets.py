"""Which mothership a command means (local decisions, section 3).

A host is named by `--host` or `COLONIZER_BIND`. Otherwise every endpoint is asked, or the default one is meant.
"""

import os
from collections.abc import Sequence
from functools import cached_property, partial

from colonizer_cli import output
from colonizer_cli.failures import ExitCode, Failed, exit_code
from colonizer_cli.local import never_started
from colonizer_cli.mothership import Mothership, patience_s, reach, reach_named
from colonizer_cli.options import GlobalOptions
from colonizer_cli.side_by_side import Job, side_by_side
from colonizer_client.errors import BadRequest, NotFound
from colonizer_client.identity import ColonyId
from colonizer_client.mothership import calls
from colonizer_config.endpoints import Endpoint, default_endpoint, known_endpoints, named_host
from colonizer_config.paths import Paths
from colonizer_config.settings import Kind, Settings, load_or_default
from colonizer_config.version import __version__

SEARCH_LIMIT_S = 2.0
"""How long each endpoint may take to say whether it has a colony."""


class Targets:
    """The motherships of one command.

    Raises:
        AddressError: What names the host is none.
        FolderError: The folders of this person are not known.
        Failed: `--token-file` is given, and no host that it would go to.
    """

    def __init__(self, options: GlobalOptions) -> None:
        self.named = named_host(options.host, os.environ)
        """The host that is named, None where none is."""
        if self.named is None and options.token_file is not None:
            raise Failed("--token-file goes with --host: the other endpoints keep their own tokens", ExitCode.USAGE)
        self.paths = Paths.from_environment()
        self._token_file = options.token_file

    @cached_property
    def settings(self) -> Settings:
        """The person's settings; where they are broken the defaults, with a warning."""
        return settings_or_default(self.paths)

    @cached_property
    def endpoints(self) -> Sequence[Endpoint]:
        """Every mothership that exists by itself or by the settings."""
        known = known_endpoints(self.paths, self.settings)
        return tuple(endpoint for endpoint in known if endpoint.kind is Kind.MOTHERSHIP)

    def one(self) -> Mothership:
        """The mothership of a command that is about none of its colonies: the named one, else the default.

        Raises:
            ClientError: It cannot be reached.
            ConfigError: There is no token for it, or no such endpoint.
        """
        if self.named is not None:
            return reach_named(self.named, self.paths, self._token_file)
        return tell_other_version(reach(default_endpoint(self.endpoints, self.settings), self.paths))

    def holding(self, colony: str) -> tuple[Mothership, ColonyId]:
        """The mothership that has this colony, and the colony's id there.

        Args:
            colony: An id, or `NAME/ID` for the endpoint of that name.

        Raises:
            NotFound: No endpoint has it.
            Failed: Several have it, or there is no endpoint of that name.
            ClientError: The mothership cannot be reached.
            ConfigError: There is no token for it.
        """
        if self.named is not None:
            return reach_named(self.named, self.paths, self._token_file), ColonyId(colony)
        name, slash, rest = colony.partition("/")
        endpoint, colony_id = (self._called(name), rest) if slash else (self._search(colony), colony)
        if never_started(endpoint, self.paths):
            raise NotFound("no such session", status=404)
        return tell_other_version(reach(endpoint, self.paths)), ColonyId(colony_id)

    def _called(self, name: str) -> Endpoint:
        for endpoint in self.endpoints:
            if endpoint.name == name:
                return endpoint
        known = ", ".join(endpoint.name for endpoint in self.endpoints)
        raise Failed(f"there is no mothership called {name}; known here: {known}", ExitCode.USAGE)

    def _search(self, colony: str) -> Endpoint:
        """The endpoint that has the colony; where there is one endpoint only, that one unasked."""
        if len(self.endpoints) == 1:
            return self.endpoints[0]
        found = side_by_side(
            {
                endpoint: Job(partial(self._has, endpoint, colony), patience_s(endpoint, SEARCH_LIMIT_S))
                for endpoint in self.endpoints
            }
        )
        holders = [endpoint for endpoint, has in found.answers.items() if has]
        if not holders:
            found.tell_failures()
            asked = ", ".join(endpoint.name for endpoint in found.answers) or "none"
            code = next(map(exit_code, found.failures.values()), ExitCode.ABSENT)
            where = f" on the endpoints that answered: {asked}" if found.failures else ""
            raise Failed(f"no such session{where}", code)
        if len(holders) > 1:
            names = " and ".join(endpoint.name for endpoint in holders)
            raise Failed(f"{colony} is on {names}: say which, such as {holders[0].name}/{colony}", ExitCode.USAGE)
        return holders[0]

    def _has(self, endpoint: Endpoint, colony: str) -> bool:
        if never_started(endpoint, self.paths):
            return False
        try:
            reach(endpoint, self.paths, SEARCH_LIMIT_S).ask(calls.colony(endpoint.name, ColonyId(colony)).as_json())
        except (NotFound, BadRequest):
            return False
        return True


def settings_or_default(paths: Paths) -> Settings:
    """The person's settings; where they are broken the defaults, with a warning."""
    loaded = load_or_default(paths.settings)
    if loaded.problem is not None:
        output.note(f"colonizer: warning: {loaded.problem}; going on with the defaults")
    return loaded.settings


def local_mothership(paths: Paths) -> Mothership:
    """The local engine, for what belongs to this machine whatever host is named.

    Raises:
        ClientError: It cannot be started or reached.
    """
    embedded, *_ = known_endpoints(paths, Settings())
    return tell_other_version(reach(embedded, paths))


def tell_other_version(mothership: Mothership) -> Mothership:
    """The same mothership; where it is a local engine of another version than this program, that is said."""
    if mothership.is_local:
        version = mothership.ask(calls.server_version())
        if version != __version__:
            output.note(f"the running engine has version {version}, this is {__version__}: `colonizer engine stop`")
    return mothership
