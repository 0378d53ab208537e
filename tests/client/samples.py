"""Models to test with, made the way the client makes them: from the wire."""

from typing import Any

from colonizer_client.identity import ColonyId, ColonyKey, EndpointName
from colonizer_client.mothership import decode
from colonizer_client.mothership.models import Colony, OpenQuestion

HQ = EndpointName("hq")
NOON = "2026-11-30T12:00:00Z"

Json = dict[str, Any]


def session(colony_id: str = "c0ffee00", **fields: object) -> Json:
    """A session as the wire has it."""
    base: Json = {
        "id": colony_id,
        "repo": "acme/widgets",
        "org": "acme",
        "issue": None,
        "issue_title": "A task",
        "instructions": "Do it",
        "status": "running",
        "created_at": "2026-11-30T11:00:00Z",
        "updated_at": NOON,
        "cost_usd": None,
        "routed_cost_usd": None,
        "error": None,
        "attention": None,
    }
    return base | fields


def colony(colony_id: str = "c0ffee00", **fields: object) -> Colony:
    return decode.colony(HQ, session(colony_id, **fields))


def key(colony_id: str = "c0ffee00") -> ColonyKey:
    return ColonyKey(HQ, ColonyId(colony_id))


def prompt(text: str = "Which base?", *labels: str, **more: object) -> Json:
    options = [{"label": label, "description": f"to use {label}"} for label in labels]
    return {"question": text, "header": "Base", "multi_select": False, "options": options, **more}


def question_body(question_id: str = "q-1", *prompts: Json, **more: object) -> Json:
    """An open question as the wire has it."""
    return {
        "question_id": question_id,
        "risk": "workspace_write",
        "questions": list(prompts or (prompt("Which base?", "main", "dev"),)),
        **more,
    }


def question(question_id: str = "q-1", *prompts: Json, **more: object) -> OpenQuestion:
    return decode.open_question(question_body(question_id, *prompts, **more))
