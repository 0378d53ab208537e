"""Tokens and what they may see; requests over the network and through the private socket."""

import json
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from served_mothership import OWNER, Served, say, served

pytestmark = pytest.mark.anyio

TURN_END = say("turn_end", is_error=False)


@pytest.fixture
async def mothership(tmp_path: Path) -> AsyncGenerator[Served, None]:
    async with served(tmp_path) as found:
        yield found


async def test_a_token_is_shown_once_and_kept_as_a_digest(mothership: Served, tmp_path: Path) -> None:
    fields = {"name": " ci ", "scope": "operate", "orgs": ["acme"], "max_concurrent": 2, "budget_usd_per_day": 5}
    made = (await mothership.call("POST", "/api/tokens", fields)).json()
    secret = made.pop("token")
    assert secret.startswith("col_")
    assert len(secret) == 68
    assert made == {
        "id": made["id"],
        "name": "ci",
        "scope": "operate",
        "orgs": ["acme"],
        "repos": [],
        "max_concurrent": 2,
        "budget_usd_per_day": 5.0,
        "created_at": made["created_at"],
    }
    assert (await mothership.call("GET", "/api/tokens")).json() == [made]
    mine = await mothership.get("/api/tokens/self", token=secret)
    assert mine == {"owner": False, "name": "ci", "scope": "operate", "orgs": ["acme"], "repos": []}
    assert secret.encode() not in b"".join(path.read_bytes() for path in (tmp_path / "data").glob("mothership.db*"))


async def test_tokens_outlive_the_engine(tmp_path: Path) -> None:
    async with served(tmp_path) as before:
        made = (await before.call("POST", "/api/tokens", {"name": "a", "scope": "read"})).json()
    async with served(tmp_path) as mothership:
        assert (await mothership.get("/api/tokens/self", token=made["token"]))["name"] == "a"
        assert (await mothership.call("DELETE", f"/api/tokens/{made['id']}")).json() == {"ok": True}
        assert (await mothership.call("GET", "/api/tokens/self", token=made["token"])).status_code == 401


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"name": "é" * 61, "scope": "read"}, "name is 122 characters; keep it under 120"),
        ({"name": " ", "scope": "read"}, "name is required"),
        (
            {"name": "x", "scope": "read", "orgs": ["a/b"]},
            'orgs entries must be organization names, not repositories (got "a/b")',
        ),
        ({"name": "x", "scope": "read", "max_concurrent": 0}, "max_concurrent must be at least 1"),
    ],
)
async def test_a_token_that_means_nothing_is_refused(mothership: Served, fields: dict[str, object], words: str) -> None:
    reply = await mothership.call("POST", "/api/tokens", fields)
    assert (reply.status_code, reply.json()) == (400, {"error": words})


async def test_lists_hold_only_what_a_token_may_see(mothership: Served) -> None:
    colony = await mothership.launch(TURN_END)
    for limits, visible in (
        ({}, True),
        ({"orgs": ["LOCAL"]}, True),
        ({"repos": ["local/Clone"]}, True),
        ({"orgs": ["acme"]}, False),
        ({"orgs": ["local"], "repos": ["acme/app"]}, False),
    ):
        token = mothership.token("read", **limits)
        listed = (await mothership.call("GET", "/api/sessions", token=token)).json()
        assert bool(listed) is visible, limits
        one = await mothership.call("GET", f"/api/sessions/{colony}", token=token)
        assert one.status_code == (200 if visible else 404)
        if not visible:
            assert (one.text, one.headers["content-type"]) == ("no such session", "text/plain; charset=utf-8")
    maps = await mothership.call("GET", "/api/maps/acme/app", token=mothership.token("read", orgs=["local"]))
    assert (maps.status_code, maps.text) == (404, "no such map")


async def test_lists_come_in_pages(mothership: Served) -> None:
    colonies = [await mothership.launch(["exit", 0], external_ref=f"r{n}") for n in range(5)]
    page = await mothership.get("/api/sessions?limit=2")
    assert ([s["id"] for s in page["sessions"]], page["next_cursor"]) == (colonies[:2:-1], colonies[3])
    page = await mothership.get(f"/api/sessions?limit=2&cursor={page['next_cursor']}")
    assert [s["id"] for s in page["sessions"]] == [colonies[2], colonies[1]]
    page = await mothership.get(f"/api/sessions?limit=2&cursor={page['next_cursor']}")
    assert ([s["id"] for s in page["sessions"]], page["next_cursor"]) == ([colonies[0]], None)
    found = (await mothership.call("GET", "/api/sessions?external_ref=%20r3")).json()
    assert [s["id"] for s in found] == [colonies[3]]
    assert (await mothership.call("GET", "/api/sessions?origin=nobody")).json() == []
    refused = await mothership.call("GET", "/api/sessions?origin=%20")
    assert refused.json() == {
        "error": "`origin` names nothing; send the value it filters on, or leave it out",
        "code": "invalid_input",
    }
    refused = await mothership.call("GET", "/api/sessions?cursor=nobody")
    assert (refused.status_code, refused.json()["code"]) == (400, "invalid_input")


async def test_a_name_that_was_made_to_point_here_is_refused_over_the_network_only(tmp_path: Path) -> None:
    async with served(tmp_path, over_tcp=True, know=False) as mothership:
        for host, status in (
            ("localhost", 200),
            ("127.0.0.1:1", 200),
            ("[::1]:7979", 200),
            ("evil.example", 403),
            ("localhost.evil.example", 403),
            ("[::1].evil", 403),
            ("", 403),
        ):
            reply = await mothership.call("GET", "/api/version", host=host)
            assert reply.status_code == status, host
    (tmp_path / "private").mkdir(mode=0o700)
    async with served(tmp_path / "private", know=False) as mothership:
        assert (await mothership.call("GET", "/api/version", host="evil.example")).status_code == 200


