import json
import re
from functools import partial
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonizer_config.errors import SettingsError
from colonizer_config.jsonc_edit import member_value, remove_empty, remove_member, set_member
from colonizer_config.jsonc_text import NESTING_LIMIT, json_values

FILE = "mcp.json"

blanks = st.sampled_from(
    ["", " ", "\n", "\r\n", "\n    ", "\t", ' // a { " } comment\n', "/* b ] , */", " /* over\nlines */ ", "// c\r\n"]
)
keys = st.sampled_from(["a", "b", "ours", "mcp", 'say "x"', "ключ", "//", "/*"])
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3), max_leaves=8
)


@st.composite
def texts(draw: st.DrawFn, value: Any) -> str:
    """The value as JSON, with blanks, comments and closing commas anywhere."""
    if not isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=draw(st.booleans()))
    marks = "{}" if isinstance(value, dict) else "[]"
    written: list[str] = []
    for key, of in _rows(cast(dict[str, Any] | list[Any], value)):
        name = "" if key is None else f"{json.dumps(key)}{draw(blanks)}:{draw(blanks)}"
        written.append(f"{draw(blanks)}{name}{draw(texts(of))}{draw(blanks)}")
    last = draw(st.sampled_from(["", ","])) if written else ""
    return f"{marks[0]}{','.join(written)}{last}{draw(blanks)}{marks[1]}"


def _rows(value: dict[str, Any] | list[Any]) -> list[tuple[str | None, Any]]:
    return list(value.items()) if isinstance(value, dict) else [(None, of) for of in value]


@st.composite
def documents(draw: st.DrawFn) -> tuple[dict[str, Any], str]:
    value = draw(st.dictionaries(keys, values, max_size=4))
    mark = draw(st.sampled_from(["", "\ufeff"]))
    return value, f"{mark}{draw(blanks)}{draw(texts(value))}{draw(blanks)}"


def comments(text: str) -> list[str]:
    """The comments of a text, in their order."""
    found = re.finditer(r'"(?:[^"\\]|\\.)*"|(//[^\r\n]*|/\*.*?\*/)', text, re.DOTALL)
    return [comment[1] for comment in found if comment[1]]


def said(text: str) -> Any:
    document = json_values(text, FILE)
    return None if document is None else document.value


@given(documents())
def test_a_text_says_what_it_says_without_comments_and_closing_commas(document: tuple[Any, str]) -> None:
    value, text = document
    assert said(text) == value


@given(documents(), keys, values)
def test_a_member_that_is_set_is_there_and_all_else_is_as_it_was(
    document: tuple[dict[str, Any], str], key: str, new: Any
) -> None:
    value, text = document
    after = set_member(text, [key], new, FILE)
    assert said(after) == {**value, key: new}
    if key not in value:
        assert comments(after) == comments(text)
        again = remove_member(after, [key], FILE)
        assert said(again) == value
        assert comments(again) == comments(text)


@given(documents(), keys)
def test_a_member_that_is_removed_takes_nothing_with_it(document: tuple[dict[str, Any], str], key: str) -> None:
    value, text = document
    after = remove_member(text, [key], FILE)
    assert said(after) == {name: of for name, of in value.items() if name != key}
    left = iter(comments(text))
    assert all(comment in left for comment in comments(after))
    if key not in value:
        assert after == text


ROWS = (
    ("", '{\n  "s": {\n    "x": {\n      "args": ["mcp"],\n      "env": {}\n    }\n  }\n}\n'),
    ("{}", '{\n  "s": {\n    "x": {\n      "args": ["mcp"],\n      "env": {}\n    }\n  }\n}'),
    ('{"a": 1}\n', '{"a": 1, "s": {"x": {"args": ["mcp"], "env": {}}}}\n'),
    (
        '{\n    "s": {\n        "y": 1, // why\n        // z\n    },\n}\n',
        '{\n    "s": {\n        "y": 1, // why\n        "x": {\n            "args": ["mcp"],\n            "env": {}\n'
        "        },\n        // z\n    },\n}\n",
    ),
    (
        '{\r\n\t"s": {\r\n\t\t"y": 1 /* q */\r\n\t}\r\n}',
        '{\r\n\t"s": {\r\n\t\t"y": 1, /* q */\r\n\t\t"x": {\r\n\t\t\t"args": ["mcp"],\r\n\t\t\t"env": {}\r\n\t\t}\r\n'
        "\t}\r\n}",
    ),
    (
        '{\n  "s": { // none yet\n  }\n}',
        '{\n  "s": { // none yet\n    "x": {\n      "args": ["mcp"],\n      "env": {}\n    }\n  }\n}',
    ),
)


