"""How this program becomes a local engine: in the background for the faces, or served by name."""

import os
from pathlib import Path

from colonizer_cli.colonies_service import ColoniesService
from colonizer_config.address import SocketAddress
from colonizer_config.paths import EngineFolder, Paths
from colonizer_engines.daemon.process import EngineOptions, run


def be_engine(options: EngineOptions) -> int:
    """Runs the engine with all that it serves; its exit code."""
    own = ColoniesService(SocketAddress(options.socket), options.folder, Paths.from_environment())
    return run(options, (own,))


def engine_options(
    paths: Paths,
    folder: EngineFolder,
    *,
    ready_fd: int | None,
    bind: tuple[str, int] | None = None,
    allowed_hosts: tuple[str, ...] = (),
    repositories: tuple[Path, ...] = (),
) -> EngineOptions:
    """The options of an engine that owns `folder`; with `bind` it serves a TCP address too."""
    named = os.environ.get("COLONIZER_ALLOWED_HOSTS", "").split(",")
    return EngineOptions(
        folder=folder,
        socket=paths.socket(folder),
        settings=paths.settings,
        hidden=_hidden(paths, folder),
        bind=bind,
        allowed_hosts=(*allowed_hosts, *filter(None, map(str.strip, named))),
        repositories=repositories,
        ready_fd=ready_fd,
    )


def _hidden(paths: Paths, folder: EngineFolder) -> tuple[Path, ...]:
    """What no agent may see: our folders, the published mothership's among them, and the person's message buses."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    buses = (Path(runtime),) if runtime else ()
    return (paths.config, paths.data, paths.runtime, folder.root, *buses)
