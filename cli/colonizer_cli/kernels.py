"""Which kernel a command means, whether its command may run here, and one conversation with it.

Only the conversation loads the MCP SDK.
"""

import asyncio
import os
import shlex
from collections.abc import Awaitable, Callable
from contextlib import closing
from typing import TypeVar

from colonizer_cli import output
from colonizer_cli.failures import ExitCode, Failed
from colonizer_cli.local import local_engine
from colonizer_cli.sign_in import agreed
from colonizer_cli.targets import local_mothership, settings_or_default
from colonizer_client.clock import SystemClock
from colonizer_client.errors import ConsentNeeded
from colonizer_client.kernel.connectors import EmbeddedConnector, StdioConnector, UrlConnector
from colonizer_client.kernel.pace import Pacer
from colonizer_client.kernel.session import Connector, KernelSession
from colonizer_client.mcp import consents
from colonizer_client.mcp.consents import ConsentAsked
from colonizer_client.store import Store
from colonizer_config.address import HttpAddress, SocketAddress, StdioAddress
from colonizer_config.endpoints import Endpoint, Origin, known_kernels
from colonizer_config.paths import Paths
from colonizer_config.secrets import TokenStore
from colonizer_config.settings import Kind
from colonizer_config.token import Token

T = TypeVar("T")

Talk = Callable[[KernelSession], Awaitable[T]]
"""What is asked over one connection; raises ClientError."""


def kernel_called(name: str, paths: Paths) -> Endpoint:
    """The kernel of that name.

    Raises:
        Failed: There is none.
    """
    known = known_kernels(paths, settings_or_default(paths))
    for endpoint in known:
        if endpoint.name == name:
            return endpoint
    names = ", ".join(endpoint.name for endpoint in known)
    raise Failed(f"there is no kernel called {name}; known here: {names}", ExitCode.USAGE)


def is_shared(kernel: Endpoint) -> bool:
    """Whether agents elsewhere may use it too, so that what changes it asks first."""
    return kernel.origin is not Origin.BUILT_IN


def confirmed(kernel: Endpoint, deed: str, *, yes: bool) -> None:
    """Returns where the deed may be done: the kernel is not shared, or the person agrees.

    Raises:
        Failed: The person does not agree, or cannot be asked.
    """
    if is_shared(kernel) and not yes and not agreed(f"{kernel.name} may be shared with others. {deed}?"):
        raise Failed(f"nothing was done on {kernel.name}; --yes does it without asking", ExitCode.USAGE)


def converse(kernel: Endpoint, paths: Paths, talk: Talk[T]) -> T:
    """What comes of talking to the kernel; its command is asked for first where nobody agreed to it yet.

    Raises:
        ConsentNeeded: Its command may not run.
        ClientError: It cannot be reached, or what the talk raises.
    """
    agree(kernel, paths)
    if isinstance(kernel.address, SocketAddress):
        local_mothership(paths)  # says where the engine that runs is of another version
    return run(connector(kernel, paths), talk)


def run(connector: Connector, talk: Talk[T]) -> T:
    """What comes of talking over a new connection, with nothing looked up or asked before.

    Raises:
        ClientError: As `converse`.
    """
    return asyncio.run(_converse(connector, talk))


def connector(kernel: Endpoint, paths: Paths, trial: Token | None = None) -> Connector:
    """How the connection to the kernel is opened; a `trial` is a token of its URL that is not kept yet."""
    match kernel.address:
        case SocketAddress():
            return EmbeddedConnector(local_engine(paths))
        case StdioAddress() as command:
            return StdioConnector(command, os.environ)
        case HttpAddress() as address:
            return UrlConnector(kernel, address, TokenStore(paths), trial)
        case _:
            raise AssertionError("a kernel is reached by a command or a URL")


def agree(kernel: Endpoint, paths: Paths) -> None:
    """Returns where the kernel may be talked to: it is no command, or the person agrees to it, now or before.

    Raises:
        ConsentNeeded: They do not, or cannot be asked.
        StoreError: It cannot be read or kept what they agreed to.
    """
    if not isinstance(kernel.address, StdioAddress):
        return
    with closing(Store(paths.engine.cockpit_db)) as store:
        asked = consents.asked(store, kernel.name, kernel.address)
        if asked is None:
            return
        for line in _words(kernel, asked):
            output.note(line)
        if not agreed("Run this, now and from now on?"):
            words = f"{kernel.name} is not started: nobody agreed to its command here"
            raise ConsentNeeded(f"{words}; in a terminal `colonizer connect test {kernel.name}` asks")
        consents.agree(store, kernel.name, kernel.address)


def _words(kernel: Endpoint, asked: ConsentAsked) -> list[str]:
    """What the person agrees to, each word of the command told from the next as a shell would have it."""
    what = "kernel" if kernel.kind is Kind.KERNEL else "MCP server"
    lines = [f"The {what} {kernel.name} is a command that would run on this machine:", f"  {shlex.join(asked.command)}"]
    if asked.env:
        lines.append(f"  with these variables of yours: {', '.join(asked.env)}")
    if asked.hides_characters:
        lines.append("  It holds characters that cannot be seen, which are shown as signs here.")
    if asked.before:
        lines.append(f"Before, you agreed to: {shlex.join(asked.before)}")
        if asked.env_before != asked.env:
            lines.append(f"  with these variables: {', '.join(asked.env_before) or 'none'}")
    return lines


async def _converse(connector: Connector, talk: Talk[T]) -> T:
    async with connector.open("") as wire:
        session = KernelSession(wire, Pacer(SystemClock()), is_embedded=connector.is_embedded)
        return await talk(session)
