"""What a person has set, read from `<config>/cockpit.toml`.

Reading is strict: an unknown key is a mistake of spelling, and a mistake that is passed over in silence is found much
later. The error names the line and the nearest valid key.
"""

import os
import stat
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import NewType

from msgspec import field

from colonizer_config.address import Address, StdioAddress, parse_address
from colonizer_config.errors import AddressError, SettingsError
from colonizer_config.schema import At, choice, command, count, flag, named, nearest, several, table, text
from colonizer_config.toml_text import toml_values
from colonizer_config.value import Value

EndpointName = NewType("EndpointName", str)
"""The name of an endpoint, unique in one cockpit."""

LOCAL = EndpointName("local")
"""The embedded default; it always exists."""

PUBLISHED = EndpointName("mothership")
"""A published mothership on this machine; it exists where its owner token does."""

DEMO_AGENT = "demo"
"""The agent that needs no model and no network."""

SETTINGS_LIMIT_BYTES = 256 * 1024
"""Far above any settings that a person wrote; what is larger is some other file."""


class Kind(StrEnum):
    """What an endpoint speaks."""

    MOTHERSHIP = "mothership"
    KERNEL = "kernel"
    FLOCK = "flock"
    GRAPH = "graph"
    MCP = "mcp"


class AgentKind(StrEnum):
    """How an agent is driven."""

    COMMAND = "command"
    """By the runner contract (spec 8) on its stdin and stdout."""
    ACP = "acp"
    """By the Agent Client Protocol."""


class SandboxChoice(StrEnum):
    """What agents of the local engine run in."""

    AUTO = "auto"
    """`bwrap` where a trial run of it works, else nothing, which the screen then says."""
    BWRAP = "bwrap"
    NONE = "none"


class KernelPreset(StrEnum):
    """Which kind of kernel the embedded one is."""

    SEED = "seed"
    """As its specification says."""
    CODOMYRMEX_1_3 = "codomyrmex-1.3"
    """As the program does that the specification is about."""


class Approve(StrEnum):
    """Which calls of other agents wait for a person; each word takes in what those before it do."""

    NEVER = "never"
    WRITES = "writes"
    ALL = "all"

    @classmethod
    def strictest(cls, *words: "Approve") -> "Approve":
        """The one of these that has the most calls wait."""
        return max(words, key=list(cls).index)


class EndpointSettings(Value):
    """One `[[endpoints]]` table. It is reached by `address` or by `command`, never by both."""

    name: EndpointName
    """Letters, digits, `.`, `_` and `-`; unique whatever the case, and none of the reserved names."""
    kind: Kind
    address: str | None = None
    """`HOST[:PORT]`, `https://…` or `ssh://[user@]host[:port]` of a mothership; the URL of an MCP server."""
    command: tuple[str, ...] = ()
    """The command of an MCP server on stdio, and its arguments."""
    env: tuple[str, ...] = ()
    """The names of the variables that the command is given from our environment; never values."""
    tags: tuple[str, ...] = ()

    @property
    def target(self) -> Address:
        """Where the endpoint is.

        Raises:
            AddressError: The address names nothing, or does not go with the kind.
        """
        if self.kind is Kind.MOTHERSHIP:
            return self._mothership_target()
        if (self.address is None) == (not self.command):
            raise AddressError(f"an endpoint of kind {self.kind} has either an address or a command")
        if self.address is None:
            return StdioAddress(self.command, self.env)
        if self.env:
            raise AddressError("env goes with a command, not with an address")
        if not self.address.lower().startswith(("http://", "https://")):
            raise AddressError(f"the address of an endpoint of kind {self.kind} is a URL, such as https://host/mcp")
        return parse_address(self.address)

    def _mothership_target(self) -> Address:
        if self.address is None:
            raise AddressError("a mothership has an address")
        if self.command or self.env:
            raise AddressError("command and env are for MCP servers; a mothership has an address alone")
        return parse_address(self.address)


class AgentSettings(Value):
    """One `[agents.NAME]` table: an agent that the local engine can run. Its name is the API's `agent_module`."""

    command: tuple[str, ...]
    kind: AgentKind = AgentKind.COMMAND
    env: tuple[str, ...] = ()
    """The names of the variables that the launching face passes on; never values."""


