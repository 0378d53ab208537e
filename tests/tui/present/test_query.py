"""What a query finds, and that whatever is typed is one."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from colonizer_client.identity import EndpointName
from colonizer_client.mothership.models import Attention, Colony
from colonizer_client.snapshot import EndpointChanged, Snapshot, Topics, fold
from colonizer_tui.present import query, states
from colonizer_tui.present.line import Span
from colonizer_tui.present.query import Query, Texts, parse
from colonizer_tui.present.view import Digests, View
from moments import HQ, LAB, LOCAL, NOW, colony, endpoint, every_state

HQ2 = EndpointName("hq-2")


def view_of(*colonies: Colony) -> View:
    hosts = {name: endpoint(name) for name in (LOCAL, HQ, HQ2, LAB)}
    snapshot = Snapshot(endpoints=hosts, colonies={one.key: one for one in colonies})
    return Digests().view(snapshot, Topics(endpoints=frozenset(hosts)), NOW)


COLONIES = (
    colony("asks0001", "waiting_for_answer", 30, title="Choose how to release", cost_usd=1.5),
    colony("runs0001", "running", 3, title="Greet the world", cost_usd=7.25, host=LOCAL, repo="local/notes", org=""),
    colony("held0001", "running", 1, title="Denied", attention=Attention("control_defeat", NOW - 60), host=LAB),
    colony("open0001", "pr_opened", 600, title="Ready, steady", cost_usd=0.0, host=HQ2, org="acme-labs"),
    colony("stop0001", "stopped", 4_000, title="Stopped by a person", repo="acme/rocket", issue=7),
    colony("drea0001", "dreaming", 20_000, title="fix: a status of tomorrow", org="other"),
)
VIEW = view_of(*COLONIES)
EVERYONE = {str(one.key.colony)[:4] for one in COLONIES}


def found(text: str, view: View = VIEW) -> set[str]:
    colonies = view.snapshot.colonies.values()
    return {str(one.key.colony)[:4] for one in parse(text).found(colonies, view, Texts().of)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("greet", {"runs"}),
        ("GREET", {"runs"}),
        ("the world", {"runs"}),
        ("world the", {"runs"}),
        ('"the world"', {"runs"}),
        ('"world the"', set[str]()),
        ("rocket #7", {"stop"}),
        ("host:hq", {"asks", "stop", "drea"}),
        ("host:hq-2", {"open"}),
        ("host:h", {"asks", "stop", "drea", "open"}),
        ("HOST:HQ", {"asks", "stop", "drea"}),
        ("host:lab,local", {"held", "runs"}),
        ("org:acme", {"asks", "held", "open", "stop"}),
        ("org:acme-labs,other", {"open", "drea"}),
        ("repo:rocket", {"stop"}),
        ("repo:acme/,notes", EVERYONE),
        ("status:running", {"runs", "held"}),
        ("status:held", {"held"}),
        ("status:pr_open", {"open"}),
        ('status:"pr open"', {"open"}),
        ("status:pr-opened", {"open"}),
        ("status:dreaming", {"drea"}),
        ("status:s", {"stop"}),
        ("status:asks,stopped", {"asks", "stop"}),
        ("needs:me", {"asks", "held"}),
        ("needs:me host:lab", {"held"}),
        ("cost>1.5", {"runs"}),
        ("cost>=1.5", {"asks", "runs"}),
        ("cost<1", {"open"}),
        ("cost<=$1.50", {"asks", "open"}),
        ("cost<0", set[str]()),
        ("cost>5,1", {"asks", "runs"}),
        ("age<2m", {"held"}),
        ("age>2d", {"stop", "drea"}),
        ("age>1h age<1d", {"open"}),
        ("age>1w", {"drea"}),
        ("!needs:me", {"runs", "open", "stop", "drea"}),
        ("!cost>5", EVERYONE - {"runs"}),
        ("!stopped", EVERYONE - {"stop"}),
        ("host:hq !status:asks", {"stop", "drea"}),
        ("ready,", {"open"}),
        ("fix: tomorrow", {"drea"}),
    ],
)
def test_a_query_finds_what_all_its_terms_say(text: str, expected: set[str]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    "text", ["", "  ", "!", "host:", "!host:", "host:,", "cost>", "cost>$", "age<", "age<1", '"', '!""']
)
def test_what_is_not_finished_leaves_everything_in(text: str) -> None:
    assert found(text) == EVERYONE
    assert not parse(text)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("hots:hq", "no key is called “hots”: host, org, repo, status, needs, cost, age"),
        ("host>hq", "“host>” says nothing: host:"),
        ("cost:5", "“cost:” says nothing: cost> or cost<"),
        ("cost>much", "“much” is no amount: 5 or 0.50"),
        ("cost>nan", "“nan” is no amount: 5 or 0.50"),
        ("cost>５", "“５” is no amount: 5 or 0.50"),  # digits of another script
        ("age<1y", "“1y” is no age: a number with s, m, h, d or w, such as 90m"),
        ("needs:you", "needs: takes me, not “you”"),
        ("greet cost>5,much", "“much” is no amount: 5 or 0.50"),
    ],
)
def test_what_makes_no_sense_is_told_and_is_looked_for_as_text(text: str, told: str) -> None:
    assert parse(text).problems == (told,)
    titled = view_of(colony("1", "running", 1, title=f"It says {text}"), colony("2", "running", 1))
    assert found(text, titled) == {"1"}


def test_a_query_that_makes_sense_has_no_problems() -> None:
    assert parse('!host:hq,"a b" cost>=1 age<5m needs:me "x:y" plain').problems == ()


def test_a_colony_that_changed_is_found_by_what_it_is_now() -> None:
    texts = Texts()
    before = colony("1", "running", 1, title="before")
    assert texts.of(before) == texts.of(before)
    assert "after" in texts.of(replace(before, title="after"))


def test_only_an_age_changes_what_is_found_by_itself() -> None:
    assert parse("host:hq age<1h").depends_on_time
    assert not parse("host:hq cost>1").depends_on_time
    assert not parse("age<nonsense").depends_on_time


def test_the_texts_that_were_looked_for_are_marked() -> None:
    marked = parse("Greet !world host:hq").marked((Span("greet the world"), Span(" hq")))
    assert [piece.text for piece in marked if piece.role == "match"] == ["greet"]


def test_a_head_tells_what_is_looked_for_and_what_is_wrong_with_it() -> None:
    assert "".join(piece.text for piece in query.told(parse(" foo:1 "))) == " / foo:1  ! " + parse("foo:1").problems[0]


SIGNS = st.sampled_from(
    ["host", "org", "repo", "status", "needs", "cost", "age", ":", "<", ">", "=", "!", ",", '"', " "]
)
VALUES = st.sampled_from(["hq", "me", "5", "1h", "run", "stopped", "0.5", "$", "pr_open", "greet", "İ", "\u2028", "\0"])
TYPED = st.one_of(st.text(max_size=30), st.lists(SIGNS | VALUES, max_size=12).map("".join))

snapshot, topics = fold(Snapshot(), [*every_state(), EndpointChanged(endpoint(HQ2))])
STATES = Digests().view(snapshot, topics, NOW)


def keys_of(text: str | Query) -> Sequence[object]:
    wanted = parse(text) if isinstance(text, str) else text
    return [one.key for one in wanted.found(STATES.snapshot.colonies.values(), STATES, Texts().of)]


@given(TYPED)
def test_whatever_is_typed_is_a_query(text: str) -> None:
    made = parse(text)
    keys_of(made)
    assert all(0 <= term.start < term.end <= len(text) for term in made.terms)
    assert all(term.start <= start <= term.end for term in made.terms for start in term.value_starts)
    if '"' not in text:
        assert [text[term.start : term.end] for term in made.terms] == text.split()


@given(TYPED)
def test_each_negated_term_finds_just_what_the_term_does_not(text: str) -> None:
    for term in parse(text).terms:
        if not term.is_finished:
            continue
        plain = replace(term, is_negated=False)
        everyone = [one.key for one in STATES.snapshot.colonies.values()]
        has, lacks = (set(keys_of(Query(text, (one,)))) for one in (plain, replace(term, is_negated=True)))
        assert has | lacks == set(everyone)
        assert has & lacks == set()


@given(TYPED, TYPED)
def test_a_further_term_never_finds_more(first: str, second: str) -> None:
    if first.count('"') % 2 == 0:
        assert set(keys_of(f"{first} {second}")) <= set(keys_of(first))


@given(TYPED)
def test_what_is_found_stands_in_its_order(text: str) -> None:
    everyone = [one.key for one in STATES.snapshot.colonies.values()]
    assert list(keys_of(text)) == [key for key in everyone if key in set(keys_of(text))]


@pytest.mark.parametrize("word", sorted(states.WORDS))
def test_every_word_for_a_state_can_be_asked_for(word: str) -> None:
    assert parse(f"status:{word.replace(' ', '_')}").problems == ()


def test_every_shown_state_is_found_by_its_word() -> None:
    for one in STATES.snapshot.colonies.values():
        shown = states.look(one, None).word.replace(" ", "_")
        assert one.key in keys_of(f"status:{shown}")
