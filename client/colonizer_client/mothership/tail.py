"""The socket of plain commands: the frames of one path, read one after the other without an event loop."""

import socket
from collections.abc import Iterator
from contextlib import suppress
from http.client import HTTP_PORT, HTTPS_PORT

from colonizer_client.errors import NoReply, Unreachable
from colonizer_client.mothership.replies import refuse_socket
from colonizer_client.mothership.transport import (
    CLOSE_TIMEOUT_S,
    CONNECT_TIMEOUT_S,
    FRAME_LIMIT_BYTES,
    Server,
    socket_url,
    words_of,
)
from colonizer_config.address import SocketAddress
from colonizer_config.token import Token


def frames(server: Server, token: Token, path: str) -> Iterator[str | bytes]:
    """The messages that the server sends on a WebSocket, until it closes it for whatever reason.

    No redirect is followed: the token goes to this server alone.

    Raises:
        ClientError: Unreachable, NoReply, a refusal, a fault, or a server that speaks something else.
    """
    from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException
    from websockets.sync.client import connect

    # Given a socket that is connected already, the library cannot go where a redirect leads.
    connected = _connected(server)
    try:
        opened = connect(
            socket_url(server, path),
            sock=connected,
            additional_headers={"Authorization": f"Bearer {token.reveal()}"},
            user_agent_header=None,
            compression=None,
            proxy=None,
            open_timeout=CONNECT_TIMEOUT_S,
            close_timeout=CLOSE_TIMEOUT_S,
            max_size=FRAME_LIMIT_BYTES,
        )
        with opened as connection, suppress(ConnectionClosed):
            yield from connection
    except (OSError, ValueError, EOFError, WebSocketException) as problem:
        for cause in (problem, problem.__cause__):
            if isinstance(cause, InvalidStatus):
                answered = cause.response
                refuse_socket(answered.status_code, answered.body, answered.headers.get("Content-Type", ""))
        raise NoReply(words_of(problem)) from problem
    finally:
        connected.close()


def _connected(server: Server) -> socket.socket:
    try:
        if isinstance(server, SocketAddress):
            connected = _unix_connection(str(server.path))
        else:
            port = server.port or (HTTPS_PORT if server.scheme == "https" else HTTP_PORT)
            connected = socket.create_connection((server.host, port), CONNECT_TIMEOUT_S)
    except OSError as problem:
        raise Unreachable(words_of(problem)) from problem
    connected.settimeout(None)
    return connected


def _unix_connection(path: str) -> socket.socket:
    connected = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connected.settimeout(CONNECT_TIMEOUT_S)
        connected.connect(path)
    except OSError:
        connected.close()
        raise
    return connected
