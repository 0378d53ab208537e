"""Reads the state of a published mothership's folder, so that every status can be served by ours too; for tests."""

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from colonizer_engines.lenient_json import encode
from colonizer_engines.mothership.colony import Colony
from colonizer_engines.mothership.question import OpenQuestion, asked, closing
from colonizer_engines.mothership.session import TERMINAL, ColonyId, decode_session
from colonizer_engines.mothership.store import EventRow, Store
from colonizer_engines.mothership.wire import as_object

_EARLIER_RUN = re.compile(r"events-(\d+)\.jsonl")


def load(state: Path, store: Store, out: Path) -> None:
    """Puts the colonies of the folder into the database as they are (spec 10.4, 10.5).

    Args:
        state: The folder with `data/sessions.json`.
        store: Where they go; it has to be empty.
        out: The folder that gets their artifacts.
    """
    records = cast("list[dict[str, object]]", json.loads((state / "data/sessions.json").read_text(encoding="utf-8")))
    with store.transaction():
        for record in records:
            # What a record of the published program leaves out reads so there, unlike in a new one of ours.
            session = decode_session({"publishing_holds_slot": True, **_without_stale_attention(record)})
            folder = state / "data/sessions" / session.id
            runs = _runs(folder)
            question: OpenQuestion | None = None
            for epoch, events in enumerate(runs, 1):
                store.append_events(_row(session.id, epoch, event) for event in events)
                question = _open_question(events)
            store.append_log((session.id, encode(line)) for line in _lines(folder / "harness.jsonl"))
            store.put_colony(Colony(session=session, epoch=max(1, len(runs)), question=question))
            if (folder / "out").is_dir():
                shutil.copytree(folder / "out", out / session.id)


def _without_stale_attention(record: Mapping[str, object]) -> Mapping[str, object]:
    attention = as_object(record.get("attention"))
    stale = record["status"] in TERMINAL and attention and attention["reason"] != "provider_quota_exhausted"
    return {**record, "attention": None} if stale else record


def _runs(folder: Path) -> list[list[dict[str, object]]]:
    """The events of each run; the last one is the current one."""
    numbers = sorted(
        int(found[1]) for path in folder.glob("events-*.jsonl") if (found := _EARLIER_RUN.match(path.name))
    )
    files = [folder / f"events-{number}.jsonl" for number in numbers] + [folder / "events.jsonl"]
    return [_lines(file) for file in files if file.exists()]


def _lines(file: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []


def _row(colony: ColonyId, epoch: int, event: Mapping[str, object]) -> EventRow:
    settler = (as_object(event.get("agent")) or {}).get("id")
    return EventRow(
        colony,
        epoch,
        cast("int", event["seq"]),
        str(event["type"]),
        settler if isinstance(settler, str) else None,
        encode(event),
    )


def _open_question(events: list[dict[str, object]]) -> OpenQuestion | None:
    question: OpenQuestion | None = None
    for event in events:
        if event["type"] == "question":
            question = asked(event)
        elif question is not None and closing(question, event) is not None:
            question = None
    return question
