"""The calls that wait for a person, kept in the cockpit's database, which callers and deciders share.

    pending ──approve, edit──> approved ──claim──> claimed ──done──> done
       │                          │                   ├──the tool said no──> failed
       ├──reject──> rejected      │                   └──no answer, or the claimer died──> unknown
       └──nobody decided──> expired <──nobody claimed──┘ (of approved)

Every step is one statement that names the state before it, so that of two who take it one does. A claim is bound to
the caller, the tool, the digest of the arguments, the policy and what the call hangs on; it comes before the effect,
and there is no way back from it. Each step stands in the audit log before it counts.
"""

import json
import sqlite3
import uuid
from collections.abc import Mapping
from functools import cached_property
from typing import Literal, cast

import msgspec

from colonizer_client.approvals.models import Approval, Caller, Request, State, canonical, digest_of
from colonizer_client.approvals.secrecy import holds_secret
from colonizer_client.audit import AuditLog
from colonizer_client.claimant import is_alive, new_claimant
from colonizer_client.clock import Clock
from colonizer_client.errors import Conflict, Forbidden, NotFound, TooMany
from colonizer_client.mothership import wire
from colonizer_client.store import Store
from colonizer_client.text import safe_line, safe_text

LIFE_S = 600.0
"""How long a call waits for a decision, and an approval for its use."""

NEW_A_MINUTE = 10
PENDING_LIMIT = 40
"""Of one caller, so that no flood of them has a person agree without reading."""

ARGUMENTS_LIMIT = 20_000
"""Characters of a call's arguments: what is longer is read by nobody."""

RESULT_LIMIT = 20_000
KEPT = 500
"""Of those that are over."""

SECRETS_REFUSED = "this holds what looks like a secret, which no approval lets through"

_WORDS_LIMIT = 500
_COLUMNS = (
    "id, caller, client, tool, asked, digest, arguments, about, policy, body, state, words, result,"
    " created_at, expires_at, decided_at, decided_by"
)
_OPEN = "state IN ('pending', 'approved', 'claimed')"
"""In these words, which the database's index has too."""

_BINDING = "caller = ? AND client = ? AND tool = ? AND about = ? AND policy = ?"


class _Body(msgspec.Struct):
    """What a row says, apart from what the table has columns for."""

    is_same_user: bool
    mothership: str
    summary: str
    blast: tuple[str, ...]
    asked: str


