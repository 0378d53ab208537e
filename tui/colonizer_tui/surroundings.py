"""What the application is told of the place where it runs."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec import field

from colonizer_client.identity import EndpointName
from colonizer_config.settings import LOCAL
from colonizer_config.value import Value
from colonizer_tui import theme
from colonizer_tui.hosts import Hosts


class Surroundings(Value):
    """The person's choices, and what only the caller knows."""

    crash_folder: Path
    """Where a fault of our own is written down."""
    repo: Callable[[], str] = lambda: ""
    """The repository that the person stands in, `owner/name`; asked for late, since the engine has to know it first."""
    agents: Sequence[str] = ()
    """The agents of the local engine, the default first."""
    agent_env: Callable[[str], dict[str, str]] = lambda agent: {}
    """The values of the variables that an agent of the local engine needs, as this environment has them."""
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    """The variables of the process, by which clipboard programs and browsers are found."""
    default_endpoint: EndpointName = LOCAL
    """The mothership on which colonies are launched."""
    keys: Mapping[str, str] = field(default_factory=dict[str, str])
    theme: str = theme.DEFAULT_THEME
    ascii: bool = False
    hosts: Hosts | None = None
    """What changes the person's list of hosts; None where nothing does."""
    problems: Sequence[str] = ()
    """What is wrong with the settings, in words."""
    reread: "Callable[[], Surroundings | None]" = lambda: None
    """The surroundings with the settings as they are now; None while those are the same. Cheap: asked every second."""
