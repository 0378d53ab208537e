"""What is recorded of the wire, and above all what is not."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from client.cockpits import Direct, connected, is_live, until
from client.fleet_server import FleetServer
from client.hand_clock import HandClock
from client.samples import HQ, key
from colonizer_client.errors import NotFound
from colonizer_client.mothership.models import LaunchOrder, TokenOrder
from colonizer_client.mothership.recorder import KEPT, READ_BYTES, SHOWN_CHARS, Passage, Recorder
from colonizer_config.token import Token

STREAM = "/api/stream"
SHAPED = "col_" + "5e" * 32


def recorder(*secrets: str) -> Recorder:
    made = Recorder(HandClock())
    for secret in secrets:
        made.know(Token(secret))
    return made


def heard(body: bytes, *secrets: str) -> str:
    made = recorder(*secrets)
    made.frame("/x", body)
    return made.passages[0].heard


@pytest.mark.anyio
async def test_nothing_is_recorded_unless_somebody_looks(server: FleetServer, tmp_path: Path, clock: HandClock) -> None:
    connector = Direct(server.address)
    async with connected(connector, tmp_path, clock) as cockpit:
        await until(cockpit, is_live)
        assert [transport.recorder for transport in connector.opened] == [None]


@pytest.mark.anyio
async def test_requests_replies_and_frames_are_recorded_while_somebody_looks(
    server: FleetServer, tmp_path: Path, clock: HandClock
) -> None:
    async with connected(Direct(server.address), tmp_path, clock) as cockpit:
        await until(cockpit, is_live)
        await server.until_followed(STREAM)
        log = cockpit.record(HQ)
        server.put("a")
        await until(cockpit, lambda now: key("a") in now.colonies)
        with pytest.raises(NotFound):
            await cockpit.stop(key("gone"))
        frame, refused = log.passages
        assert (frame.method, frame.path, frame.sent) == ("heard", STREAM, "")
        assert json.loads(frame.heard)["type"] == "session"
        assert frame.heard_bytes == len(json.dumps(json.loads(frame.heard)))
        assert (refused.method, refused.path, refused.outcome) == ("POST", "/api/sessions/gone/stop", "404")
        assert (refused.is_fault, refused.heard) == (True, '{\n  "error": "no such session"\n}')
        assert refused.duration_s is not None
        cockpit.stop_recording(HQ)
        server.put("b")
        await until(cockpit, lambda now: key("b") in now.colonies)
        assert log.version == 2


@pytest.mark.anyio
async def test_a_recording_goes_on_over_a_new_connection_and_shows_how_that_came_about(
    server: FleetServer, tmp_path: Path, clock: HandClock
) -> None:
    async with connected(Direct(server.address), tmp_path, clock) as cockpit:
        await until(cockpit, is_live)
        await server.until_followed(STREAM)
        log = cockpit.record(HQ)
        cockpit.reconnect(HQ)
        await server.until_asked(f"WS {STREAM}", 2)
        await until(cockpit, lambda now: is_live(now) and log.version > 4)
        passed = [(each.method, each.path, each.outcome) for each in log.passages[:4]]
        assert passed == [
            ("WS", STREAM, "closed"),
            ("GET", "/api/tokens/self", "200"),
            ("GET", "/api/version", "200"),
            ("WS", STREAM, "open"),
        ]


@pytest.mark.anyio
async def test_no_secret_of_a_request_or_a_reply_is_recorded(
    server: FleetServer, tmp_path: Path, clock: HandClock
) -> None:
    token = "a-token-of-no-known-shape"
    server.put("a")
    server.replies["POST", "/api/tokens"] = (200, {"token": "an-odd-one", "name": f"for {token}", "x": SHAPED})
    server.replies["POST", "/api/sessions"] = (200, server.sessions["a"])
    async with connected(Direct(server.address, Token(token)), tmp_path, clock) as cockpit:
        await until(cockpit, is_live)
        log = cockpit.record(HQ)
        await cockpit.mint_token(HQ, TokenOrder("ci", "read"))
        await cockpit.launch(HQ, LaunchOrder("a/b", "x", agent_env={"MY_KEY": "hush hush"}))
        kept = repr(log.passages)
    for secret in (token, "an-odd-one", SHAPED, "hush"):
        assert secret not in kept
    assert "‹redacted 68 chars›" in kept
    assert "‹redacted 9 chars›" in kept
    assert "MY_KEY" in kept


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ('{"token": "x y"}', '{\n  "token": "‹redacted 3 chars›"\n}'),
        ('{"api_token":"\\"x\\""}', '{\n  "api_token": "‹redacted 5 chars›"\n}'),
        ('{"tok\\u0065n":"\\u0078y"}', '{\n  "token": "‹redacted 2 chars›"\n}'),
        ('{"context_tokens": 200000}', '{\n  "context_tokens": 200000\n}'),
        ('{"note": "a token of thanks"}', '{\n  "note": "a token of thanks"\n}'),
        ('{"a":"\\u009b31m\\u202e"}', '{\n  "a": "⟨U+009B⟩31m⟨U+202E⟩"\n}'),
        ('{"cut": {"token": "half', '{"cut": {"token": "‹redacted 4 chars›'),
        ("Authorization: Bearer abc", "Authorization: Bearer ‹redacted 3 chars›"),
        ("\x1b[2J‮", "␛[2J⟨U+202E⟩"),
    ],
)
def test_what_names_a_secret_is_masked_and_the_rest_is_shown_safely(body: str, shown: str) -> None:
    assert heard(body.encode()) == shown


@given(before=st.integers(0, READ_BYTES), secret=st.text('abc"{}; =,.~/+-_XYZ019'.replace(" ", ""), min_size=12))
def test_no_part_of_a_secret_is_shown_wherever_the_body_is_cut(before: int, secret: str) -> None:
    shown = heard(b" " * before + secret.encode() + b" " * READ_BYTES, secret)
    assert all(secret[at : at + 12] not in shown for at in range(len(secret) - 11))


@pytest.mark.parametrize("at", range(READ_BYTES - 80, READ_BYTES + 2))
def test_a_cut_token_of_a_known_shape_shows_no_half_of_itself(at: int) -> None:
    text = heard(("‹redacted›" + "{" * (SHOWN_CHARS - 200)).encode() + b" " * (at - SHOWN_CHARS) + SHAPED.encode() * 9)
    assert "5e5e" not in text


def test_what_is_long_is_cut_and_its_size_is_told() -> None:
    made = recorder()
    made.frame("/x", "word " * 1_000_000)
    (passage,) = made.passages
    assert passage.heard_bytes == 5_000_000
    assert len(passage.heard) <= SHOWN_CHARS + 1
    assert passage.heard.endswith("…")


def test_an_endless_word_that_may_hold_a_secret_is_not_shown() -> None:
    assert heard(b"x" * (READ_BYTES + 1)) == "…"


def test_only_the_last_passages_are_kept_and_their_numbers_go_on() -> None:
    made = recorder()
    for _ in range(KEPT + 5):
        made.socket("/x", "open")
    assert [made.passages[0].number, made.passages[-1].number, len(made.passages)] == [6, KEPT + 5, KEPT]


@given(st.binary(max_size=200), st.text(max_size=50))
def test_whatever_passes_is_safe_to_show(body: bytes, path: str) -> None:
    made = recorder()
    made.frame(path, body)
    made.exchanged("GET", path, path, duration_s=0.0, heard=body)
    for passage in made.passages:
        assert isinstance(passage, Passage)
        assert all(line.isprintable() for line in f"{passage.path}\n{passage.heard}\n{passage.outcome}".split("\n"))
