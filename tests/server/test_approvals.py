"""Calls that wait for a person: asked for, decided elsewhere, carried out once, and refused where nobody may agree."""

import asyncio
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import cast

import pytest

from client.hand_clock import HandClock
from colonizer_client.approvals.ledger import LIFE_S, NEW_A_MINUTE
from colonizer_client.audit import first_break
from colonizer_config.address import HttpAddress, SocketAddress
from colonizer_config.settings import Approve
from colonizer_engines.mothership.fixture import load
from recorded import Json
from scripted_mothership import Reply, ScriptedMothership, scripted_mothership
from served_mothership import OWNER, served
from server.approving import WHO, Talk, talking

pytestmark = pytest.mark.anyio

FIXTURE = Path(__file__).parents[1] / "data/mothership/fixture.py"
WORKS, ASKS, HELD = "a1b2c3d4", "5e6f7a8b", "ba5eba11"


def colony(name: str, **fields: object) -> Reply:
    row = {"id": name, "repo": "acme/widgets", "branch": "colonizer/a", "status": "running"}
    return Reply.json({**row, "issue_title": "Tidy \x1b[2J", **fields})


def question(text: str) -> Reply:
    options = [{"label": "Yes"}, {"label": "No"}]
    return Reply.json({"question_id": "q", "risk": "low", "questions": [{"question": text, "options": options}]})


def replies() -> dict[tuple[str, str], Reply]:
    return {
        ("GET", "/api/sessions/a"): colony("a"),
        ("GET", "/api/sessions/h"): colony("h", attention={"reason": "control_defeat"}),
        ("GET", "/api/sessions/p"): colony("p", status="parked", parked={"reason": "secret_seen"}),
        ("GET", "/api/sessions/o"): colony("o", repo="Shut/it"),
        ("GET", "/api/orgs"): Reply.json([{"org": "shut", "settings": {"enabled": False}}]),
        ("POST", "/api/sessions/a/stop"): Reply.json({"id": "a", "result": "stopped"}),
        ("POST", "/api/sessions"): Reply.json({"id": "n", "status": "queued"}),
        ("GET", "/api/sessions"): Reply.json([]),
        ("GET", "/api/sessions/a/question"): question("Deploy?"),
        ("POST", "/api/sessions/a/answer"): Reply(204, "", None),
    }


def address(mothership: ScriptedMothership) -> HttpAddress:
    return HttpAddress("http", "127.0.0.1", int(mothership.port))


def effects(mothership: ScriptedMothership) -> list[object]:
    """What was done there."""
    return [one.sent for one in mothership.asked if one.method == "POST"]


def log(talk: Talk) -> list[tuple[str, str]]:
    assert first_break(talk.audit) is None
    lines = map(json.loads, talk.audit.read_text().splitlines())
    return [(line["what"], line["result"]) for line in lines]


