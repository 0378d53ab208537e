"""What the other panes of a kernel say, as data."""

import json
from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from colonizer_client.errors import BadRequest
from colonizer_client.kernel.models import ATTACK_VECTORS, Decision, Finding, PlanReview, Profile, Verdict
from colonizer_client.kernel.preset import CODOMYRMEX, SEED
from colonizer_client.kernel.view import Agent, KernelView
from colonizer_tui.present.kernel import (
    abilities,
    agents,
    attack,
    budgets,
    cautions,
    forms,
    frame,
    outcomes,
    pruning,
    verdicts,
)
from colonizer_tui.present.line import Line, text_of, width_of
from colonizer_tui.present.states import Glyphs
from colonizer_tui.present.view import View
from kernel_moments import (
    AGENTS,
    ASKED,
    ASKED_AGAIN,
    BUDGETS,
    CAUTIONS,
    CONSEQUENCES,
    PRUNING,
    VERDICTS,
    blank,
    fresh,
    kernel,
    link,
    name,
    remote,
    silent,
    verdict,
)
from moments import NOW

GLYPHS, ASCII = Glyphs(), Glyphs(ascii=True)
VIEW = View(now=NOW)


def text(lines: Sequence[Line]) -> str:
    return "\n".join(text_of(line) for line in lines)


# The gate log


def test_a_score_is_a_bar_of_four_parts_that_differ_without_colours_too() -> None:
    parts = verdict(1, Decision.EXECUTE, (0.30, 0.15, 0.25, 0.15))
    assert text_of(verdicts.stack(parts, 20, ASCII)) == "BBBBBBRRRTTTTTCCC   "
    assert text_of(verdicts.stack(parts, 20, GLYPHS)) == "██████▓▓▓▒▒▒▒▒░░░   "


def test_the_bar_of_a_low_score_shows_from_where_it_would_hold_and_execute() -> None:
    low = verdict(1, Decision.REFUSE, (0.30, 0.0, 0.0625, 0.0))
    bar = text_of(verdicts.stack(low, 20, GLYPHS))
    assert [place for place, sign in enumerate(bar) if sign == "│"] == [10, 15]
    assert text_of(verdicts.caption(100)).index(".5") == text_of(verdicts.caption(100)).index("score") + 6 + 10


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (VERDICTS[3], "› hazard below 3 (it was 6.4)"),
        (VERDICTS[0], "› the agent's trust were at least 0.30 and its role above sandbox; then it is scored"),
        (verdict(1, Decision.HOLD, None, budget_approved=False), "› the budget has room again"),
        (verdict(1, Decision.REFUSE, None, trust=None, score=0.3), "› it were scored"),
        (verdict(1, Decision.REFUSE, (0.3, 0.0, 0.0625, 0.0)), "› and trust 0.60 or more"),
        (verdict(1, Decision.HOLD, (0.3, 0.15, 0.125, 0.15), failure=3.5), "› or trust 0.60 or more"),
    ],
)
def test_a_verdict_says_what_would_make_it_execute(made: Verdict, said: str) -> None:
    shown = text(verdicts.detail(made, 90, GLYPHS))
    assert "would execute if" in shown
    assert said in shown


def test_what_executes_needs_nothing() -> None:
    assert "would execute" not in text(verdicts.detail(VERDICTS[1], 60, GLYPHS))


def test_what_the_gate_asks_for_is_a_list_to_tick_off() -> None:
    shown = text(verdicts.detail(VERDICTS[3], 60, ASCII))
    assert "o supply supporting evidence" in shown
    assert shown.count("\no ") == 4


def test_in_a_low_pane_what_is_to_be_done_comes_before_the_numbers() -> None:
    shown = text(verdicts.detail(VERDICTS[3], 60, GLYPHS, is_low=True))
    assert shown.index("would execute") < shown.index("to do") < shown.index("completeness")


def test_a_verdict_without_parts_says_so() -> None:
    assert "not scored" in text_of(verdicts.row(VERDICTS[0], 100, GLYPHS, is_stale=False))
    unknown = verdict(1, Decision.HOLD, None, score=0.61, risk=None)
    assert "score 0.61; it does not tell the parts" in text(verdicts.detail(unknown, 60, GLYPHS))


