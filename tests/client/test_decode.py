import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from client.hostile import WRONG, is_shown_safely
from client.samples import HQ, colony, prompt, question_body, session
from colonizer_client.errors import Unreadable
from colonizer_client.mothership import decode, stream
from colonizer_client.mothership.models import OpenQuestion
from colonizer_client.mothership.status import KNOWN, Risk
from recorded import Json, details, frames, listed_sessions, questions, rows, sessions


def body(value: object) -> bytes:
    return json.dumps(value).encode("utf-8", "surrogatepass")


def test_every_recorded_session_is_read() -> None:
    for raw in sessions():
        found = decode.colony(HQ, raw)
        assert found.key == (HQ, raw["id"])
        assert found.status == raw["status"]
        assert found.status in KNOWN
        assert found.repo_raw == raw["repo"]
        assert found.unseen_failure is raw["unseen_failure"]
        assert (found.attention is None) is (raw["attention"] is None)
        assert (found.parked is not None) is ("parked" in raw)
        assert found.suspended is ("suspended" in raw)
        assert found.answered_while_suspended is ("pending_answer" in raw)
        assert found.created_at > 1_700_000_000
        assert is_shown_safely(found)


def test_the_recorded_hostile_colony_is_shown_and_moves_nothing() -> None:
    hostile = next(decode.colony(HQ, raw) for raw in listed_sessions() if raw["id"] == "4057113e")
    assert hostile.title == "Hostile ␛]0;owned␇ title ⟨U+202E⟩gnp.exe [red]x[/red]"


def test_a_list_comes_bare_or_as_a_page() -> None:
    listed = list(listed_sessions())
    bare = decode.colonies(HQ, body(listed))
    page = decode.colonies(HQ, body({"sessions": listed, "next_cursor": None}))
    assert bare == page
    assert bare[1] == 0
    assert [found.key.colony for found in bare[0]] == [raw["id"] for raw in listed]


@pytest.mark.parametrize(
    "answer", [{}, {"error": "no"}, {"sessions": None}, {"sessions": {}}, {"sessions": 5}, 5, "x", None, True]
)
def test_a_body_that_holds_no_list_is_unreadable_and_never_an_empty_list(answer: object) -> None:
    with pytest.raises(Unreadable):
        decode.colonies(HQ, body(answer))


@given(st.data())
def test_a_field_of_any_wrong_type_costs_neither_its_row_nor_another(data: st.DataObject) -> None:
    listed = copy.deepcopy(list(listed_sessions()))
    spoilt = data.draw(st.integers(0, len(listed) - 1))
    name = data.draw(st.sampled_from(sorted(set(listed[spoilt]) - {"id"})))
    listed[spoilt][name] = data.draw(st.sampled_from(WRONG))
    found, unreadable = decode.colonies(HQ, body(listed))
    assert unreadable == 0
    assert [each.key.colony for each in found] == [raw["id"] for raw in listed]
    assert is_shown_safely(found)
    untouched, _ = decode.colonies(HQ, body(listed_sessions()))
    assert [each for at, each in enumerate(found) if at != spoilt] == [
        each for at, each in enumerate(untouched) if at != spoilt
    ]


@given(st.sampled_from([wrong for wrong in WRONG if not (isinstance(wrong, str) and wrong == "x" * 5000)]))
def test_a_row_without_a_usable_id_is_counted_and_costs_no_other(wrong: object) -> None:
    found, unreadable = decode.colonies(HQ, body([session("a"), session("b") | {"id": wrong}, session("c")]))
    assert [each.key.colony for each in found] == ["a", "c"]
    assert unreadable == 1


@pytest.mark.parametrize("row", [b"null", b"5", b'"x"', b"[]", b"{}", b'{"id": "' + b"x" * 201 + b'"}'])
@pytest.mark.parametrize("oddity", [b"", b', {"id": "odd", "issue_title": "\\ud800", "cost_usd": NaN}'])
def test_a_row_that_is_no_session_is_counted(row: bytes, oddity: bytes) -> None:
    found, unreadable = decode.colonies(HQ, b'[{"id": "a"}, ' + row + b', {"id": "b"}' + oddity + b"]")
    assert [each.key.colony for each in found][:2] == ["a", "b"]
    assert unreadable == 1


def test_one_row_with_a_lone_surrogate_nan_or_an_endless_number_costs_nothing() -> None:
    odd = b'[{"id":"a","issue_title":"\\ud800"},{"id":"b","cost_usd":NaN},{"id":"c","issue":' + b"9" * 6000 + b"}]"
    found, unreadable = decode.colonies(HQ, odd)
    assert unreadable == 0
    assert [(each.title, each.cost_usd, each.issue) for each in found] == [
        ("⟨U+D800⟩", None, None),
        ("Untitled", None, None),
        ("Untitled", None, None),
    ]


