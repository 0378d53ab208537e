"""`colonizer kernel serve`: a colony kernel for other programs."""

import signal
import sys
from pathlib import Path

import click

from colonizer_cli.local import local_engine
from colonizer_cli.options import PlainCommand
from colonizer_config.paths import EngineFolder, Paths, make_private
from colonizer_config.settings import KernelPreset, load

DEFAULT_BIND = ("127.0.0.1", 7980)
"""Where `--http` listens unless it is told otherwise."""


@click.command(cls=PlainCommand, takes=())
@click.option(
    "--preset",
    type=click.Choice([preset.value for preset in KernelPreset]),
    help="Run a kernel of this kind in this process.",
)
@click.option("--memory", is_flag=True, help="Run one in this process that forgets all when it ends.")
@click.option("--data-dir", type=click.Path(path_type=Path), help="Run one in this process that keeps its state here.")
@click.option("--http", "over_http", is_flag=True, help="Serve streamable HTTP, not stdin and stdout.")
@click.option("--bind", metavar="HOST[:PORT]", help="Where to listen with --http, else on 127.0.0.1:7980.")
def serve(preset: str | None, memory: bool, data_dir: Path | None, over_http: bool, bind: str | None) -> None:
    """Serve a kernel over MCP: the local engine's, unless an option asks for one of its own.

    It is on stdin and stdout until stdin ends; with --http on a port until interrupted. The token of --http is kept in
    a file, and only the file's path is printed.
    """
    if memory and data_dir is not None:
        raise click.UsageError("--memory keeps nothing, where --data-dir says where to keep it")
    if bind is not None and not over_http:
        raise click.UsageError("--bind goes with --http")
    paths = Paths.from_environment()
    is_own = preset is not None or memory or data_dir is not None
    if not over_http:
        # Whoever interrupts it has nothing to lose: what was answered is kept.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        if not is_own:
            _carry(paths)
            return
    from colonizer_cli.binding import bound_address
    from colonizer_cli.kernel_serving import OwnKernel, serve_http, serve_stdio

    own: OwnKernel | None = None
    if is_own:
        folder = None if data_dir is None else EngineFolder(make_private(data_dir.absolute()))
        own = OwnKernel(KernelPreset(preset) if preset else load(paths.settings).kernel.preset, folder)
    if over_http:
        serve_http(paths, own, bound_address(bind, DEFAULT_BIND))
    elif own is not None:
        serve_stdio(own)


def _carry(paths: Paths) -> None:
    """Has the local engine answer what comes on stdin; twenty agents have twenty such processes, so it loads little."""
    from colonizer_cli.carrier import Carrier
    from colonizer_engines.mcp_wire import LINES_PATH

    Carrier(local_engine(paths), LINES_PATH, sys.stdout.buffer).carry(sys.stdin.buffer)