async def test_a_write_waits_is_done_once_when_it_is_approved_and_stands_in_the_log(tmp_path: Path) -> None:
    state = tmp_path / "state"
    await asyncio.to_thread(subprocess.run, [sys.executable, str(FIXTURE), str(state)], check=True)
    async with (
        served(
            tmp_path,
            recovering=False,
            running=False,
            know=False,
            fill=lambda store, out: load(state, store, out),
        ) as mothership,
        talking(tmp_path, SocketAddress(mothership.socket), token=OWNER) as talk,
    ):
        assert f'"id":"{WORKS}"' in await talk.call("colony_status", id=WORKS), "reads do not wait"
        told = await talk.call("stop_colony", id=WORKS, extra="not looked at")
        assert told.startswith("Not done yet: this call waits for a person's approval")
        waiting = talk.pending
        assert waiting.id in told
        assert await talk.call("stop_colony", id=WORKS) == told, "the same call is asked for once"
        assert waiting.arguments == {"id": WORKS}
        assert waiting.request.summary.startswith(f"Stops colony {WORKS} “")
        assert f"branch colonizer/issue-325-{WORKS}" in waiting.request.blast
        status = json.loads(await talk.call("approval_status", id=waiting.id))
        assert (status["state"], status["tool"]) == ("pending", "stop_colony")
        assert mothership.session(WORKS)["status"] == "running"
        talk.approve()
        assert json.loads(await talk.call("approval_status", id=waiting.id))["state"] == "approved"
        assert mothership.session(WORKS)["status"] == "running", "an approval alone does nothing"
        assert await talk.call("stop_colony", id=WORKS) == f"{WORKS}: stopped"
        status = json.loads(await talk.call("approval_status", id=waiting.id))
        assert (status["state"], status["result"]) == ("done", f"{WORKS}: stopped")
        assert (await talk.call("stop_colony", id=WORKS)).startswith("Not done yet"), "the next one waits anew"
        held = await talk.call("answer_colony", id=ASKS, answer="1")
        assert held.startswith("Not done yet")
        held = await talk.call("resume_colony", id=HELD)
        assert held == f"ERROR colony {HELD} is on a security hold: only a person can release it, in the cockpit"
        assert log(talk) == [
            *(("stop_colony", result) for result in ("asked for", "approved", "claimed", "done", "asked for")),
            ("answer_colony", "asked for"),
            ("resume_colony", "refused"),
        ]


async def test_no_tool_decides_and_nobody_reads_the_approvals_of_another_caller(tmp_path: Path) -> None:
    with scripted_mothership(replies()) as mothership:
        async with talking(tmp_path, address(mothership)) as talk:
            tools = {tool.name: tool for tool in (await talk.client.list_tools()).tools}
            assert len(tools) == 11
            assert list(tools) == sorted(tools)
            status = tools["approval_status"]
            assert status.annotations is not None
            assert status.annotations.read_only_hint
            await talk.call("stop_colony", id="a")
            asked = talk.pending.id
            answer = await talk.call("approval_status", id=asked, decision="approve", state="approved", approve=True)
            assert json.loads(answer)["state"] == "pending"
            for tool in ("approve", "approvals", "decide", "approval_approve"):
                with pytest.raises(Exception, match="tool not found"):
                    await talk.client.call_tool(tool, {"id": asked})
            assert talk.pending.state == "pending"
            talk.approve()
            for name, token in (("cursor", "a-token"), ("claude-code", "another-token")):
                async with talking(tmp_path, address(mothership), name=name, token=token) as other:
                    assert await other.call("approval_status", id=asked) == f"ERROR there is no approval {asked}"
                    assert (await other.call("stop_colony", id="a")).startswith("Not done yet"), "it is not theirs"
            assert effects(mothership) == []


async def test_what_waits_is_the_strictest_of_what_the_session_and_the_settings_say(tmp_path: Path) -> None:
    def table(general: str, own: str) -> str:
        return f'[mcp]\napprove = "{general}"\n[mcp.clients."claude-code"]\napprove = "{own}"\n'

    rows = (
        (Approve.NEVER, None, (False, False)),
        (Approve.NEVER, table("never", "never"), (False, False)),
        (Approve.WRITES, table("never", "never"), (False, True)),
        (Approve.NEVER, table("writes", "never"), (False, True)),
        (Approve.NEVER, table("never", "all"), (True, True)),
        (Approve.NEVER, "[mcp]\napprove = 7", (False, True)),
        (Approve.ALL, "", (True, True)),
    )
    with scripted_mothership(replies()) as mothership:
        for number, (approve, text, (read_waits, write_waits)) in enumerate(rows):
            place = tmp_path / str(number)
            place.mkdir()
            if text is not None:
                (place / "cockpit.toml").write_text(text)
            async with talking(place, address(mothership), approve=approve) as talk:
                assert (await talk.call("list_colonies")).startswith("Not done yet") is read_waits, text
                assert (await talk.call("stop_colony", id="a")).startswith("Not done yet") is write_waits, text
                names = [tool.name for tool in (await talk.client.list_tools()).tools]
                assert ("approval_status" in names) is write_waits, text


