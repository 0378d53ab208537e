"""`colonizer engine`: the local process that hosts embedded colonies."""

import os
import sys
from pathlib import Path

import click

from colonizer_config.paths import Paths


@click.group()
def engine() -> None:
    """The local engine: it starts by itself and outlives the cockpit."""


@engine.command(hidden=True)
@click.option("--ready-fd", type=int, help="A descriptor that is told when the engine answers.")
def run(ready_fd: int | None) -> None:
    """Be the local engine. Faces start it by themselves."""
    from colonizer_engines.daemon.process import EngineOptions
    from colonizer_engines.daemon.process import run as run_engine

    paths = Paths.from_environment()
    options = EngineOptions(
        folder=paths.engine,
        socket=paths.socket(paths.engine),
        settings=paths.settings,
        hidden=_hidden(paths),
        ready_fd=ready_fd,
    )
    sys.exit(run_engine(options))


def _hidden(paths: Paths) -> tuple[Path, ...]:
    """What no agent may see: our folders, the published mothership's among them, and the person's message buses."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    return (paths.config, paths.data, paths.runtime, *((Path(runtime),) if runtime else ()))
