"""A mothership on a port of this machine, every word of it a test's, for a cockpit that is a process of its own."""

import asyncio
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from client.fleet_server import FleetServer
from colonizer_config.address import HttpAddress, SocketAddress
from colonizer_config.paths import Paths
from colonizer_config.secrets import TokenStore
from colonizer_config.token import Token
from colonizer_engines.daemon.listeners import tcp_port
from colonizer_engines.daemon.server import Listener

NAME = "hq"


@contextmanager
def loopback_fleet(server: FleetServer) -> Generator[int]:
    """The port at which the server answers, from a thread of its own."""
    with tcp_port("127.0.0.1", 0) as listening:
        loop = asyncio.new_event_loop()
        listener = Listener(server)

        async def serve() -> None:
            await listener.run_on(listening)
            hanging = asyncio.all_tasks() - {asyncio.current_task()}
            for task in hanging:
                task.cancel()
            await asyncio.gather(*hanging, return_exceptions=True)

        serving = threading.Thread(target=lambda: loop.run_until_complete(serve()))
        serving.start()
        try:
            yield listening.getsockname()[1]
        finally:
            listener.force_exit = True
            loop.call_soon_threadsafe(listener.stop)
            serving.join()
            loop.close()


def silent_server() -> FleetServer:
    """A server that has nothing to say yet."""
    return FleetServer(SocketAddress(Path("nowhere")))


def sign_in(port: int) -> None:
    """Writes the settings of somebody whose default host is this one, and keeps its token."""
    paths = Paths.from_environment()
    paths.settings.parent.mkdir(parents=True, exist_ok=True)
    paths.settings.write_text(
        f'default_endpoint = "{NAME}"\n\n[[endpoints]]\nname = "{NAME}"\nkind = "mothership"\n'
        f'address = "127.0.0.1:{port}"\n',
        encoding="utf-8",
    )
    TokenStore(paths).store(HttpAddress("http", "127.0.0.1", port), Token("0" * 63 + "1"), plain_file=True)
