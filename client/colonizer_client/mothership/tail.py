"""The socket of plain commands: the frames of one path, read one after the other without an event loop."""

import socket
from collections.abc import Iterator
from contextlib import suppress
from http.client import HTTP_PORT, HTTPS_PORT

from colonizer_client.errors import NoReply, Unreachable
from colonizer_client.mothership.replies import Reply
from colonizer_client.mothership.transport import CONNECT_TIMEOUT_S, FRAME_LIMIT_BYTES, Server, base_url
from colonizer_client.text import safe_line
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
            base_url(server).replace("http", "ws", 1) + path,
            sock=connected,
            additional_headers={"Authorization": f"Bearer {token.reveal()}"},
            user_agent_header=None,
            compression=None,
            proxy=None,
            open_timeout=CONNECT_TIMEOUT_S,
            close_timeout=1.0,
            max_size=FRAME_LIMIT_BYTES,
        )
        with opened as connection, suppress(ConnectionClosed):
            yield from connection
    except (OSError, ValueError, EOFError, WebSocketException) as problem:
        for cause in (problem, problem.__cause__):
            if isinstance(cause, InvalidStatus):
                answered = cause.response
                kind = answered.headers.get("Content-Type", "")
                Reply(answered.status_code, bytes(answered.body or b""), kind).body_of_success()
        raise NoReply(_words(problem)) from problem
    finally:
        connected.close()


def _connected(server: Server) -> socket.socket:
    try:
        if isinstance(server, SocketAddress):
            connected = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            connected.settimeout(CONNECT_TIMEOUT_S)
            connected.connect(str(server.path))
        else:
            port = server.port or (HTTPS_PORT if server.scheme == "https" else HTTP_PORT)
            connected = socket.create_connection((server.host, port), CONNECT_TIMEOUT_S)
    except OSError as problem:
        raise Unreachable(_words(problem)) from problem
    connected.settimeout(None)
    return connected


def _words(problem: BaseException) -> str:
    if isinstance(problem, TimeoutError):
        return "it took too long"
    return safe_line(str(getattr(problem, "strerror", None) or problem) or type(problem).__name__, limit=200)