def test_of_two_equal_keys_the_later_counts() -> None:
    found, _ = decode.colonies(HQ, b'[{"id":"a","id":"b","status":"idle","status":"failed"}]')
    assert (found[0].key.colony, found[0].status) == ("b", "failed")


def test_a_record_of_nothing_but_an_id_reads_as_stopped() -> None:
    bare = decode.colony(HQ, {"id": "a"})
    assert (bare.status, bare.title, bare.cost_usd, bare.created_at, bare.attention) == (
        "stopped",
        "Untitled",
        None,
        0.0,
        None,
    )


def test_an_unknown_status_stays_its_own_word() -> None:
    tomorrow = colony(status="hibernating")
    assert tomorrow.status == "hibernating"
    assert not (tomorrow.is_live)
    assert not (tomorrow.is_terminal)
    assert not (tomorrow.may_ask)
    assert not (tomorrow.holds_issue)


@pytest.mark.parametrize(
    ("cost", "routed", "total"),
    [
        (None, None, None),
        (1.0, None, 1.0),
        (None, 0.5, 0.5),
        (1.0, 0.5, 1.5),
        (0, None, 0.0),
        ("1", True, None),
        (1e308, 1e308, None),
    ],
)
def test_the_cost_is_the_sum_of_what_is_known(cost: object, routed: object, total: float | None) -> None:
    assert colony(cost_usd=cost, routed_cost_usd=routed).cost_usd == total


@pytest.mark.parametrize(
    ("fields", "title"),
    [
        ({"issue_title": "Fix it"}, "Fix it"),
        ({"issue_title": "Open session", "instructions": "Do\nthis"}, "Do this"),
        ({"issue_title": "Open session", "instructions": ""}, "Open session"),
        ({"issue_title": "", "instructions": "", "issue": 7}, "Issue #7"),
        ({"issue_title": "", "instructions": "", "issue": True}, "Untitled"),
        ({"issue_title": None, "instructions": None}, "Untitled"),
    ],
)
def test_a_colony_is_called_by_its_title_else_its_task_else_its_issue(fields: Json, title: str) -> None:
    assert colony(**fields).title == title


@pytest.mark.parametrize(
    ("status", "more", "may_ask"),
    [
        ("waiting_for_answer", {}, True),
        ("waiting_for_answer", {"suspended": {}, "pending_answer": {"question_id": "q"}}, False),
        ("running", {}, False),
        ("running", {"suspended": {"at": None}}, True),
        ("starting", {"suspended": {}}, True),
        ("parked", {"parked": {"reason": "hold_timeout", "question_risk": "read_only"}}, True),
        ("parked", {"parked": {"reason": "idle_timeout"}}, False),
        ("stopped", {"suspended": {}}, False),
        ("idle", {}, False),
    ],
)
def test_the_status_tells_whether_a_question_can_be_answered(status: str, more: Json, may_ask: bool) -> None:
    assert colony(status=status, **more).may_ask is may_ask


def test_a_list_that_comes_again_gives_the_same_colonies_without_reading_them_anew() -> None:
    remembered = decode.Rows(HQ)
    first, _ = remembered.read(body([session("a"), session("b")]))
    second, unreadable = remembered.read(body([session("b"), session("a", status="idle"), session("b"), {"id": 5}]))
    assert second[0] is first[1]
    assert second[2] is first[1]
    assert (second[1].status, unreadable) == ("idle", 1)
    odd = body([session("a"), session("b", issue_title="\ud800")])
    assert [each.title for each in remembered.read(odd)[0]] == ["A task", "⟨U+D800⟩"]
    assert [each.title for each in remembered.read(body([session("c", issue_title="Another")]))[0]] == ["Another"]


def test_every_recorded_question_is_read_and_kept_word_for_word() -> None:
    assert questions()
    for raw in questions():
        found = decode.open_question(raw)
        assert found.question_id == raw["question_id"]
        assert found.risk.name.lower() == raw["risk"]
        assert json.dumps(found.raw) == json.dumps(raw["questions"])
        for read, sent in zip(found.prompts, raw["questions"], strict=True):
            assert read.text_raw == sent["question"]
            assert [option.label_raw for option in read.options] == [option["label"] for option in sent["options"]]
            assert read.multi_select is sent["multi_select"]


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("name", ["question", "header", "multi_select", "options"])
def test_a_prompt_with_a_wrong_field_is_still_a_prompt(name: str, wrong: object) -> None:
    found = decode.open_question(question_body("q", prompt("One?", "a") | {name: wrong}, prompt("Two?", "b")))
    assert found.prompts[1].text == "Two?"
    assert is_shown_safely(found)


