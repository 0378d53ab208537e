"""What frames the panes: the header, the footer, prose, and what an empty list says."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonizer_client.identity import EndpointName
from colonizer_client.snapshot import EndpointChanged, Health, HubEvent, Snapshot, fold
from colonizer_client.text import safe_text
from colonizer_tui.keys import keymap
from colonizer_tui.present import prose
from colonizer_tui.present.first_run import first_run
from colonizer_tui.present.footer import KeyHint, footer
from colonizer_tui.present.header import SMALLEST, TOO_SMALL, Tab, header
from colonizer_tui.present.line import Line, Span, width_of
from colonizer_tui.present.states import Glyphs
from colonizer_tui.present.view import Digests, View
from moments import HQ, LAB, LOCAL, NOW, endpoint, every_state, silent

TABS = [
    Tab("1", "Fleet", is_shown=False),
    Tab("2", "Needs you", is_shown=True, count=6),
    Tab("7", "Connections", is_shown=False),
]
WIDTHS = [1, 2, 20, 39, 40, 60, 80, 100, 120, 200]
GLYPHS = Glyphs()


def text_of(shown: Line) -> str:
    return "".join(piece.text for piece in shown)


def view_of(*events: HubEvent, now: float = NOW) -> View:
    snapshot, topics = fold(Snapshot(), events)
    return Digests().view(snapshot, topics, now)


def shown_header(*events: HubEvent, width: int = 120) -> str:
    return text_of(header(TABS, view_of(*events), width, GLYPHS))


@pytest.mark.parametrize("width", WIDTHS)
def test_the_header_fills_its_line_and_no_more(width: int) -> None:
    many = [EndpointChanged(endpoint(EndpointName(f"host-{number}"))) for number in range(20)]
    for events in ([], every_state(), [*every_state(), silent(HQ)], many):
        assert width_of(header(TABS, view_of(*events), width, GLYPHS)) == width
    assert width_of(TOO_SMALL) <= SMALLEST[0]


def test_the_header_tells_where_one_is_what_needs_one_how_hosts_are_and_what_it_cost() -> None:
    shown = shown_header(*every_state())
    assert shown.startswith(" colonizer  1 Fleet  2 Needs you 6  7 Connections ")
    assert shown.endswith(" local ●  hq ● 18ms  lab ● 18ms  ≥$4.36 today ")


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        (EndpointChanged(endpoint(HQ)), "hq ● 18ms"),
        (EndpointChanged(endpoint(HQ, latency_s=None)), "hq ● "),
        (EndpointChanged(endpoint(HQ, notice="it may be another mothership")), "hq ● check"),
        (silent(HQ), "hq ○ 40s"),
        (EndpointChanged(endpoint(HQ, health=Health.SIGNED_OUT)), "hq ✗ signed out"),
        (EndpointChanged(endpoint(HQ, health=Health.CONNECTING, as_of=None)), "hq ◐ "),
        (EndpointChanged(endpoint(HQ, health=Health.CONNECTING, error="refused", as_of=None)), "hq ○ 60m"),
        (EndpointChanged(endpoint(HQ, health=Health.SILENT, as_of=None, since=0.0)), "hq ○ "),
        (EndpointChanged(endpoint(LOCAL)), "local ● "),
    ],
)
def test_a_host_is_a_name_a_sign_and_what_matters(changed: HubEvent, text: str) -> None:
    assert text in shown_header(changed)


def test_money_that_was_not_spent_is_not_told() -> None:
    assert "$" not in shown_header(EndpointChanged(endpoint(HQ)))


def test_where_there_is_little_room_trouble_is_told_before_money() -> None:
    for width in (68, 70):
        assert " 1 of 3 hosts " in shown_header(*every_state(), silent(LAB), width=width)
        assert shown_header(*every_state(), width=width).endswith(" ≥$4.36 today ")
    assert " lab ○ 40s " in shown_header(*every_state(), silent(LAB), width=90)


def test_hosts_for_which_there_is_no_room_are_counted() -> None:
    assert shown_header(*every_state(), width=76).endswith(" ● 3 hosts  ≥$4.36 today ")
    assert shown_header(EndpointChanged(endpoint(HQ)), EndpointChanged(endpoint(LAB)), width=64).endswith(" ● 2 hosts ")
    notice = EndpointChanged(endpoint(LAB, notice="it may be another mothership"))
    assert " ● check 1 host " in shown_header(*every_state(), notice, width=70)


def test_trouble_is_told_in_fewer_letters_before_a_workspace_is_cut() -> None:
    for width in (66, 68, 70, 72):
        shown = shown_header(*every_state(), silent(LAB), width=width)
        assert " Connections " in shown
        assert "○ 1 of 3 hosts" in shown


def test_the_count_of_needs_counts_hosts_that_do_not_answer_apart() -> None:
    needs = Tab("2", "Needs you", is_shown=False, count=1, unsure=4)
    assert "Needs you 1 +4? " in text_of(header([needs], view_of(*every_state(), silent(HQ)), 120, Glyphs()))


HINTS = [KeyHint(action.shown, action.label) for action in keymap({}).actions.values()]
HELP = KeyHint("?", "help")


@pytest.mark.parametrize("width", WIDTHS)
def test_the_footer_fills_its_line_and_always_names_the_way_to_help(width: int) -> None:
    shown = footer(HINTS, HELP, width)
    assert width_of(shown) == width
    if width >= 8:
        assert text_of(shown).endswith("? help ")


def test_the_footer_holds_whole_hints_in_their_order() -> None:
    hints = [KeyHint("a", "answer"), KeyHint("S", "stop"), KeyHint("r", "resume")]
    assert text_of(footer(hints, KeyHint("f1", "help"), 34)).split() == ["a", "answer", "S", "stop", "…", "f1", "help"]


def test_where_room_is_short_the_keys_that_do_nothing_now_go_first() -> None:
    hints = [KeyHint("a", "answer", "nothing is asked"), KeyHint("s", "stop"), KeyHint("r", "resume")]
    assert text_of(footer(hints, HELP, 30)).split() == ["s", "stop", "r", "resume", "…", "?", "help"]
    assert text_of(footer(hints, HELP, 60)).split()[:2] == ["a", "answer"]


@pytest.mark.parametrize("width", range(20, 140))
def test_no_key_of_the_footer_is_cut(width: int) -> None:
    whole = {f"{hint.key} {hint.label}" for hint in HINTS}
    shown = re.split(" {2,}", text_of(footer(HINTS, HELP, width)).strip())
    assert set(shown[:-2]) <= whole
    assert shown[-2:] == ["…", "? help"]


def test_while_text_is_typed_the_footer_names_no_way_to_help() -> None:
    assert text_of(footer([KeyHint("ctrl+s", "send")], None, 20)) == " ctrl+s send        "


def test_a_key_that_does_nothing_now_is_dim_in_the_footer() -> None:
    shown = footer([KeyHint("s", "stop", "why not")], HELP, 80)
    roles = {piece.text.strip(): piece.role for piece in shown}
    assert (roles["s"], roles["stop"], roles["?"]) == ("key-off", "key-off", "key")


marked = st.lists(
    st.one_of(
        st.sampled_from(["`a b`", "**bold**", "# ", "```", "~~~py", "*", "`", "**", "- x", " "]), st.text(max_size=9)
    )
).map(lambda parts: safe_text(" ".join(parts)))


@given(marked, st.integers(2, 40))
def test_of_prose_only_marks_are_left_out_and_nothing_is_wider(text: str, width: int) -> None:
    shown = prose.lines(text, width)
    assert shown
    assert all(width_of(row) <= width for row in shown)

    def letters(whole: str) -> str:
        return "".join(whole.split()).replace("`", "").replace("*", "")

    assert letters("".join(map(text_of, shown))) == letters(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", [()]),
        ("plain", [(Span("plain"),)]),
        ("run `make` now", [(Span("run "), Span("make", "info"), Span(" now"))]),
        ("**no** way", [(Span("no", "strong"), Span(" way"))]),
        ("2 ** 3 ** 4", [(Span("2 "), Span(" 3 ", "strong"), Span(" 4"))]),
        ("a ` b", [(Span("a ` b"),)]),
        ("[x](javascript:1) <b>", [(Span("[x](javascript:1) <b>"),)]),
        ("## Title", [(Span("## Title", "strong"),)]),
        ("#hash", [(Span("#hash"),)]),
        ("```py\n**x**\n```\n**y**", [
            (Span("```py", "dim"),), (Span("**x**", "info"),), (Span("```", "dim"),), (Span("y", "strong"),),
        ]),
    ],
)  # fmt: skip
def test_prose_has_a_few_marks_and_no_markup(text: str, shown: list[Line]) -> None:
    assert prose.lines(text, 40) == shown


def first(*events: HubEvent) -> str:
    return "\n".join(text_of(row) for row in first_run(view_of(*events), 76))


def test_an_empty_list_says_what_will_happen_and_what_to_press() -> None:
    shown = first(EndpointChanged(endpoint(LOCAL)))
    assert "Connected to local, on this machine." in shown
    assert "No colonies yet." in shown
    assert "c  launch a colony, where you stand or in a repository that you name" in shown
    assert "in a sandbox (bwrap)" in shown


def test_where_agents_are_not_confined_it_is_said_at_once() -> None:
    assert "without a sandbox, as you" in first(EndpointChanged(endpoint(LOCAL, sandbox="none")))


def test_without_a_host_nothing_is_promised() -> None:
    shown = first(EndpointChanged(endpoint(LOCAL, health=Health.SILENT, error="no space left on device")))
    assert "local: no space left on device" in shown
    assert "launch" not in shown
    assert "7  connections" in shown


def test_an_engine_that_starts_is_no_trouble() -> None:
    assert "starting the local engine…" in first(EndpointChanged(endpoint(LOCAL, health=Health.CONNECTING)))
    assert "hq: connecting…" in first(EndpointChanged(endpoint(HQ, health=Health.CONNECTING)))


@pytest.mark.parametrize("width", [1, 20, 40, 76])
def test_what_an_empty_list_says_fits_where_it_is_prose(width: int) -> None:
    rows = first_run(view_of(EndpointChanged(endpoint(LOCAL)), EndpointChanged(endpoint(HQ, notice="x " * 99))), width)
    after_keys = max(place for place, row in enumerate(rows) if text_of(row).startswith("      c"))
    prose_rows = rows[:after_keys]
    assert all(width_of(row) <= max(width, 16) for row in prose_rows)
