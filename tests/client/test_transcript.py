import gc
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from client.samples import prompt, question
from colonizer_client.identity import QuestionId
from colonizer_client.mothership import frames
from colonizer_client.mothership.events import (
    Answered,
    Asked,
    Event,
    Noted,
    QuestionClosed,
    Speaker,
    Stamp,
    StateChanged,
    TextDelta,
    TextFinal,
    Thought,
    ToolCalled,
    ToolReturned,
    TurnEnded,
    UserSaid,
)
from colonizer_client.text import MARKS_KEPT
from colonizer_client.transcript import CHANGES_KEPT, Entry, Item, Kind, Mark, RunBegan, State, Transcript
from recorded import pages

MAIN = Stamp(1, 100.0, "agent", None)
EXPLORER = Stamp(1, 100.0, "subagent", Speaker("t-1", "explorer", "looks around"))
TESTER = Stamp(1, 100.0, "subagent", Speaker("t-2", "tester", ""))


def transcript(*items: Item) -> Transcript:
    made = Transcript()
    for item in items:
        made.apply(item)
    return made


def delta(text: str, block: str = "m", at: Stamp = MAIN) -> TextDelta:
    return TextDelta(at, (block, 0), text)


def final(text: str, block: str = "m", at: Stamp = MAIN) -> TextFinal:
    return TextFinal(at, (block, 0), text)


def called(call: str, at: Stamp = MAIN) -> ToolCalled:
    return ToolCalled(at, call, "Bash", "ls", '{"command": "ls"}')


def returned(
    call: str, output: str = "ok", *, is_error: bool = False, denial: str = "", at: Stamp = MAIN
) -> ToolReturned:
    return ToolReturned(at, call, output, is_error, denial)


def asked(question_id: str, *, is_blocking: bool = False, at: Stamp = MAIN) -> Asked:
    return Asked(at, question(question_id, prompt("Which?", "a", "b"), blocking=is_blocking))


def answered(question_id: str, answer: str = "a", origin: str = "user", response: str = "") -> Answered:
    answers = (("Which?", answer),) if answer else ()
    return Answered(replace(MAIN, origin=origin), QuestionId(question_id), answers, response)


def closed(question_id: str, reason: str = "") -> QuestionClosed:
    return QuestionClosed(MAIN, QuestionId(question_id), reason)


def ended(cost: float | None = None, *, is_error: bool = False, result: str = "") -> TurnEnded:
    return TurnEnded(MAIN, is_error, result, cost, 12.4, ("opus",))


def kinds(made: Iterable[Entry]) -> list[Kind]:
    return [entry.kind for entry in made]


def test_pieces_grow_one_block_and_the_final_text_replaces_them() -> None:
    made = transcript(delta("Hel"), delta("lo"))
    assert [(entry.kind, entry.body, entry.state) for entry in made] == [(Kind.AGENT, "Hello", State.RUNNING)]
    made.apply(final("Hello, world"))
    assert [(entry.body, entry.state) for entry in made] == [("Hello, world", State.DONE)]


def test_pieces_that_come_after_the_final_text_are_left_out() -> None:
    made = transcript(delta("a"), final("whole"), delta("late"))
    assert [entry.body for entry in made] == ["whole"]
    assert [entry.body for entry in transcript(final("whole"), delta("late"))] == ["whole"]


def test_blocks_of_one_message_and_of_two_speakers_are_kept_apart() -> None:
    second = TextDelta(MAIN, ("m", 1), "two")
    made = transcript(delta("one"), second, delta("x", "n", EXPLORER), delta("!"))
    assert [entry.body for entry in made if entry.kind is Kind.AGENT] == ["one!", "two"]
    assert [child.body for child in made[2].children] == ["x"]


def test_messages_without_an_id_are_not_mistaken_for_each_other() -> None:
    made = transcript(delta("a", ""), final("A", ""), delta("b", ""), final("B", ""))
    assert [entry.body for entry in made] == ["A", "B"]


def test_the_seams_of_a_streamed_text_hold_no_pile_of_marks() -> None:
    made = transcript(delta("a"), *[delta("\u0301\u0301")] * 50)
    assert made[0].body == "a" + "\u0301" * MARKS_KEPT


