"""Changes of a TOML text that leave everything else in it as it is.

A change touches one statement and hands that alone to tomlkit, or puts new statements beside old ones. So no comment,
order or spacing of any other line can change. tomlkit for a whole file counts the comment over a table to the table
before it, and loses or misplaces it when tables come and go. Each function takes and gives a valid text.
"""

import contextlib
import itertools
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, cast

import tomlkit
from tomlkit.exceptions import TOMLKitError

from colonizer_config.errors import SettingsError
from colonizer_config.toml_text import KeyPath, Statement, statements


def set_value(text: str, path: KeyPath, value: object) -> str:
    """The text with that value at `path`: in the place of an older one, else after its neighbours."""
    rows = statements(text)
    holder = _holder(rows, path)
    if holder is None:
        return _inserted(text, rows, path, value)

    def assign(container: Any, key: str | int) -> None:
        container[key] = value

    return _spliced(rows, holder, holder + 1, _changed(rows[holder], path, assign))


def remove_value(text: str, path: KeyPath) -> str:
    """The text without the value at `path`; the comment in its line goes with it."""
    rows = statements(text)
    holder = _holder(rows, path)
    if holder is None:
        return text
    whole = rows[holder].path == path
    return _spliced(rows, holder, holder + 1, "" if whole else _changed(rows[holder], path, _delete))


def set_tree(text: str, path: KeyPath, values: Mapping[str, object]) -> str:
    """The text with a table at `path` that holds these values alone, and tables in it for those that are mappings."""
    holder = _holder(statements(text), path)
    if holder is not None:
        return set_value(text, path, _inline(values))
    text = remove_tree(text, path)
    for key, value in values.items():
        if isinstance(value, Mapping) and value:
            text = set_tree(text, (*path, key), cast(Mapping[str, object], value))
        else:
            text = set_value(text, (*path, key), _inline({}) if isinstance(value, Mapping) else value)
    return text


def append_table(text: str, name: str, values: Mapping[str, object]) -> str:
    """The text with one more table in the array of tables `name`, after the others."""
    rows = statements(text)
    holder = _holder(rows, (name,))
    if holder is not None:

        def append(container: Any, key: str | int) -> None:
            container[key].append(_inline(values))

        return _spliced(rows, holder, holder + 1, _changed(rows[holder], (name,), append))
    end = _line_end(text)
    block = "".join(f"{line}{end}" for line in (f"[[{name}]]", *itertools.starmap(_entry, _named(values))))
    ends = [index for index, row in enumerate(rows) if row.path[:1] == (name,)]
    place = _table_end(rows, ends[-1] + 1) if ends else len(rows)
    return _beside(rows, place, block, end)


def remove_table(text: str, name: str, index: int) -> str:
    """The text without one table of the array of tables `name`, and without the comments between its keys."""
    path: KeyPath = (name, index)
    rows = statements(text)
    holder = _holder(rows, path)
    if holder is not None:
        return _spliced(rows, holder, holder + 1, _changed(rows[holder], path, _delete))
    inside = [place for place, row in enumerate(rows) if row.path[:2] == path]
    return _cut(rows, inside[0], inside[-1] + 1)


def remove_tree(text: str, path: KeyPath) -> str:
    """The text without all that is at `path` and under it, wherever its tables stand, and the comments in them."""
    rows = statements(text)
    holder = _holder(rows, path)
    if holder is not None and len(rows[holder].path) <= len(path):
        return remove_value(text, path)
    inside = [place for place, row in enumerate(rows) if row.path[: len(path)] == path]
    while inside:
        first = after = inside.pop()
        after += 1
        while inside and all(row.table[: len(path)] == path for row in rows[inside[-1] : first]):
            first = inside.pop()
        rows = statements(_cut(rows, first, after))
    return "".join(row.text for row in rows)


@contextlib.contextmanager
def edit_errors(file: str) -> Generator[None]:
    """Turns what tomlkit raises into a `SettingsError`; `file` is the name that it gives the file."""
    try:
        yield
    except TOMLKitError as problem:
        raise SettingsError(f"cannot edit {file}: {problem}") from problem


