"""Text that is put into each string of a JSON value in turn, its keys included."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

MARK = "@here@"

EACH = 0
"""The step into an array: of its items that have the place, one of each `type` stands for all."""

KEY = 1
"""The step from an object's key to the key itself."""

Path: TypeAlias = tuple[str | int, ...]

Node: TypeAlias = "str | int | float | dict[str, Node] | list[Node] | None"


def paths(value: Node) -> Iterator[Path]:
    """Where in the value a string is, and where a key; one place may come more than once."""
    match value:
        case str():
            yield ()
        case dict():
            for name, inner in value.items():
                yield (name, KEY)
                yield from ((name, *path) for path in paths(inner))
        case list():
            for inner in value:
                yield from ((EACH, *path) for path in paths(inner))
        case _:
            return


def marked(value: Node, path: Path) -> bytes:
    """The value as JSON, with the mark at the path."""
    return json.dumps(_marked(value, path)).encode()


def planted(marked_body: bytes, text: str) -> bytes:
    """The JSON with a text in the place of the mark."""
    return marked_body.replace(f'"{MARK}"'.encode(), json.dumps(text).encode())


def replaced(value: Node, words: Callable[[], str]) -> Node:
    """The value with other words in the place of every string."""
    match value:
        case str():
            return words()
        case dict():
            return {name: replaced(inner, words) for name, inner in value.items()}
        case list():
            return [replaced(inner, words) for inner in value]
        case _:
            return value


def in_groups(texts: Sequence[str], size: int) -> tuple[str, ...]:
    """The texts joined, so that few of them pass `size` characters: less than any field of the client is cut to."""
    groups = [""]
    for text in texts:
        if len(groups[-1]) + len(text) > size:
            groups.append("")
        groups[-1] += f"{text}z"
    return tuple(groups)


def _marked(value: Node, path: Path) -> Node:
    if not path:
        return MARK if isinstance(value, str) else value
    step, rest = path[0], path[1:]
    match value:
        case list():
            return [_marked(inner, rest) for inner in _one_of_each(value, rest)]
        case dict() if isinstance(step, str) and rest == (KEY,):
            return {MARK if name == step else name: inner for name, inner in value.items()}
        case dict():
            return {name: _marked(inner, rest) if name == step else inner for name, inner in value.items()}
        case _:
            return value


def _one_of_each(items: list[Node], path: Path) -> Iterable[Node]:
    kinds: dict[object, Node] = {}
    for item in items:
        if _has(item, path):
            kinds.setdefault(item.get("type") if isinstance(item, dict) else None, item)
    return kinds.values()


def _has(value: Node, path: Path) -> bool:
    """Whether the path is one of the value's."""
    if not path:
        return isinstance(value, str)
    step, rest = path[0], path[1:]
    match value:
        case list():
            return step == EACH and any(_has(inner, rest) for inner in value)
        case dict():
            return isinstance(step, str) and step in value and (rest == (KEY,) or _has(value[step], rest))
        case _:
            return False
