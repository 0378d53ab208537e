"""The rows of Needs you and of Connections, and what stands beside the selected one."""

from typing import Any

import pytest
from msgspec.structs import replace

from colonizer_client.attention import Need, Urgency
from colonizer_client.identity import EndpointName
from colonizer_client.mothership.models import (
    Attention,
    Colony,
    ColonyDetail,
    Diff,
    FileChange,
    OpenQuestion,
    Parked,
    RecentEvent,
    Standing,
    Superseded,
)
from colonizer_client.snapshot import (
    ColonyChanged,
    DetailRead,
    DiffChanged,
    DiffState,
    EndpointChanged,
    EndpointState,
    Health,
    HubEvent,
    QuestionRead,
    Snapshot,
    fold,
)
from colonizer_tui.keys import keymap
from colonizer_tui.present import endpoints, inbox, inspector
from colonizer_tui.present.line import Line, fit, width_of
from colonizer_tui.present.states import Glyphs
from colonizer_tui.present.view import Digests, View
from moments import (
    HQ,
    LAB,
    LOCAL,
    NOW,
    RELEASE,
    THREE_QUESTIONS,
    colony,
    diff_read,
    endpoint,
    every_state,
    prompt,
    question,
    silent,
)

GLYPHS = Glyphs()
ANSWERED = {"suspended": True, "answered_while_suspended": True}
BACK_IN_AN_HOUR = Parked("hold_timeout", resumes_at=NOW + 3_600)
PHONE = Standing(is_owner=False, scope="read", name="phone", orgs=("acme",), repos=("a/b",))
CAPPED = Standing(is_owner=False, scope="launch", max_concurrent=3, budget_usd_per_day=2.5)
BEHIND_SSH = {
    "health": Health.SILENT, "address": "ssh://me@lab", "error": "ssh to me@lab: Host key verification failed.",
}  # fmt: skip
WORDY = "日本語 and a lot of words that go on and on " * 9


def text_of(row: Line) -> str:
    return "".join(piece.text for piece in row).rstrip()


def view_of(*events: HubEvent) -> View:
    snapshot, topics = fold(Snapshot(), events)
    return Digests().view(snapshot, topics, NOW)


def needs(*events: HubEvent, width: int = 80) -> list[str]:
    view = view_of(EndpointChanged(endpoint(HQ)), *events)
    return [text_of(inbox.row(need, view, width, GLYPHS)) for need in view.needs]


# Needs you


@pytest.mark.parametrize("width", [36, 40, 59, 60, 80, 120, 200])
def test_a_need_is_never_wider_than_its_list(width: int) -> None:
    rich = question(prompt(WORDY), risk="credential_adjacent")
    wide = [
        ColonyChanged(colony("a", "waiting_for_answer", 1, title=WORDY, repo="acme/a-very-long-name", issue=123_456)),
        ColonyChanged(colony("b", "failed", 1, error=WORDY, unseen_failure=True)),
        ColonyChanged(colony("c", "running", 1, title=WORDY, attention=Attention("control_defeat", None, WORDY))),
    ]
    view = view_of(*every_state(), *wide, QuestionRead(colony("a", "", 1).key, rich))
    for need in view.needs:
        assert width_of(inbox.row(need, view, width, GLYPHS)) <= width


@pytest.mark.parametrize(
    ("one", "asks", "text"),
    [
        (
            colony("5e6f7a8b", "waiting_for_answer", 1, issue=12),
            THREE_QUESTIONS,
            "? 57m widgets #12 3 questions workspace write",
        ),
        (
            colony("5e6f7a8b", "waiting_for_answer", 1),
            question(prompt("Launch?\nReally?"), risk="unknown", minutes=2),
            "? 2m widgets Launch? unknown risk",
        ),
        (colony("5e6f7a8b", "waiting_for_answer", 3, title="Do it"), None, "? 3m widgets Do it"),
        (colony("5e6f7a8b", "waiting_for_answer", 3, title="Do it"), question(minutes=3), "? 3m widgets Do it"),
        (
            colony("5e6f7a8b", "running", 3, attention=Attention("control_defeat", NOW - 60)),
            None,
            "▲ 1m widgets held: control defeat",
        ),
        (
            colony("5e6f7a8b", "failed", 3, unseen_failure=True, error="boot failed\ntrace"),
            None,
            "✗ 3m widgets boot failed",
        ),
        (
            colony("5e6f7a8b", "failed", 3, unseen_failure=True),
            None,
            "✗ 3m widgets failed: A thing to do",
        ),
        (
            colony("5e6f7a8b", "running", 3, title="Do it", attention=Attention("of_tomorrow", NOW - 60)),
            None,
            "◔ 1m widgets of tomorrow · Do it",
        ),
    ],
)  # fmt: skip
def test_a_need_says_since_when_where_and_what(one: Colony, asks: OpenQuestion | None, text: str) -> None:
    (row,) = needs(ColonyChanged(one), QuestionRead(RELEASE, asks), width=76)
    assert " ".join(row.split()) == text