def _inline(values: Mapping[str, object]) -> Any:
    table = tomlkit.inline_table()
    for key, value in values.items():
        table[key] = _inline(cast(Mapping[str, object], value)) if isinstance(value, Mapping) else value
    return table


def _cut(rows: Sequence[Statement], first: int, after: int) -> str:
    """The text without those statements, and without a blank line that parted them from others."""
    if after == len(rows):
        while first and _is_blank(rows[first - 1]):
            first -= 1
    elif _is_blank(rows[after]) and (first == 0 or _is_blank(rows[first - 1])):
        after += 1
    return _spliced(rows, first, after, "")


def _holder(rows: Sequence[Statement], path: KeyPath) -> int | None:
    """The entry whose value is what `path` leads to, or holds it inline."""
    return next((i for i, row in enumerate(rows) if row.is_entry and path[: len(row.path)] == row.path), None)


def _changed(row: Statement, path: KeyPath, change: Callable[[Any, str | int], None]) -> str:
    """The text of the entry after `change` was given what holds the end of `path`, and that end."""
    document = tomlkit.parse(row.text)
    *around, last = row.keys + path[len(row.path) :]
    container: Any = document
    for key in around:
        container = container[key]
    change(container, last)
    return tomlkit.dumps(document)


def _delete(container: Any, key: str | int) -> None:
    del container[key]


def _inserted(text: str, rows: Sequence[Statement], path: KeyPath, value: object) -> str:
    table, end = path[:-1], _line_end(text)
    places = [i for i, row in enumerate(rows) if row.path and row.table == table[: len(row.table)]]
    near = [i for i in places if rows[i].path[: len(table)] == table]
    if near:
        neighbour = rows[near[-1]]
        indent = "" if neighbour.is_header else neighbour.text[: -len(neighbour.text.lstrip())]
        line = f"{indent}{_entry(path[len(neighbour.table) :], value)}{end}"
        return _spliced(rows, near[-1] + 1, near[-1] + 1, line, end)
    if table:
        return _beside(rows, len(rows), f"[{_dotted(table)}]{end}{_entry(path[-1:], value)}{end}", end)
    return _beside(rows, _over_first_header(rows), f"{_entry(path, value)}{end}", end)


def _over_first_header(rows: Sequence[Statement]) -> int:
    """The place over the first header and the comments that belong to it; the end where there is none."""
    place = next((i for i, row in enumerate(rows) if row.is_header), None)
    if place is None:
        return len(rows)
    while place and _is_comment(rows[place - 1]):
        place -= 1
    return place


def _beside(rows: Sequence[Statement], place: int, block: str, end: str) -> str:
    """The text with a block of its own at that place: a blank line parts it from what is over and under it."""
    over = end if place and not _is_blank(rows[place - 1]) else ""
    under = end if place < len(rows) and not _is_blank(rows[place]) else ""
    return _spliced(rows, place, place, f"{over}{block}{under}", end)


def _spliced(rows: Sequence[Statement], first: int, after: int, new: str, end: str = "") -> str:
    """The text with `new` in the place of some statements; `end` closes a last line that has no line end."""
    before = "".join(row.text for row in rows[:first])
    gap = end if before and not before.endswith("\n") else ""
    return f"{before}{gap}{new}{''.join(row.text for row in rows[after:])}"


def _table_end(rows: Sequence[Statement], place: int) -> int:
    """Where the table ends whose last entry is before `place`.

    Comments right under the entry are the table's own, unless they stand right over what follows.
    """
    end = place
    while end < len(rows) and _is_comment(rows[end]):
        end += 1
    return end if end == len(rows) or _is_blank(rows[end]) else place


def _is_blank(row: Statement) -> bool:
    return not row.text.strip()


def _is_comment(row: Statement) -> bool:
    return row.text.lstrip().startswith("#")


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _named(values: Mapping[str, object]) -> list[tuple[KeyPath, object]]:
    return [((key,), value) for key, value in values.items()]


def _entry(keys: KeyPath, value: object) -> str:
    return f"{_dotted(keys)} = {tomlkit.item(value).as_string()}"


def _dotted(keys: KeyPath) -> str:
    return ".".join(tomlkit.key(str(key)).as_string() for key in keys)
