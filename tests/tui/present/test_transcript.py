"""A transcript's entries as lines: folded, unfolded, of any length and any width."""

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from colonizer_client.mothership.events import Speaker
from colonizer_client.transcript import Entry, Kind, State
from colonizer_tui.keys import keymap
from colonizer_tui.present.line import Line, width_of
from colonizer_tui.present.states import Glyphs
from colonizer_tui.present.transcript import FOLDED_AT_FIRST, UNFOLDED_LINES, Sheet, folds, lines, whole_text
from moments import NOW, THREE_QUESTIONS, WORK, key_of, transcript_of

UNICODE, ASCII = Glyphs(), Glyphs(ascii=True)
WIDE = "日本語のとても長い文章です🚀 " * 6
REVIEWER = Speaker("t3", "reviewer", "review it")


def texts(entry: Entry, width: int = 80, *, is_folded: bool = False, glyphs: Glyphs = UNICODE) -> list[str]:
    return [text_of(drawn) for drawn in lines(entry, Sheet(width, glyphs), is_folded=is_folded)]


def text_of(drawn: Line) -> str:
    return "".join(piece.text for piece in drawn)


STEP = Entry(Kind.TOOL, NOW, "Bash", argument="pytest -q", body='{"command": "pytest -q"}', result="1 failed\nassert")
ENTRIES: dict[str, Entry] = {
    "message": Entry(Kind.USER, NOW, "Go on", body="Go on\nwith it"),
    "brief": Entry(Kind.BRIEF, NOW, "Greet the world", body="Greet the world\n\nKeep it short."),
    "agent": Entry(Kind.AGENT, NOW, body="I will **change** `src/app.py`."),
    "agent at work": Entry(Kind.AGENT, NOW, body="I will", state=State.RUNNING),
    "agent without a word": Entry(Kind.AGENT, NOW, state=State.RUNNING),
    "thinking": Entry(Kind.THINKING, NOW, "One line", body="One line\nwill do"),
    "tool": replace(STEP, state=State.DONE),
    "failed tool": replace(STEP, state=State.FAILED),
    "running tool": replace(STEP, state=State.RUNNING, result=""),
    "settler": Entry(
        Kind.SETTLER, NOW, "review it", state=State.RUNNING, speaker=REVIEWER,
        children=(STEP, Entry(Kind.AGENT, NOW, body="Looking.", state=State.RUNNING)),
    ),
    "idle settler": Entry(Kind.SETTLER, NOW, "review it", state=State.RUNNING, speaker=REVIEWER),
    "failed settler": Entry(Kind.SETTLER, NOW, "review it", state=State.FAILED, speaker=REVIEWER, children=(STEP,)),
    "open question": Entry(Kind.QUESTION, NOW, "Which base?", state=State.RUNNING, question=THREE_QUESTIONS),
    "answered question": Entry(Kind.QUESTION, NOW, "Which base?", result="answered: main", question=THREE_QUESTIONS),
    "turn": Entry(Kind.TURN, NOW, "turn over · 93 s · sonnet", cost_usd=0.42),
    "failed turn": Entry(Kind.TURN, NOW, "turn failed", body="out of budget", state=State.FAILED),
    "notice": Entry(Kind.NOTICE, NOW, "watchdog: are you there?", body="are you there?\nreally?", level="warn"),
    "mark": Entry(Kind.MARK, None, "some events could not be recovered", level="warn"),
}  # fmt: skip


def test_a_question_that_ended_with_its_run_offers_no_card() -> None:
    entry = ENTRIES["open question"]
    ended = Sheet(80, UNICODE, is_asking=False)
    shown = "\n".join(text_of(drawn) for drawn in lines(entry, ended, is_folded=False))
    assert "the question went with its run" in shown
    assert "opens the card" not in shown
    chosen = Sheet(80, UNICODE, keymap({"answer": "u"}))
    assert any("u opens the card" in text_of(drawn) for drawn in lines(entry, chosen, is_folded=False))


def long_texts(entry: Entry) -> Entry:
    return replace(
        entry, title=WIDE, argument=WIDE, body=f"{WIDE}\n{WIDE}", result=f"{WIDE}\n{WIDE}",
        children=tuple(map(long_texts, entry.children)),
    )  # fmt: skip


def test_the_table_of_this_test_holds_every_kind_of_entry() -> None:
    assert {entry.kind for entry in ENTRIES.values()} == set(Kind)


@pytest.mark.parametrize("name", ENTRIES)
def test_no_line_is_wider_than_the_pane(name: str) -> None:
    for entry in (ENTRIES[name], long_texts(ENTRIES[name])):
        for width in (*range(28, 90, 7), 120, 200):
            for is_folded in (False, True):
                drawn = lines(entry, Sheet(width, UNICODE), is_folded=is_folded)
                assert drawn
                assert max(map(width_of, drawn)) <= width, (width, is_folded)


@pytest.mark.parametrize("name", ENTRIES)
def test_in_a_pane_of_no_width_an_entry_is_drawn_all_the_same(name: str) -> None:
    for width in range(6):
        assert texts(ENTRIES[name], width)


@pytest.mark.parametrize("name", [name for name, entry in ENTRIES.items() if entry.kind in FOLDED_AT_FIRST])
def test_a_folded_entry_is_one_line(name: str) -> None:
    assert len(texts(ENTRIES[name], is_folded=True)) == 1
    if folds(ENTRIES[name]):
        assert len(texts(ENTRIES[name])) > 1


@pytest.mark.parametrize("name", ENTRIES)
def test_an_entry_begins_with_its_time(name: str) -> None:
    if ENTRIES[name].at is not None:
        assert texts(ENTRIES[name])[0].startswith("12:00 ")
        assert texts(replace(ENTRIES[name], at=None))[0].startswith("      ")


