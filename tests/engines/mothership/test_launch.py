"""Launching: what is refused, in which order and words, and what is made."""

from collections.abc import AsyncGenerator, Mapping
from pathlib import Path

import pytest

from colonizer_config.settings import AgentKind, AgentSettings, SandboxChoice
from served_mothership import OWNER, Json, Served, puppet, say, served, settings, tuned

pytestmark = pytest.mark.anyio

TURN_END = say("turn_end", is_error=False)


@pytest.fixture
async def mothership(tmp_path: Path) -> AsyncGenerator[Served, None]:
    async with served(tmp_path) as found:
        yield found


async def refused(
    mothership: Served, body: Mapping[str, object] | None = None, *, token: str = OWNER, **headers: str
) -> tuple[int, Json]:
    fields = {"repo": "local/clone", "instructions": "x", **(body or {})}
    reply = await mothership.call("POST", "/api/sessions", fields, token=token, **headers)
    return reply.status_code, reply.json()


async def test_a_new_colony_has_every_field_that_it_needs(mothership: Served) -> None:
    reply = await mothership.call(
        "POST",
        "/api/sessions",
        {
            "repo": "LOCAL/Clone",
            "issue": 7,
            "title": " " + "t" * 400,
            "instructions": "i" * 30_000,
            "verify": " ",
            "external_ref": "mine",
            "origin": "chat",
            "model_tier": "low",
            "supply_chain_targets": [{"package": " Left-Pad ", "advisory": ""}],
            "unheard_of": [1],
        },
    )
    session = reply.json()
    assert reply.status_code == 200
    assert (session["repo"], session["org"], session["issue"]) == ("local/clone", "local", 7)
    assert (len(session["issue_title"]), len(session["instructions"])) == (300, 20_000)
    assert (session["status"], session["base"], session["git_admin_dir"]) == ("starting", None, None)
    assert (session["autopilot"], session["verify"], session["agent"]) == (True, "auto", "puppet")
    assert (session["external_ref"], session["origin"], session["model_tier"]) == ("mine", "chat", "low")
    assert session["supply_chain_targets"] == [{"package": "left-pad", "advisory": ""}]
    assert session["branch"] == f"colonizer/issue-7-{session['id']}"
    assert session["sandbox"] == "none"
    assert {"parent", "queued_behind", "priority", "launched_by_token", "superseded"} & session.keys() == set()


async def test_a_colony_without_title_or_issue_is_an_open_session(mothership: Served) -> None:
    reply = await mothership.call("POST", "/api/sessions", {"repo": "local/clone"})
    assert reply.json()["issue_title"] == "Open session"
    reply = await mothership.call("POST", "/api/sessions", {"repo": "local/clone", "issue": 3})
    assert reply.json()["issue_title"] == ""


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"repo": "../x"}, 400, "invalid repository name"),
        ({"repo": "a/b/c"}, 400, "invalid repository name"),
        ({"external_ref": "x" * 201}, 400, "`external_ref` must be 1 to 200 printable characters"),
        ({"external_ref": "a\nb"}, 400, "`external_ref` must be 1 to 200 printable characters"),
        (
            {"agent_module": "codex"},
            400,
            'unknown_agent: "codex" is not an installed agent module; installed: demo, puppet',
        ),
        (
            {"claude_account": "No Way"},
            400,
            "Claude account ids are lowercase letters, digits and dashes, 1-40 characters",
        ),
        ({"model_tier": "huge"}, 400, 'unknown model tier "huge"; use low, medium or high'),
        (
            {"supply_chain": {"package": "x", "advisory": " "}},
            400,
            "a supply-chain target names both a package and an advisory",
        ),
        (
            {"supply_chain_targets": [{"package": " ", "advisory": "x"}]},
            400,
            "every supply-chain target names a package",
        ),
        ({"after": " "}, 400, "`after` names no colony to stack on"),
        ({"after": "ffffffff"}, 404, "there is no colony `ffffffff` to stack on"),
        ({"host": "far"}, 400, 'no fleet member matches "far"'),
        ({"repo": "acme/app"}, 400, "acme/app is not known here; add it with: colonizer repo add PATH"),
    ],
)
async def test_what_cannot_be_launched_says_why(
    mothership: Served, body: dict[str, object], status: int, words: str
) -> None:
    assert await refused(mothership, body) == (status, {"error": words})
    assert mothership.mothership.store.colonies() == []


async def test_a_repository_that_is_not_known_is_said_after_every_other_guard(mothership: Served) -> None:
    colony = await mothership.launch(TURN_END, issue=7)
    assert await refused(mothership, {"repo": "acme/app", "after": colony}) == (
        409,
        {"error": "stacking is not built yet in the local mothership"},
    )
    _, body = await refused(mothership, {"repo": "acme/app", "agent_module": "x"})
    assert body["error"].startswith("unknown_agent")


async def test_a_second_colony_on_an_issue_is_refused_with_the_ways_out(mothership: Served) -> None:
    holder = await mothership.launch(issue=7)
    await mothership.status(holder, "idle")
    status, body = await refused(mothership, {"issue": 7})
    assert status == 409
    assert body["error"] == (
        f"colony {holder} is already on #7 and it is idle. Starting a second one duplicates its work: read that colony"
        " first, or pass allow_duplicate (`colonizer launch --allow-duplicate`) to start another anyway, or"
        " queue_behind_holder (`colonizer launch --queue-behind-holder`) to wait for it."
    )
    assert body["duplicate"] == {
        "kind": "issue",
        "colony": holder,
        "host": None,
        "status": "idle",
        "pr_url": None,
        "issue": 7,
        "what": "#7",
        "queueable": True,
    }


