"""The heatmap as data: which rows there are, in which order, and what a cell says."""

import pytest
from msgspec.structs import replace

from colonizer_client.kernel.preset import CODOMYRMEX
from colonizer_client.kernel.view import KernelView, Pulse
from colonizer_tui.present.kernel import heatmap, place
from colonizer_tui.present.kernel.columns import HAZARD, HEAT_COLUMNS
from colonizer_tui.present.kernel.field import Field, Group, prefix_of
from colonizer_tui.present.kernel.heatmap import Moment
from colonizer_tui.present.kernel.sought import Sought, parse
from colonizer_tui.present.kernel.sparks import spark
from colonizer_tui.present.line import Line, text_of, width_of
from colonizer_tui.present.states import STALE, Glyphs
from kernel_moments import PLACES, TICK, by_name, cell, kernel, many_places, silent
from kernel_moments import place as made_place
from moments import NOW

GLYPHS, ASCII = Glyphs(), Glyphs(ascii=True)
EVERYTHING = Sought()
NOT_FOLDED: frozenset[str] = frozenset()


def field_of(view: KernelView, tick: int = TICK) -> Field:
    made = Field()
    made.take(view, tick)
    return made


def moment(view: KernelView, tick: int = TICK, width: int = 120, picked: int = HAZARD) -> Moment:
    return Moment(view, NOW, field_of(view, tick), heatmap.layout(width), picked)


def drawn(key: str | Group, at: Moment, glyphs: Glyphs = GLYPHS) -> Line:
    return heatmap.row(key, at, glyphs, is_folded=False, is_selected=False)


@pytest.mark.parametrize(
    ("name", "prefix"),
    [
        ("src/auth/login.py", "src/auth/"),
        ("src/auth/", "src/"),
        ("codomyrmex.git_operations.core", "codomyrmex.git_operations."),
        ("crate::auth::login", "crate::auth::"),
        ("README.md", "README."),
        ("login", ""),
        ("", ""),
    ],
)
def test_a_place_belongs_to_its_folder_or_module(name: str, prefix: str) -> None:
    assert prefix_of(name) == prefix


def test_the_hottest_group_comes_first_and_in_it_the_hottest_place() -> None:
    rows = field_of(kernel()).rows("hazard", EVERYTHING, NOT_FOLDED)
    assert rows[:4] == [Group("src/auth/"), "src/auth/login.py", "src/auth/tokens.py", "src/auth/session.py"]
    assert rows[4] == Group("codomyrmex.git_operations.")
    assert rows[-1] == "docs/guide.md"
    assert len(rows) == len(PLACES) + 3


def test_a_place_that_is_alone_in_its_folder_has_no_head() -> None:
    rows = field_of(kernel()).rows("hazard", EVERYTHING, NOT_FOLDED)
    assert Group("docs/") not in rows


def test_each_order_puts_its_own_first() -> None:
    field = field_of(kernel())
    firsts = {order: field.rows(order, EVERYTHING, NOT_FOLDED)[1] for order in ("hazard", "success", "age", "name")}
    assert firsts == {
        "hazard": "src/auth/login.py",
        "success": "codomyrmex.git_operations.core",
        "age": "src/auth/login.py",
        "name": "codomyrmex.git_operations.branches",
    }


def test_a_folded_group_shows_its_head_until_something_is_looked_for() -> None:
    field = field_of(kernel())
    folded = frozenset({"src/auth/"})
    assert "src/auth/login.py" not in field.rows("hazard", EVERYTHING, folded)
    assert field.rows("hazard", parse("login"), folded) == [Group("src/auth/"), "src/auth/login.py"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("auth", {"src/auth/login.py", "src/auth/session.py", "src/auth/tokens.py"}),
        ("AUTH !tok", {"src/auth/login.py", "src/auth/session.py"}),
        ("hazard>=3", {"src/auth/login.py", "src/auth/tokens.py", "codomyrmex.git_operations.core"}),
        ("fail>3 succ<1", {"src/auth/login.py"}),
        ("human>9", {"docs/guide.md"}),
        ("need>9", set[str]()),
        ("ha>3", set[str]()),
        ("!", {one.name.raw for one in PLACES}),
    ],
)
def test_what_is_looked_for_is_a_part_of_a_name_or_a_strength(text: str, found: set[str]) -> None:
    rows = field_of(kernel()).rows("hazard", parse(text), NOT_FOLDED)
    assert {row for row in rows if isinstance(row, str)} == found