@pytest.mark.parametrize(
    ("name", "folded"),
    [
        ("brief", "12:00 brief      Greet the world ▸ 3 lines"),
        ("thinking", "12:00 thinking   One line ▸ 2 lines"),
        ("tool", "12:00 Bash       ✓ pytest -q"),
        ("running tool", "12:00 Bash       ◐ pytest -q"),
        ("settler", "12:00 reviewer   ↳ Looking.  writing · 1 step"),
        ("idle settler", "12:00 reviewer   ↳ review it  working · 0 steps"),
        ("failed settler", "12:00 reviewer   ↳ review it  failed · 1 step"),
        ("notice", "12:00            watchdog: are you there? ▸"),
    ],
)
def test_what_a_folded_entry_says(name: str, folded: str) -> None:
    assert texts(ENTRIES[name], is_folded=True) == [folded]


def test_a_failed_tool_says_why_at_the_end_of_its_line() -> None:
    (line,) = texts(ENTRIES["failed tool"], is_folded=True)
    assert line.startswith("12:00 Bash       ✗ pytest -q ")
    assert line.endswith(" 1 failed")
    assert len(line) == 80


def test_an_unfolded_tool_shows_what_went_in_and_what_came_out() -> None:
    assert [line.strip() for line in texts(ENTRIES["failed tool"])[1:]] == [
        '{"command": "pytest -q"}', "1 failed", "assert",
    ]  # fmt: skip


def test_what_a_settler_did_is_set_in_below_it() -> None:
    shown = texts(ENTRIES["settler"])
    assert shown[1].startswith("    12:00 Bash")
    assert shown[2].startswith("    12:00 agent      Looking.▍")
    assert all(line.startswith("    ") for line in shown[1:])


def test_a_text_that_is_being_written_shows_where_it_goes_on() -> None:
    assert texts(ENTRIES["agent at work"])[-1].endswith("I will▍")
    assert texts(ENTRIES["agent at work"], glyphs=ASCII)[-1].endswith("I will_")
    assert texts(ENTRIES["agent without a word"])[-1].endswith("▍")


def test_an_open_question_says_how_to_answer_it_and_an_old_one_how_it_was() -> None:
    assert texts(ENTRIES["open question"])[-1].strip() == "a opens the card"
    assert texts(ENTRIES["answered question"])[-1].strip() == "answered: main"


def test_the_cost_of_a_turn_is_there_where_it_is_known() -> None:
    assert "· $0.42 ──" in texts(ENTRIES["turn"])[0]
    assert "$" not in texts(ENTRIES["failed turn"])[0]


@pytest.mark.parametrize("text", ["x" * 5_000_000, "line of text\n" * 400_000, "日本" * 1_000_000], ids=len)
@pytest.mark.parametrize("name", ["tool", "failed tool", "thinking", "notice", "failed turn", "message", "agent"])
def test_of_a_text_of_megabytes_a_bounded_part_is_drawn_and_the_rest_is_told(name: str, text: str) -> None:
    entry = replace(ENTRIES[name], body=text, result=text)
    if entry.kind in FOLDED_AT_FIRST:
        assert len(texts(entry, is_folded=True)) == 1
    shown = texts(entry)
    assert len(shown) <= 2 * UNFOLDED_LINES + 3
    assert shown[-1].strip().startswith("… ")
    assert shown[-1].endswith("v shows all")


def test_how_many_lines_are_hidden_is_told_truly() -> None:
    entry = replace(ENTRIES["thinking"], body="short\n" * (UNFOLDED_LINES + 9) + "end")
    assert texts(entry)[-1].strip() == "… 10 more lines: v shows all"
    entry = replace(ENTRIES["tool"], body="short\n" * (UNFOLDED_LINES + 9) + "end", result="")
    assert texts(entry)[-1].strip() == "… 10 more lines: v shows all"
    entry = replace(ENTRIES["tool"], body="\n".join(["x" * 126] * 1_000), result="")  # two lines each
    assert texts(entry)[-1].strip() == "… 800 more lines: v shows all"


@pytest.mark.parametrize("name", ["notice", "answered question"])
def test_a_long_title_is_cut_with_a_sign(name: str) -> None:
    entry = replace(ENTRIES[name], title="word " * 400, result="word " * 400)
    shown = texts(entry, is_folded=True)
    assert len(shown) < 60
    assert shown[-1].rstrip().endswith(("…", "▸", "v shows all"))
    if name == "answered question":
        assert shown[-1].rstrip().endswith("…")


@pytest.mark.parametrize("name", ENTRIES)
def test_the_whole_text_leaves_nothing_out(name: str) -> None:
    entry = ENTRIES[name]
    whole = whole_text(entry)
    parts: Sequence[str] = (entry.body, entry.result, *(child.body for child in entry.children))
    assert all(part in whole for part in parts)
    if entry.kind not in (Kind.USER,):
        assert entry.title in whole


def test_the_whole_text_of_a_question_holds_its_options() -> None:
    whole = whole_text(ENTRIES["open question"])
    for prompt in THREE_QUESTIONS.prompts:
        assert prompt.text in whole
        assert all(option.label in whole and option.preview in whole for option in prompt.options)


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII])
def test_every_entry_of_a_real_log_is_drawn(glyphs: Glyphs) -> None:
    state = transcript_of(key_of("a"), WORK).state
    assert state is not None
    for entry in state.transcript:
        for is_folded in (True, False):
            assert lines(entry, Sheet(100, glyphs), is_folded=is_folded)
