"""One look at an MCP server that is no kernel: whether it answers, and what it has."""

import asyncio
import os
import time

from colonizer_client.errors import SignInNeeded
from colonizer_config.address import HttpAddress, StdioAddress
from colonizer_config.endpoints import Endpoint
from colonizer_config.errors import ConfigError
from colonizer_config.paths import Paths
from colonizer_config.secrets import TokenStore
from colonizer_config.token import Token
from colonizer_config.value import Value


class Found(Value):
    """What a server showed of itself."""

    name: str
    """Its own name and version, safe to show."""
    tools: int
    latency_s: float
    """How long it took to list them."""


def ask(endpoint: Endpoint, paths: Paths, trial: Token | None = None) -> Found:
    """What the server shows; a command is run without being asked for. A `trial` is a token that is not kept yet.

    Raises:
        ClientError: It cannot be reached, refuses the token, or lists no tools.
    """
    return asyncio.run(_ask(endpoint, trial or _kept(endpoint, paths)))


async def _ask(endpoint: Endpoint, token: Token | None) -> Found:
    from colonizer_client.catalogue.server import over_http, over_stdio  # loads the SDK

    match endpoint.address:
        case StdioAddress() as command:
            opening = over_stdio(command, os.environ, "", _nothing)
        case HttpAddress() as address:
            opening = over_http(address, token, "", _nothing)
        case _:
            raise AssertionError("an MCP server is reached by a command or a URL")
    async with opening as opened:
        started = time.monotonic()
        tools = await opened.tools()
        return Found(opened.name, len(tools), time.monotonic() - started)


def _kept(endpoint: Endpoint, paths: Paths) -> Token | None:
    if not isinstance(endpoint.address, HttpAddress):
        return None
    try:
        found = TokenStore(paths).for_endpoint(endpoint)
    except ConfigError as problem:
        raise SignInNeeded(str(problem), status=401) from problem
    return found.token if found else None


def _nothing() -> None:
    """Whether its tools change later is of no interest."""