async def test_an_approval_is_worth_nothing_for_other_arguments_under_another_policy_or_too_late(
    tmp_path: Path,
) -> None:
    clock = HandClock()
    with scripted_mothership(replies()) as mothership:
        async with talking(tmp_path, address(mothership), clock=clock) as talk:
            await talk.call("launch_colony", repo="acme/widgets", task="Tidy")
            approved = talk.approve()
            waits = await talk.call("launch_colony", repo="acme/widgets", task="Tidy!")
            assert waits.startswith("Not done yet"), "other arguments"
            talk.person.reject(talk.pending.id, WHO, "no \x1b[2J")
            again = await talk.call("launch_colony", repo="acme/widgets", task="Tidy!")
            assert re.fullmatch(r"ERROR a person rejected this call \(approval \w+\): no ␛\[2J", again)
            talk.settings.write_text('[mcp]\napprove = "all"\n')
            waits = await talk.call("launch_colony", repo="acme/widgets", task="Tidy")
            assert waits.startswith("Not done yet"), "another policy"
            talk.settings.unlink()
            clock.move(LIFE_S)
            waits = await talk.call("launch_colony", repo="acme/widgets", task="Tidy")
            assert waits.startswith("Not done yet"), "too late"
            assert talk.person.get(approved.id).state == "expired"
            assert effects(mothership) == []
            talk.approve()
            assert await talk.call("launch_colony", repo="acme/widgets", task="Tidy") == '{"id":"n","status":"queued"}'
            assert len(effects(mothership)) == 1


async def test_what_nobody_may_agree_to_is_refused_and_never_waits(tmp_path: Path) -> None:
    refused: dict[str, tuple[str, dict[str, object]]] = {
        "this holds what looks like a secret": ("launch_colony", {"repo": "a/b", "task": "Use ghp_" + "a" * 36}),
        "this holds what looks": ("stop_colony", {"id": "a", "token": "x"}),
        "colony h is on a security hold": ("answer_colony", {"id": "h", "answer": "1"}),
        "colony p is on a security hold": ("resume_colony", {"id": "p"}),
        "Shut is switched off": ("stop_colony", {"id": "o"}),
        "SHUT is switched off": ("launch_colony", {"repo": "SHUT/x"}),
        "the arguments are longer": ("launch_colony", {"repo": "a/b", "task": "word " * 5_000}),
        "no such session": ("stop_colony", {"id": "nowhere"}),
    }
    with scripted_mothership(replies()) as mothership:
        async with talking(tmp_path, address(mothership)) as talk:
            for words, (tool, arguments) in refused.items():
                assert (await talk.call(tool, **arguments)).startswith(f"ERROR {words}"), words
            assert talk.person.pending() == ()
            assert [result for _, result in log(talk)] == ["refused"] * len(refused)
            for number in range(NEW_A_MINUTE):
                await talk.call("launch_colony", repo="a/b", issue=number)
            assert (await talk.call("launch_colony", repo="a/b", issue=99)).startswith("ERROR more than 10 calls a min")
            assert len(talk.person.pending()) == NEW_A_MINUTE
        assert effects(mothership) == []


