"""A kernel with the seed's rules, as an official client reaches it over each transport."""

import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import anyio
import httpx2
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from colonizer_engines.daemon.guarded import PATH, Guard
from colonizer_engines.daemon.server import Listener
from colonizer_engines.host_names import HostNames
from colonizer_engines.kernel.serve import KernelServer, at_work
from colonizer_engines.kernel.wire import PRESETS
from colonizer_engines.serve import over_http
from plain_command import own_environment

TOKEN = "0123456789abcdef" * 4

_SEED = PRESETS["seed"]


@asynccontextmanager
async def in_process(mode: str) -> AsyncGenerator[Client]:
    async with at_work(_SEED.rules, None) as worker, Client(KernelServer(worker, _SEED), mode=mode) as client:
        yield client


@asynccontextmanager
async def over_stdio(mode: str) -> AsyncGenerator[Client]:
    command = ["-m", "colonizer_cli.main", "kernel", "serve", "--memory"]
    server = StdioServerParameters(command=sys.executable, args=command, env=own_environment({}))
    async with Client(stdio_client(server), mode=mode) as client:
        yield client


@asynccontextmanager
async def over_loopback(mode: str) -> AsyncGenerator[Client]:
    authorized = {"authorization": f"Bearer {TOKEN}"}
    async with (
        port_of_a_kernel() as url,
        httpx2.AsyncClient(headers=authorized, timeout=30) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        yield client


@asynccontextmanager
async def port_of_a_kernel() -> AsyncGenerator[str]:
    """The URL at which a kernel of this process is guarded by `TOKEN`."""
    async with at_work(_SEED.rules, None) as worker, over_http(KernelServer(worker, _SEED)) as app:
        with socket.create_server(("127.0.0.1", 0)) as listening:
            listener = Listener(Guard(app, TOKEN, HostNames()))
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(listener.run_on, listening)
                yield f"http://127.0.0.1:{listening.getsockname()[1]}{PATH}"
                listener.stop()


TRANSPORTS = {"in process": in_process, "over stdio": over_stdio, "over HTTP": over_loopback}


def reached(transport: str, mode: str) -> AbstractAsyncContextManager[Client]:
    """A client of a new kernel."""
    return TRANSPORTS[transport](mode)