def test_what_is_added_is_laid_out_like_its_neighbours_and_can_be_cut_again() -> None:
    for before, after in ROWS:
        assert set_member(before, ["s", "x"], {"args": ["mcp"], "env": {}}, FILE) == after, before
        cut = remove_empty(remove_member(after, ["s", "x"], FILE), ["s"], FILE)
        assert said(cut) in (said(before), {}), before
        if "// " in before or "/* " in before:
            assert said(cut) == said(before)


def test_what_is_cut_leaves_the_other_lines_alone() -> None:
    rows = (
        ('{"a": 1, "b": 2, "c": 3}', '{"a": 1, "c": 3}'),
        (
            '{\n  "a": 1, // a\n  "b": {\n    "d": 4\n  },\n  // c\n  "c": 3\n}',
            '{\n  "a": 1, // a\n  // c\n  "c": 3\n}',
        ),
        ('{\n  "a": 1, // a\n  "b": 2\n}', '{\n  "a": 1 // a\n}'),
        ('{\n  "a": 1, // a\n  "b": 2,\n}', '{\n  "a": 1, // a\n}'),
        ('{\n  "b": 2\n}\n', "{}\n"),
        ('{ // {\n  "b": 2 }', "{ // {\n  }"),
    )
    for before, after in rows:
        assert remove_member(before, ["b"], FILE) == after


def test_a_broken_text_is_refused_with_its_line_and_without_its_words() -> None:
    rows = (
        ('{\n  "a": 1\n  "secret-b": 2\n}', 3, "a comma or } is expected"),
        ('{\n  "a": secret\n}', 2, "a value is expected"),
        ("{\n  secret: 1\n}", 2, "a key in double quotes or } is expected"),
        ('{\n  "a" 1\n}', 2, "a colon is expected behind the key"),
        ('{\n  "a": [1 2]\n}', 2, "a comma or ] is expected"),
        ('{\n  "a": "secret\n}', 2, "this string is not closed"),
        ('{\n  "a": 1\n', 3, "the file ends where a comma or } is expected"),
        ('{\n  "a": 1 /* secret\n}', 2, "this comment is not closed"),
        ('{\n}\n{"secret": 1}', 3, "nothing more is expected"),
        ('{"a": 01}', 1, "a comma or } is expected"),
        ('{"a": ,}', 1, "a value is expected"),
        ('{"a": [NaN, -Infinity]}', 1, "a value is expected"),
        ('{"a": ' + "9" * 5000 + "}", 1, "this number is too long"),
        ("[" * (NESTING_LIMIT + 2), 1, "it is nested too deeply"),
    )
    for text, line, words in rows:
        with pytest.raises(SettingsError) as caught:
            set_member(text, ["x"], 1, FILE)
        assert caught.value.line == line, text[:40]
        assert str(caught.value).startswith(f"mcp.json, line {line}: this is not JSON: "), text[:40]
        assert words in str(caught.value)
        assert "secret" not in str(caught.value)


def test_what_is_no_object_or_is_there_twice_is_refused_with_its_line() -> None:
    rows = (
        ("[\n]", 1, "the file is no object"),
        ('{\n  "s": []\n}', 2, "s is no object"),
        ('{\n  "s": {},\n  "s": {}\n}', 3, '"s" is there twice'),
        ('{"s": {\n  "x": 1,\n  "x": 2}}', 3, '"x" is there twice'),
    )
    path = ("s", "x")
    for text, line, words in rows:
        for call in (partial(set_member, text, path, 1, FILE), partial(remove_member, text, path, FILE)):
            with pytest.raises(SettingsError, match=re.escape(f"mcp.json, line {line}: {words}")):
                call()
        with pytest.raises(SettingsError, match=re.escape(words)):
            member_value(text, path, FILE)