class Approvals:
    """The approvals of one person, and the log of what became of them.

    Every method raises StoreError when the database or the log cannot be used; the step was not taken then.
    """

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._log = AuditLog.beside(store.path, clock)

    # What callers do.

    def ask(self, request: Request) -> Approval:
        """The approval of this very call: one that is undecided, unused or was just rejected, else a new one.

        Raises:
            Forbidden: It cannot be approved by anybody.
            TooMany: This caller asks for too much at once.
        """
        text = canonical(request.arguments)
        if len(text) > ARGUMENTS_LIMIT:
            raise Forbidden(f"the arguments are longer than {ARGUMENTS_LIMIT} characters", status=403)
        self._bring_up_to_date()
        now = self._clock.now()
        known = (
            f"{_BINDING} AND ? IN (asked, digest) AND ({_OPEN} OR state = 'rejected' AND expires_at > ?)"
            " ORDER BY created_at DESC LIMIT 1"
        )

        def ask(db: sqlite3.Connection) -> Approval:
            if found := self._select(known, *_binding(request), request.digest, now):
                return found[0]
            self._limit(request.caller, now)
            return self._insert(db, request, text, now)

        return self._store.write(ask)

    def claim(self, approval: Approval, request: Request) -> None:
        """Notes that this call is carried out from here, now, and from nowhere else, and never again.

        Args:
            approval: What was approved.
            request: What is called now, and by whom.

        Raises:
            Conflict: It is not approved, no more, or not for this.
        """
        change = (
            "UPDATE approvals SET state = 'claimed', claimant = ?"
            " WHERE id = ? AND digest = ? AND state = 'approved' AND expires_at > ? AND ? IN (asked, digest)"
            f" AND {_BINDING}"
        )
        digest = digest_of(canonical(approval.arguments))
        values = (self._claimant, approval.id, digest, self._clock.now(), request.digest, *_binding(request))

        def claim(db: sqlite3.Connection) -> bool:
            if not db.execute(change, values).rowcount:
                return False
            self._note(approval, "claimed", digest=digest)
            return True

        if not self._store.write(claim):
            words = "it is not approved, or not for this call: nothing was done"
            self._note(approval, "refused", digest=request.digest, words=words)
            raise Conflict(words, status=409)

    def settle(self, approval: Approval, state: Literal["done", "failed", "unknown"], result: str) -> None:
        """Notes what came of a call that was claimed from here; `result` is what the tool answered, raw."""
        change = (
            "UPDATE approvals SET state = ?, result = ?, words = ?"
            " WHERE id = ? AND claimant = ? AND state IN ('claimed', 'unknown')"
        )
        words = "" if state == "done" else safe_line(result, limit=_WORDS_LIMIT)
        # Half a surrogate pair can be kept by no database.
        kept = result[:RESULT_LIMIT].encode("utf-8", "replace").decode()

        def settle(db: sqlite3.Connection) -> None:
            if db.execute(change, (state, kept, words, approval.id, self._claimant)).rowcount:
                self._note(approval, state, words=words)

        self._store.write(settle)

    def refuse(self, caller: Caller, tool: str, arguments: Mapping[str, object], words: str) -> None:
        """Notes a call that was refused before it could wait."""
        record = _of_call(caller, tool, digest_of(canonical(arguments)))
        self._log.append({**record, "result": "refused", "words": safe_line(words, limit=_WORDS_LIMIT)})

    # What a person does. `who` names the person's face.

    def approve(self, approval_id: str, digest: str, who: str) -> Approval:
        """The approval, given to exactly these arguments.

        Raises:
            NotFound: There is none of that id.
            Conflict: It is decided already, too late, or the digest is that of other arguments.
        """
        return self._decide(approval_id, digest, "approved", who)

    def edit(self, approval_id: str, digest: str, arguments: Mapping[str, object], who: str) -> Approval:
        """The approval, given to other arguments than those that were asked for and have the digest.

        Raises:
            Forbidden: They hold what looks like a secret, or are too long.
            NotFound: As `approve`, like Conflict.
        """
        text = canonical(arguments)
        if holds_secret(arguments):
            raise Forbidden(SECRETS_REFUSED, status=403)
        if len(text) > ARGUMENTS_LIMIT:
            raise Forbidden(f"the arguments are longer than {ARGUMENTS_LIMIT} characters", status=403)
        return self._decide(approval_id, digest, "approved", who, arguments=text)

    def reject(self, approval_id: str, who: str, reason: str = "") -> Approval:
        """The approval, which is refused; the caller reads the reason.

        Raises:
            NotFound: As `approve`, like Conflict.
        """
        return self._decide(approval_id, None, "rejected", who, words=safe_text(reason, limit=_WORDS_LIMIT))

    # What both read.

    def get(self, approval_id: str) -> Approval:
        """One approval as it stands now.

        Raises:
            NotFound: There is none of that id.
        """
        self._bring_up_to_date()
        return self._found(approval_id)

    def pending(self) -> tuple[Approval, ...]:
        """Those that wait for the person, oldest first."""
        self._bring_up_to_date()
        return self._select(f"{_OPEN} AND state = 'pending' ORDER BY created_at, id")

    def newest(self, limit: int) -> tuple[Approval, ...]:
        """The newest ones whatever their state, newest first."""
        self._bring_up_to_date()
        return self._select("1 ORDER BY created_at DESC, id LIMIT ?", limit)

    def _decide(
        self, approval_id: str, digest: str | None, state: State, who: str, *, arguments: str = "", words: str = ""
    ) -> Approval:
        found, now = self.get(approval_id), self._clock.now()
        if digest is not None and digest != found.digest:
            raise Conflict("this is not what was shown: look at it again", status=409)
        text = arguments or canonical(found.arguments)
        change = (
            "UPDATE approvals SET state = ?, words = ?, arguments = ?, digest = ?, decided_by = ?, decided_at = ?,"
            " expires_at = ? WHERE id = ? AND digest = ? AND state = 'pending' AND expires_at > ?"
        )
        values = (state, words, text, digest_of(text), who, now, now + LIFE_S, approval_id, found.digest, now)

        def decide(db: sqlite3.Connection) -> bool:
            if not db.execute(change, values).rowcount:
                return False
            self._note(found, state, who=who, decided=digest_of(text), words=words)
            return True

        if not self._store.write(decide):
            at_last = self.get(approval_id)
            words = _why_decided(at_last)
            self._note(at_last, "decision refused", who=who, words=words)
            raise Conflict(words, status=409)
        return self.get(approval_id)

    @cached_property
    def _claimant(self) -> str:
        return new_claimant()

    def _limit(self, caller: Caller, now: float) -> None:
        count = "SELECT sum(created_at > ?), sum(state = 'pending') FROM approvals WHERE caller = ?"
        new, pending = (int(cast("int", value or 0)) for value in self._store.rows(count, now - 60, caller.id)[0])
        if pending >= PENDING_LIMIT:
            raise TooMany(f"{pending} calls wait for the person already: wait until some are decided", status=429)
        if new >= NEW_A_MINUTE:
            raise TooMany(f"more than {NEW_A_MINUTE} calls a minute cannot be asked for: wait a moment", status=429)

    def _insert(self, db: sqlite3.Connection, request: Request, text: str, now: float) -> Approval:
        summary = request.summary + self._doubt(request)
        body = _Body(request.caller.is_same_user, request.mothership, summary, request.blast, text)
        approval_id = uuid.uuid4().hex[:8]
        caller, client, tool, about, policy = _binding(request)
        row: tuple[object, ...] = (
            *(approval_id, caller, client, tool, request.digest, request.digest, text, about, policy),
            *(msgspec.json.encode(body).decode(), "pending", "", "", now, now + LIFE_S, None, ""),
        )
        db.execute(f"INSERT INTO approvals ({_COLUMNS}) VALUES ({', '.join('?' * len(row))})", row)
        db.execute(
            f"DELETE FROM approvals WHERE NOT {_OPEN} AND id NOT IN"
            " (SELECT id FROM approvals ORDER BY created_at DESC LIMIT ?)",
            (KEPT,),
        )
        approval = _approval(row)
        self._note(approval, "asked for", summary=safe_line(summary, limit=_WORDS_LIMIT))
        return approval

    def _doubt(self, request: Request) -> str:
        """What the person has to know where the same call may have been carried out already."""
        unknown = self._select(
            "caller = ? AND tool = ? AND ? IN (asked, digest) AND state = 'unknown' ORDER BY created_at DESC LIMIT 1",
            *(request.caller.id, request.tool, request.digest),
        )
        return f" Careful: whether {unknown[0].id}, the same call, was carried out is not known." if unknown else ""

    def _bring_up_to_date(self) -> None:
        """Ends what nobody decided or used in time, and what a process claimed that is no more."""
        now = self._clock.now()
        rows = self._store.rows(f"SELECT id, state, expires_at <= ?, claimant FROM approvals WHERE {_OPEN}", now)
        late = [str(row[0]) for row in rows if row[1] != "claimed" and row[2]]
        dead = [(str(row[0]), str(row[3])) for row in rows if row[1] == "claimed" and not self._lives(str(row[3]))]
        if not late and not dead:
            return

        def end(db: sqlite3.Connection) -> None:
            expire = (
                "UPDATE approvals SET state = 'expired', words = ?"
                " WHERE id = ? AND state IN ('pending', 'approved') AND expires_at <= ?"
            )
            for approval in map(self._found, late):
                words = "nobody decided in time" if approval.state == "pending" else "it was not used in time"
                if db.execute(expire, (words, approval.id, now)).rowcount:
                    self._note(approval, "expired", words=words)
            lose = (
                "UPDATE approvals SET state = 'unknown', words = ? WHERE id = ? AND claimant = ? AND state = 'claimed'"
            )
            for approval_id, claimant in dead:
                words = "the process that carried it out ended before it knew what came of it"
                if db.execute(lose, (words, approval_id, claimant)).rowcount:
                    self._note(self._found(approval_id), "unknown", words=words)

        self._store.write(end)

    def _lives(self, claimant: str) -> bool:
        return claimant == self._claimant or is_alive(claimant)

    def _note(self, approval: Approval, result: str, **more: object) -> None:
        request = approval.request
        told = {name: value for name, value in more.items() if value}
        record = _of_call(request.caller, request.tool, approval.digest)
        at = {"approval": approval.id, "mothership": request.mothership, "policy": request.policy}
        self._log.append({**record, **at, "result": result, **told})

    def _found(self, approval_id: str) -> Approval:
        """One approval as it is stored; raises NotFound."""
        found = self._select("id = ?", approval_id)
        if not found:
            raise NotFound(f"there is no approval {safe_line(approval_id, limit=60)}", status=404)
        return found[0]

    def _select(self, where: str, *arguments: object) -> tuple[Approval, ...]:
        return tuple(map(_approval, self._store.rows(f"SELECT {_COLUMNS} FROM approvals WHERE {where}", *arguments)))


