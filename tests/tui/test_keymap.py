"""The keys: one meaning each, the person's own choices, and what is told of those that cannot be."""

import re
import string
from collections import Counter
from pathlib import Path

import pytest
from textual.app import App
from textual.keys import Keys

import colonizer_tui
from colonizer_tui import theme
from colonizer_tui.dialogs.help import KEY_WIDTH, Help, HelpLines
from colonizer_tui.keyboard import DIALOG_ACTIONS, FIELD_ACTIONS
from colonizer_tui.keys import ACTIONS, Action, Keymap, hints_of, keymap, named_key, shown_key
from colonizer_tui.present.line import width_of
from colonizer_tui.present.states import Glyphs
from colonizer_tui.widgets.ink import Ink

SOURCES = "\n".join(path.read_text() for path in Path(colonizer_tui.__path__[0]).rglob("*.py"))
DONE = frozenset(re.findall(r"def do_(\w+)\(", SOURCES))


def keys_of(name: str, found: Keymap) -> tuple[str, ...]:
    return found.actions[name].keys


def test_no_key_means_two_things() -> None:
    counts = Counter(key for action in ACTIONS for key in action.keys)
    assert [key for key, count in counts.items() if count > 1] == []


def test_no_action_is_there_twice() -> None:
    assert len({action.name for action in ACTIONS}) == len(ACTIONS)


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.name)
def test_an_action_has_a_key_a_name_and_words(action: Action) -> None:
    assert action.keys
    assert all((action.label, action.help, action.group))
    assert all(named_key(key) == key for key in action.keys)


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.name)
def test_an_action_is_done_by_something(action: Action) -> None:
    assert action.name in DONE


def test_nothing_is_done_that_no_key_reaches() -> None:
    assert DONE - {action.name for action in ACTIONS} == set()


def test_what_keys_do_in_fields_and_dialogs_names_actions() -> None:
    assert {action.name for action in ACTIONS} >= FIELD_ACTIONS | DIALOG_ACTIONS


def test_what_leaves_a_field_is_no_letter_that_could_be_typed_there() -> None:
    actions = {action.name: action for action in ACTIONS}
    assert all(len(key) > 1 for name in FIELD_ACTIONS for key in actions[name].keys)


@pytest.mark.parametrize("key", [key for action in ACTIONS for key in action.keys])
def test_every_key_works_in_a_plain_terminal(key: str) -> None:
    assert (
        len(key) == 1
        or key in {known.value for known in Keys}
        or key in {named_key(sign) for sign in string.punctuation}
    )


def test_without_choices_the_keys_are_those_of_the_table() -> None:
    assert keymap({}) == Keymap({action.name: action for action in ACTIONS})


def test_a_chosen_key_takes_the_place_of_the_ones_before() -> None:
    found = keymap({"stop": "S"})
    assert (keys_of("stop", found), found.shown("stop"), found.problems) == (("S",), "S", ())
    assert found.actions["stop"].help == keymap({}).actions["stop"].help


def test_two_keys_may_be_swapped() -> None:
    found = keymap({"stop": "a", "answer": "s"})
    assert (keys_of("stop", found), keys_of("answer", found), found.problems) == (("a",), ("s",), ())


@pytest.mark.parametrize("chosen", [{"stop": "a", "answer": "f5"}, {"answer": "f5", "stop": "a"}])
def test_a_key_that_was_given_up_is_free_whichever_line_comes_first(chosen: dict[str, str]) -> None:
    found = keymap(chosen)
    assert (keys_of("stop", found), keys_of("answer", found), found.problems) == (("a",), ("f5",), ())


def test_a_key_that_is_taken_is_told_and_left_as_it_was() -> None:
    found = keymap({"stop": "question_mark"})
    assert found.problems == ("[keys] stop: ? already means help",)
    assert found.actions == keymap({}).actions


def test_a_second_key_of_an_action_is_taken_too() -> None:
    assert keymap({"stop": "down"}).problems == ("[keys] stop: down already means down",)