class LocalSettings(Value):
    """The `[local]` table: the embedded mothership."""

    agent: str | None = None
    """The agent of a launch that names none; see `Settings.default_agent`."""
    max_parallel: int = 3
    """How many colonies have a slot at once, 1..1000."""
    sandbox: SandboxChoice = SandboxChoice.AUTO
    network: bool = True
    """Whether the sandbox has a network; agents need their model's host."""


class KernelSettings(Value):
    """The `[kernel]` table: the embedded kernel, and which kernel hears of colonies."""

    preset: KernelPreset = KernelPreset.SEED
    bridge: EndpointName | None = None
    """The kernel for which outcomes of colonies are offered to be recorded; None offers none."""


class McpClientSettings(Value):
    """One `[mcp.clients.NAME]` table: what goes for a client that gives itself that name, beside what goes for all."""

    approve: Approve = Approve.NEVER


class McpSettings(Value):
    """The `[mcp]` table: our own MCP server."""

    approve: Approve = Approve.NEVER
    clients: Mapping[str, McpClientSettings] = field(default_factory=dict[str, McpClientSettings])

    def approve_of(self, client: str) -> Approve:
        """What goes for a client; its own table can only be stricter, since a client chooses its name itself."""
        return Approve.strictest(self.approve, self.clients.get(client, McpClientSettings()).approve)


class UiSettings(Value):
    """The `[ui]` table: the terminal face."""

    theme: str | None = None
    """The name of a theme; None is the face's own choice."""
    ascii: bool = False
    """Whether only ASCII is drawn."""


class Settings(Value):
    """Everything that a person can set."""

    default_endpoint: EndpointName = LOCAL
    """The mothership of `launch` and `mcp` when no host is named."""
    endpoints: tuple[EndpointSettings, ...] = ()
    """In the order of the file; the endpoints that exist by themselves are not among them."""
    agents: Mapping[str, AgentSettings] = field(default_factory=dict[str, AgentSettings])
    """By their `agent_module`, in the order of the file."""
    local: LocalSettings = LocalSettings()
    kernel: KernelSettings = KernelSettings()
    mcp: McpSettings = McpSettings()
    keys: Mapping[str, str] = field(default_factory=dict[str, str])
    """Key by action; the faces know the actions."""
    ui: UiSettings = UiSettings()

    @property
    def default_agent(self) -> str:
        """The agent of a launch that names none: the one that is set, else the first of `[agents]`, else the demo."""
        return self.local.agent or next(iter(self.agents), DEMO_AGENT)


class Loaded(Value):
    """Settings that can be worked with, and what kept the file from being read."""

    settings: Settings
    problem: SettingsError | None = None


def load(path: Path) -> Settings:
    """The settings of a file; the defaults where there is none.

    Raises:
        SettingsError: It cannot be read, is no TOML, or a key or value in it is wrong.
    """
    return parse(read_text(path) or "", path.name)


def load_or_default(path: Path) -> Loaded:
    """The settings of a file, or the defaults together with what is wrong with it."""
    try:
        return Loaded(load(path))
    except SettingsError as problem:
        return Loaded(Settings(), problem)


def parse(source: str, file: str) -> Settings:
    """The settings that a text holds; `file` is the name that errors give it.

    Raises:
        SettingsError: It is no TOML, or a key or value in it is wrong.
    """
    return SCHEMA(toml_values(source, file), At(file, source))


def read_text(path: Path, limit_bytes: int = SETTINGS_LIMIT_BYTES) -> str | None:
    """The text of a settings file with its own line ends, or None where there is none.

    Raises:
        SettingsError: It cannot be read, is too large, or is not UTF-8.
    """
    content = _read_bytes(path, limit_bytes)
    if content is None:
        return None
    if len(content) > limit_bytes:
        raise SettingsError(f"{path} is larger than {limit_bytes // 1024} KiB: is it the settings file?")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as problem:
        line = content.count(b"\n", 0, problem.start) + 1
        raise SettingsError(f"{path.name}, line {line}: this is not UTF-8", line=line) from None