def test_a_head_shows_the_strongest_of_its_places() -> None:
    view = kernel()
    shown = text_of(drawn(Group("src/auth/"), moment(view)))
    assert shown.split()[:4] == ["▾", "src/auth/", "6.4▲", "6.4▲"]


def test_only_what_changed_is_made_anew() -> None:
    view = kernel(many_places(300))
    field = field_of(view)
    rows = field.rows("hazard", EVERYTHING, NOT_FOLDED)
    had = {row: field.strengths(row) for row in rows}
    changed = "src/part_001/module_07.py"
    places = {**view.places, changed: made_place(changed, failure=cell(10.0))}
    assert field.take(replace(view, places=places), TICK)
    assert {row for row in rows if field.strengths(row) is not had[row]} == {changed, Group("src/part_001/")}
    assert field.strengths(Group("src/part_001/"))[HAZARD] == 10.0


def test_the_same_places_are_not_looked_at_again() -> None:
    view = kernel()
    field = field_of(view)
    assert not field.take(replace(view, cautions=()), TICK)


def test_places_that_come_and_go_are_followed() -> None:
    view = kernel()
    field = field_of(view)
    field.take(replace(view, places=by_name([*PLACES[1:], made_place("new/one")])), TICK)
    rows = field.rows("name", EVERYTHING, NOT_FOLDED)
    assert "src/auth/login.py" not in rows
    assert "new/one" in rows
    assert field.strengths("src/auth/login.py") == (None,) * len(HEAT_COLUMNS)


def test_absent_is_blank_and_what_was_not_sampled_has_a_dot() -> None:
    at = moment(kernel())
    assert "·" not in text_of(drawn("src/auth/login.py", at)[:9])
    assert text_of(drawn("src/auth/session.py", at)).count("·") == 5


@pytest.mark.parametrize(
    ("strength", "shown"),
    [
        (0.004, "0.1"),
        (2.999, "2.9"),
        (3.0, "3.0"),
        (5.96, "5.9"),
        (0.3, "0.3"),
        (1.1, "1.1"),
        (9.99, "9.9"),
        (10, "10"),
    ],
)
def test_a_strength_is_never_rounded_up_to_a_mark(strength: float, shown: str) -> None:
    assert heatmap.number(strength) == shown


def test_hazards_are_marked_at_three_and_at_six_by_more_than_a_colour() -> None:
    marks = [heatmap.mark_of(strength, glyphs) for glyphs in (GLYPHS, ASCII) for strength in (2.9, 3.0, 5.9, 6.0)]
    assert marks == [" ", "△", "△", "▲", " ", "^", "^", "!"]


def test_a_silent_kernel_has_no_colours_left() -> None:
    at = moment(silent(kernel()))
    roles = {piece.role for piece in drawn("src/auth/login.py", at) if piece.text.strip()}
    assert not [role for role in roles if role.startswith("heat-")]
    assert STALE in roles


@pytest.mark.parametrize("width", [38, 45, 60, 79, 99, 119, 199])
@pytest.mark.parametrize("picked", [0, 6])
def test_a_row_has_exactly_the_width_that_there_is(width: int, picked: int) -> None:
    at = moment(kernel(), width=width, picked=picked)
    for key in ("src/auth/login.py", Group("src/auth/"), "docs/guide.md"):
        assert width_of(drawn(key, at)) == width
    caption = heatmap.caption(at.layout, picked, is_now=True)
    assert width_of(caption) == width + 1
    assert HEAT_COLUMNS[picked].title[:3] in text_of(caption)