def test_a_tool_call_gets_its_result() -> None:
    made = transcript(called("t"))
    assert (made[0].title, made[0].argument, made[0].state) == ("Bash", "ls", State.RUNNING)
    made.apply(returned("t"))
    assert (made[0].result, made[0].state) == ("ok", State.DONE)


@pytest.mark.parametrize(
    ("result", "shown"),
    [
        (returned("t", "no", is_error=True), "no"),
        (returned("t", "", denial="egress: ask"), "egress: ask"),
        (returned("t", "out", denial="policy"), "policy\nout"),
    ],
)
def test_a_failed_or_denied_call_says_so(result: ToolReturned, shown: str) -> None:
    made = transcript(called("t"), result)
    assert (made[0].result, made[0].state) == (shown, State.FAILED)


def test_a_repeated_call_or_result_is_drawn_once_and_the_first_stands() -> None:
    made = transcript(called("t"), called("t"), returned("t", "one"), returned("t", "two"), called("t"))
    assert [(entry.kind, entry.result) for entry in made] == [(Kind.TOOL, "one")]


def test_a_result_without_its_call_is_shown_and_repeats_no_more() -> None:
    made = transcript(returned("lost"), returned("lost", "again"), returned("", "x"), returned("", "y"))
    assert [entry.result for entry in made] == ["ok", "x", "y"]


def test_calls_without_an_id_are_all_drawn() -> None:
    assert len(transcript(called(""), called(""))) == 2


def test_settlers_that_interleave_have_one_card_each() -> None:
    made = transcript(
        called("t-1"), called("t-2"),
        Thought(EXPLORER, ("a", 0), "hm\nlonger"), called("x", EXPLORER), Thought(TESTER, ("b", 0), "so"),
        returned("x", at=EXPLORER), final("done", "c", TESTER), delta("more", "d", EXPLORER),
    )  # fmt: skip
    assert kinds(made) == [Kind.TOOL, Kind.TOOL, Kind.SETTLER, Kind.SETTLER]
    explorer, tester = made[2], made[3]
    assert (explorer.title, tester.title) == ("looks around", "tester")
    assert kinds(explorer.children) == [Kind.THINKING, Kind.TOOL, Kind.AGENT]
    assert (explorer.children[0].title, explorer.children[1].result) == ("hm", "ok")
    assert [entry.state for entry in (explorer, tester)] == [State.RUNNING, State.RUNNING]
    made.apply(returned("t-1", is_error=True))
    made.apply(returned("t-2"))
    assert [entry.state for entry in made][2:] == [State.FAILED, State.DONE]


def test_a_result_that_closes_a_question_is_no_result_of_a_lost_call() -> None:
    assert kinds(transcript(asked("q-1"), returned("q-1"))) == [Kind.QUESTION]
    assert kinds(transcript(asked("q-1"), closed("q-1"), returned("q-1"))) == [Kind.QUESTION]
    made = transcript(called("q-1"), asked("q-1"), returned("q-1"))
    assert [(entry.kind, entry.state) for entry in made] == [(Kind.TOOL, State.DONE), (Kind.QUESTION, State.DONE)]


def test_what_a_settler_says_late_goes_to_its_own_card() -> None:
    made = transcript(Thought(EXPLORER, ("a", 0), "x"), returned("t-1"), Thought(EXPLORER, ("b", 0), "late"), ended())
    cards = [entry for entry in made if entry.kind is Kind.SETTLER]
    assert [(len(card.children), card.state) for card in cards] == [(2, State.DONE)]


def test_the_end_of_a_turn_lets_settlers_and_unfinished_texts_rest() -> None:
    made = transcript(Thought(EXPLORER, ("a", 0), "x"), delta("cut off", "m"), ended())
    assert [entry.state for entry in made] == [State.DONE] * 3
    made.apply(final("whole after all"))
    assert made[1].body == "whole after all"


def question_state(*items: Item) -> tuple[State, str]:
    (entry,) = [entry for entry in transcript(*items) if entry.kind is Kind.QUESTION][:1]
    return entry.state, entry.result