def test_old_questions_are_one_row_with_their_number() -> None:
    old = [
        ColonyChanged(colony(name, "failed", 5_000, error="abandoned_question", unseen_failure=True)) for name in "abc"
    ]
    (row,) = needs(*old)
    assert "3 old questions nobody answered" in row


def test_a_need_of_a_silent_host_keeps_its_shape_dimmed_and_names_the_host() -> None:
    view = view_of(*every_state(), silent(HQ))
    need = next(need for need in view.needs if need.colony.key == RELEASE)
    row = inbox.row(need, view, 76, GLYPHS)
    assert text_of(row).startswith(" ? ")
    assert "hq silent 40s" in text_of(row)
    assert {piece.role for piece in row if piece.text.strip() and piece.role} <= {"stale", "muted", ""}


def test_a_need_whose_attention_is_gone_meanwhile_is_drawn() -> None:
    one = colony("a", "running", 1)
    view = view_of(EndpointChanged(endpoint(HQ)), ColonyChanged(one))
    for urgency in Urgency:
        assert inbox.row(Need(urgency, None, NOW, (one,)), view, 60, GLYPHS)


# The inspector


def inspected(one: Colony, *events: HubEvent, width: int = 60) -> list[str]:
    view = view_of(EndpointChanged(endpoint(one.key.endpoint)), ColonyChanged(one), *events)
    return [text_of(row) for row in inspector.lines(one, view, width, GLYPHS)]


@pytest.mark.parametrize(
    ("status", "changes", "text"),
    [
        ("waiting_for_answer", {}, "waiting for you · 5 min"),
        ("waiting_for_answer", ANSWERED, "answered · resumes when a slot is free"),
        ("failed", {"error": "boot failed\ntrace"}, "failed: boot failed"),
        ("failed", {}, "failed: no reason given"),
        ("queued", {}, "queued"),
        ("queued", {"queued_behind": "0dd50e5a"}, "queued behind 0dd50e5a"),
        ("queued", {"blocked_reason": "no slot"}, "queued: no slot"),
        ("blocked", {"blocked_reason": "waiting on 0dd50e5a"}, "blocked: waiting on 0dd50e5a"),
        ("blocked", {}, "blocked: by its parent"),
        ("parked", {}, "parked"),
        ("parked", {"parked": BACK_IN_AN_HOUR}, "parked: hold timeout · comes back in 1 h"),
        ("parked", {"parked": Parked("hold_timeout", resumes_at=NOW - 1)}, "parked: hold timeout"),
        ("stopped", {}, "stopped · its worktree is kept"),
        ("stopped", {"error": "by hand\nx"}, "stopped: by hand"),
        ("stopped", {"superseded": Superseded("the same issue", "https://x/1")}, "stopped · covered by https://x/1"),
        ("running", {}, "running · last sign 5m ago"),
        ("running", {"last_activity_at": None}, "running"),
        ("running", {"attention": Attention("stalled", None, "no sign")}, "stalled: no sign"),
        ("running", {"attention": Attention("control_defeat", NOW - 60, "denied")}, "held for 1 min: denied"),
        ("idle", {}, "its turn is over: m writes to it"),
        ("merged", {"attention": Attention("control_defeat")}, "merged · 5m ago"),
        ("half_asleep", {}, "half asleep · 5m ago"),
    ],
)  # fmt: skip
def test_a_status_explains_itself_in_one_sentence(status: str, changes: dict[str, Any], text: str) -> None:
    one = colony("a", status, 5, **changes)
    view = view_of(EndpointChanged(endpoint(HQ)), ColonyChanged(one))
    assert inspector.sentence(one, view)[0] == text


def test_of_a_silent_host_only_the_past_is_told() -> None:
    one = colony("a", "running", 5)
    view = view_of(silent(HQ), ColonyChanged(one))
    assert inspector.sentence(one, view) == ("running as of 40 s ago: hq does not answer", "stale")