def test_of_two_choices_of_one_key_the_first_stands() -> None:
    found = keymap({"stop": "f5", "resume": "f5"})
    assert (keys_of("stop", found), keys_of("resume", found)) == (("f5",), ("r",))
    assert found.problems == ("[keys] resume: f5 already means stop",)


def test_a_choice_that_stands_in_the_way_of_a_restored_key_is_taken_back_too() -> None:
    found = keymap({"answer": "f5", "stop": "a", "resume": "d", "diff": "f5"})
    assert keys_of("answer", found) == ("f5",)
    assert keys_of("stop", found) == ("a",)
    assert keys_of("diff", found) == ("d",)
    assert keys_of("resume", found) == ("r",)
    assert found.problems == ("[keys] diff: f5 already means answer", "[keys] resume: d already means diff")


@pytest.mark.parametrize("chosen", [{"stop": "a"}, {"stop": "a", "answer": "s", "diff": "s"}, {"quit": "tab"}])
def test_whatever_is_chosen_no_key_means_two_things(chosen: dict[str, str]) -> None:
    counts = Counter(key for action in keymap(chosen).actions.values() for key in action.keys)
    assert max(counts.values()) == 1


def test_an_unknown_action_is_told() -> None:
    assert keymap({"fly": "y"}).problems == ("[keys] fly: no such action",)


@pytest.mark.parametrize("key", ["", "ctrl+", "ctlr+s", "question mark", "f99", "space bar", "return2", "ab", "\n"])
def test_an_unknown_key_is_told_and_takes_nothing_away(key: str) -> None:
    found = keymap({"quit": key})
    assert len(found.problems) == 1
    assert keys_of("quit", found) == ("ctrl+q",)


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("s", "s"),
        ("S", "S"),
        ("é", "é"),
        ("ctrl+s", "ctrl+s"),
        ("Ctrl+S", "ctrl+s"),
        ("alt+S", "alt+S"),
        (" ", "space"),
        ("+", "plus"),
        ("?", "question_mark"),
        ("/", "slash"),
        ("-", "minus"),
        ("[", "left_square_bracket"),
        ("question_mark", "question_mark"),
        ("full_stop", "full_stop"),
        ("esc", "escape"),
        ("F5", "f5"),
        ("ctrl+shift+f12", "ctrl+shift+f12"),
        ("shift+tab", "shift+tab"),
        ("ctrl+i", "tab"),
        ("ctrl+m", "enter"),
        ("ctrl+backslash", "ctrl+backslash"),
    ],
)
def test_a_key_is_known_by_its_name_and_by_what_is_shown(written: str, name: str) -> None:
    assert named_key(written) == name


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.name)
def test_what_is_shown_for_a_key_names_it_too(action: Action) -> None:
    assert [named_key(shown_key(key)) for key in action.keys] == list(action.keys)


class Bare(App[None]):
    """As much of an application as drawing needs."""

    ink = Ink(theme.DEFAULT_THEME, Glyphs())

    def on_mount(self) -> None:
        for made in theme.themes():
            self.register_theme(made)
        self.theme = theme.DEFAULT_THEME


@pytest.mark.anyio
async def test_the_help_lists_every_action_with_the_key_that_was_chosen() -> None:
    found = keymap({"stop": "S"})
    app = Bare()
    async with app.run_test(size=(100, 40)):
        await app.push_screen(Help(found, hints_of("answer")))
        lines = app.screen.query_one(HelpLines)
        rows = [lines.line_at(place) for place in range(lines.line_count())]
    texts = (
        "\n".join("".join(piece.text for piece in row) for row in rows).replace(f"\n{'':{KEY_WIDTH}}", " ").split("\n")
    )
    for action in found.actions.values():
        assert any(text.startswith(action.shown) and text.endswith(action.help) for text in texts), action.name
    assert all(width_of(row) <= 66 for row in rows)
