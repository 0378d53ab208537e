import json

import pytest

from colonizer_client import errors
from colonizer_client.errors import (
    ClientError,
    Conflict,
    Forbidden,
    NotFound,
    Refusal,
    ServerFault,
    SignInNeeded,
    TooMany,
    Unreadable,
)
from colonizer_client.mothership.replies import Reply, json_of, refuse_encoding
from recorded import Json, replies


def failure(reply: Reply) -> ClientError:
    with pytest.raises(ClientError) as caught:
        reply.body_of_success()
    return caught.value


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
def test_a_success_gives_its_body(status: int) -> None:
    assert Reply(status, b"x").body_of_success() == b"x"


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, Refusal), (401, SignInNeeded), (403, Forbidden), (404, NotFound), (405, Refusal), (409, Conflict),
        (413, Refusal), (422, Refusal), (429, TooMany), (500, ServerFault), (502, ServerFault), (503, ServerFault),
        (301, Unreadable), (302, Unreadable), (307, Unreadable), (308, Unreadable), (100, Unreadable),
        (199, Unreadable), (999, ServerFault),
    ],
)  # fmt: skip
def test_a_status_is_its_error(status: int, kind: type[ClientError]) -> None:
    found = failure(Reply(status, b"words"))
    assert type(found) is kind
    assert found.retryable is (kind is ServerFault)
    if isinstance(found, Refusal | ServerFault):
        assert found.status == status
        assert str(found) == "words"


def test_the_words_of_a_refusal_are_the_servers_own() -> None:
    found = failure(
        Reply(
            409, b'{"error": "no question is pending for this colony", "duplicate": {"what": "#7"}}', "application/json"
        )
    )
    assert isinstance(found, Conflict)
    assert str(found) == "no question is pending for this colony"
    assert found.body["duplicate"] == {"what": "#7"}


@pytest.mark.parametrize("body", [b"", b"  \n", b"<html><p>no</p></html>"])
def test_a_refusal_without_words_shows_the_status_line(body: bytes) -> None:
    assert str(failure(Reply(404, body, "text/html; charset=utf-8"))) == "404 Not Found"
    assert str(failure(Reply(499, body, "text/html"))) == "499"


@pytest.mark.parametrize("body", [b'{"error": 5}', b'{"error": ""}', b"[]", b'"x"', b"\xff\xfe"])
def test_a_refusal_whose_json_says_nothing_shows_its_body(body: bytes) -> None:
    assert str(failure(Reply(400, body))) == body.decode("utf-8", "replace")


def test_plain_words_are_cut_and_all_words_are_safe() -> None:
    assert str(failure(Reply(400, b" " + b"x" * 600))) == "x" * 500 + "…"
    assert str(failure(Reply(400, b"\x1b[2Jx"))) == "␛[2Jx"
    hostile = json.dumps({"error": "\x1b]0;x\x07\u202ey"}).encode()
    assert str(failure(Reply(400, hostile))) == "␛]0;x␇⟨U+202E⟩y"
    assert len(str(failure(Reply(400, json.dumps({"error": "x" * 50_000}).encode())))) == 20_001


def test_a_redirect_is_never_followed_and_says_why() -> None:
    assert "a token is never sent along" in str(failure(Reply(302, b"")))


@pytest.mark.parametrize("status", [200, 204])
def test_a_success_that_is_no_json_is_unreadable_where_json_is_read(status: int) -> None:
    with pytest.raises(Unreadable, match="something but JSON"):
        json_of(Reply(status, b"", "text/plain"))


@pytest.mark.parametrize("encoding", ["", "identity", " Identity "])
def test_a_reply_that_is_not_encoded_is_taken(encoding: str) -> None:
    refuse_encoding(encoding)


@pytest.mark.parametrize("encoding", ["gzip", "br", "deflate", "identity, gzip", "\x1b[2J"])
def test_a_reply_in_another_encoding_is_refused(encoding: str) -> None:
    with pytest.raises(Unreadable) as caught:
        refuse_encoding(encoding)
    assert "\x1b" not in str(caught.value)


def test_every_recorded_refusal_is_read_as_what_it_is() -> None:
    kinds = {401: SignInNeeded, 403: Forbidden, 404: NotFound, 409: Conflict, 429: TooMany}
    seen: set[int] = set()
    for _, response in replies():
        status = response["status"]
        if 400 <= status < 500:
            body = json.dumps(response["json"]) if "json" in response else response.get("text") or ""
            found = failure(Reply(status, body.encode(), response.get("content_type") or ""))
            assert isinstance(found, kinds.get(status, Refusal))
            given: Json = response.get("json") or {}
            said = given.get("error") or response.get("text", "").strip()
            assert str(found) == said or (not said or "html" in response["content_type"])
            seen.add(status)
    assert {400, 401, 403, 404, 409} <= seen


def test_the_drawing_of_the_errors_names_every_one_in_its_place() -> None:
    drawing = errors.__doc__ or ""
    for name, kind in vars(errors).items():
        if isinstance(kind, type) and issubclass(kind, ClientError):
            (line,) = [line for line in drawing.splitlines() if name in line.replace("─", " ").split()[:3]]
            inherits = any(issubclass(base, ClientError) and base.retryable for base in kind.__bases__)
            assert ("(retryable)" in line) is (kind.retryable and not inherits)