async def test_routes_of_the_machine_itself_are_not_on_the_network(tmp_path: Path) -> None:
    async with served(tmp_path, over_tcp=True) as mothership:
        reply = await mothership.call("GET", "/api/local/repos")
        assert (reply.status_code, reply.json()) == (404, {"error": "no such API route"})


async def test_repositories_of_this_machine_are_added_and_forgotten(mothership: Served) -> None:
    top = str(mothership.clone.path)
    assert (await mothership.call("GET", "/api/local/repos")).json() == [{"name": "local/clone", "path": top}]
    again = await mothership.call("POST", "/api/local/repos", {"path": top})
    assert again.json() == {"name": "local/clone", "path": top}
    refused = await mothership.call("POST", "/api/local/repos", {"path": str(mothership.clone.path.parent)})
    assert refused.status_code == 400
    assert (await mothership.call("POST", "/api/local/repos", {"path": "clone"})).status_code == 400
    assert (await mothership.call("DELETE", "/api/local/repos/local/clone")).json() == {"deleted": "local/clone"}
    assert (await mothership.call("DELETE", "/api/local/repos/local/clone")).status_code == 404
    reply = await mothership.call("POST", "/api/sessions", {"repo": "local/clone"})
    assert reply.json()["error"] == "local/clone is not known here; add it with: colonizer repo add PATH"
    named = await mothership.call("POST", "/api/local/repos", {"path": top, "name": "acme/widgets"})
    assert named.json() == {"name": "acme/widgets", "path": top}
    bad = await mothership.call("POST", "/api/local/repos", {"path": top, "name": "../x"})
    assert (bad.status_code, bad.json()["error"]) == (400, "invalid repository name")
    scoped = await mothership.call("GET", "/api/local/repos", token=mothership.token("launch"))
    assert scoped.status_code == 403


async def test_a_status_without_a_token_tells_little(mothership: Served) -> None:
    full = await mothership.get("/api/status")
    little = (await mothership.call("GET", "/api/status", token=None)).json()
    assert little.keys() == {"version", "queue_depth", "host", "runtime", "storage", "runner", "observability"}
    assert {"hostname", "id"} & little["host"].keys() == set()
    assert full["github"] == {"connected": False, "error": "not set up"}
    assert full["assets"]["agents"] == ["demo", "puppet"]
    assert full["runtime"]["kvm"] is None


async def test_a_body_has_to_be_json_of_a_decent_size(mothership: Served) -> None:
    reply = await mothership.http.post("/api/sessions", content="repo=x", headers={"authorization": f"Bearer {OWNER}"})
    assert (reply.status_code, reply.text) == (415, "Expected request with `Content-Type: application/json`")
    reply = await mothership.call("POST", "/api/sessions", {"repo": "x" * (3 << 20)})
    assert (reply.status_code, reply.headers["content-type"]) == (413, "text/plain; charset=utf-8")
    nested = await mothership.http.post(
        "/api/sessions",
        content="[" * 100_000,
        headers={"authorization": f"Bearer {OWNER}", "content-type": "application/json"},
    )
    assert nested.status_code == 400


async def test_the_version_is_written_with_a_v(mothership: Served) -> None:
    assert (await mothership.get("/api/version"))["version"] == "v0.0.1"


async def test_an_artifact_is_a_plain_file_of_the_folder(mothership: Served, tmp_path: Path) -> None:
    colony = await mothership.launch(TURN_END)
    await mothership.said(colony, "turn_end")
    out = mothership.mothership.given.folders.out_of(mothership.mothership.fleet.get(colony).id)
    secret = tmp_path / "secret"
    secret.write_text("top secret")
    (out / "link.txt").symlink_to(secret)
    (out / "folder").mkdir()
    (out / ".hidden").write_text("h")
    (out / "pr.md").write_text("A title")
    import os

    os.mkfifo(out / "pipe")
    listed = await mothership.get(f"/api/sessions/{colony}/files")
    assert [file["filename"] for file in listed["files"]] == ["pr.md"]
    for name in ("link.txt", "folder", "pipe", "..%2f..%2fmothership.db", ".hidden", "%00", "none"):
        reply = await mothership.call("GET", f"/api/sessions/{colony}/files/{name}/content")
        assert (reply.status_code, reply.json()["code"]) == (404, "file_not_found"), name
    (out / "big").write_bytes(b"\0" * ((16 << 20) + 1))
    reply = await mothership.call("GET", f"/api/sessions/{colony}/files/big/content")
    assert (reply.status_code, reply.json()["code"]) == (413, "file_too_large")


async def test_words_from_outside_travel_unchanged(mothership: Served) -> None:
    title = "Hostile \x1b]0;owned\x07 title \u202egnp.exe [red]x[/red]"
    colony = await mothership.launch(TURN_END, title=title)
    assert (await mothership.get(f"/api/sessions/{colony}"))["issue_title"] == title


async def test_text_that_is_no_text_is_refused_or_mended(mothership: Served) -> None:
    reply = await mothership.http.post(
        "/api/sessions",
        content='{"repo": "local/clone", "title": "\\ud800"}',
        headers={"authorization": f"Bearer {OWNER}", "content-type": "application/json"},
    )
    assert reply.status_code == 400
    colony = await mothership.launch(["raw", '{"type": "odd", "text": "a\\ud800b", "n": NaN}'], TURN_END)
    await mothership.said(colony, "turn_end")
    assert all(json.dumps(event) for event in mothership.events(colony))