# Agents


def test_the_trust_bar_has_the_marks_of_the_ladder_whether_they_are_passed_or_not() -> None:
    assert text_of(agents.trust_bar(0.41, 20, ASCII)) == "====#=##--+-+-+-----"
    assert text_of(agents.trust_bar(0.0, 20, ASCII)) == "----+-++--+-+-+-----"
    assert text_of(agents.trust_bar(1.0, 20, ASCII)) == "====#=##==#=#=#====="


def test_the_most_trusted_agent_comes_first_and_one_that_was_not_read_last() -> None:
    assert agents.in_order(AGENTS[::-1])[::4] == ["guard-1", "seen-once"]


def test_an_agent_says_what_leads_to_its_next_role() -> None:
    shown = [text(agents.detail(agent, SEED, NOW, 60, GLYPHS)) for agent in AGENTS]
    assert "It has the highest role." in shown[0]
    assert "3 passed outcomes more to dispatcher." in shown[1]
    assert "It leaves the sandbox after 1 more proposal at the earliest." in shown[3]
    assert "its record is not read yet" in shown[4]
    assert "its trust counts less at the gate" in shown[1]
    assert "22 counted" in text(agents.detail(AGENTS[1], CODOMYRMEX, NOW, 60, GLYPHS))


def test_a_role_that_we_do_not_know_is_shown_as_it_is() -> None:
    odd = Agent(name("x"), Profile(name("x"), "queen_ant", 0.9, 9, 9, (), None))
    assert "queen ant" in text_of(agents.row(odd, SEED, 100, GLYPHS, is_stale=False))


# Budgets


def test_budgets_that_nothing_moves_say_so() -> None:
    assert "stand still" in text(budgets.foot(remote(), BUDGETS, NOW, 90))
    assert "stand still" not in text(budgets.foot(kernel(), BUDGETS, NOW, 90))


def test_a_budget_says_how_much_is_left_and_for_how_long() -> None:
    shown = [text_of(budgets.row(row, 90, ASCII, is_fed=True, is_stale=False)) for row in BUDGETS.rows]
    assert "431 of 500" in shown[0]
    assert "86%" in shown[0]
    assert "100%" in shown[2]
    assert "=" not in shown[3]
    assert "the period begins anew in 10 h 6 min · 58% of it is over" in text(budgets.foot(kernel(), BUDGETS, NOW, 90))
    over = replace(BUDGETS, period_start=NOW - 90_000)
    assert "anew with the next call" in text(budgets.foot(kernel(), over, NOW, 90))


# Pruning


def test_the_report_says_what_may_go_and_why_the_rest_is_kept() -> None:
    shown = text(pruning.detail(PRUNING.candidates[1], NOW, 60))
    assert "confidence 0.85 · last used 55 d ago · 2 calls" in shown
    assert "never used" in text(pruning.detail(PRUNING.candidates[0], NOW, 60))
    assert "as long as a person wants it" in text(pruning.protected_detail("docs/guide.md", "a person wants it", 90))


def test_markdown_of_hostile_names_stays_one_table() -> None:
    hostile = replace(PRUNING.candidates[0], place=name("a|b`c"), reason="<b> | [x](y)")
    page = pruning.markdown(kernel(), replace(PRUNING, candidates=(hostile,), protected={}))
    (row,) = [line for line in page.splitlines() if "0.90" in line]
    assert row.replace("\\|", "").count("|") == 7
    assert "\\<b\\>" in row
    assert "\\[x\\]" in row


def test_the_exported_json_has_the_kernels_own_names() -> None:
    found = json.loads(pruning.as_json(kernel(), PRUNING))
    assert [one["module_path"] for one in found["candidates"]] == [one.place.raw for one in PRUNING.candidates]
    assert found["candidates"][0]["duplicate_of"] is None
    assert found["protected"] == dict(PRUNING.protected)


# Plan attack


