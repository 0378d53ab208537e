"""What the terminal face is told of the place where it runs, and of the settings as they change."""

import heapq
import os

from msgspec.structs import replace

from colonizer_cli.cockpit_hosts import CockpitHosts
from colonizer_cli.local import agent_env
from colonizer_cli.seen import KEPT, SeenColonies
from colonizer_cli.settings_watch import SettingsWatch
from colonizer_cli.wiring import Wiring
from colonizer_client.identity import EndpointName
from colonizer_client.mothership.models import Colony
from colonizer_config.paths import Paths
from colonizer_config.settings import DEMO_AGENT, Loaded
from colonizer_tui import terminal, theme
from colonizer_tui.surroundings import Surroundings


def live_surroundings(paths: Paths, loaded: Loaded, wiring: Wiring) -> Surroundings:
    """The surroundings by these settings. Asked again they follow the file, and so do the cockpit's connections."""
    watch = SettingsWatch(paths.settings, loaded, lambda found: wiring.apply(found.settings))

    def reread() -> Surroundings | None:
        found = watch.look()
        if found is None:
            return None
        problems = () if found.problem is None else (f"{found.problem}; what was set before goes on",)
        return replace(_surroundings(paths, found, wiring), problems=problems, reread=reread)

    return replace(_surroundings(paths, loaded, wiring), reread=reread)


def keep_seen(paths: Paths, wiring: Wiring) -> None:
    """Keeps what was seen, for shells to complete ids with."""
    snapshot, seen = wiring.cockpit.snapshot, SeenColonies(paths)
    heard = (name for name, state in snapshot.endpoints.items() if state.as_of is not None)
    of: dict[EndpointName, list[Colony]] = {name: [] for name in heard}
    for key, colony in snapshot.colonies.items():
        if key.endpoint in of:
            of[key.endpoint].append(colony)
    for name, colonies in of.items():
        newest = heapq.nlargest(KEPT, colonies, key=lambda colony: colony.created_at)
        seen.keep(name, [(colony.key.colony, colony.status) for colony in newest])


def _surroundings(paths: Paths, loaded: Loaded, wiring: Wiring) -> Surroundings:
    settings, local = loaded.settings, wiring.local
    default = settings.default_agent
    return Surroundings(
        repo=lambda: "" if local.standing_in is None else local.standing_in.name_raw,
        agents=(default, *(name for name in (*settings.agents, DEMO_AGENT) if name != default)),
        agent_env=lambda agent: agent_env(settings, agent),
        environment=os.environ,
        default_endpoint=settings.default_endpoint,
        keys=settings.keys,
        theme=_theme(settings.ui.theme),
        ascii=settings.ui.ascii or terminal.wants_ascii(os.environ),
        crash_folder=paths.engine.root,
        hosts=CockpitHosts(paths, wiring),
        problems=() if loaded.problem is None else (str(loaded.problem),),
    )


def _theme(chosen: str | None) -> str:
    """The theme that is set, as far as the terminal has colours for it."""
    if os.environ.get("NO_COLOR"):
        return theme.PLAIN
    if terminal.has_few_colours(os.environ):
        return theme.SIXTEEN if chosen != theme.PLAIN else theme.PLAIN
    return chosen or theme.DEFAULT_THEME
