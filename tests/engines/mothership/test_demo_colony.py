"""The first thing that a person tries: a colony of the demo agent, confined where that is possible."""

from pathlib import Path

import pytest

from colonizer_config.settings import LocalSettings, SandboxChoice, Settings
from served_mothership import Json, Served, served

pytestmark = pytest.mark.anyio

UNCONFIGURED = Settings(local=LocalSettings(sandbox=SandboxChoice.AUTO))


async def answer_with_first_option(mothership: Served, colony: str) -> None:
    # The status tells of the question before this one until the agent's next line is read.
    await mothership.until(lambda: mothership.mothership.fleet.get(colony).question is not None)
    question = await mothership.get(f"/api/sessions/{colony}/question")
    answers: Json = {}
    for prompt in question["questions"]:
        labels = [option["label"] for option in prompt["options"]]
        first = labels[0] if labels else "A title"
        answers[prompt["question"]] = [first] if prompt["multi_select"] else first
    body = {"question_id": question["question_id"], "answers": answers, "questions": question["questions"]}
    reply = await mothership.call("POST", f"/api/sessions/{colony}/answer", body)
    assert reply.status_code == 204, reply.text
    await mothership.said(colony, "question_answered", question_id=question["question_id"])


async def test_a_demo_colony_asks_changes_files_and_goes_on_where_it_was(tmp_path: Path) -> None:
    async with served(tmp_path, given=UNCONFIGURED) as mothership:
        colony = await mothership.launch(title="Improve this", instructions="Make it nicer.")
        assert mothership.session(colony)["agent"] == "demo"
        for _ in range(3):
            await answer_with_first_option(mothership, colony)
        await mothership.said(colony, "turn_end")
        await mothership.status(colony, "idle")

        diff = await mothership.get(f"/api/sessions/{colony}/diff")
        assert len(diff["files"]) >= 2
        assert "new file mode" in diff["diff"]
        files = await mothership.get(f"/api/sessions/{colony}/files")
        assert "pr.md" in [file["filename"] for file in files["files"]]
        assert len(mothership.session(colony)["answered_questions"]) == 3

        await mothership.call("POST", f"/api/sessions/{colony}/stop")
        await mothership.call("POST", f"/api/sessions/{colony}/resume")
        await mothership.said(colony, "turn_end")
        assert mothership.events(colony, "question") == []
        again = await mothership.get(f"/api/sessions/{colony}/diff")
        assert again["diff"] == diff["diff"]