@pytest.mark.parametrize(
    ("typed", "plan"),
    [
        (attack.TEMPLATE, {}),
        ("target: a.b\nrationale: one\n  two: three\n", {"target": "a.b", "rationale": "one\ntwo: three"}),
        ("tests: a.py, b.py\nTarget : x", {"tests": ["a.py", "b.py"], "target": "x"}),
        ('{"target": "x", "more": [1]}', {"target": "x", "more": [1]}),
    ],
)
def test_a_plan_is_lines_or_json_and_says_nothing_that_is_blank(typed: str, plan: dict[str, object]) -> None:
    assert attack.parse(typed).plan == plan


@pytest.mark.parametrize("typed", ['{"target"', "{" * 9, "hello there", "{}x"])
def test_what_is_no_plan_yet_says_why(typed: str) -> None:
    found = attack.parse(typed)
    assert found.plan is None
    assert found.error
    assert not found.is_blank


HIGH = Finding("the plan cannot be undone", "no_rollback", "high", {"rollback_plan": "<absent>"}, "give the command")
LOW = Finding("no number", "false_metric", "low", {}, "add one")
FOREIGN = Finding("of tomorrow", "time_travel", "severe", {}, "wait")


def test_each_attack_is_passed_or_found_something() -> None:
    review = PlanReview((HIGH, LOW, LOW, FOREIGN), 0.25, Decision.EXECUTE, "FAIL")
    shown = {vector: text_of(attack.row(vector, review, 90, ASCII)) for vector in ATTACK_VECTORS}
    assert shown["no_rollback"].split("  ")[0] == "x no rollback"
    assert "high" in shown["no_rollback"]
    assert "(+1)" in shown["false_metric"]
    assert shown["scope_creep"].startswith("+ scope creep")
    assert attack.others(review) == ("time_travel",)
    assert text_of(attack.row("no_rollback", None, 90, ASCII)).startswith("_ no rollback")


def test_a_recommendation_by_the_mean_stands_beside_a_verdict_that_fails() -> None:
    shown = text(attack.outcome(PlanReview((HIGH, LOW), 0.25, Decision.EXECUTE, "FAIL"), "", 100, GLYPHS))
    assert "mean" in shown
    assert "0.25" in shown
    assert "0.45" in shown
    assert "one grave finding is enough to fail" in shown


# The frame


def test_many_kernels_leave_the_tab_of_the_one_in_front() -> None:
    views = {one.name: one for one in (blank(f"kernel-{number}") for number in range(40))}
    chosen = list(views)[30]
    (tab,) = frame.kernel_tabs(views, chosen, 80, GLYPHS)
    assert text_of(tab.pieces).strip().endswith("31 of 40")
    assert len(frame.kernel_tabs(views, chosen, 4_000, GLYPHS)) == 40


def test_a_click_goes_to_the_tab_under_it() -> None:
    tabs = frame.pane_tabs(["Heatmap", "Agents"], "Heatmap", {}, 80)
    assert [frame.tab_at(tabs, column) for column in (0, 8, 9, 16, 17)] == [
        ("pane", "Heatmap"),
        ("pane", "Heatmap"),
        ("pane", "Agents"),
        ("pane", "Agents"),
        None,
    ]


def test_a_kernel_that_is_sampled_says_how_far() -> None:
    assert "68% sampled" in text_of(frame.facts(remote(), None, NOW, GLYPHS))
    assert "sampled" not in text_of(frame.facts(kernel(), None, NOW, GLYPHS))
    assert "ticks by itself every 10s" in text_of(frame.facts(kernel(), 10, NOW, GLYPHS))
    assert "45 traces −1" in text_of(frame.facts(kernel(), None, NOW, GLYPHS))
    assert "as of 40s ago" in text_of(frame.facts(silent(kernel()), None, NOW, GLYPHS))


@pytest.mark.parametrize(
    ("view", "said"),
    [
        (blank("lab", is_wanted=False), "nobody looked at it yet"),
        (silent(blank()), "it took too long"),
        (blank("hive", consent=ASKED), "reads it once more"),
        (blank(link=link(notice="")), "as soon as it answers"),
        (None, "No kernel is configured"),
    ],
)
def test_of_a_kernel_that_says_nothing_it_is_told_what_to_do(view: KernelView | None, said: str) -> None:
    assert said in " ".join(text(frame.welcome(view, VIEW, 90, GLYPHS)).split())