def _read_bytes(path: Path, limit_bytes: int) -> bytes | None:
    """At most one byte more than the limit."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise SettingsError(f"{path} is not a file")
            return os.read(handle, limit_bytes + 1)
        finally:
            os.close(handle)
    except FileNotFoundError:
        if path.is_symlink():
            raise SettingsError(f"{path} is a link to a file that is not there") from None
        return None
    except OSError as problem:
        raise SettingsError(f"cannot read {path}: {problem.strerror or problem}") from problem


def _check_endpoint(endpoint: EndpointSettings, at: At) -> None:
    if endpoint.name.casefold() in (LOCAL, PUBLISHED):
        raise at.inside("name").error(f"the name {endpoint.name} is reserved: that endpoint exists by itself")
    try:
        _ = endpoint.target
    except AddressError as problem:
        place = at if endpoint.address is None else at.inside("address")
        raise place.error(f"endpoint {endpoint.name}: {problem}") from None


def _check_settings(settings: Settings, at: At) -> None:
    _check_names(settings, at)
    _check_default_endpoint(settings, at)
    _check_bridge(settings, at)
    agent = settings.local.agent
    if agent is not None and agent not in (*settings.agents, DEMO_AGENT):
        meant = nearest(agent, (*settings.agents, DEMO_AGENT))
        raise at.inside("local", "agent").error(_absent(f"agent {agent}", meant))


def _check_names(settings: Settings, at: At) -> None:
    folded = set[str]()
    for index, endpoint in enumerate(settings.endpoints):
        if endpoint.name.casefold() in folded:
            place = at.inside("endpoints", index, "name")
            raise place.error(f"there is another endpoint with the name {endpoint.name}")
        folded.add(endpoint.name.casefold())


def _check_default_endpoint(settings: Settings, at: At) -> None:
    kinds = {LOCAL: Kind.MOTHERSHIP, PUBLISHED: Kind.MOTHERSHIP}
    kinds |= {endpoint.name: endpoint.kind for endpoint in settings.endpoints}
    default = settings.default_endpoint
    place = at.inside("default_endpoint")
    if default not in kinds:
        raise place.error(_absent(f"endpoint {default}", nearest(default, kinds)))
    if kinds[default] is not Kind.MOTHERSHIP:
        raise place.error(f"the default endpoint has to be a mothership; {default} is of kind {kinds[default]}")


def _check_bridge(settings: Settings, at: At) -> None:
    kernels = (LOCAL, *(endpoint.name for endpoint in settings.endpoints if endpoint.kind is Kind.KERNEL))
    bridge = settings.kernel.bridge
    if bridge is not None and bridge not in kernels:
        raise at.inside("kernel", "bridge").error(_absent(f"kernel {bridge}", nearest(bridge, kernels)))


def _absent(what: str, meant: str | None) -> str:
    return f"there is no {what}" + (f"; the nearest one is {meant}" if meant else "")


_NAME = text(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}", "a name: at most 40 letters, digits, '.', '_' and '-'")
_VARIABLES = several(text(r"[A-Za-z_][A-Za-z0-9_]*", "the name of an environment variable, never its value"))

_ENDPOINT = table(
    EndpointSettings,
    {
        "name": _NAME,
        "kind": choice(Kind),
        "address": text(),
        "command": command,
        "env": _VARIABLES,
        "tags": several(_NAME),
    },
    required=("name", "kind"),
    check=_check_endpoint,
)

_AGENT = table(
    AgentSettings,
    {"kind": choice(AgentKind), "command": command, "env": _VARIABLES},
    required=("command",),
)

SCHEMA = table(
    Settings,
    {
        "default_endpoint": _NAME,
        "endpoints": several(_ENDPOINT),
        "agents": named(_NAME, _AGENT),
        "local": table(
            LocalSettings,
            {"agent": _NAME, "max_parallel": count(1, 1000), "sandbox": choice(SandboxChoice), "network": flag},
        ),
        "kernel": table(KernelSettings, {"preset": choice(KernelPreset), "bridge": _NAME}),
        "mcp": table(
            McpSettings,
            {
                "approve": choice(Approve),
                "clients": named(text(), table(McpClientSettings, {"approve": choice(Approve)})),
            },
        ),
        "keys": named(text(), text()),
        "ui": table(UiSettings, {"theme": text(), "ascii": flag}),
    },
    check=_check_settings,
)
"""Every key of the file and what its value has to be. Defaults are those of the dataclasses."""
