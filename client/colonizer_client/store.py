"""The cockpit's own database: drafts, the outbox, approvals, offers to kernels. Every face of one person shares it."""

import json
import os
import sqlite3
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from colonizer_client.errors import StoreError
from colonizer_config.errors import FolderError
from colonizer_config.paths import make_private

T = TypeVar("T")

SCHEMA_VERSION = 3
BUSY_TIMEOUT_MS = 2_000

_SCHEMA = """
CREATE TABLE IF NOT EXISTS drafts (
    endpoint TEXT NOT NULL,
    colony TEXT NOT NULL,
    about TEXT NOT NULL,
    body TEXT NOT NULL,
    updated_at REAL NOT NULL,
    PRIMARY KEY (endpoint, colony, about)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS outbox (
    id TEXT PRIMARY KEY,
    endpoint TEXT NOT NULL,
    colony TEXT NOT NULL,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    state TEXT NOT NULL,
    words TEXT NOT NULL DEFAULT '',
    claimant TEXT NOT NULL DEFAULT '',
    attempts INTEGER NOT NULL DEFAULT 0,
    created_at REAL NOT NULL,
    settled_at REAL
);
CREATE INDEX IF NOT EXISTS outbox_open ON outbox (endpoint, colony) WHERE settled_at IS NULL;
CREATE TABLE IF NOT EXISTS remembered (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS bridge_since (
    endpoint TEXT PRIMARY KEY,
    at REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS bridge_seen (
    endpoint TEXT NOT NULL,
    colony TEXT NOT NULL,
    status TEXT NOT NULL,
    run INTEGER NOT NULL,
    active_at REAL,
    PRIMARY KEY (endpoint, colony)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS offers (
    id TEXT PRIMARY KEY,
    endpoint TEXT NOT NULL,
    colony TEXT NOT NULL,
    run INTEGER NOT NULL,
    body TEXT NOT NULL,
    state TEXT NOT NULL,
    words TEXT NOT NULL,
    created_at REAL NOT NULL,
    settled_at REAL,
    UNIQUE (endpoint, colony, run)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS offers_open ON offers (created_at) WHERE settled_at IS NULL;
CREATE TABLE IF NOT EXISTS approvals (
    id TEXT PRIMARY KEY,
    caller TEXT NOT NULL,
    client TEXT NOT NULL,
    tool TEXT NOT NULL,
    asked TEXT NOT NULL,
    digest TEXT NOT NULL,
    arguments TEXT NOT NULL,
    about TEXT NOT NULL,
    policy TEXT NOT NULL,
    body TEXT NOT NULL,
    state TEXT NOT NULL,
    words TEXT NOT NULL DEFAULT '',
    result TEXT NOT NULL DEFAULT '',
    created_at REAL NOT NULL,
    expires_at REAL NOT NULL,
    decided_at REAL,
    decided_by TEXT NOT NULL DEFAULT '',
    claimant TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS approvals_open ON approvals (created_at)
    WHERE state IN ('pending', 'approved', 'claimed');
CREATE INDEX IF NOT EXISTS approvals_of ON approvals (caller, tool);
"""


class Store:
    """One connection to the cockpit's database.

    Raises:
        StoreError: The file cannot be made, opened or read, or was written by a newer version.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            make_private(path.parent)
            self._make_file_private()
            self._db = sqlite3.connect(path, timeout=BUSY_TIMEOUT_MS / 1000, isolation_level=None)
        except (OSError, FolderError, sqlite3.Error) as problem:
            raise StoreError(f"cannot open {path}: {problem}") from problem
        try:
            with self._words():
                self._prepare()
        except StoreError:
            self._db.close()
            raise

    def close(self) -> None:
        """Closes the connection."""
        self._db.close()

    def write(self, change: Callable[[sqlite3.Connection], T]) -> T:
        """What `change` returns, its statements committed together or not at all.

        Raises:
            StoreError: The disk is full, the file is locked for too long, or damaged.
        """
        with self._words():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                result = change(self._db)
            except BaseException:
                self._db.rollback()
                raise
            self._db.execute("COMMIT")
            return result

    def rows(self, query: str, *arguments: object) -> list[tuple[object, ...]]:
        """The rows of a query.

        Raises:
            StoreError: As `write`.
        """
        with self._words():
            return self._db.execute(query, arguments).fetchall()

    def remember(self, name: str, value: object) -> None:
        """Keeps a small JSON value under a name, such as the workspace that was in front."""
        text = json.dumps(value)
        self.write(lambda db: db.execute("INSERT OR REPLACE INTO remembered VALUES (?, ?)", (name, text)))

    def remembered(self, name: str) -> object:
        """The value kept under a name, None where there is none."""
        rows = self.rows("SELECT value FROM remembered WHERE name = ?", name)
        try:
            return json.loads(str(rows[0][0])) if rows else None
        except ValueError:
            return None

    def rename_endpoint(self, before: str, after: str) -> None:
        """Files the drafts, the unsettled deliveries and the offers of an endpoint under another name.

        Raises:
            StoreError: As `write`.
        """

        def rename(db: sqlite3.Connection) -> None:
            db.execute("UPDATE OR REPLACE drafts SET endpoint = ? WHERE endpoint = ?", (after, before))
            db.execute("UPDATE outbox SET endpoint = ? WHERE endpoint = ? AND settled_at IS NULL", (after, before))
            for table in ("bridge_since", "bridge_seen", "offers"):
                db.execute(f"UPDATE OR REPLACE {table} SET endpoint = ? WHERE endpoint = ?", (after, before))

        self.write(rename)

    def _make_file_private(self) -> None:
        # SQLite gives its side files the mode of the database itself.
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            os.fchmod(descriptor, 0o600)
        finally:
            os.close(descriptor)

    def _prepare(self) -> None:
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")
        found = int(self._db.execute("PRAGMA user_version").fetchone()[0])
        if found > SCHEMA_VERSION:
            raise StoreError(f"{self.path} was written by a newer version of colonizer; use that one")
        if found < SCHEMA_VERSION:
            self._db.executescript(_SCHEMA)
            self._db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    @contextmanager
    def _words(self) -> Generator[None, None, None]:
        try:
            yield
        except sqlite3.Error as problem:
            try:
                if self._db.in_transaction:
                    self._db.rollback()
            except sqlite3.Error:
                pass  # SQLite has rolled back by itself
            raise StoreError(f"cannot use {self.path}: {problem}") from problem
