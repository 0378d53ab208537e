"""Moments to draw: models made by hand, at a time that stands still."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from colonizer_client.approvals.desk import ApprovalDesk
from colonizer_client.approvals.models import Approval
from colonizer_client.cockpit import Cockpit
from colonizer_client.identity import ColonyId, ColonyKey, EndpointName
from colonizer_client.kernel.desk import Kernels
from colonizer_client.kernel.models import PlanReview
from colonizer_client.mothership import decode
from colonizer_client.mothership.models import Attention, Colony, Diff, FileChange, OpenQuestion, Parked, Standing
from colonizer_client.snapshot import (
    ColonyChanged,
    DiffChanged,
    DiffState,
    EndpointChanged,
    EndpointState,
    Health,
    HubEvent,
    Phase,
    QuestionRead,
    TranscriptChanged,
    TranscriptState,
)
from colonizer_client.store import Store
from colonizer_client.transcript import Transcript
from colonizer_tui.app import CockpitApp
from colonizer_tui.surroundings import Surroundings

NOW = 1_796_040_000.0
"""30 November 2026, 12:00:00 UTC."""

LOCAL = EndpointName("local")
HQ = EndpointName("hq")
LAB = EndpointName("lab")
OWNER = Standing(is_owner=True, scope="owner")


class StillClock:
    """A clock that stands at `NOW` until it is moved."""

    def __init__(self) -> None:
        self.time = NOW

    def now(self) -> float:
        return self.time

    def monotonic(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        raise AssertionError("nothing waits in a moment that stands still")


def endpoint(name: EndpointName = LOCAL, **changes: object) -> EndpointState:
    """A live connection of an owner."""
    made = EndpointState(
        name=name,
        address="unix:/run/colonizer/0a1b2c3d.sock" if name == LOCAL else f"http://{name}.tailnet:7878",
        is_local=name == LOCAL,
        is_own=name != LOCAL,
        health=Health.LIVE,
        since=NOW - 3_600,
        standing=OWNER,
        version="0.1.0",
        latency_s=0.004 if name == LOCAL else 0.018,
        skew_s=0.0,
        as_of=NOW,
        sandbox="bwrap" if name == LOCAL else "",
    )
    return replace(made, **changes)


def key_of(name: str, host: EndpointName = HQ) -> ColonyKey:
    """The key of a colony."""
    return ColonyKey(host, ColonyId(name))


def colony(name: str, status: str, minutes: float, *, host: EndpointName = HQ, **changes: object) -> Colony:
    """A colony that changed so many minutes ago."""
    at = NOW - minutes * 60
    made = Colony(
        key=key_of(name, host),
        shown_id=name,
        repo_raw="acme/widgets",
        repo="acme/widgets",
        org="acme",
        issue=None,
        title="A thing to do",
        status=status,
        branch=f"colonizer/session-{name}",
        base="main",
        agent="claude-code",
        autopilot=False,
        sandbox=f"colonizer-{name}",
        created_at=at - 600,
        updated_at=at,
        last_activity_at=at,
        cost_usd=None,
        pr_url="",
        ci_state="",
        error="",
        has_worktree=True,
    )
    return replace(made, **changes)


def question(
    *prompts: dict[str, object], risk: str = "workspace_write", name: str = "q-1", minutes: float = 57
) -> OpenQuestion:
    """An open question with these prompts, as the wire has them."""
    made = decode.open_question({"question_id": name, "risk": risk, "questions": list(prompts)})
    return replace(made, asked_at=NOW - minutes * 60)


def prompt(text: str, *labels: str, multi: bool = False, header: str = "", **described: str) -> dict[str, object]:
    """One prompt on the wire."""
    options = [{"label": label, "description": described.get(label, ""), "preview": None} for label in labels]
    return {"question": text, "header": header, "multi_select": multi, "options": options}


BRANCHES: dict[str, object] = {
    "question": "Which base branch?",
    "header": "Base",
    "multi_select": False,
    "options": [
        {"label": "main", "description": "the default branch"},
        {
            "label": "develop",
            "description": "next release",
            "preview": "git log develop -3\n8a1f0c2 Prepare the release",
        },
    ],
}
CHECKS: dict[str, object] = {
    "question": "Which checks should run?",
    "header": "Checks",
    "multi_select": True,
    "options": [
        {"label": "unit", "description": "fast"},
        {"label": "lint", "description": "ruff"},
        {"label": "2", "description": "a label that is a number"},
    ],
}
TITLE: dict[str, object] = {
    "question": "What should the title say?",
    "header": "Title",
    "multi_select": False,
    "options": [],
}

RELEASE = key_of("5e6f7a8b")
THREE_QUESTIONS = question(BRANCHES, CHECKS, TITLE)
ROCKET = key_of("910be000")
ROCKET_QUESTION = question(
    prompt("Launch the rocket?", "Yes", "No", Yes="go on", No="stop here"), risk="unknown", minutes=59
)


def every_state() -> list[HubEvent]:
    """A fleet of three hosts with a colony in every state, as in the sketch of the first screen."""
    pull = "https://github.example/acme/widgets/pull/"
    colonies = [
        colony("5e6f7a8b", "waiting_for_answer", 57, issue=12, title="Choose how to release", cost_usd=1.5),
        colony(
            "910be000",
            "waiting_for_answer",
            59,
            issue=7,
            title="Another workspace asks",
            repo="acme/rocket",
            repo_raw="acme/rocket",
        ),
        colony(
            "ba5eba11",
            "running",
            30,
            issue=15,
            title="Tried the same denied call",
            attention=Attention("control_defeat", NOW - 1_800, "the same denied command three times"),
        ),
        colony(
            "fa11ed00",
            "failed",
            60,
            issue=17,
            title="Would not boot",
            error="boot failed: image not found",
            unseen_failure=True,
        ),
        colony(
            "57a11ed0",
            "running",
            20,
            host=LAB,
            issue=16,
            title="No sign of life",
            attention=Attention("stalled", NOW - 1_200),
        ),
        colony(
            "10ca1000",
            "running",
            0.07,
            host=LOCAL,
            title="Tidy the changelog",
            cost_usd=0.02,
            repo="local/notes",
            repo_raw="local/notes",
            sandbox="bwrap",
            agent="demo",
        ),
        colony("a1b2c3d4", "running", 3, issue=325, title="Greet the world", cost_usd=0.42),
        colony("9b115400", "publishing", 3, issue=25, title="On its way"),
        colony("1d1e0000", "idle", 3, issue=26, title="Turn is over", cost_usd=0.07),
        colony(
            "09e4ed00",
            "pr_opened",
            9,
            issue=18,
            title="Ready for review",
            cost_usd=2.25,
            pr_url=pull + "18",
            ci_state="pending",
        ),
        colony("90e0e001", "queued", 67, issue=23, title="Waits for a slot", has_worktree=False),
        colony(
            "b10c4ed0",
            "blocked",
            65,
            issue=24,
            title="Stacked on a stopped one",
            blocked_reason="waiting on 0dd50e5a, which is stopped",
        ),
        colony("9a46ed00", "parked", 25, issue=22, title="Set aside", parked=Parked("hold_timeout", NOW - 1_500)),
        colony("e3a6ed00", "merged", 10, issue=19, title="Done", cost_usd=0.1, pr_url=pull + "9", ci_state="success"),
        colony("c105ed00", "closed", 40, issue=20, title="Refused", pr_url=pull + "7"),
        colony("00c4a4e5", "no_changes", 45, issue=21, title="Nothing to do"),
        colony("0dd50e5a", "stopped", 50, issue=41, title="Stopped by a person", cost_usd=0.0),
        colony("70301101", "dreaming", 55, issue=42, title="A status of tomorrow"),
    ]
    return [
        EndpointChanged(endpoint(LOCAL)),
        EndpointChanged(endpoint(HQ)),
        EndpointChanged(endpoint(LAB)),
        *(ColonyChanged(one) for one in colonies),
        QuestionRead(RELEASE, THREE_QUESTIONS),
        QuestionRead(ROCKET, ROCKET_QUESTION),
    ]


def silent(name: EndpointName, seconds: float = 40) -> EndpointChanged:
    """A host that does not answer any more."""
    return EndpointChanged(
        endpoint(
            name,
            health=Health.SILENT,
            since=NOW - seconds,
            as_of=NOW - seconds,
            error="it took too long",
            retry_at=NOW + 4,
        )
    )


SMALL_DIFF = Diff(
    base="main",
    files=(FileChange("src/app.py", 2, 1), FileChange("old.txt", 0, 3), FileChange("notes/plan.md", 2, 0)),
    added=4,
    removed=4,
    text=(
        "diff --git a/src/app.py b/src/app.py\nindex 387db03..e056441 100644\n--- a/src/app.py\n+++ b/src/app.py\n"
        "@@ -1,5 +1,6 @@ class App:\n def main():\n-    print('hello')\n+    print('hello, world')\n+    return 0\n"
        " \n \n"
        " if __name__ == '__main__':\n"
        "diff --git a/old.txt b/old.txt\ndeleted file mode 100644\nindex 4cb29ea..0000000\n"
        "--- a/old.txt\n+++ /dev/null\n"
        "@@ -1,3 +0,0 @@\n-one\n-two\n-three\n"
        "diff --git a/notes/plan.md b/notes/plan.md\nnew file mode 100644\n--- /dev/null\n+++ b/notes/plan.md\n"
        "@@ -0,0 +1,2 @@\n+- step one\n+- step two\n"
    ),
    truncated=False,
)


def diff_read(of: ColonyKey, diff: Diff = SMALL_DIFF, **changes: object) -> DiffChanged:
    """A diff that was read."""
    return DiffChanged(of, replace(DiffState(diff, NOW), **changes))


def transcript_of(of: ColonyKey, frames: Sequence[dict[str, object]], **changes: object) -> TranscriptChanged:
    """A transcript made of frames as the wire has them, live."""
    from colonizer_client.mothership.frames import numbered

    transcript = Transcript()
    for seq, frame in enumerate(frames, 1):
        found = numbered({"seq": seq, "ts": "2026-11-30T11:30:00Z", **frame})
        if found is not None and found.event is not None:
            transcript.apply(found.event)
    state = TranscriptState(transcript, Phase.LIVE, epoch=2)
    return TranscriptChanged(of, replace(state, **changes))


WORK: Sequence[dict[str, object]] = (
    {
        "type": "user_message",
        "id": "initial",
        "text": "Greet the world\n\nMake it say hello to everyone.\nKeep it short.",
    },
    {"type": "model_changed", "model": "sonnet", "previous": None},
    {
        "type": "thinking",
        "message_id": "m1",
        "block_index": 0,
        "text": "The greeting is in src/app.py.\nOne line will do.",
    },
    {
        "type": "assistant_text",
        "message_id": "m2",
        "block_index": 0,
        "text": "I will change the **greeting** in `src/app.py`.",
    },
    {
        "type": "tool_call",
        "message_id": "m3",
        "tool_call_id": "t1",
        "name": "Edit",
        "input": {"file_path": "src/app.py"},
    },
    {"type": "tool_result", "tool_call_id": "t1", "output": "ok", "is_error": False},
    {"type": "tool_call", "message_id": "m4", "tool_call_id": "t2", "name": "Bash", "input": {"command": "pytest -q"}},
    {"type": "tool_result", "tool_call_id": "t2", "output": "1 failed\nassert 'hello' == 'hi'", "is_error": True},
    {
        "type": "tool_call",
        "message_id": "m5",
        "tool_call_id": "t3",
        "name": "Task",
        "input": {"description": "review it"},
    },
    {
        "type": "assistant_text",
        "message_id": "m6",
        "block_index": 0,
        "text": "One test fails; looking.",
        "agent": {"id": "t3", "name": "reviewer", "description": "review it"},
    },
    {"type": "tool_result", "tool_call_id": "t3", "output": "The test is wrong.", "is_error": False},
    {
        "type": "turn_end",
        "is_error": False,
        "result": "done",
        "cost_usd": 0.42,
        "duration_ms": 93_000,
        "model_usage": {"sonnet": {}},
    },
    {"type": "user_message", "id": "u-1", "text": "Then mend the test."},
    {"type": "status", "state": "working"},
)


class StillKernels(Kernels):
    """Kernels that nobody is connected to."""

    def watch(self, name: EndpointName) -> None:
        """Reads nothing: what is to be seen was given."""

    def unwatch(self, name: EndpointName) -> None:
        """Nothing is read."""

    def sample_first(self, name: EndpointName, places: Sequence[str]) -> None:
        """Samples nothing."""

    async def falsify(self, name: EndpointName, plan: Mapping[str, object]) -> PlanReview:
        """Goes on for ever: what is to be seen was given."""
        return await asyncio.Future[PlanReview]()


class StillApprovals(ApprovalDesk):
    """Approvals that no other process changes."""

    async def changes(self) -> AsyncGenerator[tuple[Approval, ...]]:
        """Never any: what is to be seen was given."""
        yield await asyncio.Future[tuple[Approval, ...]]()


class StillCockpit(Cockpit):
    """A cockpit that is connected to nothing and shows what it is given."""

    def __init__(self, folder: Path, events: Sequence[HubEvent]) -> None:
        super().__init__(lambda: Store(folder / "cockpit.db"), StillClock())
        self.kernels = StillKernels(self.hub.post, lambda: self.store, self.clock)
        self.approvals = StillApprovals(lambda: self.store, self.clock)
        for event in events:
            self.hub.post(event)

    def open(self, key: ColonyKey) -> None:
        """Follows nothing: what is to be seen was given."""

    def close(self, key: ColonyKey) -> None:
        """Nothing is followed."""

    async def read_detail(self, key: ColonyKey) -> None:
        """Reads nothing."""

    async def read_diff(self, key: ColonyKey) -> None:
        """Reads nothing."""


def still_app(folder: Path, events: Sequence[HubEvent], **surroundings: object) -> CockpitApp:
    """The application, showing these events and nothing else."""
    given = Surroundings(repo=lambda: "acme/widgets", agents=("demo", "claude"), crash_folder=folder)
    return CockpitApp(StillCockpit(folder, events), replace(given, **surroundings))
