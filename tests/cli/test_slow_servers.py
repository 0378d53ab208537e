"""Servers that answer a byte now and then."""

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest

from colonizer_client.errors import NoReply
from colonizer_client.mothership import calls
from colonizer_client.mothership.oneshot import OneShot
from colonizer_config.address import HttpAddress
from colonizer_config.token import Token

SLOW_HEAD = b"HTTP/1.1 200 OK\r\nX-Slow: "
SLOW_BODY = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
"""Without a length: the body ends with the connection."""


@pytest.fixture(params=[SLOW_HEAD, SLOW_BODY], ids=["in the head", "in the body"])
def dripping(request: pytest.FixtureRequest) -> Iterator[HttpAddress]:
    """A server that drips on until nobody listens."""
    over = threading.Event()

    def drip(listening: socket.socket) -> None:
        with suppress(OSError), listening.accept()[0] as connection:
            connection.sendall(request.param)
            while not over.wait(0.01):
                connection.sendall(b" ")

    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = threading.Thread(target=drip, args=(listening,))
        server.start()
        try:
            yield HttpAddress("http", "127.0.0.1", listening.getsockname()[1])
        finally:
            over.set()
            server.join()


def test_a_request_ends_when_its_time_is_over_however_the_bytes_drip(dripping: HttpAddress) -> None:
    with pytest.raises(NoReply, match=r"^it took too long$"):
        OneShot(dripping, Token("t"), timeout_s=0.3).run(calls.tokens())
