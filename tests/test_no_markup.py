"""No text that came from outside meets a markup parser: in the terminal face nothing parses markup at all."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import colonizer_tui

FACE = Path(colonizer_tui.__file__).parent

LITERAL_WIDGETS = {"Input", "TextArea"}
"""Textual's widgets that draw what they hold as it is."""

PARSERS = {"rich", "rich.console", "rich.markdown", "rich.markup", "rich.pretty", "textual.content", "textual.markup"}
MARKUP_ATTRIBUTES = {"border_title", "border_subtitle", "tooltip", "from_markup", "render_markup"}
"""What Textual reads as markup when it is set, and what reads markup when it is called."""

PLACEHOLDER = "a placeholder reads markup: only a text of our own may stand there"


def offences(source: str) -> list[str]:
    """What in a module could read a text as markup, or print it past the screen, each with its line."""
    return [
        f"line {getattr(node, 'lineno', 0)}: {words}" for node in ast.walk(ast.parse(source)) for words in _of(node)
    ]


def _of(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.ImportFrom(module="textual.widgets", names=names):
            yield from (f"{alias.name} reads markup" for alias in names if alias.name not in LITERAL_WIDGETS)
        case ast.ImportFrom(module=str(module)) if module in PARSERS:
            yield f"{module} is imported"
        case ast.Import(names=names):
            yield from (f"{alias.name} is imported" for alias in names if alias.name in PARSERS)
        case ast.Attribute(attr=name) if name in MARKUP_ATTRIBUTES:
            yield f"{name} reads markup"
        case ast.FunctionDef(name="render"):
            yield "what render returns is read as markup; render_line is not"
        case ast.Assign(targets=[ast.Attribute(attr="placeholder")], value=value) if not _is_literal(value):
            yield PLACEHOLDER
        case ast.Call():
            yield from _of_call(node)
        case _:
            pass


def _of_call(call: ast.Call) -> Iterator[str]:
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    match name:
        case "notify" if not (isinstance(said := keywords.get("markup"), ast.Constant) and said.value is False):
            yield "notify without markup=False"
        case "exit" if "message" in keywords:
            yield "exit prints its message with markup"
        case "print":
            yield "print writes past the screen"
        case _:
            pass
    if not _is_literal(keywords.get("placeholder")):
        yield PLACEHOLDER


def _is_literal(value: ast.expr | None) -> bool:
    """Whether it is a text of our own: a literal, a constant of the module, or one of two such."""
    match value:
        case None | ast.Constant() | ast.Name(id="placeholder"):
            return True
        case ast.Name(id=name):
            return name.isupper()
        case ast.IfExp(body=one, orelse=other):
            return _is_literal(one) and _is_literal(other)
        case _:
            return False


@pytest.mark.parametrize("module", [str(path.relative_to(FACE)) for path in sorted(FACE.rglob("*.py"))])
def test_a_module_of_the_terminal_face_reads_no_markup(module: str) -> None:
    assert offences((FACE / module).read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "source",
    [
        "from textual.widgets import Input, Static",
        "from rich.markup import render",
        "from rich import print",
        "import rich.markdown",
        "Text.from_markup(title)",
        "self.border_title = colony.title",
        "self.notify(words)",
        "self.notify(words, markup=True)",
        "self.exit(message=words)",
        "print(words)",
        "TextArea(placeholder=colony.title)",
        "self.field.placeholder = colony.title if colony else HERE",
        "class Pane(Widget):\n    def render(self): return self.title",
    ],
)
def test_what_would_read_markup_is_found(source: str) -> None:
    assert len(offences(source)) == 1


@pytest.mark.parametrize("source", ["self.notify(words, markup=False)", "TextArea(placeholder='here')", "self.exit()"])
def test_what_reads_no_markup_is_let_through(source: str) -> None:
    assert offences(source) == []
