import copy
import json
import pickle
import traceback

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonizer_config.errors import SecretError
from colonizer_config.secrets import redact
from colonizer_config.token import TOKEN_LIMIT_CHARS, Token

HEX = "0123456789abcdef" * 4


def test_a_token_shows_its_length_and_nothing_else() -> None:
    token = Token(f"col_{HEX}")
    for shown in (str(token), repr(token), f"{token}", f"{token!r:>40}", "%s" % token, str([token]), str({"t": token})):  # noqa: UP031 # every way to make a text
        assert "‹redacted 68 chars›" in shown
        assert HEX not in shown
    assert token.reveal() == f"col_{HEX}"


def test_a_token_cannot_be_written_out_by_accident() -> None:
    for write in (pickle.dumps, copy.copy, copy.deepcopy, json.dumps):
        with pytest.raises(TypeError):
            write(Token(HEX))


def test_tokens_are_equal_by_their_secrets() -> None:
    assert Token(HEX) == Token(HEX)
    assert hash(Token(HEX)) == hash(Token(HEX))
    assert Token(HEX) != Token(f"{HEX}0")
    assert Token(HEX) != HEX


@pytest.mark.parametrize(
    "secret",
    ["", " ", "a b", " a", "a\n", "a\r\nX-Evil: y", "a\0", "a\x7f", "tökén", "a\u2028b", "a" * (TOKEN_LIMIT_CHARS + 1)],
)
def test_what_could_not_stand_in_a_header_is_no_token_and_is_not_repeated(secret: str) -> None:
    with pytest.raises(SecretError) as refused:
        Token(secret)
    assert str(refused.value).startswith(f"this is no token: {len(secret)} characters")
    assert not secret.strip() or secret not in "".join(traceback.format_exception_only(refused.value))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"token col_{HEX}.", "token ‹redacted 68 chars›."),
        (f"GET /?token={HEX}&x=1", "GET /?token=‹redacted 64 chars›&x=1"),
        (f'{{"token": "{HEX.upper()}"}}', '{"token": "‹redacted 64 chars›"}'),
        ("cookie colonizer_token=cph_abcDEF123-_x;", "cookie colonizer_token=‹redacted 16 chars›;"),
        ("Authorization: Bearer abc.def", "Authorization: Bearer ‹redacted 7 chars›"),
        ("authorization: bearer  s3cret=", "authorization: bearer  ‹redacted 7 chars›"),
        ("b'Authorization', b'Bearer a/b+c~d'", "b'Authorization', b'Bearer ‹redacted 7 chars›'"),
        (f"Bearer col_{HEX}", "Bearer ‹redacted 68 chars›"),
        (f"{HEX}\n{HEX}", "‹redacted 64 chars›\n‹redacted 64 chars›"),
        (f"tok_{HEX}", "tok_‹redacted 64 chars›"),
    ],
)
def test_what_has_the_shape_of_a_token_is_masked(text: str, shown: str) -> None:
    assert redact(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "nothing to hide",
        f"commit {HEX[:40]}",
        f"{HEX}0",
        f"x{HEX}",
        "tok_0123abcd",
        "cph_ is the prefix of a phone's token",
        "forbearer of news",
        "the bearer",
        "",
    ],
)
def test_other_text_is_left_as_it_is(text: str) -> None:
    assert redact(text) == text


def test_known_tokens_are_masked_whatever_their_shape_and_wherever_they_stand() -> None:
    short, long = Token("a.b"), Token('a.b!"c')
    assert redact('x a.b!"c y', [short, long]) == "x ‹redacted 6 chars› y"
    assert redact('Bearer a.b!"c', [short, long]) == "Bearer ‹redacted 6 chars›"
    assert redact("a.ba.b axb", [short]) == "‹redacted 3 chars›‹redacted 3 chars› axb"


@given(
    st.lists(st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=8), min_size=1, max_size=4),
    st.text(),
    st.text(),
)
def test_no_known_token_is_left_and_masking_twice_changes_nothing(secrets: list[str], over: str, under: str) -> None:
    tokens = [Token(secret) for secret in secrets]
    shown = redact(over + under.join(secrets) + under, tokens)
    left = shown.replace("redacted", "").replace("chars", "")
    assert not any(secret in left for secret in secrets)
    assert redact(shown) == shown
