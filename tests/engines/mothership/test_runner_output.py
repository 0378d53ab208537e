"""What a runner wrote becomes events, whatever the bytes are."""

import tracemalloc

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonizer_engines.mothership.runner_output import LINE_LIMIT_BYTES, LastWords, Line, LineSplitter, event_of


def said(text: bytes) -> str:
    event = event_of(Line("stdout", text, cut=False))
    assert (event["type"], event["level"]) == ("log", "warn")
    return str(event["message"])


@pytest.mark.parametrize(
    "text",
    [
        b"this line is no event",
        b"[]",
        b'"status"',
        b"{}",
        b'{"type": 1}',
        b'{"type": null}',
        b'{"type":"status"',
        b'{"type":"status"} trailing',
        b'\xef\xbb\xbf{"type":"status"}',
        b'{"type":"status","a":"\x00"}',
        b'{"type":"status","a":1e400}',
        b'{"type":"status","a":' + b"9" * 5000 + b"}",
        b"[" * 100_000,
        b'{"type":"x","a":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"type":"x","a":' + b'{"a":' * 70 + b"1" + b"}" * 70 + b"}",
    ],
)
def test_a_line_that_is_no_event_becomes_a_warning_that_quotes_it(text: bytes) -> None:
    quoted = text.decode(errors="replace")[:500]
    assert said(text) == f"agent runner wrote a non-event line: {quoted}"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b'{"type":"x","a":"\\ud83d"}', "?"),
        (b'{"type":"x","a":"\\ud83d\\ude00"}', "😀"),
        (b'{"type":"x","a":"caf\xe9"}', "caf\ufffd"),
        (b'{"type":"x","a":NaN}', None),
        (b'{"type":"x","a":-Infinity}', None),
        (b'{"type":"x","a":1,"a":2}', 2),
        (b'{"type":"x","a":"\\u0000"}', "\0"),
        (b' {"type":"x","a":[[1]]}\r', [[1]]),
        (b'{"type":"x","a":' + b"[" * 60 + b"]" * 60 + b"}", msgspec.json.decode(b"[" * 60 + b"]" * 60)),
    ],
)
def test_an_event_with_a_broken_value_stays_an_event(text: bytes, value: object) -> None:
    assert event_of(Line("stdout", text, cut=False)) == {"type": "x", "a": value}


def test_an_event_with_many_flat_values_is_not_taken_for_a_deep_one() -> None:
    assert event_of(Line("stdout", b'{"type":"x","a":[' + b",".join([b"[]"] * 500) + b"]}", cut=False))["type"] == "x"


def test_a_line_on_stderr_is_a_warning_even_when_it_looks_like_an_event() -> None:
    event = event_of(Line("stderr", b'{"type":"status"}\r', cut=False))
    assert event == {"type": "log", "level": "warn", "message": '{"type":"status"}'}


@given(st.binary(max_size=300))
def test_whatever_the_bytes_are_the_event_can_be_stored(text: bytes) -> None:
    event = event_of(Line("stdout", text, cut=False))
    assert isinstance(event["type"], str)
    assert msgspec.json.decode(msgspec.json.encode(event)) == event


def split(splitter: LineSplitter, chunk: bytes, limit: int = 2) -> list[Line]:
    """All lines of the chunk, so many line ends at a time."""
    lines: list[Line] = []
    while chunk:
        some, chunk = splitter.feed(chunk, limit)
        assert len(some) <= limit + 1
        lines += some
    return lines


@given(st.lists(st.sampled_from([b"a", b"\n", b"\xff", b"{}", b" ", b"\r\n"])), st.data())
def test_the_lines_do_not_depend_on_how_the_bytes_were_cut_into_chunks(parts: list[bytes], data: st.DataObject) -> None:
    whole = b"".join(parts)
    splitter = LineSplitter("stdout")
    lines: list[Line] = []
    rest = whole
    while rest:
        size = data.draw(st.integers(1, len(rest)))
        lines += split(splitter, rest[:size], data.draw(st.integers(1, 5)))
        rest = rest[size:]
    lines += split(splitter, b"\n")
    assert [line.text for line in lines] == [line for line in whole.split(b"\n") if line.strip()]


def test_a_line_of_the_limit_is_whole_and_a_longer_one_is_cut() -> None:
    splitter = LineSplitter("stdout")
    at_limit = b"x" * LINE_LIMIT_BYTES
    whole, cut = split(splitter, at_limit + b"\n" + at_limit + b"y\n")
    assert (whole.text, whole.cut) == (at_limit, False)
    assert cut.cut
    assert event_of(cut)["message"] == "agent runner wrote a line over 256 KiB, cut: " + "x" * 500


def test_a_line_without_end_is_reported_once_and_holds_no_memory() -> None:
    splitter = LineSplitter("stdout")
    chunk = b"\xf0\x9f\x98\x80" * 16 * 1024
    tracemalloc.start()
    try:
        reported = [line for _ in range(1000) for line in split(splitter, chunk)]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert [str(event_of(line)["message"]).endswith("😀" * 500) for line in reported] == [True]
    assert peak < 2 * 1024 * 1024


def test_the_line_after_a_cut_one_is_read_again() -> None:
    splitter = LineSplitter("stdout")
    split(splitter, b"x" * (LINE_LIMIT_BYTES + 1))
    assert [line.text for line in split(splitter, b'xx\n{"type":"y"}\n')] == [b'{"type":"y"}']


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (b"", ""),
        (b"one\n\ntwo", "one | two"),
        (b'one\n{"type":"status"}\n', "one"),
        (b"1\n2\n3\n4\n5\n6\n", "2 | 3 | 4 | 5 | 6"),
        (b"\x1b[2Jred\r\n\xff", " [2Jred | \ufffd"),
        (b"one\n" + b"y" * 600, "…" + "y" * 499),
    ],
)
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_the_last_words_are_the_plain_lines_at_the_end(said: bytes, words: str, size: int) -> None:
    last = LastWords("stdout")
    for start in range(0, len(said), size):
        last.hear(said[start : start + size])
    assert str(last) == words


def test_the_inside_of_a_long_event_is_no_last_word_but_that_of_a_long_error_is() -> None:
    out, err = LastWords("stdout"), LastWords("stderr")
    for last in (out, err):
        last.hear(b"x" * 5000 + b"\nwhy\n{}\n")
    assert str(out) == "why"
    assert str(err) == "…" + "x" * 488 + " | why | {}"