async def test_a_colony_that_is_held_by_the_time_or_asks_something_else_is_left_alone(tmp_path: Path) -> None:
    own = replies()
    with scripted_mothership(own) as mothership:
        async with talking(tmp_path, address(mothership)) as talk:
            await talk.call("answer_colony", id="a", answer="1")
            assert talk.pending.request.summary == (
                "Answers colony a “Tidy ␛[2J” of acme/widgets with “Yes”. It asks: “Deploy?”"
            )
            approved = talk.approve()
            own["GET", "/api/sessions/a"] = colony("a", attention={"reason": "control_defeat"})
            assert (await talk.call("answer_colony", id="a", answer="1")).startswith("ERROR colony a is on a security")
            own["GET", "/api/sessions/a"] = colony("a")
            own["GET", "/api/sessions/a/question"] = question("Delete all?")
            assert (await talk.call("answer_colony", id="a", answer="1")).startswith("Not done yet"), "another question"
            assert talk.person.get(approved.id).state == "approved"
            assert effects(mothership) == []
            own["GET", "/api/sessions/a/question"] = question("Deploy?")
            assert await talk.call("answer_colony", id="a", answer="1") == 'a: answer sent, chose "Yes"'
            assert len(effects(mothership)) == 1


async def test_what_the_person_changed_is_what_is_done_and_the_agent_is_told(tmp_path: Path) -> None:
    with scripted_mothership(replies()) as mothership:
        async with talking(tmp_path, address(mothership)) as talk:
            await talk.call("launch_colony", repo="a/b", task="All of it")
            asked = talk.pending
            talk.person.edit(asked.id, asked.digest, {"repo": "a/b", "task": "A part"}, WHO)
            status = json.loads(await talk.call("approval_status", id=asked.id))
            assert (status["edited"], status["arguments"]) == (True, {"repo": "a/b", "task": "A part"})
            assert await talk.call("launch_colony", repo="a/b", task="All of it") == (
                "The person changed the arguments before approving: this was done with"
                ' {"repo":"a/b","task":"A part"}.\n{"id":"n","status":"queued"}'
            )
            (sent,) = effects(mothership)
            assert cast("Json", sent)["instructions"] == "A part"


@pytest.mark.parametrize("decision", ["approved", "rejected", "nobody"])
async def test_a_call_that_waits_by_itself_tells_so_and_goes_on_with_the_decision(
    tmp_path: Path, decision: str
) -> None:
    clock, heard = HandClock(), list[tuple[float, str | None]]()

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        assert total == 60
        heard.append((progress, message))

    with scripted_mothership(replies()) as mothership:
        async with talking(tmp_path, address(mothership), clock=clock, wait_s=60) as talk:
            calling = asyncio.create_task(talk.client.call_tool("stop_colony", {"id": "a"}, progress_callback=hear))
            await clock.until_sleeping()
            asked = talk.pending
            clock.move(6)
            await clock.until_sleeping()
            if decision == "approved":
                talk.approve()
            elif decision == "rejected":
                talk.person.reject(asked.id, WHO, "not now")
            clock.move(60)
            async with asyncio.timeout(10):
                (block,) = (await calling).content
        text = getattr(block, "text", "")
        assert [progress for progress, _ in heard] == [0, 6]
        assert heard[0][1] == f"approval {asked.id} waits for a person"
        expected = {"approved": "a: stopped", "nobody": "Not done yet"}
        assert text.startswith(expected.get(decision, f"a person rejected this call (approval {asked.id}): not now"))
        assert len(effects(mothership)) == (decision == "approved")


async def test_what_came_of_a_call_is_kept_as_far_as_it_is_known(tmp_path: Path) -> None:
    own = replies()
    answers = (
        (Reply.json({"error": "not in this state"}, 409), "failed", "ERROR not in this state"),
        (Reply(500, "", None), "unknown", "ERROR 500"),
    )
    with scripted_mothership(own) as mothership:
        async with talking(tmp_path, address(mothership)) as talk:
            ids = list[str]()
            for reply, state, words in answers:
                own["POST", "/api/sessions/a/stop"] = reply
                await talk.call("stop_colony", id="a")
                ids.append(talk.approve().id)
                assert (await talk.call("stop_colony", id="a")).startswith(words)
                assert talk.person.get(ids[-1]).state == state
            await talk.call("stop_colony", id="a")
            careful = f"Careful: whether {ids[-1]}, the same call, was carried out is not known."
            assert talk.pending.request.summary.endswith(careful)