def test_an_earlier_tick_shows_what_was() -> None:
    view = kernel()
    assert field_of(view, TICK - 12).strengths("src/auth/login.py")[HAZARD] == pytest.approx(4.2)  # pyright: ignore[reportUnknownMemberType]
    assert field_of(view, TICK - 13).strengths("src/auth/login.py")[HAZARD] == pytest.approx(2.0 * 0.9**7)  # pyright: ignore[reportUnknownMemberType]


def sentence(key: str | Group, at: Moment) -> str:
    return text_of(place.sentence(key, at, 200))


def test_a_hazard_is_told_with_the_ticks_by_the_kernels_own_law() -> None:
    seed = "src/auth/login.py · hazard 6.4▲".rstrip("▲")
    assert sentence("src/auth/login.py", moment(kernel())).strip() == (
        f"{seed} ≥ 6 HOLD · below 6 in 1, 3 in 8, gone in 62 ticks · by agent-7 4s ago"
    )
    linear = replace(kernel(), preset=CODOMYRMEX)
    assert "below 6 in 5, 3 in 35, gone in 64 ticks" in sentence("src/auth/login.py", moment(linear))


@pytest.mark.parametrize(
    ("key", "picked", "said"),
    [
        ("src/auth/session.py", 2, "risk not sampled yet"),
        ("src/auth/login.py", 6, "human absent"),
        ("codomyrmex.git_operations.core", 0, "hazard 5.9 ≥ 3 counts half"),
        ("docs/guide.md", 6, "human 9.8"),
        (Group("src/auth/"), 0, "3 places · 1 at hazard 6 or more · 1 from 3 to 6"),
        (Group("src/billing/"), 0, "3 places · no hazard of 3 or more"),
    ],
)
def test_a_row_is_told_in_words(key: str | Group, picked: int, said: str) -> None:
    assert said in sentence(key, moment(kernel(), picked=picked))


KEYS = ("<", ">", "esc")


def test_the_slider_shows_where_in_the_kept_ticks_one_is() -> None:
    at = moment(kernel(), TICK - 2)
    shown = place.slider("src/auth/login.py", at, 100, KEYS, GLYPHS)
    assert "tick 416, 2 before now  esc now" in text_of(shown)
    (spot,) = [number for number, piece in enumerate(shown) if piece.role == "tab-on"]
    assert len(shown[spot + 1].text) == 2
    assert len(text_of(shown[1 : spot + 2])) == len(at.kernel.ticks_kept)


def test_more_ticks_than_cells_are_spread_over_them() -> None:
    pulses = tuple(Pulse(tick, NOW, 1) for tick in range(TICK - 400, TICK + 1))
    shown = place.slider("src/auth/login.py", moment(kernel(pulses=pulses), TICK - 200), 80, KEYS, GLYPHS)
    assert width_of(shown) <= 80


def test_one_known_tick_has_no_slider() -> None:
    at = moment(kernel(pulses=(Pulse(TICK, NOW, 1),)))
    assert text_of(place.slider(None, at, 80, KEYS, GLYPHS)) == " no earlier tick is known yet"


def test_a_course_has_a_bar_for_each_strength() -> None:
    assert spark([None, 0.0, 0.1, 5.0, 10.0], GLYPHS) == "· ▁▄█"
    assert spark([None, 0.0, 0.1, 5.0, 10.0], ASCII) == "_ .=@"


def test_a_place_is_told_whole_with_its_evidence() -> None:
    held = replace(cell(6.4), evidence={"test": "test_login.py::test_slash", "note": "x" * 90})
    view = kernel([made_place("a/b", failure=held, rest=None)])
    shown = [text_of(row) for row in place.page(view.places["a/b"], moment(view), 60, GLYPHS)]
    assert "success        not sampled yet" in shown
    assert any("failure" in row and "6.4" in row for row in shown)
    assert any("test" in row and "test_login.py::test_slash" in row for row in shown)
    assert sum(row.count("x") for row in shown) == 90
    assert all(len(row) <= 60 for row in shown)
