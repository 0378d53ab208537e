"""The fleet-wide stream: all lists, then what changes (spec 3.5)."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from starlette.websockets import WebSocket, WebSocketDisconnect

from colonizer_engines.lenient_json import encode
from colonizer_engines.mothership.api.overview import host, orgs, storage
from colonizer_engines.mothership.api.routes import Call
from colonizer_engines.mothership.api.sockets import hang_up, until_first
from colonizer_engines.mothership.feeds import StreamReader
from colonizer_engines.mothership.mothership import Mothership
from colonizer_engines.mothership.wire import as_array, as_object, session_frame

MERGED_S = 0.1
"""Changes of a colony within this time are told as one."""

SUMMED_S = 2.0
"""The sums over all colonies are made at most this often."""

_VOLATILE = frozenset({"last_heartbeat", "disk_free_bytes", "free_bytes", "runner_tick_age_s"})
"""What alone is no reason to tell a list again."""


async def stream(call: Call) -> None:
    """WS `/api/stream`."""
    call.mothership.scheduler.begin()
    await call.socket.accept()
    sums = _Sums(call.mothership)
    with call.mothership.fleet.reading() as reader, suppress(WebSocketDisconnect):
        await _send_all(call.socket, _opening(call.mothership) + sums.changed())
        await until_first(
            _send_changes(call.mothership, call.socket, reader, sums),
            _send_sums(call.mothership, call.socket, sums),
            _until_gone(call.socket),
        )
    await hang_up(call.socket)


def _opening(mothership: Mothership) -> list[bytes]:
    rows = b",".join(map(mothership.fleet.row, mothership.fleet.colonies()))
    return [b'{"type":"sessions","sessions":[' + rows + b"]}"]


async def _send_changes(mothership: Mothership, socket: WebSocket, reader: StreamReader, sums: "_Sums") -> None:
    fleet = mothership.fleet
    while not reader.ended:
        changed, removed = await reader.take()
        found = (fleet.find(colony) for colony in changed)
        frames = [session_frame(fleet.shown(colony)) for colony in found if colony is not None]
        frames += [encode({"type": "session_removed", "id": colony}) for colony in removed]
        await _send_all(socket, frames)
        sums.due.set()
        await mothership.clock.sleep(MERGED_S)


async def _send_sums(mothership: Mothership, socket: WebSocket, sums: "_Sums") -> None:
    while True:
        await sums.due.wait()
        sums.due.clear()
        await _send_all(socket, sums.changed())
        await mothership.clock.sleep(SUMMED_S)


async def _until_gone(socket: WebSocket) -> None:
    while (await socket.receive())["type"] != "websocket.disconnect":
        pass


async def _send_all(socket: WebSocket, frames: list[bytes]) -> None:
    for frame in frames:
        await socket.send_text(frame.decode())


class _Sums:
    """The lists that are made of all colonies, each told again when it is another one."""

    def __init__(self, mothership: Mothership) -> None:
        self.due = asyncio.Event()
        self._made: dict[str, Callable[[], object]] = {
            "orgs": lambda: orgs(mothership),
            "hosts": lambda: [host(mothership)],
            "storage": lambda: storage(mothership),
        }
        self._told: dict[str, object] = {}

    def changed(self) -> list[bytes]:
        """The frames of those lists that are not what was told last."""
        frames: list[bytes] = []
        for name, make in self._made.items():
            value = make()
            steady = _steady(value)
            if name not in self._told or self._told[name] != steady:
                self._told[name] = steady
                frames.append(encode({"type": name, name: value}))
        return frames


def _steady(value: object) -> object:
    fields, items = as_object(value), as_array(value)
    if fields is not None:
        return {key: _steady(item) for key, item in fields.items() if key not in _VOLATILE}
    return value if items is None else [_steady(item) for item in items]
