import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from client.samples import HQ, question, session
from colonizer_client.answers import AnswerBody, Chosen, from_card
from colonizer_client.errors import BadRequest, ClientError, Unreadable
from colonizer_client.identity import ColonyId
from colonizer_client.mothership import calls
from colonizer_client.mothership.calls import Call
from colonizer_client.mothership.models import LaunchOrder, TokenOrder
from colonizer_client.mothership.replies import Reply

AN_ID = ColonyId("c0ffee00")
ANSWER = from_card(question(), [Chosen(("main",))])


def replied(value: object, status: int = 200) -> Reply:
    return Reply(status, json.dumps(value).encode(), "application/json")


BY_ID: list[tuple[Callable[[ColonyId], Call[Any]], str, str]] = [
    (lambda colony: calls.colony(HQ, colony), "GET", ""),
    (calls.question, "GET", "/question"),
    (lambda colony: calls.answer(colony, ANSWER), "POST", "/answer"),
    (lambda colony: calls.message(colony, "m", "t"), "POST", "/messages"),
    (lambda colony: calls.stop(HQ, colony), "POST", "/stop"),
    (lambda colony: calls.resume(HQ, colony), "POST", "/resume"),
    (lambda colony: calls.keep(HQ, colony), "POST", "/keep"),
    (lambda colony: calls.clean_up(HQ, colony), "POST", "/cleanup"),
    (lambda colony: calls.publish(HQ, colony), "POST", "/publish"),
    (calls.seen, "POST", "/seen"),
    (calls.prewarm, "POST", "/prewarm"),
    (calls.diff, "GET", "/diff"),
]


@pytest.mark.parametrize(("make", "method", "rest"), BY_ID)
def test_a_call_about_a_colony_names_it_in_its_path(
    make: Callable[[ColonyId], Call[Any]], method: str, rest: str
) -> None:
    call = make(AN_ID)
    assert (call.method, call.path) == (method, f"/api/sessions/c0ffee00{rest}")


@pytest.mark.parametrize(("make", "method", "rest"), BY_ID)
@pytest.mark.parametrize("wrong", ["", ".", "..", "/", "../tokens", "a/b", "/etc"])
def test_an_id_that_would_name_another_route_is_refused_unsent(
    make: Callable[[ColonyId], Call[Any]], method: str, rest: str, wrong: str
) -> None:
    with pytest.raises(BadRequest, match=r"^no such session$"):
        make(ColonyId(wrong))


@pytest.mark.parametrize(
    ("odd", "encoded"),
    [
        ("a b", "a%20b"),
        ("a?b#c", "a%3Fb%23c"),
        ("%2e%2e", "%252e%252e"),
        ("é", "%C3%A9"),
        ("\r\nX: y", "%0D%0AX%3A%20y"),
        ("\ud800", "%ED%A0%80"),
        ("a\\b", "a%5Cb"),
    ],
)
def test_an_odd_id_is_encoded(odd: str, encoded: str) -> None:
    assert calls.question(ColonyId(odd)).path == f"/api/sessions/{encoded}/question"


def test_names_of_two_parts_are_checked_part_by_part() -> None:
    assert calls.repository_map("acme/wid gets").path == "/api/maps/acme/wid%20gets"
    assert calls.remove_local_repository("local/app").path == "/api/local/repos/local/app"
    assert calls.revoke_token("tok_1").path == "/api/tokens/tok_1"
    for wrong in ("acme", "acme/", "/x", "a/b/c", "a/..", ""):
        with pytest.raises(BadRequest, match="no such repository"):
            calls.repository_map(wrong)
        with pytest.raises(BadRequest, match="no such repository"):
            calls.remove_local_repository(wrong)
    with pytest.raises(BadRequest, match="no such token"):
        calls.revoke_token("../sessions")


def test_a_launch_has_exactly_the_keys_of_the_specification() -> None:
    call = calls.launch(HQ, LaunchOrder("acme/widgets"))
    assert (call.method, call.path, call.headers) == ("POST", "/api/sessions", {})
    assert call.body == {
        "repo": "acme/widgets",
        "issue": None,
        "instructions": "",
        "autopilot": None,
        "model_override": None,
        "subagent_model_override": None,
        "allow_duplicate": False,
        "queue_behind_holder": False,
        "allow_epic": False,
        "supply_chain": None,
    }


def test_a_launch_says_what_was_ordered() -> None:
    order = LaunchOrder(
        "acme/widgets",
        "Do it",
        7,
        "claude",
        "opus",
        "haiku",
        True,
        True,
        True,
        True,
        ("left-pad", "GHSA-1"),
        {"KEY": "v"},
        "once",
    )
    call = calls.launch(HQ, order)
    assert call.headers == {"Idempotency-Key": "once"}
    assert call.body == {
        "repo": "acme/widgets",
        "issue": 7,
        "instructions": "Do it",
        "autopilot": True,
        "model_override": "opus",
        "subagent_model_override": "haiku",
        "allow_duplicate": True,
        "queue_behind_holder": True,
        "allow_epic": True,
        "supply_chain": {"package": "left-pad", "advisory": "GHSA-1"},
        "agent_module": "claude",
        "agent_env": {"KEY": "v"},
    }
    assert call.read(replied(session("new"))).key.colony == "new"


@pytest.mark.parametrize(
    "body",
    [calls.stop(HQ, AN_ID), calls.keep(HQ, AN_ID), calls.resume(HQ, AN_ID), calls.seen(AN_ID), calls.prewarm(AN_ID)],
)
def test_a_call_without_arguments_has_no_body(body: Call[Any]) -> None:
    assert body.body is None


