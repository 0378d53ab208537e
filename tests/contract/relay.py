"""A port that leads to a mothership, where the live sockets can be held up while requests go through."""

import socket
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

CHUNK = 1 << 16


@dataclass
class Relay:
    port: int
    target: tuple[str, int]
    flowing: threading.Event = field(default_factory=threading.Event)
    """Cleared, what comes over sockets waits; what comes over plain requests does not."""
    connections: list[socket.socket] = field(default_factory=list[socket.socket])

    def carry(self, near: socket.socket) -> None:
        self.connections.append(near)
        try:
            far = socket.create_connection(self.target)
        except OSError:
            near.shutdown(socket.SHUT_RDWR)
            return
        self.connections.append(far)
        with suppress(OSError):
            first = near.recv(CHUNK)
            far.sendall(first)
            is_socket = b"upgrade: websocket" in first.lower()
            threading.Thread(target=self._copy, args=(near, far, False), daemon=True).start()
            self._copy(far, near, is_socket)

    def _copy(self, source: socket.socket, sink: socket.socket, waits: bool) -> None:
        with suppress(OSError):
            while data := source.recv(CHUNK):
                if waits:
                    self.flowing.wait()
                sink.sendall(data)
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


@contextmanager
def relay_to(port: int) -> Generator[Relay]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        relay = Relay(listening.getsockname()[1], ("127.0.0.1", port))
        relay.flowing.set()
        accepting = threading.Thread(target=_accept, args=(listening, relay), daemon=True)
        accepting.start()
        try:
            yield relay
        finally:
            relay.flowing.set()
            listening.shutdown(socket.SHUT_RDWR)
            accepting.join()
            for connection in relay.connections:
                connection.close()


def _accept(listening: socket.socket, relay: Relay) -> None:
    with suppress(OSError):
        while True:
            near, _ = listening.accept()
            threading.Thread(target=relay.carry, args=(near,), daemon=True).start()
