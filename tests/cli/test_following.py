"""`logs -f`: the events socket, until the server or the reader has had enough."""

import asyncio
import json
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from websockets.datastructures import Headers
from websockets.http11 import Request, Response
from websockets.sync.server import ServerConnection, serve

from colonizer_engines.mothership.fixture import load
from plain_command import LIMIT_S, PROGRAM, Done, colonizer, own_environment, started
from served_mothership import OWNER, served, settings

FIXTURE = Path(__file__).parents[1] / "data/mothership/fixture.py"

RECORDED = [
    "0      T harness_log    ",
    "0      T harness_log    ",
    "1      T status         ",
    "2      T user_message   ",
    "3      T thinking       ",
    "4      T assistant_text ",
    "5      T tool_call      ",
    "6      T tool_result    ",
    "7      T tool_call      ",
    "8      T tool_result    ",
    "9      T assistant_text ",
    "10     T usage          ",
]
"""What the published program printed of the same colony; T stands for a time."""


@pytest.mark.anyio
async def test_a_log_is_printed_as_recorded_until_ctrl_c(tmp_path: Path) -> None:
    state = tmp_path / "state"
    made = await asyncio.create_subprocess_exec(sys.executable, str(FIXTURE), str(state))
    assert await made.wait() == 0
    async with served(
        tmp_path,
        given=settings(),
        recovering=False,
        running=False,
        know=False,
        over_tcp=True,
        fill=lambda store, out: load(state, store, out),
    ) as mothership:
        environment = {"COLONIZER_BIND": mothership.http.base_url.netloc.decode(), "COLONIZER_TOKEN": OWNER}
        logs = await asyncio.create_subprocess_exec(
            *PROGRAM, "logs", "a1b2c3d4", "-f", stdout=subprocess.PIPE, env=own_environment(environment)
        )
        assert logs.stdout is not None
        try:
            async with asyncio.timeout(LIMIT_S):
                lines = [(await logs.stdout.readline()).decode() for _ in RECORDED]
                logs.send_signal(signal.SIGINT)
                assert await logs.wait() == 0
        finally:
            if logs.returncode is None:
                logs.kill()
    assert [re.sub(r"2\d{3}-\d\d-\d\dT\S+ +(?=\w)", "T ", line.removesuffix("\n")) for line in lines] == RECORDED


@contextmanager
def socket_server(
    talk: Callable[[ServerConnection], None], refuse: Callable[[Request], Response | None] = lambda _: None
) -> Generator[tuple[str, list[Request]]]:
    """Where the server is, and the requests that came."""
    requests: list[Request] = []

    def look(_: ServerConnection, request: Request) -> Response | None:
        requests.append(request)
        return refuse(request)

    with serve(talk, "127.0.0.1", 0, process_request=look) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        try:
            yield f"127.0.0.1:{server.socket.getsockname()[1]}", requests
        finally:
            server.shutdown()
            serving.join()


def follow(host: str, *argv: str) -> Done:
    return colonizer("logs", "a1b2c3d4", "-f", *argv, COLONIZER_BIND=host, COLONIZER_TOKEN="a-token")


FRAMES: list[dict[str, object]] = [
    {"type": "run_epoch", "epoch": 1},
    {"type": "session", "session": {}},
    {"seq": 1, "ts": "2026-11-30T08:35:20Z", "type": "status", "summary": "a\x1b[2J\nb" + "x" * 200},
    {"type": "replay_done", "seq": 1},
    {"type": "of_tomorrow"},
]


def say_all(connection: ServerConnection) -> None:
    for frame in FRAMES:
        connection.send(json.dumps(frame))
    connection.send("no JSON")
    connection.send("[1]")
    connection.send(b'{"type": "bytes"}')


def test_it_ends_well_when_the_server_closes_and_shows_events_alone() -> None:
    with socket_server(say_all) as (host, _):
        done = follow(host)
    summary = "a␛[2J b" + "x" * 113 + "…"
    assert done.exit == 0
    assert done.stdout.splitlines() == [
        f"1      2026-11-30T08:35:20Z        status         {summary}",
        f"0      {'':27} of_tomorrow    ",
        f"0      {'':27} bytes          ",
    ]


def test_json_is_one_event_a_line_as_it_came() -> None:
    with socket_server(say_all) as (host, _):
        lines = follow(host, "--json").stdout.splitlines()
    assert [json.loads(line) for line in lines] == [FRAMES[2], FRAMES[4], {"type": "bytes"}]
    assert lines[1] == '{"type":"of_tomorrow"}'


def test_the_token_goes_in_a_header_and_never_in_the_address() -> None:
    with socket_server(lambda _: None) as (host, requests):
        assert follow(host).exit == 0
    [request] = requests
    assert request.headers["Authorization"] == "Bearer a-token"
    assert "token" not in request.path


def test_a_connection_that_breaks_is_an_end_too() -> None:
    def break_off(connection: ServerConnection) -> None:
        connection.send(json.dumps(FRAMES[4]))
        connection.socket.close()

    with socket_server(break_off) as (host, _):
        done = follow(host)
    assert (done.exit, len(done.stdout.splitlines())) == (0, 1)


@pytest.mark.parametrize("status", [401, 403, 404, 500])
def test_a_socket_that_is_refused_ends_with_1_whatever_the_status(status: int) -> None:
    def refuse(_: Request) -> Response:
        return Response(status, "No", Headers([("Content-Type", "text/plain")]), b"the reason\x1b[2J")

    with socket_server(say_all, refuse) as (host, _):
        assert follow(host) == Done(1, "", f"colonizer: no events stream at http://{host}: the reason␛[2J\n")


def test_a_redirect_is_not_followed() -> None:
    with socket_server(say_all) as (elsewhere, reached):

        def redirect(_: Request) -> Response:
            return Response(307, "Go", Headers([("Location", f"ws://{elsewhere}/")]), b"")

        with socket_server(say_all, redirect) as (host, _):
            done = follow(host)
    assert (done.exit, done.stdout, reached) == (1, "", [])
    assert "redirects" in done.stderr


def test_a_host_where_nothing_listens_is_named() -> None:
    done = follow("127.0.0.1:1")
    assert done == Done(1, "", "colonizer: no events stream at http://127.0.0.1:1: Connection refused\n")


def test_a_reader_that_has_had_enough_ends_it_well() -> None:
    enough = threading.Event()

    def say_on(connection: ServerConnection) -> None:
        connection.send(json.dumps(FRAMES[4]))
        enough.wait(LIMIT_S)
        while True:  # until the other side is gone
            connection.send(json.dumps(FRAMES[4]))

    with (
        socket_server(say_on) as (host, _),
        started("logs", "x", "-f", environment={"COLONIZER_BIND": host, "COLONIZER_TOKEN": "t"}) as logs,
    ):
        assert logs.stdout is not None
        assert logs.stderr is not None
        assert logs.stdout.readline()
        logs.stdout.close()
        enough.set()
        assert logs.wait(LIMIT_S) == 0
        assert logs.stderr.read() == ""
