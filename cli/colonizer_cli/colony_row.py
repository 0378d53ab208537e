"""A colony in one line, as lists print it."""

from collections.abc import Mapping

from colonizer_client.mothership import wire

TASK_WIDTH = 80


def colony_row(session: Mapping[str, object]) -> str:
    """Id, status, repository and task of a session as its mothership told it (spec 7.2)."""
    colony, status, repo = (wire.line(session.get(key)) or "?" for key in ("id", "status", "repo"))
    issue = wire.integer(session.get("issue"))
    title = session.get("instructions") if issue is None else session.get("issue_title")
    task = ("" if issue is None else f"#{issue} ") + wire.line(title, TASK_WIDTH)
    return f"{colony:10}  {status:18}  {repo:24}  {task}"
