"""A fleet whose every text comes from somebody who wants the reader's terminal."""

import unicodedata
from collections.abc import Callable, Iterator, Mapping
from itertools import count

from client.fleet_server import FleetServer
from client.hostile import ATTACKS
from client.samples import Json
from loopback_fleet import silent_server

Words = Callable[[], str]
"""Makes a text; every time another one."""

ATTACKS_AT_ONCE = 6

ASKING, FAILED, HELD, PARKED, QUEUED, IDLE, STOPPED, COVERED = (f"c0ffee0{number}" for number in range(8))
NO = "the server will not:"
"""How its refusals begin."""

ODD_ID = "[@click=app.quit]e\u0301\ufdfd字"
"""As an id it can be shown, so it is let through."""


def hostile() -> Words:
    """Texts with a few of the attacks each, in turn: what is cut off one text stands at the beginning of others."""
    turns = count()

    def words() -> str:
        start = next(turns) % len(ATTACKS)
        return "\n\town" + "own".join((*ATTACKS, *ATTACKS)[start : start + ATTACKS_AT_ONCE])

    return words


def benign() -> Words:
    """Texts that are nothing but text."""
    turns = count()
    return lambda: f"own {next(turns)} words " * 30


def fleet(words: Words) -> FleetServer:
    """Colonies in all states, a question, a log, a diff and refusals, with these words wherever the wire has text."""
    server = silent_server()
    server.standing = {"owner": True, "scope": "owner", "name": words(), "orgs": [words()], "repos": [words()]}
    server.replies[("GET", "/api/version")] = (200, {"version": words()})
    server.replies[("GET", "/api/status")] = (200, _status(words))
    for colony, fields in _colonies(words).items():
        server.put(colony, **fields)
    server.questions[ASKING] = _question(words)
    for kind, body in _events(words, server.questions[ASKING]):
        server.say(ASKING, kind, **body)
    server.logs[ASKING].host_lines.append({"type": "harness_log", "level": "warn", "message": words()})
    server.replies[("GET", f"/api/sessions/{ASKING}/diff")] = (200, _diff(words))
    _refuse(server, words)
    return server


def plain(text: str) -> str:
    """The text as a body that is no JSON can hold it."""
    return "".join(letter for letter in text if unicodedata.category(letter) != "Cs")


def _status(words: Words) -> Json:
    return {"sandbox": {"provider": words(), "mode": words(), "waiting_reason": words()}, "version": words()}


def _colonies(words: Words) -> Mapping[str, Json]:
    def row(tag: str, status: str, **more: object) -> Json:
        texts = ("branch", "base", "agent", "sandbox", "pr_url", "ci_state", "error", "org", "instructions")
        return {
            **{name: words() for name in texts},
            "issue_title": f"{tag} {words()}",
            "repo": f"acme/{words()}",
            "status": status,
            "git_admin_dir": "/x",
            "model": words(),
            "diagnosis": {"state": words(), "text": words()},
            "recent_events": [{"seq": 1, "ts": words(), "type": words(), "summary": words()}],
            "answered_questions": [{"question_id": words(), "question": words(), "answer": words()}],
            **more,
        }

    return {
        ASKING: row("ASKING", "waiting_for_answer", attention={"reason": words(), "detail": words()}),
        FAILED: row("FAILED", "failed", unseen_failure=True),
        HELD: row("HELD", "running", attention={"reason": f"security {words()}", "detail": words()}),
        PARKED: row("PARKED", "parked", parked={"reason": words(), "at": words(), "resets_at": words()}),
        QUEUED: row("QUEUED", "queued", blocked_reason=words(), queued_behind=words()),
        IDLE: row("IDLE", "idle", pending_notes=[words()]),
        STOPPED: row("STOPPED", "stopped"),
        COVERED: row("COVERED", "stopped", superseded={"reason": words(), "pr_url": words(), "at": words()}),
        ODD_ID: row("ODD", words()),
    }


def _question(words: Words) -> Json:
    def prompt(**more: object) -> Json:
        options = [{"label": words(), "description": words(), "preview": words()} for _ in range(3)]
        return {"question": words(), "header": words(), "options": options, **more}

    return {"question_id": words(), "risk": words(), "questions": [prompt(), prompt(multi_select=True)]}


