"""Odd questions, refusals and faults, over real sockets: what the screen says, and how often something was sent."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual import events
from textual.pilot import Pilot

from client.cockpits import Direct
from client.fleet_server import HANG, FleetServer, fleet_server
from client.samples import HQ, Json, prompt, question_body
from colonizer_client.cockpit import Cockpit
from colonizer_client.snapshot import EndpointState, Health
from colonizer_client.store import Store
from colonizer_tui.app import CockpitApp
from colonizer_tui.panes.transcript import TranscriptPane
from colonizer_tui.surroundings import Surroundings
from moments import still_app
from real_engine import screen_text, until

pytestmark = pytest.mark.anyio

COLONY = "c0ffee00"
ANSWER = ("POST", f"/api/sessions/{COLONY}/answer")
QUESTION = f"GET /api/sessions/{COLONY}/question"
ANOTHER = "the colony is asking a different question now; re-read GET /api/sessions/{id}/question and answer that one"


class Bench:
    """The cockpit on a mothership whose every word the test chooses."""

    def __init__(self, server: FleetServer, app: CockpitApp, pilot: Pilot[None]) -> None:
        self.server, self.app, self.pilot = server, app, pilot

    @property
    def text(self) -> str:
        return screen_text(self.pilot)

    async def shows(self, *texts: str) -> None:
        await until(self.pilot, lambda: all(text in self.text for text in texts))

    async def hides(self, text: str) -> None:
        await until(self.pilot, lambda: text not in self.text)

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def type(self, text: str) -> None:
        await self.pilot.press(*("space" if letter == " " else letter for letter in text))

    async def open_card(self) -> None:
        await self.shows("a opens the card")
        await self.press("a")
        await self.shows("the agent waits for you")

    def answers_sent(self) -> int:
        return self.server.count(f"{ANSWER[0]} {ANSWER[1]}")


@asynccontextmanager
async def bench(
    folder: Path, prepare: Callable[[FleetServer], None], kind: type[FleetServer] = FleetServer
) -> AsyncGenerator[Bench]:
    async with fleet_server(folder / "run" / "hq.sock", kind) as server:
        server.replies[ANSWER] = (204, None)
        prepare(server)
        cockpit = Cockpit(lambda: Store(folder / "cockpit.db"))
        cockpit.add(EndpointState(HQ, str(server.address)), Direct(server.address))
        app = CockpitApp(cockpit, Surroundings(crash_folder=folder, default_endpoint=HQ))
        async with app.run_test(size=(140, 40), notifications=True) as pilot:
            yield Bench(server, app, pilot)


def asking(*prompts: Json, **more: object) -> Callable[[FleetServer], None]:
    """A colony that asks these prompts."""

    def prepare(server: FleetServer) -> None:
        server.put(COLONY, status="waiting_for_answer", issue_title="Choose a base")
        server.questions[COLONY] = question_body("q-1", *prompts, **more)

    return prepare


async def test_a_question_without_any_questions_takes_a_free_reply(tmp_path: Path) -> None:
    def prepare(server: FleetServer) -> None:
        asking()(server)
        server.questions[COLONY]["questions"] = []

    async with bench(tmp_path, prepare) as it:
        await it.open_card()
        await it.shows("It asks without saying what")
        await it.type("go on")
        await it.press("ctrl+s")
        await it.shows("✓ delivered")
    assert it.server.sent == [{"question_id": "q-1", "answers": {}, "response": "go on", "questions": []}]


async def test_all_questions_of_a_card_are_answered_in_one_request(tmp_path: Path) -> None:
    prompts = (
        prompt("Which base?", "main", "dev"),
        prompt("Which checks?", "unit", "lint", "2", multi_select=True),
        prompt("Which title?"),
    )
    async with bench(tmp_path, asking(*prompts)) as it:
        await it.open_card()
        await it.press("2", "1", "3", "j", "j")
        await it.type("4")
        await it.press("backspace")
        await it.shows("3 ▸ Which title?")
        await it.press("enter")
        await it.type("Ship it")
        await it.press("ctrl+s")
        await it.shows("✓ delivered")
    (sent,) = it.server.sent
    assert sent["answers"] == {"Which base?": "dev", "Which checks?": ["unit", "2"], "Which title?": "Ship it"}
    assert sent["questions"] == list(prompts)


async def test_each_prompt_has_a_draft_of_its_own(tmp_path: Path) -> None:
    async with bench(tmp_path, asking(*(prompt(f"Number {name}?", "Yes") for name in ("one", "two", "three")))) as it:
        await it.open_card()
        await it.press("2")
        await it.type("first words")
        await it.press("escape", "j")
        await it.shows("2 ▸ Number two?")
        await it.press("2")
        await it.type("second words")
        await it.press("escape")
        await it.shows("first words", "second words", "2 of 3 answered")
        await it.press("escape", "a")
        await it.shows("first words", "second words")
        assert it.answers_sent() == 0


async def test_what_is_half_typed_goes_on_when_the_card_is_opened_again_and_enter_sends_nothing_of_it(
    tmp_path: Path,
) -> None:
    async with bench(tmp_path, asking(prompt("Which base?", "main", "dev"))) as it:
        await it.open_card()
        await it.press("3")
        await it.type("only half")
        await it.press("escape", "escape")
        await it.shows("a opens the card")
        await it.press("a")
        await it.shows("only half", "esc to the options")
        await it.type(" of it")
        await it.press("escape", "enter")
        await it.shows("only half of it", "esc to the options")
        assert it.answers_sent() == 0
        await it.press("ctrl+s")
        await it.shows("✓ delivered")
    assert [sent["answers"] for sent in it.server.sent] == [{"Which base?": "only half of it"}]


async def test_enter_sends_what_the_cursor_stands_on_and_picks_it_first(tmp_path: Path) -> None:
    async with bench(tmp_path, asking(prompt("Which base?", "main", "dev", "next"))) as it:
        await it.open_card()
        await it.press("j", "enter", "j")
        await it.shows("ctrl+s send")
        await it.press("enter")
        await it.shows("(•) 3 next", "enter send")
        assert it.answers_sent() == 0
        await it.press("enter")
        await it.shows("✓ delivered")
    assert [sent["answers"] for sent in it.server.sent] == [{"Which base?": "next"}]


async def test_a_refused_answer_keeps_the_draft_and_reads_the_question_again(tmp_path: Path) -> None:
    async with bench(tmp_path, asking()) as it:
        it.server.replies[ANSWER] = (409, {"error": ANOTHER})
        await it.open_card()
        read = it.server.count(QUESTION)
        await it.press("2", "enter")
        await it.shows("refused: the colony is asking a different question now", "your draft is kept")
        await until(it.pilot, lambda: it.server.count(QUESTION) > read)
        await it.shows("(•) 2 dev")
        assert it.answers_sent() == 1


async def test_a_lost_reply_is_asked_after_and_the_answer_sent_once_more(tmp_path: Path) -> None:
    async with bench(tmp_path, asking()) as it:
        it.server.replies[ANSWER] = (500, {"error": "out of paper"})
        await it.open_card()
        await it.press("1", "enter")
        await it.shows("no reply: asked the server, still open, not sent again", "your draft is kept")
        assert it.answers_sent() == 2


async def test_a_lost_reply_is_confirmed_where_the_server_has_the_answer_on_record(tmp_path: Path) -> None:
    async with bench(tmp_path, asking()) as it:
        it.server.replies[ANSWER] = (500, {"error": "out of paper"})
        await it.open_card()
        record = {"question_id": "q-1", "header": "Base", "question": "Which base?", "answer": "main"}
        it.server.questions.pop(COLONY)
        it.server.sessions[COLONY]["answered_questions"] = [record]
        await it.press("1", "enter")
        await it.shows("✓ delivered", "on record")
        assert it.answers_sent() == 1


async def test_a_question_that_somebody_else_answered_says_so(tmp_path: Path) -> None:
    async with bench(tmp_path, asking()) as it:
        it.server.replies[ANSWER] = (500, {"error": "out of paper"})
        await it.open_card()
        record = {"question_id": "q-1", "header": "Base", "question": "Which base?", "answer": "dev"}
        it.server.questions.pop(COLONY)
        it.server.sessions[COLONY]["answered_questions"] = [record]
        await it.press("1", "enter")
        await it.shows("answered elsewhere")
        assert it.answers_sent() == 1


async def test_a_question_that_is_replaced_closes_the_card_and_gets_none_of_its_keys(tmp_path: Path) -> None:
    async with bench(tmp_path, asking()) as it:
        await it.open_card()
        await it.press("2")
        it.server.questions[COLONY] = question_body("q-2", prompt("Delete everything?", "Yes", "No"))
        it.server.put(COLONY, status="waiting_for_answer", issue_title="Choose a base")
        await it.shows("Delete everything?", "your draft is kept")
        await it.press("enter")
        await it.pilot.pause()
        assert it.answers_sent() == 0


async def test_typed_text_answers_nothing_while_questions_come(tmp_path: Path) -> None:
    async with bench(tmp_path, asking()) as it:
        await it.shows("Choose a base")
        await it.press("slash")
        for number, letter in enumerate("y1a2s"):
            other = f"c0ffee1{number}"
            it.server.questions[other] = question_body("q-1", prompt("Sure?", "Yes"))
            it.server.put(other, status="waiting_for_answer", issue_title="y1a2s asks too")
            await it.press(letter)
        await it.shows("y1a2s", "5 of 6 colonies")
        await it.press("enter")
        await it.shows("/ y1a2s", "5 of 6 colonies")
        await it.press("m")
        for number, letter in enumerate("1ays"):
            it.server.put(f"c0ffee2{number}", status="waiting_for_answer")
            it.server.questions[f"c0ffee2{number}"] = question_body("q-1", prompt("Sure?", "Yes"))
            await it.press(letter)
        assert it.app.deck.opened.field.text == "1ays"
        assert not it.server.sent


async def test_a_silent_host_greys_its_rows_and_takes_no_answer_until_it_is_back(tmp_path: Path) -> None:
    async with bench(tmp_path, asking()) as it:
        await it.shows("Needs you 1")
        it.server.replies[("GET", "/api/tokens/self")] = (503, {"error": "resting"})
        it.server.end("/api/stream")
        await it.shows("Needs you +1?", "does not answer")
        await it.press("a")
        await it.shows("hq does not answer")
        del it.server.replies[("GET", "/api/tokens/self")]
        await it.press("7", "r", "1")
        await it.shows("Needs you 1", "asks")
        assert it.answers_sent() == 0


async def test_a_refused_token_stops_all_traffic_until_the_person_acts(tmp_path: Path) -> None:
    def refuse(server: FleetServer) -> None:
        server.replies[("GET", "/api/tokens/self")] = (401, "missing or invalid API token; run `colonizer open`")

    async with bench(tmp_path, refuse) as it:
        await it.shows("missing or invalid API token")
        await it.press("7")
        await it.shows("signed out")
        assert it.server.asked == ["GET /api/tokens/self"]
        await it.press("r")
        await until(it.pilot, lambda: len(it.server.asked) == 2)
        assert it.app.cockpit.snapshot.endpoints[HQ].health in (Health.CONNECTING, Health.SIGNED_OUT)


async def test_a_scope_that_is_too_small_dims_the_key_and_says_why(tmp_path: Path) -> None:
    def read_only(server: FleetServer) -> None:
        asking()(server)
        server.standing = {"owner": False, "scope": "read", "name": "reader", "orgs": [], "repos": []}

    async with bench(tmp_path, read_only) as it:
        await it.shows("Choose a base", "Which base?")
        assert "a opens the card" not in it.text
        await it.press("a")
        await it.shows("the token of hq has scope read; this needs operate")
        await it.press("c")
        await it.shows("this needs launch")
        assert not it.server.sent


async def test_pasted_lines_stay_one_draft_and_carry_no_controls(tmp_path: Path) -> None:
    lines = "\r\n".join(f"\tline {number}" for number in range(40))
    async with bench(tmp_path, asking(prompt("Which title?"))) as it:
        await it.open_card()
        it.app.post_message(events.Paste(f"{lines}\x1b[201~rm -rf /\x9b31m"))
        await until(it.pilot, lambda: "line 39" in it.app.deck.fleet.detail.card.draft_text())
        text = it.app.deck.fleet.detail.card.draft_text()
        assert text.count("\n") == 39
        assert not set(text) & {"\x1b", "\x9b", "\r"}
        assert it.answers_sent() == 0
        it.app.post_message(events.Paste("x" * 5_000_000))
        await it.shows("5,000,000 characters are too many", "Nothing was pasted")
        assert it.app.deck.fleet.detail.card.draft_text() == text


async def test_a_hole_in_the_log_is_marked(tmp_path: Path) -> None:
    def lossy(server: FleetServer) -> None:
        server.put(COLONY)
        for number in range(6):
            server.say(COLONY, "assistant_text", message_id=f"m{number}", block_index=0, text=f"line {number}")
        server.edit = lambda path, frames: [frame for frame in frames if frame.get("seq") not in (3, 4)]

    async with bench(tmp_path, lossy) as it:
        await it.shows("A task")
        await it.press("enter")
        await it.shows("line 1", "events 3 to 4 are missing", "line 5")


async def test_the_transcript_stays_where_the_person_looks_while_more_comes(tmp_path: Path) -> None:
    def long_talk(server: FleetServer) -> None:
        server.put(COLONY)
        for number in range(100):
            server.say(COLONY, "assistant_text", message_id=f"m{number}", block_index=0, text=f"line {number}.")

    async with bench(tmp_path, long_talk) as it:
        await it.shows("A task")
        await it.press("enter")
        await it.shows("line 99.", "following")
        await it.press("pageup", "pageup")
        await it.hides("following")
        pane = it.app.deck.opened.query_one(TranscriptPane)
        top, seen = pane.top, it.text
        for number in range(100, 120):
            it.server.say(COLONY, "assistant_text", message_id=f"m{number}", block_index=0, text=f"line {number}.")
        await until(it.pilot, lambda: len(pane.entries) == 120)
        await it.pilot.pause()
        assert pane.top == top
        assert [line for line in seen.split("\n") if "line 5" in line] == [
            line for line in it.text.split("\n") if "line 5" in line
        ]
        await it.press("G")
        await it.shows("line 119.", "following")


async def test_markup_in_every_field_is_text_and_nothing_can_be_clicked(tmp_path: Path) -> None:
    markup = "[/] [b + x [@click=app.quit]x[/] [link=file:///etc/passwd]y [0] list[int]"

    def hostile(server: FleetServer) -> None:
        asking(prompt(markup, markup, header=markup))(server)
        server.put(COLONY, status="waiting_for_answer", issue_title=markup, branch=markup, agent=markup, error=markup)
        server.say(COLONY, "assistant_text", message_id="m", block_index=0, text=markup)
        server.say(COLONY, "log", level="warn", message=markup)

    async with bench(tmp_path, hostile) as it:
        await it.shows("[@click=app.quit]x[/]")
        for keys in (
            ["2"],
            ["a"],
            ["escape", "1", "enter"],
            ["v", "escape"],
            ["s"],
            ["escape", "7"],
            ["1", "question_mark"],
        ):
            await it.press(*keys)
            await it.pilot.pause()
        await it.press("escape")
        await it.pilot.click(offset=(40, 3))
        await it.pilot.pause()
        assert it.app.is_running
        await it.shows("[@click=app.quit]x[/]")


async def test_a_diff_of_many_files_and_endless_lines_is_drawn_at_once(tmp_path: Path) -> None:
    files = "".join(
        f"diff --git a/f{n} b/f{n}\n--- a/f{n}\n+++ b/f{n}\n@@ -0,0 +1 @@\n+line of {n}\n" for n in range(2_000)
    )
    huge = f"diff --git a/huge b/huge\n--- a/huge\n+++ b/huge\n@@ -0,0 +1 @@\n+{'x' * 5_000_000}\n"
    long = "diff --git a/long b/long\n--- a/long\n+++ b/long\n@@ -0,0 +1,300000 @@\n" + "+a line\n" * 300_000
    binary = "diff --git a/b.png b/b.png\nBinary files a/b.png and b/b.png differ\n"
    body: Json = {
        "files": [],
        "added": 302_001,
        "removed": 0,
        "diff": files + huge + long + binary,
        "truncated": True,
        "base": "main",
    }

    def large(server: FleetServer) -> None:
        server.put(COLONY, git_admin_dir="/x")
        server.replies[("GET", f"/api/sessions/{COLONY}/diff")] = (200, body)

    async with bench(tmp_path, large) as it:
        await it.shows("A task")
        await it.press("d")
        await it.shows("at least", "f0")
        await it.press("G")
        await it.shows("Binary files", "huge", "+300000 −0", "cut here by the server")
        await it.press("slash")
        await it.type("line of 1999")
        await it.press("enter")
        await it.shows("line of 1999")


async def test_a_settings_fault_is_said_and_stops_nothing(tmp_path: Path) -> None:
    app = still_app(
        tmp_path, [], problems=("cockpit.toml:3: unknown key `agnet`; did you mean `agent`?",), keys={"stop": "a"}
    )
    async with app.run_test(size=(120, 30), notifications=True) as pilot:
        await until(pilot, lambda: "did you mean" in screen_text(pilot))
        assert "a already means answer" in screen_text(pilot)
        await pilot.press("ctrl+q")
    assert app.return_code == 0


LEFTOVERS = ("GET", f"/api/local/sessions/{COLONY}/leftovers")
CLEANUP = f"/api/sessions/{COLONY}/cleanup"


def ended(server: FleetServer) -> None:
    """A stopped colony with a worktree."""
    server.put(COLONY, status="stopped", branch="colony/base", worktree="/somewhere", git_admin_dir="/x")
    server.replies[("POST", CLEANUP)] = (200, {**server.sessions[COLONY], "cleaned_up": True})


async def test_a_yes_counts_only_when_what_would_be_lost_can_be_read(tmp_path: Path) -> None:
    async with bench(tmp_path, ended) as it:
        it.server.replies[LEFTOVERS] = (HANG, None)
        await it.shows("stopped")
        await it.press("X")
        await it.shows("looking for what would be lost…")
        await it.press("y", "enter", "y")
        await it.shows("looking for what would be lost…")
        await it.press("escape")
        await it.hides("looking for what would be lost…")
        assert it.server.count(f"POST {CLEANUP}") == 0


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ((404, {"error": "no such route"}), "What is not committed in it is lost."),
        ((409, {"error": "its folder is gone"}), "its folder is gone"),
        ((200, {"unmerged_commits": 2}), "with 2 commits that"),
        ((200, {"uncommitted": [f"f{n}" for n in range(30)], "unmerged_commits": 0}), "and 22 more"),
    ],
)
async def test_cleaning_up_says_what_it_knows_of_what_would_be_lost(
    tmp_path: Path, reply: tuple[int, object], words: str
) -> None:
    async with bench(tmp_path, ended) as it:
        it.server.replies[LEFTOVERS] = reply
        await it.shows("stopped")
        await it.press("X")
        await it.shows(words, "y remove it")
        await it.press("y")
        await it.shows("the worktree of A task", "colony/base is kept")
        assert it.server.count(f"POST {CLEANUP}") == 1
