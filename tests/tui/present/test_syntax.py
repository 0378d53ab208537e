"""Syntax colours: the text stays what it is, whatever the language."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pygments.lexers import get_all_lexers

from colonizer_client.text import safe_text
from colonizer_tui.present.line import Line
from colonizer_tui.present.syntax import HUNK_LIMIT, LINE_LIMIT, coloured

PATHS = (
    "a.py", "a.js", "a.ts", "a.rs", "a.go", "a.c", "a.cpp", "a.java", "a.rb", "a.php", "a.html", "a.css", "a.scss",
    "a.json", "a.yaml", "a.toml", "a.md", "a.sh", "a.sql", "a.xml", "a.tex", "a.hs", "a.clj", "a.ex", "a.kt", "a.swift",
    "a.diff", "a.ini", "a.pyi", "Makefile", "Dockerfile", "CMakeLists.txt", "a.txt", "a.rst", "a.vue", "a.jsx", "a.lua",
    "a.pl", "a.R", "a.m", "a.v", "a.zig", "a.nix", "a.tf", "a.proto", "a.graphql", "a.jinja", "a.bat", "a.ps1",
)  # fmt: skip
UNKNOWN = ("", "/", "a.of-tomorrow", "no-extension", "a/b/", "[", "*.py]", "日本語")
snippets = st.lists(
    st.one_of(
        st.sampled_from(
            ["'''", '"""', "/*", "*/", "//", "#", "`", "${", "}", "<?php", "<script>", "</", "\\", "$(", "<<EOF", "EOF"]
        ),
        st.sampled_from(
            ["def f(x):", "class A {", "fn main()", "SELECT *", "0x1F", "1e9", "r'\\d'", "@@", "---", "  "]
        ),
        st.text(max_size=10),
    ),
    max_size=6,
).map("".join)


def hunk_line(mark: str, text: str) -> str:
    return mark + safe_text(text).replace("\n", " ")


hunks = st.lists(st.builds(hunk_line, st.sampled_from([" ", "+", "-"]), snippets), max_size=12)


def texts_of(lines: list[Line]) -> list[str]:
    return ["".join(piece.text for piece in line) for line in lines]


@given(st.sampled_from(PATHS + UNKNOWN), hunks)
def test_every_line_keeps_its_text(path: str, hunk: list[str]) -> None:
    assert texts_of(coloured(path, hunk)) == [line[1:] for line in hunk]


@given(st.sampled_from(sorted({patterns[0] for _, _, patterns, _ in get_all_lexers() if patterns})), hunks)
def test_every_line_keeps_its_text_in_whichever_language(pattern: str, hunk: list[str]) -> None:
    path = pattern.replace("*", "a").replace("[", "").replace("]", "").replace("?", "a")
    assert texts_of(coloured(path, hunk)) == [line[1:] for line in hunk]


@pytest.mark.parametrize("text", ["a\rb", "\ufeffimport os", "a\r", "\x00\x0c", "\x85\u2028"])
def test_a_text_that_the_reader_of_a_language_would_change_is_left_as_it_is(text: str) -> None:
    assert texts_of(coloured("a.py", [f"+{text}", "+x = 1"])) == [text, "x = 1"]


@pytest.mark.parametrize(
    ("path", "text", "piece", "role"),
    [
        ("src/a.py", "def main():", "def", "syntax-keyword"),
        ("src/a.py", "x = 'hello'", "hello", "syntax-string"),
        ("a.rs", "let x = 42;", "42", "syntax-number"),
        ("a.js", "// why", "// why", "syntax-comment"),
        ("Makefile", "# why", "# why", "syntax-comment"),
    ],
)
def test_what_a_token_is_shows_in_its_role(path: str, text: str, piece: str, role: str) -> None:
    (line,) = coloured(path, [f"+{text}"])
    assert any(span.role == role and piece in span.text for span in line)


@pytest.mark.parametrize("path", UNKNOWN)
def test_a_file_of_no_known_language_is_plain(path: str) -> None:
    assert [[span.role for span in line] for line in coloured(path, ["+def main():", " 'x'"])] == [[""], [""]]


def test_a_string_over_several_lines_stays_one_on_its_side() -> None:
    lines = coloured("a.py", ['+x = """begin', "-import os", "+def inside():", '+"""', "-class Old:"])
    assert {span.role for span in lines[2]} == {"syntax-string"}
    assert any(span.role == "syntax-keyword" for span in lines[1])
    assert any(span.role == "syntax-keyword" for span in lines[4])


def test_a_line_of_a_megabyte_is_plain_and_whole() -> None:
    text = "x = 1; " * 150_000
    assert texts_of(coloured("a.py", [f"+{text}", "+y = 2"])) == [text, "y = 2"]
    assert {span.role for line in coloured("a.py", [f"+{text}"]) for span in line} == {""}


def test_lines_up_to_the_limit_have_colours() -> None:
    text = "#" * LINE_LIMIT
    assert coloured("a.py", [f"+{text}"])[0][0].role == "syntax-comment"
    assert coloured("a.py", [f"+{text}#"])[0][0].role == ""


def test_a_hunk_that_would_take_long_is_plain() -> None:
    lines = ["+x = 1  # why"] * (HUNK_LIMIT // 12 + 1)
    assert {span.role for line in coloured("a.py", lines) for span in line} == {""}
    assert len(coloured("a.py", lines[:100])[0]) > 1


def test_nothing_of_the_languages_is_loaded_before_a_hunk_is_coloured() -> None:
    program = """
import sys
from colonizer_tui.present import syntax
assert not any(name.startswith("pygments") for name in sys.modules), "at import"
syntax.coloured("a.py", ["+x = 1"])
loaded = {name for name in sys.modules if name.startswith("pygments.lexers.")}
assert "pygments.lexers.python" in loaded
assert "pygments.lexers.jvm" not in loaded, "languages that nobody asked for"
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    assert done.returncode == 0, done.stderr