def test_bodies_are_as_specified() -> None:
    assert calls.message(AN_ID, "m-1", "hello").body == {"id": "m-1", "text": "hello"}
    assert calls.answer(AN_ID, AnswerBody("q", {"Q": ("a",)})).body == {
        "question_id": "q",
        "answers": {"Q": ["a"]},
        "response": None,
    }
    assert calls.resume(HQ, AN_ID, {"KEY": "v"}).body == {"agent_env": {"KEY": "v"}}
    assert calls.mint_token(TokenOrder("n", "read", repos=("a/b",), budget_usd_per_day=2.5)).body == {
        "name": "n",
        "scope": "read",
        "orgs": [],
        "repos": ["a/b"],
        "max_concurrent": None,
        "budget_usd_per_day": 2.5,
    }
    assert calls.add_local_repository("/p").body == {"path": "/p"}
    assert calls.add_local_repository("/p", "acme/app").body == {"path": "/p", "name": "acme/app"}


def test_socket_paths_say_what_was_had() -> None:
    assert calls.stream_path() == "/api/stream"
    assert calls.events_path(AN_ID, since=5, epoch=2) == "/api/sessions/c0ffee00/events?since=5&epoch=2"
    assert calls.events_path(AN_ID, since=0, epoch=0, limit=200).endswith("?since=0&epoch=0&limit=200")
    assert calls.log_page(AN_ID, limit=50).path == "/api/sessions/c0ffee00/events?limit=50"
    assert calls.log_page(AN_ID, limit=50, before=7, epoch=2, offset=6).path.endswith(
        "?limit=50&before=7&epoch=2&offset=6"
    )


def test_replies_are_read() -> None:
    assert calls.standing().read(replied({"owner": True})).is_owner
    assert calls.server_version().read(replied({"version": "v0.2.23"})) == "0.2.23"
    assert calls.colonies(HQ).read(replied([session("a")]))[0][0].key.colony == "a"
    assert calls.question(AN_ID).read(Reply(204, b"")) is None
    assert calls.answer(AN_ID, ANSWER).read(Reply(204, b"")) is None
    delivered = calls.message(AN_ID, "m", "t").read(replied({"id": "u-m", "duplicate": True, "pending_notes": 2}, 202))
    assert (delivered.message_id, delivered.duplicate, delivered.pending_notes) == ("u-m", True, 2)
    assert calls.stop(HQ, AN_ID).read(replied(session() | {"result": "already_stopped"}))[1]
    assert not calls.stop(HQ, AN_ID).read(replied(session() | {"result": "stopped"}))[1]
    assert calls.tokens().read(replied([{"id": "tok_1"}]))[0].id_raw == "tok_1"
    assert calls.local_repositories().read(replied([{"name": "a/b"}]))[0].name == "a/b"
    assert calls.add_local_repository("/p").read(replied({"name": "a/b", "path": "/p"})).path == "/p"
    assert calls.diff(AN_ID).read(replied({})).files == ()
    assert calls.log_page(AN_ID, limit=1).read(replied({"events": []})) == {"events": []}
    assert calls.repository_map("a/b").read(replied({"map": None})) == {"map": None}
    assert calls.colony(HQ, AN_ID).as_json().read(replied({"any": "\x1b"})) == {"any": "\x1b"}
    for call in (calls.server_status(), calls.engine_state()):
        assert call.read(replied({"version": "1"})) == {"version": "1"}
    for nothing in (
        calls.stop_engine(),
        calls.revoke_token("t"),
        calls.seen(AN_ID),
        calls.remove_local_repository("a/b"),
    ):
        assert nothing.read(Reply(204, b"")) is None


def test_a_made_token_comes_back_as_one_that_does_not_show_itself() -> None:
    call = calls.mint_token(TokenOrder("n", "read"))
    made = call.read(replied({"token": "col_" + "5e" * 32}))
    assert made.reveal() == "col_" + "5e" * 32
    assert "5e" not in f"{made} {made!r}"
    for odd in ({}, {"token": 5}, {"token": "two words"}, {"token": "\x1b[2J"}):
        with pytest.raises(Unreadable, match="revoke it"):
            call.read(replied(odd))


READERS = [make(AN_ID) for make, _, _ in BY_ID] + [
    calls.standing(), calls.server_version(), calls.colonies(HQ), calls.launch(HQ, LaunchOrder("a/b")), calls.tokens(),
    calls.mint_token(TokenOrder("n", "read")), calls.server_status(), calls.local_repositories(),
    calls.add_local_repository("/p"),
]  # fmt: skip


@pytest.mark.parametrize("call", READERS, ids=lambda call: f"{call.method} {call.path}")
def test_no_reply_makes_a_reader_raise_anything_but_our_errors(call: Call[Any]) -> None:
    for status in (200, 204, 302, 400, 401, 403, 404, 409, 418, 429, 500, 503, 999, 100):
        for body in (
            b"",
            b"null",
            b"5",
            b"[]",
            b"[5]",
            b"{}",
            b'{"id": 5, "error": 5}',
            b"<html>",
            b"\xff",
            b"[" * 5000,
        ):
            with suppress(ClientError):
                call.read(Reply(status, body, "text/html"))


def test_a_page_in_place_of_json_is_unreadable() -> None:
    with pytest.raises(Unreadable, match="200 OK with something but JSON: <html>"):
        calls.server_status().read(Reply(200, b"<html>cockpit</html>", "text/html"))