@pytest.mark.parametrize("wrong", [5, None, ["q"], True, {}])
def test_a_question_without_an_id_is_unreadable(wrong: object) -> None:
    with pytest.raises(Unreadable):
        decode.open_question({"question_id": wrong, "questions": []})


@pytest.mark.parametrize("wrong", [None, 5, "x", {}, [5, "x", None]])
def test_questions_of_a_wrong_shape_are_none(wrong: object) -> None:
    assert decode.open_question({"question_id": "q", "questions": wrong}).prompts == ()


@pytest.mark.parametrize(
    ("risk", "read"),
    [
        ("read_only", Risk.READ_ONLY),
        ("workspace_write", Risk.WORKSPACE_WRITE),
        ("publish_affecting", Risk.PUBLISH_AFFECTING),
        ("credential_adjacent", Risk.CREDENTIAL_ADJACENT),
        ("unknown", Risk.UNKNOWN),
        (None, Risk.WORKSPACE_WRITE),
        ("harmless", Risk.UNKNOWN),
        (1, Risk.UNKNOWN),
        (["read_only"], Risk.UNKNOWN),
    ],
)
def test_a_risk_that_is_unheard_of_is_the_highest(risk: object, read: Risk) -> None:
    found = decode.open_question({"question_id": "q", "risk": risk})
    assert found.risk is read
    assert max(Risk) == Risk.UNKNOWN
    assert found.risk.words in {
        "read only",
        "workspace write",
        "publish affecting",
        "credential adjacent",
        "unknown risk",
    }


@pytest.mark.parametrize(
    ("fields", "blocks"),
    [({}, False), ({"blocking": True}, True), ({"kind": "exec_policy"}, True), ({"blocking": 1}, False)],
)
def test_a_question_blocks_where_a_tool_call_hangs_on_it(fields: Json, blocks: bool) -> None:
    assert decode.open_question(question_body(**fields)).is_blocking is blocks


def test_a_fingerprint_tells_questions_apart_by_everything_in_them() -> None:
    def of(*prompts: Json, question_id: str = "q-1") -> str:
        return decode.open_question(question_body(question_id, *prompts)).fingerprint

    same = of(prompt("One?", "a"))
    assert of(prompt("One?", "a")) == same
    others = {
        of(prompt("One?", "b")),
        of(prompt("Two?", "a")),
        of(prompt("One?", "a"), question_id="q-2"),
        of(prompt("One?", "a", preview="x")),
    }
    assert len(others | {same}) == 5
    assert decode.open_question({"question_id": "q", "questions": ["\ud800", float("nan")]}).fingerprint


def test_a_single_choice_is_one_prompt_with_options_of_which_one_is_chosen() -> None:
    def of(*prompts: Json) -> OpenQuestion:
        return decode.open_question(question_body("q", *prompts))

    assert of(prompt("One?", "a", "b")).is_single_choice
    assert not of(prompt("One?")).is_single_choice
    assert not of(prompt("One?", "a", multi_select=True)).is_single_choice
    assert not of(prompt("One?", "a"), prompt("Two?", "b")).is_single_choice


def test_every_recorded_detail_is_read_with_its_decisions() -> None:
    assert details()
    for raw in details():
        found = decode.detail(HQ, raw)
        assert [(each.question_id, each.text_raw, each.answer_raw) for each in found.answered] == [
            (record["question_id"], record["question"], record["answer"])
            for record in raw.get("answered_questions", [])
        ]
        assert all(each.answered_at for each in found.answered)
        assert len(found.recent) == len(raw.get("recent_events", []))
        assert found.diagnosis == raw.get("diagnosis", {}).get("text", "")


@given(st.sampled_from(["recent_events", "diagnosis", "answered_questions", "instructions"]), st.sampled_from(WRONG))
def test_a_detail_with_a_wrong_field_is_still_read(name: str, wrong: object) -> None:
    assert decode.detail(HQ, session() | {name: wrong}).colony == decode.colony(HQ, session() | {name: wrong})


def test_a_detail_that_is_no_session_is_unreadable() -> None:
    wrong: list[object] = [None, [], "x", {}, {"id": ""}]
    for value in wrong:
        with pytest.raises(Unreadable):
            decode.detail(HQ, value)


def test_recorded_diffs_are_read_and_a_cut_one_says_so() -> None:
    read = [
        decode.diff(row["response"]["json"])
        for row in rows("http")
        if row["request"]["path"].endswith("/diff") and row["response"]["status"] == 200
    ]
    assert len(read) > 1
    assert any(each.files for each in read)
    for each in read:
        assert each.added == sum(file.added for file in each.files)
        assert bool(each.text) is bool(each.files)
    cut = decode.diff(
        {
            "files": [{"path": "a\x1b", "added": 2, "removed": "x"}, 5],
            "added": 2,
            "diff": "+\x1b[2J\n",
            "truncated": True,
        }
    )
    assert cut.truncated
    assert cut.text == "+␛[2J\n"
    assert [(each.path, each.added, each.removed) for each in cut.files] == [("a␛", 2, 0)]