def test_what_is_left_out_of_a_long_question_is_told() -> None:
    many = question(prompt("word " * 200, *(f"option {number}" for number in range(12))))
    rows = inspected(colony("5e6f7a8b", "waiting_for_answer", 5), QuestionRead(RELEASE, many))
    assert sum("word" in row for row in rows) == 6
    assert [row for row in rows if "word" in row][-1].endswith("…")
    assert "  · … and 3 more" in rows
    assert "  · option 8" in rows
    assert "  · option 9" not in rows


def test_a_question_of_which_nothing_is_left_out_has_no_sign_of_it() -> None:
    rows = inspected(colony("5e6f7a8b", "waiting_for_answer", 5), QuestionRead(RELEASE, THREE_QUESTIONS))
    assert not any("…" in row for row in rows if "something else…" not in row)
    assert any("question 1 of 3" in row for row in rows)


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (DiffState(is_loading=True), ["reading the changes…"]),
        (DiffState(error="no worktree"), ["no worktree"]),
        (DiffState(Diff("main", (), 0, 0, "", truncated=False)), ["nothing yet"]),
    ],
)
def test_changes_that_are_not_there_are_not_called_none(state: DiffState, expected: list[str]) -> None:
    rows = inspected(colony("a", "running", 1), DiffChanged(colony("a", "", 1).key, state))
    assert rows[-1:] == expected


def test_a_cut_diff_says_at_least_and_names_how_many_files_are_left_out() -> None:
    files = tuple(FileChange(f"src/{number}.py", number, 1) for number in range(11))
    cut = Diff("main", files, 55, 11, "", truncated=True)
    rows = inspected(colony("a", "running", 1), diff_read(colony("a", "", 1).key, cut))
    assert any("changed · at least 11 files" in row for row in rows)
    assert rows[-1] == "… and 3 more: d shows all"
    assert "src/7.py +7 −1" in rows


def test_what_happened_last_comes_newest_first() -> None:
    recent = tuple(RecentEvent(number, NOW - 60 * number, "tool_call", f"step {number}") for number in range(9, 0, -1))
    one = colony("a", "running", 1)
    rows = inspected(one, DetailRead(one.key, ColonyDetail(one, "", "working", recent, ())))
    assert [row.split()[-1] for row in rows[-6:]] == ["1", "2", "3", "4", "5", "6"]
    assert rows[-1].startswith("11:54 ")


@pytest.mark.parametrize("width", [20, 36, 60, 100])
def test_prose_in_the_inspector_is_wrapped_to_its_width(width: int) -> None:
    one = colony("5e6f7a8b", "failed", 5, title=WORDY, error=WORDY)
    view = view_of(EndpointChanged(endpoint(HQ)), ColonyChanged(one))
    for row in inspector.lines(one, view, width, GLYPHS)[1:8]:
        assert width_of(row) <= width or row[0].text.strip() in ("branch", "cost", "agent")


def test_an_agent_without_a_sandbox_is_told_of_beside_its_colony() -> None:
    one = colony("a", "running", 1, host=LOCAL, sandbox="none")
    assert any("not sandboxed" in row for row in inspected(one))
    assert not any("not sandboxed" in row for row in inspected(replace(one, sandbox="bwrap")))


# Connections


WORDS = {
    Health.LIVE: "live",
    Health.CONNECTING: "connecting",
    Health.SILENT: "no answer",
    Health.SIGNED_OUT: "signed out",
}


@pytest.mark.parametrize("width", [56, 64, 65, 80, 120])
@pytest.mark.parametrize("health", Health)
def test_a_connection_is_a_row_below_the_names_of_its_columns(health: Health, width: int) -> None:
    state = endpoint(EndpointName("a-host-with-a-very-long-name"), health=health)
    row = endpoints.row(state, 1_204, width, GLYPHS)
    assert width_of(row) <= width
    caption = text_of(endpoints.caption(width))
    begins = caption.index("state") - 1  # a row follows the mark of the selection
    assert text_of(row)[begins - 1] == " "
    assert text_of(row)[begins] == WORDS[health][0]
    assert text_of(row).count("a-host-") == 1 + ("address" in caption)


@pytest.mark.parametrize("health", Health)
def test_a_connections_health_has_a_word(health: Health) -> None:
    assert f" {WORDS[health]} " in text_of(endpoints.row(endpoint(HQ, health=health), 1, 100, GLYPHS))