def _events(words: Words, question: Json) -> Iterator[tuple[str, Json]]:
    settler = {"id": words(), "name": words(), "description": words()}
    yield "user_message", {"id": "initial", "text": words()}
    yield "user_message", {"id": words(), "text": words(), "origin": words()}
    yield "status", {"state": "error", "detail": words()}
    yield "thinking", {"message_id": words(), "text": words()}
    yield "assistant_text", {"message_id": "m", "text": f"# {words()}\n```\n{words()}\n```\n`{words()}` **{words()}**"}
    for piece in ("\x1b", "]52;c;UFdO", "RUQ=\x07", "\ud83d", "\udca9", "e", "\u0301" * 9, words()):
        yield "assistant_text_delta", {"message_id": "d", "delta": piece}
    yield "tool_call", {"tool_call_id": "t", "name": words(), "input": {"command": words(), words(): words()}}
    denial = {"class": words(), "hint": words()}
    yield "tool_result", {"tool_call_id": "t", "output": words(), "is_error": True, "denial": denial}
    yield "tool_result", {"tool_call_id": words(), "output": {words(): [words()]}}
    yield "tool_call", {"tool_call_id": words(), "name": words(), "agent": settler}
    yield "assistant_text", {"message_id": words(), "text": words(), "agent": settler}
    yield "question", _question(words)
    yield "question_closed", {"question_id": words(), "reason": words()}
    yield "question_answered", {"question_id": words(), "answers": {words(): [words()]}, "response": words()}
    yield "turn_end", {"is_error": True, "result": words(), "model_usage": {words(): {}}}
    yield "log", {"level": words(), "message": words()}
    yield "model_changed", {"previous": words(), "model": words()}
    yield "boundary", {"kind": words(), "detail": words()}
    yield "path_policy", {"policy": words(), "access": words(), "path": words()}
    yield "finding", {"title": words(), "body": words(), "evidence": {words(): words()}}
    for kind in ("memory_proposal", "vault_proposal", "validated", "rejected", "fix_colony", "review", "merged"):
        names = ("title", "content", "reason", "body", "issue", "verdict", "pr")
        yield kind, {name: words() for name in names}
    for kind in ("github_action", "loop_next", "loop_stop", "verification", "screening", "promptdecode"):
        yield kind, {name: words() for name in ("tool", "reason", "body", "verdict", "summary", "outcome")}
    yield words(), {"title": words()}
    yield "question", {**question, "kind": "exec_policy"}


def _diff(words: Words) -> Json:
    def line() -> str:
        return words().replace("\n", "")

    def file(name: str) -> str:
        head = f'diff --git "a/{name}" "b/{name}"\nold mode {line()}\nrename from {line()}\nBinary files {line()}\n'
        return (
            f"{head}--- a/{name}\n+++ b/{name}\n@@ -1,2 +1,3 @@ {line()}\n {line()}\n-{line()}\n+{line()}\n+{line()}\n"
        )

    files = [{"path": words(), "added": 1, "removed": 0} for _ in range(4)]
    text = file(line()) + file("a.py") + f"@@ -{'9' * 5000} +1 @@ {words()}\n+{words()}\n"
    return {"base": words(), "files": files, "added": 1, "removed": 0, "diff": text, "truncated": True}


def _refuse(server: FleetServer, words: Words) -> None:
    """What is asked of the server is refused in its own words."""

    def refusal() -> str:
        return f"{NO} {words()}"

    for colony in server.sessions:
        for what in ("stop", "resume", "keep", "answer", "messages", "publish", "seen", "prewarm"):
            server.replies[("POST", f"/api/sessions/{colony}/{what}")] = (409, {"error": refusal()})
        server.replies[("POST", f"/api/sessions/{colony}/cleanup")] = (500, plain(refusal()))
        server.replies[("GET", f"/api/local/sessions/{colony}/leftovers")] = (200, {"uncommitted": [words()]})
    server.replies[("GET", f"/api/sessions/{IDLE}/diff")] = (400, {"error": refusal()})
    holder = {name: words() for name in ("kind", "colony", "status", "pr_url", "what")}
    limits = {"orgs": [words()], "repos": [words()], "created_at": words()}
    token = {"id": words(), "name": words(), "scope": f"launch {words()}", **limits}
    server.replies[("GET", "/api/tokens")] = (200, [token, {**token, "id": words()}])
    server.replies[("POST", "/api/tokens")] = (400, {"error": refusal()})
    body = {"error": refusal(), "duplicate": {**holder, "queueable": True}}
    server.replies[("POST", "/api/sessions")] = (409, body)