@pytest.mark.parametrize(
    ("answer", "is_owner", "covered"),
    [
        ({"owner": True, "scope": "owner", "orgs": [], "repos": []}, True, {"read", "operate", "launch", "owner"}),
        (
            {"owner": False, "name": "n", "scope": "launch", "orgs": ["acme"], "repos": []},
            False,
            {"read", "operate", "launch"},
        ),
        ({"owner": False, "scope": "operate"}, False, {"read", "operate"}),
        ({"owner": False, "scope": "read"}, False, {"read"}),
        ({"owner": False, "scope": "fleet"}, False, set[str]()),
        ({"owner": "true", "scope": "read"}, False, {"read"}),
    ],
)
def test_a_standing_tells_what_a_token_covers(answer: Json, is_owner: bool, covered: set[str]) -> None:
    standing = decode.standing(answer)
    assert standing.is_owner is is_owner
    assert {scope for scope in ("read", "operate", "launch", "owner", "fleet") if standing.covers(scope)} - {
        "fleet"
    } == covered


@pytest.mark.parametrize("answer", [{}, {"owner": "yes"}, {"scope": 5}, [], None])
def test_a_standing_without_a_scope_is_unreadable(answer: object) -> None:
    with pytest.raises(Unreadable):
        decode.standing(answer)


def test_a_refused_launch_names_the_holder() -> None:
    duplicate = {
        "kind": "issue",
        "colony": "a1",
        "host": None,
        "status": "idle",
        "pr_url": None,
        "what": "#7",
        "queueable": True,
    }
    holder = decode.holder({"error": "…", "duplicate": duplicate})
    assert holder is not None
    assert (holder.kind, holder.colony, holder.status, holder.pr_url, holder.what, holder.can_queue) == (
        "issue",
        "a1",
        "idle",
        "",
        "#7",
        True,
    )
    assert decode.holder({"error": "#7 is an epic"}) is None


def test_records_of_tokens_and_repositories_never_raise() -> None:
    record = decode.token_record(
        {"id": "tok_1", "name": "n", "scope": "read", "orgs": ["a", 5], "created_at": "2026-11-30T10:00:00Z"}
    )
    assert (record.id_raw, record.orgs, record.last_used_at) == ("tok_1", ("a",), None)
    for wrong in WRONG:
        assert is_shown_safely(decode.token_record(wrong))
        assert is_shown_safely(decode.local_repository(wrong))
    assert decode.local_repository({"name": "acme/app", "path": "/p"}).name_raw == "acme/app"


def test_the_stream_tells_lists_changes_and_removals_and_leaves_the_rest_out() -> None:
    listed = stream.frame(HQ, json.dumps({"type": "sessions", "sessions": [session("a"), {"id": None}]}))
    assert isinstance(listed, stream.Listed)
    assert ([each.key.colony for each in listed.colonies], listed.unreadable) == (["a"], 1)
    assert stream.frame(HQ, json.dumps({"type": "session", "session": session("b")})) == stream.Changed(colony("b"))
    assert stream.frame(HQ, json.dumps({"type": "session_removed", "id": "b"})) == stream.Removed(
        colony("b").key.colony
    )
    for nothing in ('{"type":"orgs"}', '{"type":"tomorrow"}', '{"type":5}', "{}", "[]", "5", '"x"'):
        assert stream.frame(HQ, nothing) is None
    assert isinstance(
        stream.frame(HQ, b'{"type":"session","session":{"id":"a","issue_title":"\\ud800"}}'), stream.Changed
    )


@pytest.mark.parametrize(
    "frame", ["{", "", '{"type":"session"}', '{"type":"session","session":{}}', '{"type":"sessions"}', "[" * 5000]
)
def test_a_stream_frame_that_cannot_be_read_says_so(frame: str) -> None:
    with pytest.raises(Unreadable):
        stream.frame(HQ, frame)


def test_the_recorded_stream_is_read() -> None:
    for raw in frames():
        if raw["type"] in ("session", "session_removed"):
            assert stream.frame(HQ, json.dumps(raw)) is not None


@pytest.mark.parametrize(
    "reason", ["control_defeat", "secret_found", "redaction_failed", "defeat_x", "security_hold", "credential_leak"]
)
def test_a_security_hold_is_known_by_its_reason(reason: str) -> None:
    held = colony(attention={"reason": reason})
    assert held.attention is not None
    assert held.attention.is_security_hold
    quiet = colony(attention={"reason": "stalled"})
    assert quiet.attention is not None
    assert not quiet.attention.is_security_hold
