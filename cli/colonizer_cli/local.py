"""The local engine and the place where the person stands, as commands and cockpit see them."""

import os
import sys
from pathlib import Path

from colonizer_client.engine import LocalEngine
from colonizer_config.endpoints import Endpoint, Origin
from colonizer_config.paths import Paths
from colonizer_config.settings import Settings


def local_engine(paths: Paths) -> LocalEngine:
    """The local engine of these folders, started where needed by this very program."""
    return LocalEngine(paths, (sys.executable, "-m", "colonizer_cli.main", "engine", "run"))


def never_started(endpoint: Endpoint, paths: Paths) -> bool:
    """Whether it is the local engine and has no colonies yet: it need not be started to be asked for some."""
    if endpoint.origin is not Origin.BUILT_IN or paths.engine.mothership_db.exists():
        return False
    return not local_engine(paths).is_running()


def repository_here() -> Path | None:
    """The folder that the person stands in, None where it is gone."""
    try:
        return Path.cwd()
    except OSError:
        return None


def agent_env(settings: Settings, agent: str) -> dict[str, str]:
    """The values of the variables that an agent's settings name, as far as this environment has them."""
    chosen = settings.agents.get(agent or settings.default_agent)
    return {} if chosen is None else {name: os.environ[name] for name in chosen.env if name in os.environ}


def agents_env(settings: Settings) -> dict[str, str]:
    """The same of all agents, for who does not know yet which one it will be; the engine gives each its own."""
    return {name: value for agent in settings.agents for name, value in agent_env(settings, agent).items()}