async def test_a_duplicate_can_be_started_anyway_or_wait(mothership: Served) -> None:
    holder = await mothership.launch(issue=7)
    other = await mothership.launch(issue=7, allow_duplicate=True, queue_behind_holder=True)
    assert mothership.session(other)["status"] == "starting"
    await mothership.call("POST", f"/api/sessions/{other}/stop")
    waiter = await mothership.launch(issue=7, queue_behind_holder=True)
    session = mothership.session(waiter)
    assert (session["status"], session["claim_wait"], session["queued_behind"]) == ("queued", True, holder)
    rows = (await mothership.get("/api/queues"))["rows"]
    assert [(row["reason"], row["detail"]) for row in rows] == [
        ("held", "waiting to claim the issue (another colony holds it)")
    ]
    await mothership.call("POST", f"/api/sessions/{holder}/stop")
    await mothership.status(waiter, "idle")
    assert {"claim_wait", "queued_behind"} & mothership.session(waiter).keys() == set()


async def test_a_colony_that_is_over_does_not_hold_its_issue(mothership: Served) -> None:
    colony = await mothership.launch(TURN_END, issue=7)
    await mothership.call("POST", f"/api/sessions/{colony}/stop")
    await mothership.launch(issue=7)


async def test_a_key_makes_one_colony_however_often_it_is_sent(mothership: Served) -> None:
    issue = {"repo": "local/clone", "issue": 7}
    first = await mothership.call("POST", "/api/sessions", issue, idempotency_key="k-1")
    again = await mothership.call("POST", "/api/sessions", issue, idempotency_key="k-1")
    assert (again.status_code, again.json()["id"]) == (200, first.json()["id"])
    assert again.json()["idempotency_key"] == "k-1"
    assert len(mothership.mothership.store.colonies()) == 1
    status, body = await refused(mothership, {"repo": "acme/other"}, idempotency_key="k-1")
    assert (status, body["error"]) == (
        409,
        f"this `Idempotency-Key` already created colony {first.json()['id']} on local/clone;"
        " use a new key to start one on acme/other",
    )
    # A key is its sender's own.
    token = mothership.token("launch")
    other = await mothership.call("POST", "/api/sessions", {"repo": "local/clone"}, token=token, idempotency_key="k-1")
    assert other.json()["id"] != first.json()["id"]


async def test_a_tokens_limits_and_caps_hold(mothership: Served) -> None:
    elsewhere = mothership.token("launch", orgs=["acme"])
    assert await refused(mothership, token=elsewhere) == (
        403,
        {"error": "this API token's org/repo limits do not include local/clone"},
    )
    capped = mothership.token("launch", max_concurrent=1)
    colony = await mothership.call("POST", "/api/sessions", {"repo": "local/clone"}, token=capped)
    assert colony.json()["launched_by_token"].startswith("tok_")
    assert await refused(mothership, token=capped) == (
        429,
        {
            "error": "this API token's concurrency cap is 1 and it already has 1 colonies that are not finished;"
            " stop one or raise max_concurrent"
        },
    )
    await mothership.call("POST", f"/api/sessions/{colony.json()['id']}/stop")
    assert (await refused(mothership, token=capped))[0] == 200


async def test_a_tokens_budget_of_the_day_holds(mothership: Served) -> None:
    token = mothership.token("launch", budget_usd_per_day=2)
    text = f"[{say('turn_end', is_error=False, cost_usd=2.5)}]".replace("'", '"').replace("False", "false")
    colony = (
        await mothership.call("POST", "/api/sessions", {"repo": "local/clone", "instructions": text}, token=token)
    ).json()["id"]
    await mothership.until(lambda: mothership.session(colony)["cost_usd"] == 2.5)
    status, body = await refused(mothership, token=token)
    assert status == 429
    assert body["error"] == (
        "this API token's colonies have spent $2.50 of its $2.00 budget for today (UTC);"
        " raise budget_usd_per_day or wait for the next day"
    )


async def test_a_clone_without_a_branch_is_refused_with_the_fix(mothership: Served) -> None:
    mothership.clone.git("checkout", "--quiet", "--detach")
    status, body = await refused(mothership)
    assert status == 400
    assert "branch" in body["error"]


async def test_an_agent_of_a_kind_that_is_not_built_is_refused(mothership: Served) -> None:
    mothership.set(settings(agents={"claude": AgentSettings(("claude",), AgentKind.ACP)}))
    status, body = await refused(mothership)
    assert (status, body["error"]) == (
        400,
        'the agent "claude" is of kind acp, which the local mothership cannot run yet',
    )


async def test_settings_are_read_again_at_each_launch(mothership: Served) -> None:
    mothership.set(settings(agents={"other": puppet()}))
    colony = await mothership.launch(TURN_END)
    assert mothership.session(colony)["agent"] == "other"


async def test_settings_that_cannot_be_read_stop_the_launch_with_their_words(mothership: Served) -> None:
    mothership.current.clear()
    assert await refused(mothership) == (400, {"error": "the settings are gone"})


async def test_a_sandbox_that_cannot_be_had_stops_the_launch(
    mothership: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    from colonizer_engines.mothership import boot
    from colonizer_engines.mothership.sandbox import SandboxError

    async def nothing(setting: str) -> None:
        raise SandboxError("user namespaces are forbidden here")

    monkeypatch.setattr(boot, "choose", nothing)
    mothership.set(tuned(mothership.current[0], sandbox=SandboxChoice.BWRAP))
    assert await refused(mothership) == (400, {"error": "user namespaces are forbidden here"})
