"""Filtering, going anywhere, jumping and marking by keyboard, on a moment that stands still."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual import events
from textual.pilot import Pilot

from colonizer_client.identity import ColonyKey
from colonizer_client.snapshot import ColonyChanged, ColonyRemoved, HubEvent
from colonizer_tui.app import CockpitApp
from colonizer_tui.dialogs.dialog import Dialog
from colonizer_tui.dialogs.help import Help
from colonizer_tui.jump import LETTERS, labels
from colonizer_tui.panes.colony_list import ColonyList
from colonizer_tui.panes.query_bar import QueryField
from colonizer_tui.present.line import Line
from moments import LAB, NOW, RELEASE, WORK, colony, diff_read, every_state, key_of, still_app, transcript_of
from real_engine import screen_text, settled, until

pytestmark = pytest.mark.anyio

GREET = key_of("a1b2c3d4")
OPENED = [*every_state(), transcript_of(GREET, WORK), diff_read(GREET)]


class Still:
    """The application on one moment."""

    def __init__(self, app: CockpitApp, pilot: Pilot[None]) -> None:
        self.app, self.pilot = app, pilot

    @property
    def text(self) -> str:
        return screen_text(self.pilot)

    @property
    def rows(self) -> list[str]:
        return self.text.split("\n")

    @property
    def front(self) -> str:
        """The workspace in front."""
        return str(self.app.deck.workspace.id)

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def type(self, text: str) -> None:
        await self.press(*("space" if letter == " " else letter for letter in text))

    async def shows(self, *texts: str) -> None:
        await until(self.pilot, lambda: all(text in self.text for text in texts))

    async def hides(self, text: str) -> None:
        await until(self.pilot, lambda: text not in self.text)

    def post(self, *events: HubEvent) -> None:
        for event in events:
            self.app.cockpit.hub.post(event)


@asynccontextmanager
async def still(
    folder: Path, events: Sequence[HubEvent] = (), size: tuple[int, int] = (120, 30), **more: object
) -> AsyncGenerator[Still]:
    app = still_app(folder, events or every_state(), **more)
    async with app.run_test(size=size, notifications=True) as pilot:
        await until(pilot, lambda: app.deck.view.snapshot is app.cockpit.snapshot)
        await settled(pilot)
        yield Still(app, pilot)


# Filtering.


async def test_a_filter_narrows_while_it_is_typed_and_is_told_while_it_holds(tmp_path: Path) -> None:
    async with still(tmp_path) as it:
        await it.press("slash")
        await it.type("host:hq !status:running cost>1")
        await it.shows("2 of 18 colonies")
        await it.press("enter")
        await it.shows("/ host:hq !status:running cost>1", "Choose how to release", "Ready for review")
        await it.press("escape")
        await it.shows("18 colonies")
        assert "/ host:hq" not in it.text


async def test_after_a_key_the_same_moment_is_shown_and_no_row_that_the_key_left_alone_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with still(tmp_path) as it:
        moment, made = it.app.deck.view, list[ColonyKey]()
        row_line = ColonyList.row_line

        def counted(rows: ColonyList, key: ColonyKey) -> Line:
            made.append(key)
            return row_line(rows, key)

        monkeypatch.setattr(ColonyList, "row_line", counted)
        await it.pilot.press("j")
        assert it.app.deck.view is moment
        assert len(set(made)) == 2


async def test_tab_completes_and_goes_on_to_the_next_suggestion(tmp_path: Path) -> None:
    async with still(tmp_path) as it:
        field = it.app.deck.fleet.query_one(QueryField)
        await it.press("slash", "h", "tab")
        assert field.value == "host:"
        seen: list[str] = []
        for key in ("tab", "tab", "tab", "tab", "shift+tab", "shift+tab"):
            await it.press(key)
            seen.append(field.value)
        assert seen == ["host:hq", "host:lab", "host:local", "host:hq", "host:local", "host:lab"]
        await it.shows("1 of 18 colonies")
        await it.press("backspace", "tab")
        assert field.value == "host:lab"
        await it.press("tab")
        assert field.value == "host:lab"


async def test_what_makes_no_sense_is_told_while_it_is_typed_and_after(tmp_path: Path) -> None:
    async with still(tmp_path) as it:
        await it.press("slash")
        await it.type("hots:hq")
        await it.shows("no key is called “hots”: host, org,", "nothing fits “hots:hq”: esc shows all")
        await it.press("enter")
        await it.shows("/ hots:hq  ! no key is called “hots”")


async def test_needs_you_is_filtered_too_and_one_step_back_shows_all(tmp_path: Path) -> None:
    async with still(tmp_path) as it:
        await it.press("2", "slash")
        await it.type("repo:rocket")
        await it.press("enter")
        await it.shows("/ repo:rocket", "1 of 5")
        await it.press("escape")
        await it.shows("by urgency and risk")
        await it.press("escape")
        assert it.front == "fleet"


async def test_an_age_goes_on_while_nothing_happens(tmp_path: Path) -> None:
    async with still(tmp_path) as it:
        await it.press("slash")
        await it.type("age<1m")
        await it.press("enter")
        await it.shows("1 of 18 colonies")
        clock = it.app.cockpit.clock
        clock.time = NOW + 3_600  # type: ignore[attr-defined]  # a clock that stands still until it is moved
        await it.shows("0 of 18 colonies", "nothing fits")


async def test_back_leaves_the_opened_colony_for_where_it_was_opened(tmp_path: Path) -> None:
    async with still(tmp_path, OPENED) as it:
        await it.press("2", "j", "3")
        assert it.front == "colony"
        await it.press("escape")
        assert it.front == "needs_you"


# Going anywhere.


async def test_a_few_letters_go_to_a_workspace_a_host_and_a_colony(tmp_path: Path) -> None:
    async with still(tmp_path, OPENED) as it:
        await it.press("colon", *"conn", "enter")
        assert it.front == "connections"
        await it.press("colon", *"lab", "enter")
        assert it.app.deck.connections.list.selected == LAB
        await it.press("colon", *"greet", "enter")
        assert (it.app.deck.workspace.colony, it.front) == (GREET, "colony")


async def test_an_action_of_the_palette_does_what_its_key_does_where_the_keys_were(tmp_path: Path) -> None:
    async with still(tmp_path, OPENED) as it:
        await it.press("j", "j")
        await it.press("ctrl+p", *"diff", "enter")
        assert (it.app.deck.opened.colony, it.app.focused) == (RELEASE, it.app.deck.opened.diff)
        await it.press("1", "ctrl+p", *"stop", "enter")
        await it.shows("Stop this colony?", "Choose how to release (5e6f7a8b)")


async def test_keys_behind_a_choice_reach_what_it_opened(tmp_path: Path) -> None:
    async with still(tmp_path) as it:
        await it.press("j", "j", "ctrl+p", *"message", "enter", *"hold on")
        assert (it.app.deck.opened.colony, it.app.deck.opened.field.text) == (RELEASE, "hold on")


async def test_an_action_that_does_nothing_now_says_why(tmp_path: Path) -> None:
    async with still(tmp_path) as it:
        await it.press("ctrl+p", *"resume")
        await it.shows("only a stopped, failed or park")
        await it.press("enter")
        await it.shows("it is running: only a")
        await it.press("ctrl+p", *"unfold")
        await it.shows("nothing here does that")
        await it.press("enter")
        await it.shows("fold: nothing here does that")


async def test_the_palette_opens_over_a_field_and_leaves_its_draft_alone(tmp_path: Path) -> None:
    async with still(tmp_path, OPENED) as it:
        await it.press("j", "j", "m", *"half a ", "ctrl+p", *"xy", "escape", *"line")
        assert it.app.deck.opened.field.text == "half a line"


async def test_leaving_the_palette_does_nothing(tmp_path: Path) -> None:
    async with still(tmp_path) as it:
        await it.press("colon", *"greet", "down", "escape")
        assert not isinstance(it.app.screen, Dialog)
        assert (it.front, it.app.focused) == ("fleet", it.app.deck.fleet.list)


async def test_the_arrows_choose_another_one_and_typing_on_the_best_again(tmp_path: Path) -> None:
    async with still(tmp_path) as it:
        await it.press("colon", "down", "down", "enter")
        assert it.front == "colony"
        await it.press("colon", "down", "ctrl+n", "ctrl+p", *"fleet", "enter")
        assert it.front == "fleet"


async def test_a_double_click_goes_there_too(tmp_path: Path) -> None:
    async with still(tmp_path) as it:
        await it.press("colon")
        row = next(number for number, text in enumerate(it.rows) if "Needs you" in text and number)
        await it.pilot.click(offset=(30, row), times=2)
        await until(it.pilot, lambda: it.front == "needs_you")


async def test_the_last_letters_count_however_many_there_are_to_look_through(tmp_path: Path) -> None:
    many = [ColonyChanged(colony(f"{n:08x}", "running", 1, title=f"Task {n}")) for n in range(6_000)]
    async with still(tmp_path, [*every_state(), *many]) as it:
        await it.press("colon")
        await it.shows("6,0")
        for letter in "task 5999":
            it.app.post_message(key_event(letter))
        it.app.post_message(key_event("enter"))
        await until(it.pilot, lambda: it.app.deck.opened.colony == key_of(f"{5_999:08x}"))


def key_event(letter: str) -> events.Key:
    names = {" ": ("space", " "), "enter": ("enter", "\r")}
    return events.Key(*names.get(letter, (letter, letter)))


# Jumping.


@pytest.mark.parametrize("count", [0, 1, 26, 27, 676, 2_000])
def test_labels_differ_and_none_begins_another(count: int) -> None:
    made = labels(count)
    assert len(set(made)) == len(made) == min(count, 676)
    assert {len(label) for label in made} <= {1 if count <= len(LETTERS) else 2}


async def test_a_letter_goes_to_a_row(tmp_path: Path) -> None:
    async with still(tmp_path, size=(80, 24)) as it:
        await it.press("ctrl+o")
        row = next(row for row in it.rows if "Turn is over" in row)
        await it.press(row[0])
        assert it.app.deck.fleet.list.selected == key_of("1d1e0000")
        assert row[0] not in {row[0] for row in it.rows[3:20]}


async def test_a_letter_goes_to_a_workspace(tmp_path: Path) -> None:
    async with still(tmp_path) as it:
        await it.press("ctrl+o")
        letter = it.rows[0].partition("Connections")[0].split()[-1]
        await it.press(letter)
        assert it.front == "connections"


@pytest.mark.parametrize("key", ["escape", "ctrl+o", "7", "down", "enter", "A"])
async def test_any_other_key_ends_it_without_effect(tmp_path: Path, key: str) -> None:
    async with still(tmp_path) as it:
        await it.press("j", "ctrl+o")
        await it.shows("a-z go there")
        await it.press(key)
        await it.hides("a-z go there")
        assert it.front == "fleet"
        assert it.app.deck.fleet.list.cursor == 1
        await it.press("j")
        assert it.app.deck.fleet.list.cursor == 2


async def test_a_letter_stays_with_its_row_when_rows_move(tmp_path: Path) -> None:
    async with still(tmp_path, size=(80, 24)) as it:
        await it.press("ctrl+o")
        letter = next(row for row in it.rows if "Turn is over" in row)[0]
        it.post(ColonyChanged(colony("0000000a", "failed", 1, title="More urgent", unseen_failure=True)))
        await it.shows("More urgent")
        assert next(row for row in it.rows if "Turn is over" in row)[0] == letter
        await it.press(letter)
        assert it.app.deck.fleet.list.selected == key_of("1d1e0000")


async def test_with_many_targets_each_has_two_letters(tmp_path: Path) -> None:
    many = [ColonyChanged(colony(f"{n:08x}", "running", n, title=f"Task {n}")) for n in range(40)]
    async with still(tmp_path, [*every_state()[:3], *many], (80, 40)) as it:
        await it.press("ctrl+o")
        row = next(row for row in it.rows if "Task 22" in row)
        await it.press(row[0])
        row_then = next(row for row in it.rows if "Task 22" in row)
        assert row_then[0] == row[1]
        await it.press(row[1])
        assert it.app.deck.fleet.list.selected == key_of(f"{22:08x}")


async def test_letters_lead_to_entries_and_to_files_and_hunks(tmp_path: Path) -> None:
    async with still(tmp_path, OPENED, (140, 40)) as it:
        await it.press(*["j"] * 6, "enter", "ctrl+o")
        row = next(row for row in it.rows if "thinking" in row)
        await it.press(row[0])
        assert it.app.deck.opened.transcript.entry is it.app.deck.opened.transcript.entries[2]
        await it.press("ctrl+o")
        row = next(row for row in it.rows if "▾ old.txt" in row)
        await it.press(row[row.index("▾ old.txt") - 1])
        assert it.app.focused is it.app.deck.opened.diff
        await it.press("f")
        await it.shows("▸ old.txt")


async def test_a_letter_goes_to_an_option_and_picks_nothing(tmp_path: Path) -> None:
    async with still(tmp_path) as it:
        await it.press("2", "j", "j", "a", "ctrl+o")
        row = next(row for row in it.rows if "( ) 2 develop" in row)
        await it.press(row[: row.index("( ) 2 develop")].split()[-1])
        await it.shows("Prepare the release")
        assert "(•)" not in it.text
        await it.press("enter")
        await it.shows("develop", "1 of 3 answered")


async def test_in_a_field_the_letters_are_no_text(tmp_path: Path) -> None:
    async with still(tmp_path, OPENED) as it:
        await it.press("j", "j", "m", *"half", "ctrl+o", "A", *" more")
        assert it.app.deck.opened.field.text == "half more"


async def test_quitting_works_while_letters_are_on_the_screen(tmp_path: Path) -> None:
    async with still(tmp_path) as it:
        await it.press("ctrl+o", "ctrl+q")
    assert it.app.return_code == 0


async def test_a_click_takes_the_letters_off(tmp_path: Path) -> None:
    async with still(tmp_path) as it:
        await it.press("ctrl+o")
        await it.pilot.click(offset=(10, 5))
        await it.hides("a-z go there")


# Marking.


async def test_space_marks_and_goes_on_and_back_takes_marks_off_before_the_filter(tmp_path: Path) -> None:
    async with still(tmp_path, size=(80, 24)) as it:
        await it.press("slash", *"host:hq", "enter", "space", "j", "space")
        await it.shows("◆ 2 marked", "/ host:hq")
        assert [row[1] for row in it.rows[3:6]] == ["◆", " ", "◆"]
        await it.press("k", "space")
        await it.shows("◆ 1 marked")
        await it.press("escape")
        await it.hides("marked")
        await it.shows("/ host:hq")
        await it.press("escape")
        await it.shows("18 colonies")


async def test_a_mark_stays_with_its_colony_and_goes_with_it(tmp_path: Path) -> None:
    async with still(tmp_path) as it:
        await it.press("space", "space", "t")
        assert {one.shown_id for one in it.app.deck.fleet.list.marked} == {"ba5eba11", "910be000"}
        it.post(ColonyRemoved(key_of("910be000")))
        await it.shows("◆ 1 marked")


async def test_marks_change_nothing_for_keys_that_are_for_one(tmp_path: Path) -> None:
    async with still(tmp_path) as it:
        await it.press("space", "space", "a")
        await it.shows("Which base branch?", "3 something else…")
        assert it.app.deck.fleet.detail.card.is_open


@pytest.mark.parametrize("key", ["enter", "j", "s", "space", "n", "escape"])
async def test_only_a_yes_begins(tmp_path: Path, key: str) -> None:
    async with still(tmp_path) as it:
        await it.press("space", "space", "s")
        await it.shows("Stop 2 colonies?")
        await it.press(key)
        assert "Stopping" not in it.text
        assert "stopped," not in it.text


async def test_each_fault_is_named_and_what_failed_stays_marked(tmp_path: Path) -> None:
    async with still(tmp_path) as it:
        await it.press("space", "space", "s", "y")
        await it.shows("Could not stop 2", "hq is not connected to: nothing was sent")
        await it.press("escape")
        await it.shows("◆ 2 marked")


async def test_the_help_tells_of_the_terms(tmp_path: Path) -> None:
    async with still(tmp_path, size=(120, 140)) as it:
        await it.press("question_mark")
        assert isinstance(it.app.screen, Help)
        await it.shows("host:hq,lab", "cost>5 age<1h", "space", "ctrl+o")


async def test_what_is_hidden_has_no_letters(tmp_path: Path) -> None:
    async with still(tmp_path, size=(80, 24)) as it:
        await it.press("2", "ctrl+o")
        row = next(row for row in it.rows if "3 questions" in row)
        await it.press(row[0])
        assert it.app.deck.needs_you.list.selected == RELEASE
