"""An entry in another program's settings: put there, taken back, and what was beside it in the meantime."""

import json
import os
import re
import stat
import tempfile
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonizer_config.entry_edit import EntryEdit
from colonizer_config.entry_format import EntryFormat, JsonFormat, TomlFormat
from colonizer_config.errors import SettingsError
from colonizer_config.toml_edit import remove_tree, set_tree
from config.test_jsonc_edit import documents

ENTRY: dict[str, Any] = {"command": "colonizer", "args": ["mcp"], "env": {"TOKEN": "s3cret-value"}}
OTHER: dict[str, Any] = {"command": "colonizer", "args": ["mcp", "--scope", "launch"], "env": {}}

JSON_TEXT = """\
// Mine.
{
    "mcpServers": {
        "files": {"command": "files", "args": ["/"],}, // all of them
        /* "old": {} */
    },
    "theme": "dark",
}
"""
TOML_TEXT = """\
# Mine.
model = "o"   # the best

[mcp_servers.files]
command = "files" # all of them
# env = { }

# Over the profile.
[profiles.fast]
model = 'mini'"""

FORMS: Sequence[tuple[EntryFormat, str, tuple[str, ...]]] = (
    (JsonFormat(), JSON_TEXT, ("mcpServers", "colonizer")),
    (JsonFormat(), '{"theme":"dark"}', ("mcpServers", "colonizer")),
    (JsonFormat(), "{}", ("mcpServers", "colonizer")),
    (JsonFormat(), "", ("mcpServers", "colonizer")),
    (JsonFormat(), "// nothing yet", ("mcpServers", "colonizer")),
    (JsonFormat(), '\ufeff{\r\n\t"a": 1\r\n}\r\n', ("mcpServers", "colonizer")),
    (TomlFormat(), TOML_TEXT, ("mcp_servers", "colonizer")),
    (TomlFormat(), "", ("mcp_servers", "colonizer")),
    (TomlFormat(), "[mcp_servers]\r\na = {command = 'a'}\r\n", ("mcp_servers", "colonizer")),
    (TomlFormat(), "mcp_servers = {a = {command = 'a'}} # b\n", ("mcp_servers", "colonizer")),
    (TomlFormat(), 'mcp_servers.a.command = "a"\n', ("mcp_servers", "colonizer")),
)