@pytest.mark.parametrize(
    ("items", "how"),
    [
        ([answered("q-1")], "answered: a"),
        ([answered("q-1", origin="autonomy")], "answered by the judge: a"),
        ([answered("q-1", "", response="words")], "answered: words"),
        ([answered("q-1", "")], "answered"),
        ([closed("q-1", "turn end")], "no longer needed (turn end)"),
        ([closed("q-1")], "closed"),
        ([returned("q-1")], "closed by its tool: ok"),
        ([returned("q-1", "")], "closed by its tool"),
        ([asked("q-2")], "replaced by a newer question"),
        ([RunBegan(2)], "closed with its run"),
        ([answered("q-1"), closed("q-1", "late")], "answered: a"),
    ],
)
def test_what_closes_a_question(items: list[Item], how: str) -> None:
    assert question_state(asked("q-1"), *items) == (State.DONE, how)


@pytest.mark.parametrize(
    "items",
    [
        [answered("q-2")],
        [closed("q-2")],
        [returned("t")],
        [ended()],
        [StateChanged(MAIN, "idle", "")],
        [StateChanged(MAIN, "working", "")],
    ],
)
def test_what_leaves_a_question_open(items: list[Item]) -> None:
    assert question_state(asked("q-1"), *items) == (State.RUNNING, "")


def test_a_question_that_holds_a_tool_call_closes_with_its_turn() -> None:
    assert question_state(asked("q-1", is_blocking=True), ended()) == (State.DONE, "closed with its turn")


def test_a_question_is_titled_by_its_prompts_and_keeps_them() -> None:
    made = transcript(
        Asked(MAIN, question("q", prompt("One?\nlonger"), prompt("Two?"))), Asked(MAIN, question("r", prompt("")))
    )
    assert [entry.title for entry in made] == ["One?; Two?", "asks"]
    assert made[0].question is not None
    assert made[0].question.question_id == "q"


@pytest.mark.parametrize(
    ("costs", "turns"),
    [
        ([0.25, 0.75, 0.75], [0.25, 0.5, 0.0]),
        ([None, 0.75], [None, None]),
        ([0.25, None, 1.0, 1.5], [0.25, None, None, 0.5]),
        ([1.0, 0.2, 0.5], [1.0, 0.2, 0.3]),
    ],
)
def test_turns_tell_what_the_run_cost_so_far_and_show_their_own_cost(
    costs: list[float | None], turns: list[float | None]
) -> None:
    shown = [entry.cost_usd for entry in transcript(*map(ended, costs))]
    assert [None if turn is None else round(turn, 6) for turn in shown] == turns


def test_a_log_that_begins_midway_does_not_know_what_its_first_turn_cost() -> None:
    made = Transcript()
    made.begin_midway()
    made.apply(ended(5.0))
    made.apply(ended(5.5))
    assert [entry.cost_usd for entry in made] == [None, 0.5]


def test_a_new_run_counts_its_cost_from_nothing_and_its_ids_anew() -> None:
    made = transcript(called("t"), final("one"), ended(1.0), RunBegan(2), called("t"), final("two"), ended(1.5))
    assert [entry.cost_usd for entry in made if entry.kind is Kind.TURN] == [1.0, 1.5]
    assert [entry.body for entry in made if entry.kind is Kind.AGENT] == ["one", "two"]
    tools = [(entry.state, entry.result) for entry in made if entry.kind is Kind.TOOL]
    assert tools == [(State.FAILED, "its run ended before it returned"), (State.RUNNING, "")]
    assert [entry.title for entry in made if entry.kind is Kind.MARK] == ["run 2"]


def test_the_end_of_a_turn_is_one_line_of_facts() -> None:
    made = transcript(
        ended(result="fine"), ended(is_error=True, result="broke"), TurnEnded(MAIN, False, "", None, None, ())
    )
    assert [(entry.title, entry.body, entry.state) for entry in made] == [
        ("turn over · 12 s · opus", "", State.DONE),
        ("turn failed · 12 s · opus", "broke", State.FAILED),
        ("turn over", "", State.DONE),
    ]


@pytest.mark.parametrize(
    ("message_id", "kind", "title"),
    [
        ("initial", Kind.BRIEF, "Do it"),
        ("u-1", Kind.USER, "Do it"),
        ("", Kind.USER, "Do it"),
        ("watchdog-1", Kind.NOTICE, "watchdog: Do it"),
        ("verify-fix-0a1b2c3d", Kind.NOTICE, "verification: Do it"),
        ("pr-rewrite-0a1b2c3d", Kind.NOTICE, "pull request: Do it"),
        ("watchdog-\x1b]0;owned\x07-1", Kind.NOTICE, "watchdog: Do it"),
    ],
)
def test_a_message_is_a_persons_the_brief_or_the_hosts_by_its_id(message_id: str, kind: Kind, title: str) -> None:
    made = transcript(UserSaid(MAIN, message_id, "Do it\nand more"))
    assert (made[0].kind, made[0].title, made[0].body) == (kind, title, "Do it\nand more")
    assert made.has_said(message_id)
    assert not made.has_said("u-other")


