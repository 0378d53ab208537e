"""A colony kernel served by this process: one of its own, or over HTTP the local engine's."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from socket import socket
from typing import TYPE_CHECKING

from colonizer_cli import output
from colonizer_cli.failures import Failed
from colonizer_cli.local import local_engine
from colonizer_client.errors import ClientError
from colonizer_config.address import HttpAddress
from colonizer_config.paths import EngineFolder, Paths, make_private
from colonizer_config.settings import KernelPreset
from colonizer_config.value import Value
from colonizer_engines.daemon.errors import DaemonError
from colonizer_engines.daemon.guarded import PATH, Guard, serve_until_told
from colonizer_engines.daemon.listeners import tcp_port
from colonizer_engines.daemon.relay import Relay
from colonizer_engines.daemon.token_file import kept_token
from colonizer_engines.host_names import HostNames
from colonizer_engines.kernel.errors import KernelError
from colonizer_engines.kernel.wire import PRESETS
from colonizer_engines.mcp_wire import CARRIED_PATH

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from colonizer_engines.kernel.serve import KernelServer


class OwnKernel(Value):
    """A kernel that this process runs itself."""

    preset: KernelPreset
    folder: EngineFolder | None
    """Where its state is kept; None for nowhere."""


def serve_stdio(own: OwnKernel) -> None:
    """Serves stdin and stdout until stdin ends.

    Raises:
        Failed: The kernel's database cannot be had.
    """
    from colonizer_engines.serve import over_stdio

    async def serve() -> None:
        async with _running(own) as server:
            await over_stdio(server)

    try:
        asyncio.run(serve())
    except KernelError as problem:
        raise Failed(str(problem)) from problem


def serve_http(paths: Paths, own: OwnKernel | None, address: HttpAddress) -> None:
    """Serves a port until interrupted, and says where and with which token.

    Raises:
        Failed: The port, the token's file or the kernel's database cannot be had.
    """
    folder = (own and own.folder) or paths.engine
    make_private(folder.root)

    async def serve(listening: socket, token: str) -> None:
        async with _asked_over_http(paths, own) as app:
            output.say(f"serving {address}{PATH}\ntoken in {folder.kernel_token}")
            output.flush()
            await serve_until_told(Guard(app, token, HostNames((address.named_host,))), listening)

    try:
        with tcp_port(address.host, address.port or 0) as listening:
            asyncio.run(serve(listening, kept_token(folder.kernel_token)))
    except (DaemonError, KernelError) as problem:
        raise Failed(str(problem)) from problem


@asynccontextmanager
async def _asked_over_http(paths: Paths, own: OwnKernel | None) -> "AsyncGenerator[ASGIApp]":
    if own is None:
        engine = local_engine(paths)

        def ready() -> str:
            try:
                engine.ensure_running()
                return engine.token().reveal()
            except ClientError as problem:
                raise ConnectionError(str(problem)) from problem

        yield Relay(engine.address.path, CARRIED_PATH, ready)
        return
    from colonizer_engines.serve import over_http

    async with _running(own) as server, over_http(server) as app:
        yield app


@asynccontextmanager
async def _running(own: OwnKernel) -> "AsyncGenerator[KernelServer]":
    from colonizer_engines.kernel.serve import KernelServer, at_work

    preset = PRESETS[own.preset]
    async with at_work(preset.rules, None if own.folder is None else own.folder.kernel_db) as worker:
        yield KernelServer(worker, preset)