class Place:
    """A file of another program, and the folder of our notes."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "its settings" / "file"
        self.notes = folder / "notes"

    def has(self, text: str) -> None:
        self.file.parent.mkdir(exist_ok=True)
        self.file.write_bytes(text.encode())

    def edit(self, form: EntryFormat, keys: tuple[str, ...]) -> EntryEdit:
        return EntryEdit(self.file, keys, form, self.notes)

    def put(self, form: EntryFormat, keys: tuple[str, ...], value: dict[str, Any] = ENTRY) -> str:
        edit = self.edit(form, keys)
        edit.put(value)
        edit.save()
        assert self.edit(form, keys).is_ours
        return self.text

    def take_back(self, form: EntryFormat, keys: tuple[str, ...]) -> None:
        edit = self.edit(form, keys)
        edit.take_back()
        edit.save()
        assert not list(self.notes.glob("*"))

    @property
    def text(self) -> str:
        return self.file.read_bytes().decode()


def comments(text: str) -> list[str]:
    return re.findall(r"#.*|//.*|/\*.*\*/", text)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_an_entry_is_put_there_and_taken_back_to_the_byte(place: Place) -> None:
    for form, text, keys in FORMS:
        place.has(text)
        put = place.put(form, keys)
        assert form.value(put, keys, "file") == ENTRY
        assert comments(put) == comments(text)
        place.take_back(form, keys)
        assert place.text == text


def test_an_entry_that_is_put_there_again_changes_nothing_and_another_one_of_ours_takes_its_place(place: Place) -> None:
    for form, text, keys in FORMS:
        place.has(text)
        first = place.put(form, keys)
        before = place.file.stat()
        assert place.put(form, keys) == first
        assert place.file.stat().st_mtime_ns == before.st_mtime_ns
        second = place.put(form, keys, OTHER)
        assert form.value(second, keys, "file") == OTHER
        assert place.put(form, keys) == first
        place.take_back(form, keys)
        assert place.text == text


def test_what_others_changed_in_the_meantime_stays(place: Place) -> None:
    later: Sequence[tuple[int, Callable[[str], str], str]] = (
        (0, lambda text: text.replace('"dark"', '"light"'), JSON_TEXT.replace('"dark"', '"light"')),
        (1, lambda text: text.replace("dark", "light"), '{"theme":"light"}'),
        (2, lambda text: text.replace("{", '{"a": 1, ', 1), '{"a": 1\n}'),
        (6, lambda text: text.replace("'mini'", "'maxi'"), TOML_TEXT.replace("'mini'", "'maxi'") + "\n"),
        (7, lambda text: f"a = 1\n\n{text}", "a = 1\n"),
        (8, lambda text: text + "# end\r\n", "[mcp_servers]\r\na = {command = 'a'}\r\n\r\n# end\r\n"),
    )
    for row, change, expected in later:
        form, text, keys = FORMS[row]
        place.has(text)
        place.has(change(place.put(form, keys)))
        place.take_back(form, keys)
        assert place.text == expected, row


def test_an_entry_of_the_same_name_is_back_after_ours_even_where_others_changed_the_file(place: Place) -> None:
    for form, text, keys in (FORMS[0], FORMS[6]):
        theirs = form.put(text, keys, {"command": "theirs", "env": {"A": "b"}}, "file")
        for comment in ("Mine.", "Ours."):
            place.has(theirs)
            edit = place.edit(form, keys)
            assert not edit.is_ours
            put = place.put(form, keys)
            assert place.edit(form, keys).restores
            place.has(put.replace("Mine.", comment))
            place.take_back(form, keys)
            assert form.value(place.text, keys, "file") == {"command": "theirs", "env": {"A": "b"}}
            if comment == "Mine.":
                assert place.text == theirs


def test_an_entry_that_somebody_changed_is_not_ours_any_more(place: Place) -> None:
    form, text, keys = FORMS[0]
    place.has(text)
    place.has(place.put(form, keys).replace('["mcp"]', '["mcp", "--x"]'))
    assert not place.edit(form, keys).is_ours


def test_a_file_that_was_made_for_the_entry_goes_with_it_and_so_does_its_folder(place: Place) -> None:
    for form, _, keys in (FORMS[0], FORMS[6]):
        put = place.put(form, keys)
        assert stat.S_IMODE(place.file.stat().st_mode) == 0o600
        assert form.value(put, keys, "file") == ENTRY
        place.put(form, keys, OTHER)
        place.take_back(form, keys)
        assert not place.file.parent.exists()
        place.take_back(form, keys)
        assert not place.file.parent.exists()


def test_a_file_that_was_made_for_the_entry_stays_where_others_wrote_into_it(place: Place) -> None:
    form, _, keys = FORMS[0]
    place.has(place.put(form, keys).replace("{", '{\n  "a": 1,', 1))
    place.take_back(form, keys)
    assert json.loads(place.text) == {"a": 1}


def test_a_container_that_was_made_for_the_entry_stays_where_others_use_it(place: Place) -> None:
    form, text, keys = FORMS[1]
    place.has(text)
    place.has(form.put(place.put(form, keys), ("mcpServers", "b"), {"command": "b"}, "file"))
    place.take_back(form, keys)
    assert json.loads(place.text) == {"theme": "dark", "mcpServers": {"b": {"command": "b"}}}


def test_a_link_stays_a_link_and_modes_stay_what_they_were(place: Place, tmp_path: Path) -> None:
    form, text, keys = FORMS[0]
    target = tmp_path / "dotfiles.json"
    target.write_bytes(text.encode())
    target.chmod(0o640)
    place.file.parent.mkdir()
    place.file.symlink_to("../dotfiles.json")
    place.put(form, keys)
    assert place.file.is_symlink()
    assert "colonizer" in target.read_text(encoding="utf-8")
    place.take_back(form, keys)
    assert (place.file.is_symlink(), stat.S_IMODE(target.stat().st_mode)) == (True, 0o640)
    assert target.read_bytes() == text.encode()
    assert sorted(os.listdir(tmp_path)) == ["dotfiles.json", "its settings", "notes"]


def test_our_note_is_private_and_holds_no_secret_of_the_entry(place: Place) -> None:
    form, text, keys = FORMS[0]
    place.has(text)
    place.put(form, keys)
    [note] = place.notes.iterdir()
    assert (stat.S_IMODE(note.stat().st_mode), stat.S_IMODE(place.notes.stat().st_mode)) == (0o600, 0o700)
    assert "s3cret" not in note.read_text(encoding="ascii")


def test_without_its_note_an_entry_is_taken_out_all_the_same(place: Place) -> None:
    form, text, keys = FORMS[0]
    place.has(text)
    place.put(form, keys)
    [note] = place.notes.iterdir()
    note.write_text("{", encoding="ascii")
    assert not place.edit(form, keys).is_ours
    place.take_back(form, keys)
    assert place.text == text


def test_a_broken_file_is_refused_with_its_line_and_nothing_is_written(place: Place) -> None:
    rows = (
        (JsonFormat(), '{\n  "mcpServers": {\n', "file, line 3: this is not JSON"),
        (JsonFormat(), '{\n  "mcpServers": []}', "file, line 2: mcpServers is no object"),
        (TomlFormat(), "a = 1\nb = \n", "file, line 2: this is not TOML"),
        (TomlFormat(), "a = 1\nmcpServers = 3\n", "file, line 2: mcpServers is no table"),
        (TomlFormat(), "[[mcpServers]]\na = 1\n", "file, line 1: mcpServers is no table"),
    )
    for form, text, words in rows:
        place.has(text)
        with pytest.raises(SettingsError, match=words):
            place.edit(form, ("mcpServers", "colonizer"))
        assert place.text == text
    place.file.write_bytes(b"\n\xff")
    with pytest.raises(SettingsError, match="file, line 2: this is not UTF-8"):
        place.edit(JsonFormat(), ("a", "b"))


def test_a_file_that_was_changed_meanwhile_is_not_written_over_and_nothing_is_noted(place: Place) -> None:
    form, text, keys = FORMS[0]
    place.has(text)
    edit = place.edit(form, keys)
    edit.put(ENTRY)
    place.has("{}")
    with pytest.raises(SettingsError, match="was changed meanwhile: nothing was written"):
        edit.save()
    assert place.text == "{}"
    assert not place.notes.exists()


def test_a_file_that_cannot_be_written_leaves_file_and_note_as_they_were(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    form, text, keys = FORMS[0]
    place.has(text)
    put = place.put(form, keys)
    [note] = place.notes.iterdir()
    noted = note.read_bytes()
    edit = place.edit(form, keys)
    edit.put(OTHER)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("colonizer_config.entry_edit.rewrite", full)
    with pytest.raises(SettingsError, match=r"cannot write .*: No space left on device"):
        edit.save()
    assert (place.text, note.read_bytes()) == (put, noted)


@given(documents())
def test_whatever_the_text_the_entry_is_taken_back_to_the_byte(document: tuple[dict[str, Any], str]) -> None:
    value, text = document
    form, keys = JsonFormat(), ("mcp", "ours")
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder))
        place.has(text)
        if not isinstance(value.get("mcp", {}), dict):
            with pytest.raises(SettingsError, match="mcp is no object"):
                place.edit(form, keys)
            return
        assert form.value(place.put(form, keys), ("mcp",), "file") == {**value.get("mcp", {}), "ours": ENTRY}
        place.take_back(form, keys)
        assert place.text == text


names = st.sampled_from(["a", "b", "colonizer", "x y"])
tables = st.recursive(
    st.integers(0, 3) | st.text("ab #[]=\"'", max_size=4),
    lambda inner: st.dictionaries(names, inner, min_size=1, max_size=3),
    max_leaves=6,
).filter(lambda value: isinstance(value, dict))


@given(st.dictionaries(st.sampled_from(["mcp_servers", "other"]), tables, max_size=2), st.booleans())
def test_a_tree_in_toml_is_set_and_removed_and_the_rest_says_what_it_said(rest: dict[str, Any], inline: bool) -> None:
    text = "# top\n"
    for name, value in rest.items():
        text = set_tree(text, (name,), value) if not inline else f"{text}{name} = {_inline(value)}\n"
    path = ("mcp_servers", "colonizer")
    if not isinstance(rest.get("mcp_servers", {}), dict):
        return
    after = set_tree(text, path, ENTRY)
    assert tomllib.loads(after)["mcp_servers"] == {**rest.get("mcp_servers", {}), "colonizer": ENTRY}
    assert tomllib.loads(after).get("other") == rest.get("other")
    servers = {name: value for name, value in rest.get("mcp_servers", {}).items() if name != "colonizer"}
    gone = tomllib.loads(remove_tree(after, path))
    assert (gone.get("mcp_servers", {}), gone.get("other")) == (servers, rest.get("other"))


def _inline(value: Any) -> str:
    if not isinstance(value, dict):
        return json.dumps(value)
    return "{" + ", ".join(f"{json.dumps(key)} = {_inline(of)}" for key, of in value.items()) + "}"  # pyright: ignore
