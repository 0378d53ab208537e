"""The events socket of one colony: its log, then what happens, live (spec 3.3)."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress

import msgspec
from starlette.websockets import WebSocket, WebSocketDisconnect

from colonizer_engines.lenient_json import encode
from colonizer_engines.mothership.api.routes import Call
from colonizer_engines.mothership.api.sessions import LOG_PAGE_LIMIT, whole
from colonizer_engines.mothership.api.sockets import hang_up, until_first
from colonizer_engines.mothership.errors import Refusal, StoreError
from colonizer_engines.mothership.feeds import Watcher
from colonizer_engines.mothership.session import ColonyId
from colonizer_engines.mothership.tokens import Scope
from colonizer_engines.mothership.transcript import page, run_summary
from colonizer_engines.mothership.wire import as_object, session_frame

LOG_LINES_REPLAYED = 200
_REPLAY_ROWS = 500


async def watch_events(call: Call) -> None:
    """WS `/api/sessions/{id}/events`."""
    colony = call.mothership.fleet.get(call.colony)
    await call.socket.accept()
    with call.mothership.fleet.watching(colony.id) as watcher:
        stop_watching = call.mothership.tokens.watch(call.caller, watcher.end)
        try:
            with suppress(WebSocketDisconnect):
                await until_first(_send(call, colony.id, watcher), _receive(call, colony.id, watcher))
        finally:
            stop_watching()
    await hang_up(call.socket)


async def _send(call: Call, colony: ColonyId, watcher: Watcher) -> None:
    await _replay(call, colony, watcher)
    while frames := await watcher.take():
        for frame in frames:
            await _frame(call.socket, frame)


async def _replay(call: Call, colony_id: ColonyId, watcher: Watcher) -> None:
    """Sends what is stored, and has the watcher take over without a gap."""
    fleet, store, socket = call.mothership.fleet, call.mothership.store, call.socket
    colony = fleet.get(colony_id)
    query = socket.query_params
    epoch = whole(query.get("epoch"), 0)
    cursor = 0 if epoch not in (0, colony.epoch) else whole(query.get("since"), 0)
    limit = min(whole(query.get("limit"), 0), LOG_PAGE_LIMIT)
    opening = [encode({"type": "run_epoch", "epoch": colony.epoch}), session_frame(fleet.shown(colony))]
    opening += store.last_log_lines(colony_id, LOG_LINES_REPLAYED)
    if limit and not cursor:
        newest = page(store, colony_id, colony.epoch, None, limit, one_run=True)
        summary = run_summary(store, colony_id, colony.epoch)
        opening.append(encode({"type": "history", **newest.facts(), "summary": summary}))
        opening += [row.body for row in newest.rows]
        cursor = newest.rows[-1].seq if newest.rows else 0
    for frame in opening:
        await _frame(socket, frame)
    while not watcher.ended:
        rows = store.events_after(colony_id, colony.epoch, cursor, _REPLAY_ROWS)
        if not rows:
            watcher.caught_up = True
            break
        for row in rows:
            await _frame(socket, row.body)
        cursor = rows[-1].seq
    await _frame(socket, encode({"type": "replay_done", "seq": cursor}))


async def _receive(call: Call, colony: ColonyId, watcher: Watcher) -> None:
    while True:
        received = await call.socket.receive()
        if received["type"] == "websocket.disconnect":
            return
        command = _command(received.get("text"))
        if command is not None:
            await _carry_out(call, colony, command, watcher)


async def _carry_out(call: Call, colony_id: ColonyId, command: Mapping[str, object], watcher: Watcher) -> None:
    fleet = call.mothership.fleet
    problem = _refused(call, command)
    if problem is not None:
        with suppress(StoreError), fleet.change() as change:
            change.log(colony_id, problem, "warn")
        return
    colony = fleet.find(colony_id)
    if colony is not None and colony.session.live:
        # Nobody waits for a reply here: what cannot be done shows in the Session.
        with suppress(Refusal, StoreError):
            await call.mothership.conversation.command(colony_id, command, call.caller)
            return
    if colony is not None:
        watcher.offer(session_frame(fleet.shown(colony)))


def _refused(call: Call, command: Mapping[str, object]) -> str | None:
    """Why the caller may not send this command."""
    if command.get("type") not in ("user_message", "answer", "interrupt", "set_model"):
        return None
    if call.caller.scope < Scope.OPERATE:
        return (
            f"this API token's scope ({call.caller.scope.word}) can watch this colony but not drive it;"
            " answering, interrupting or messaging needs an operate or launch token"
        )
    if command.get("type") == "set_model" and not call.caller.is_owner:
        return (
            "switching a colony's model stays with the maintainer; an API token, whatever its scope, cannot change it"
        )
    return None


def _command(text: object) -> Mapping[str, object] | None:
    if not isinstance(text, str):
        return None
    try:
        command = as_object(msgspec.json.decode(text))
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None
    return command if command is not None and isinstance(command.get("type"), str) else None


async def _frame(socket: WebSocket, frame: bytes) -> None:
    await socket.send_text(frame.decode())
    # A socket that takes everything at once must not keep the others waiting.
    await asyncio.sleep(0)