def told(state: EndpointState, width: int = 60) -> list[str]:
    return [text_of(row) for row in endpoints.details(state, View(now=NOW), width)]


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"skew_s": 86_400.0}, "Its clock is 1 d ahead of ours; ages count by its own."),
        ({"skew_s": -90.0}, "Its clock is 1 min behind ours; ages count by its own."),
        ({"is_polled": True}, "list    asked for every 3 s: it has no live stream"),
        ({"is_polled": True, "standing": PHONE}, "list    asked for every 3 s: no live stream for its token"),
        ({"token_place": "keyring"}, "token   scope owner · keyring"),
        ({"standing": None}, "token   works; an older server, which tells no scope"),
        ({"fault": "no route to host", "fault_at": NOW - 60}, "trouble 1 min ago: no route to host"),
        ({"standing": CAPPED}, "limits  3 colonies at once · $2.50 a day"),
        ({"health": Health.SIGNED_OUT}, "nothing is sent there · l signs in · r asks again"),
        ({}, "list    followed live"),
        ({"unreadable_rows": 2}, "2 rows of its list could not be read."),
        ({"standing": PHONE}, "token   scope read (phone)"),
        ({"standing": PHONE}, "limits  acme, a/b"),
        ({"health": Health.SILENT, "retry_at": NOW + 4}, "next try in 4 s · r asks now"),
        ({"health": Health.SILENT, "error": "no route to host"}, "no route to host"),
        ({"notice": "an engine of another version"}, "an engine of another version"),
        ({"notice": "an engine of another version"}, "live, check for 1 h"),
        (BEHIND_SSH, "Run ssh me@lab once in a terminal, to see its key and trust"),
        ({**BEHIND_SSH, "address": "ssh://lab/7979"}, "Run ssh lab once in a terminal, to see its key and trust it;"),
        (
            {**BEHIND_SSH, "address": "ssh://me@lab:2222/7979"},
            "Run ssh -p 2222 me@lab once in a terminal, to see its key",
        ),
    ],
)  # fmt: skip
def test_a_connection_tells_what_matters_of_it(changes: dict[str, Any], text: str) -> None:
    assert text in told(endpoint(HQ, **changes))


@pytest.mark.parametrize("changes", [{"skew_s": 1.9}, {"skew_s": None}, {"retry_at": NOW - 1}, {"unreadable_rows": 0}])
def test_what_is_in_order_is_not_told(changes: dict[str, Any]) -> None:
    rows = "\n".join(told(endpoint(HQ, **changes)))
    assert "clock" not in rows
    assert "asked again" not in rows
    assert "odd" not in rows


def test_words_of_a_server_that_is_not_behind_ssh_advise_to_run_nothing() -> None:
    assert "Run ssh" not in "\n".join(told(endpoint(HQ, **{**BEHIND_SSH, "address": "https://hq.example"})))


@pytest.mark.parametrize(
    ("sandbox", "text"), [("bwrap", "in a sandbox (bwrap)"), ("none", "without a sandbox"), ("", "")]
)
def test_what_confines_agents_is_told_of_the_local_engine(sandbox: str, text: str) -> None:
    assert text in endpoints.confinement(endpoint(LOCAL, sandbox=sandbox))
    assert "sandbox" not in "\n".join(told(endpoint(LAB)))


def test_changes_say_when_they_were_read_or_that_they_are_being_read() -> None:
    one = colony("a", "running", 5)
    for is_loading, words in ((False, "as of "), (True, "reading…")):
        state = DiffState(
            Diff("main", (FileChange("a.py", 1, 0),), 1, 0, "", truncated=False), as_of=NOW, is_loading=is_loading
        )
        view = view_of(EndpointChanged(endpoint(HQ)), ColonyChanged(one), DiffChanged(one.key, state))
        assert any("changed · 1 file · " + words in text_of(row) for row in inspector.lines(one, view, 60, GLYPHS))


def test_hints_name_the_keys_that_the_person_chose() -> None:
    chosen = keymap({"resume": "Z", "sign_in": "S"})
    shown = endpoints.details(endpoint(HQ, health=Health.SIGNED_OUT), View(now=NOW, keymap=chosen), 60)
    assert any("S signs in · Z asks again" in text_of(row) for row in shown)


def test_a_host_that_does_not_answer_has_no_time_of_an_answer() -> None:
    row = endpoints.row(endpoint(HQ, health=Health.SILENT), 1, 100, GLYPHS)
    assert "ms" not in text_of(row)


def test_every_line_beside_a_connection_can_be_shown() -> None:
    state = endpoint(HQ, error=WORDY, notice=WORDY, health=Health.SILENT)
    assert all(width_of(fit(row, 40)) <= 40 for row in endpoints.details(state, View(now=NOW), 40))
    assert "".join(told(state, 40)).replace(" ", "").count(WORDY.replace(" ", "")) == 2