@pytest.mark.parametrize(
    ("state", "shown"), [("error", ["agent error: boom"]), ("exited", ["agent exited: boom"]), ("working", [])]
)
def test_only_an_error_or_the_end_of_the_agent_is_drawn(state: str, shown: list[str]) -> None:
    made = transcript(StateChanged(MAIN, state, "boom"))
    assert made.state == state
    assert [entry.title for entry in made] == shown
    assert [entry.title for entry in transcript(StateChanged(MAIN, "exited", ""))] == ["agent exited"]


def test_what_an_agent_was_at_when_it_ended_is_underway_no_more_and_may_still_return() -> None:
    made = transcript(delta("half a sen"), called("t"), StateChanged(MAIN, "exited", "killed by signal 9"))
    assert [(entry.state, entry.result) for entry in made][:2] == [
        (State.DONE, ""),
        (State.FAILED, "its agent ended before it returned"),
    ]
    made.apply(returned("t", "all fine"))
    assert (made[1].state, made[1].result) == (State.DONE, "all fine")


def test_notes_and_marks_are_drawn_where_they_come() -> None:
    made = transcript(Noted(MAIN, "log", "warn", "careful", "why"), Mark("events are missing", 5.0))
    assert [(entry.kind, entry.title, entry.body, entry.level, entry.at) for entry in made] == [
        (Kind.NOTICE, "careful", "why", "warn", 100.0),
        (Kind.MARK, "events are missing", "", "warn", 5.0),
    ]


def test_the_recorded_page_of_two_runs_is_drawn_run_by_run() -> None:
    page = max(pages(), key=lambda page: len(page["events"]))
    events = [found.event for raw in page["events"] if (found := frames.numbered(raw)) is not None and found.event]
    made = transcript(*events)
    drawn = [entry for top in made for entry in (top, *top.children)]
    calls = {raw["tool_call_id"] for raw in page["events"] if raw["type"] == "tool_call"}
    assert kinds(drawn).count(Kind.TOOL) == len(calls)
    assert all(entry.state is not State.RUNNING for entry in made if entry.kind is Kind.AGENT)
    assert all(entry.cost_usd is None or entry.cost_usd >= 0 for entry in made)


# What a reader sees who asks for changes only, and what an older page does, for any log.

STAMPS = st.sampled_from([MAIN, EXPLORER, TESTER])
IDS = st.sampled_from(["", "t-1", "t-2", "q-1", "q-2", "x"])
BLOCKS = st.sampled_from(["", "m", "n"])
EVENTS: st.SearchStrategy[Event] = st.one_of(
    st.builds(delta, st.sampled_from(["a", "b\n", "é\u0301", "\u0301\u0301"]), BLOCKS, STAMPS),
    st.builds(final, st.sampled_from(["A", "B"]), BLOCKS, STAMPS),
    STAMPS.map(lambda stamp: Thought(stamp, ("m", 0), "hm")),
    st.builds(called, IDS, STAMPS),
    st.builds(returned, IDS, is_error=st.booleans(), at=STAMPS),
    st.builds(asked, IDS, is_blocking=st.booleans(), at=STAMPS),
    st.builds(answered, IDS),
    st.builds(closed, IDS),
    st.builds(ended, st.sampled_from([None, 0.0, 1.0, 2.5])),
    st.builds(UserSaid, STAMPS, IDS, st.just("hi")),
    st.builds(StateChanged, st.just(MAIN), st.sampled_from(["idle", "error"]), st.just("")),
    STAMPS.map(lambda stamp: Noted(stamp, "log", "info", "note")),
)
ITEMS: st.SearchStrategy[Item] = EVENTS | st.builds(RunBegan, st.integers(1, 3)) | st.builds(Mark, st.just("gap"))