def test_each_word_of_a_command_is_shown_and_what_is_new_is_marked() -> None:
    shown = text(frame.consent(blank("hive", consent=ASKED_AGAIN), 60)).splitlines()
    words = [row.strip() for row in shown]
    for word in ASKED.command:
        assert word in words
    assert "  + --data-dir" in shown
    assert "agreed to before" in words
    hiding = replace(ASKED, command=("a\u200bb" * 60,), hides_characters=True)
    told = text(frame.consent(blank("hive", consent=hiding), 60))
    assert "cannot be seen" in told
    assert told.count("a") >= 60


# Forms and abilities


FILLED = {
    "agent": "a", "action": "patch_file", "target": "x", "rationale": "because of this and that", "rollback": "",
    "evidence": "", "outcome": "done", "passed": "YES", "feedback": "",
}  # fmt: skip


def test_a_filled_form_is_an_order() -> None:
    assert forms.proposal(FILLED).evidence == "{}"
    order = forms.outcome(FILLED)
    assert (order.tests_passed, order.feedback) == (True, 0.0)


@pytest.mark.parametrize(
    "wrong", [{"agent": ""}, {"evidence": "{"}, {"passed": "perhaps"}, {"feedback": "2"}, {"feedback": "nan"}]
)
def test_a_form_that_lacks_something_says_what(wrong: dict[str, str]) -> None:
    def both(filled: dict[str, str]) -> None:
        forms.proposal(filled)
        forms.outcome(filled)

    with pytest.raises(BadRequest):
        both(FILLED | wrong)


@pytest.mark.parametrize("pause", ["x", "0.2", "-1", "nan", "inf", "4000"])
def test_a_pause_between_ticks_is_a_sensible_number(pause: str) -> None:
    with pytest.raises(BadRequest):
        forms.seconds(pause)
    assert (forms.seconds("2.5"), forms.seconds("")) == (2.5, 10.0)


def test_what_a_kernel_cannot_do_now_has_a_reason() -> None:
    assert abilities.refusal("tick", kernel()) == ""
    assert "does not answer" in abilities.refusal("tick", silent(kernel()))
    assert "agreed to" in abilities.refusal("propose", blank("hive", consent=ASKED))
    lacking = replace(kernel(), capabilities=replace(kernel().capabilities, tools=frozenset[str]()))
    assert "has no colony_tick" in abilities.refusal("auto_tick", lacking)
    assert abilities.refusal("export", fresh()) == "there is no pruning report yet: one is made in Pruning"
    assert abilities.refusal("tick", None)


# Every width


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_no_row_is_wider_than_there_is_room(width: int) -> None:
    rows: list[Line] = [
        *(verdicts.row(one, width, GLYPHS, is_stale=False) for one in VERDICTS),
        *(agents.row(one, SEED, width, GLYPHS, is_stale=True) for one in AGENTS),
        *(outcomes.row(one, width, GLYPHS, is_stale=False) for one in CONSEQUENCES),
        *(budgets.row(one, width, GLYPHS, is_fed=False, is_stale=False) for one in BUDGETS.rows),
        *(pruning.row(one, NOW, width, GLYPHS, is_stale=False) for one in PRUNING.candidates),
    ]
    least = 66
    assert max(map(width_of, rows)) <= max(width, least)
    wrapped: list[Line] = [
        *(line for one in VERDICTS for line in verdicts.detail(one, width, GLYPHS)),
        *(line for one in AGENTS for line in agents.detail(one, SEED, NOW, width, GLYPHS)),
        *(line for one in CONSEQUENCES for line in outcomes.detail(one, NOW, width, GLYPHS)),
        *(line for one in CAUTIONS for line in cautions.foot(one, width)),
        *frame.consent(blank("hive", consent=ASKED_AGAIN), width),
    ]
    assert max(map(width_of, wrapped)) <= max(width, 61)