def _binding(request: Request) -> tuple[str, str, str, str, str]:
    return request.caller.id, request.caller.client, request.tool, request.about, request.policy


def _of_call(caller: Caller, tool: str, digest: str) -> Mapping[str, object]:
    return {"who": f"{caller.client} over MCP", "caller": caller.id, "what": tool, "digest": digest}


def _why_decided(approval: Approval) -> str:
    """Why a decision on it came too late."""
    if approval.state == "expired":
        return f"{approval.id} has expired: {approval.words}"
    word = "rejected" if approval.state == "rejected" else "approved"
    return f"{approval.id} was {word} already, by {approval.decided_by}"


def _approval(row: tuple[object, ...]) -> Approval:
    approval_id, caller, client, tool, _, digest, arguments, about, policy, body, state, words, result = row[:13]
    created_at, expires_at, decided_at, decided_by = row[13:]
    told = msgspec.json.decode(str(body), type=_Body)
    return Approval(
        id=str(approval_id),
        request=Request(
            caller=Caller(str(caller), str(client), told.is_same_user),
            tool=str(tool),
            arguments=_parsed(told.asked),
            policy=str(policy),
            mothership=told.mothership,
            summary=told.summary,
            blast=told.blast,
            about=str(about),
        ),
        arguments=_parsed(str(arguments)),
        digest=str(digest),
        state=cast("State", state),
        created_at=float(cast("float", created_at)),
        expires_at=float(cast("float", expires_at)),
        words=str(words),
        result=str(result),
        decided_at=None if decided_at is None else float(cast("float", decided_at)),
        decided_by=str(decided_by),
    )


def _parsed(text: str) -> Mapping[str, object]:
    return wire.mapping(json.loads(text))