def same(one: Transcript, other: Transcript) -> bool:
    said = all(one.has_said(message) is other.has_said(message) for message in ("", "t-1", "t-2", "q-1", "q-2", "x"))
    return list(one) == list(other) and one.state == other.state and said


@dataclass
class Reader:
    """Draws what changed since it last looked."""

    version: int = 0
    drawn: tuple[Entry, ...] = ()

    def look(self, made: Transcript) -> None:
        changed = made.changed_since(self.version)
        if changed is None:
            self.drawn = tuple(made)
        else:
            entries = list(self.drawn) + [Entry(Kind.MARK, None)] * (len(made) - len(self.drawn))
            for index in changed:
                entries[index] = made[index]
            self.drawn = tuple(entries)
        self.version = made.version


@given(st.lists(st.tuples(ITEMS, st.booleans()), max_size=60), st.integers(0, 60), st.lists(ITEMS, max_size=10))
def test_a_reader_who_draws_changes_only_sees_all(log: list[tuple[Item, bool]], at: int, older: list[Item]) -> None:
    made, reader = Transcript(), Reader()
    for number, (item, looks) in enumerate(log):
        if number == at:
            made.put_before(older, is_midway=False)
        made.apply(item)
        if looks:
            reader.look(made)
            assert reader.drawn == tuple(made)
    reader.look(made)
    assert reader.drawn == tuple(made)
    assert made.changed_since(made.version) == frozenset()


@given(st.lists(ITEMS, max_size=40), st.lists(ITEMS, max_size=40), st.lists(ITEMS, max_size=20), st.booleans())
def test_an_older_page_gives_what_reading_all_anew_would(
    older: list[Item], newer: list[Item], rest: list[Item], midway: bool
) -> None:
    made = transcript(*newer)
    made.put_before(older, is_midway=midway)
    anew = Transcript()
    if midway:
        anew.begin_midway()
    for item in (*older, *newer):
        anew.apply(item)
    assert same(made, anew)
    for item in rest:
        made.apply(item)
        anew.apply(item)
    assert same(made, anew)


def test_a_page_before_a_page_before_a_text_that_is_being_written() -> None:
    made = transcript(delta("still "), delta("writing"))
    made.put_before([UserSaid(MAIN, "u-2", "second"), RunBegan(2)], is_midway=True)
    made.put_before([UserSaid(MAIN, "u-1", "first")], is_midway=False)
    made.apply(delta(" on"))
    assert [entry.body or entry.title for entry in made] == ["first", "second", "run 2", "still writing on"]
    assert made.has_said("u-1")
    assert made.has_said("u-2")


def test_a_reader_who_is_far_behind_or_saw_another_beginning_draws_all_anew() -> None:
    made = Transcript()
    for number in range(CHANGES_KEPT + 2):
        made.apply(final("x", f"m{number}"))
    assert made.changed_since(0) is None
    assert made.changed_since(made.version - 1) == frozenset({CHANGES_KEPT + 1})
    before = made.version
    made.put_before([], is_midway=False)
    assert made.changed_since(before) is None


def calls_made(work: Callable[[], Any]) -> int:
    """How many Python functions the work calls, each one's own lines counted too."""
    count = 0

    def counted(frame: FrameType, what: str, arg: object) -> Any:
        nonlocal count
        count += 1
        return counted

    before = sys.gettrace()
    gc.disable()  # finalizers are not its work
    sys.settrace(counted)
    try:
        work()
    finally:
        sys.settrace(before)
        gc.enable()
    return count


@pytest.mark.parametrize(
    "event",
    [
        delta("x"),
        delta("x", "n", EXPLORER),
        returned("t"),
        called("new"),
        UserSaid(MAIN, "u", "t"),
        asked("q-9"),
        answered("q-1"),
    ],
    ids=lambda event: type(event).__name__,
)
def test_what_an_event_costs_does_not_depend_on_the_length_of_the_log(event: Event) -> None:
    def cost(length: int) -> int:
        made = transcript(called("t"), asked("q-1"), delta("start"), delta("start", "n", EXPLORER))
        for number in range(length):
            made.apply(final("x", f"m{number}"))
            made.apply(delta("more"))
            made.apply(delta("more", "n", EXPLORER))
        return calls_made(lambda: made.apply(event))

    cost(1)
    assert cost(3) == cost(3000)
