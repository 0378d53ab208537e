"""The database: what is kept together, and a file that cannot be used is left as it is."""

import sqlite3
from contextlib import suppress
from pathlib import Path

import pytest

from colonizer_engines.mothership.colony import Colony
from colonizer_engines.mothership.errors import DatabaseUnusable, StorageFull, StoreError
from colonizer_engines.mothership.question import OpenQuestion
from colonizer_engines.mothership.session import ColonyId, Session
from colonizer_engines.mothership.store import EventRow, Store

ONE = ColonyId("a1b2c3d4")


def colony(**more: object) -> Colony:
    session = Session(
        id=ONE,
        repo="acme/app",
        org="acme",
        branch="colonizer/session-a1b2c3d4",
        worktree="/w",
        created_at="2026-11-30T12:00:00Z",
        updated_at="2026-11-30T12:00:00Z",
    )
    return Colony(session=session, **more)  # type: ignore[arg-type]


def row(seq: int, body: bytes = b"{}", kind: str = "log") -> EventRow:
    return EventRow(ONE, 1, seq, kind, None, body)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "mothership.db"


def test_what_is_written_is_there_again(path: Path) -> None:
    kept = colony(epoch=3, question=OpenQuestion("q", "read_only", ({"question": "?"},), True, False))
    store = Store.open(path)
    with store.transaction():
        store.put_colony(kept)
        store.append_events([row(1), row(2, b'{"a":1}')])
        store.append_log([(ONE, b'{"n":1}'), (ONE, b'{"n":2}')])
        store.add_message_id(ONE, "m")
    store.close()
    store = Store.open(path)
    assert store.colonies() == [kept]
    assert [found.body for found in store.events_after(ONE, 1, 0, 10)] == [b"{}", b'{"a":1}']
    assert (store.last_seq(ONE, 1), store.last_seq(ONE, 2)) == (2, 0)
    assert store.last_log_lines(ONE, 1) == [b'{"n":2}']
    assert (store.knows_message_id(ONE, "m"), store.knows_message_id(ONE, "n")) == (True, False)
    store.close()


def test_a_transaction_that_fails_leaves_nothing(path: Path) -> None:
    store = Store.open(path)
    with suppress(ZeroDivisionError), store.transaction():
        store.put_colony(colony())
        store.append_events([row(1)])
        raise ZeroDivisionError
    assert store.colonies() == []
    assert store.last_seq(ONE, 1) == 0
    store.close()


def test_a_full_disk_keeps_all_that_was_committed_and_nothing_else(path: Path) -> None:
    store = Store.open(path)
    with store.transaction():
        store.put_colony(colony())
        store.append_events([row(1)])
    store.limit_pages(1)
    with pytest.raises(StorageFull, match="full"):
        too_much(store)
    assert len(store.colonies()) == 1
    assert store.last_seq(ONE, 1) == 1
    store.limit_pages(1 << 30)
    with store.transaction():
        store.append_events([row(2, b"x" * 5000)])
    assert store.last_seq(ONE, 1) == 2
    store.close()


def too_much(store: Store) -> None:
    with store.transaction():
        store.delete_colony(ONE)
        store.append_events(row(seq, b"x" * 5000) for seq in range(2, 50))


def test_an_event_never_takes_the_place_of_another(path: Path) -> None:
    store = Store.open(path)
    with store.transaction():
        store.append_events([row(1, b"first")])
    with pytest.raises(StoreError), store.transaction():
        store.append_events([row(1, b"second")])
    assert store.events_after(ONE, 1, 0, 10)[0].body == b"first"
    store.close()


def test_a_damaged_file_is_refused_and_left_alone(path: Path) -> None:
    store = Store.open(path)
    with store.transaction():
        store.put_colony(colony())
        store.append_events(row(seq, b"x" * 3000) for seq in range(1, 100))
    store.close()
    content = bytearray(path.read_bytes())
    content[8192:40960] = b"\xa5" * (40960 - 8192)
    path.write_bytes(content)
    with pytest.raises(DatabaseUnusable, match=r"damaged .*nothing was changed"):
        Store.open(path)
    assert path.read_bytes() == content


def test_a_file_that_is_no_database_is_refused_and_left_alone(path: Path) -> None:
    path.write_bytes(b"my diary\n" * 1000)
    with pytest.raises(DatabaseUnusable):
        Store.open(path)
    assert path.read_bytes() == b"my diary\n" * 1000


def test_a_database_of_another_program_is_refused(path: Path) -> None:
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE letters (text)")
    other.commit()
    other.close()
    with pytest.raises(DatabaseUnusable, match="another program"):
        Store.open(path)


def test_a_database_of_a_newer_version_is_refused(path: Path) -> None:
    Store.open(path).close()
    other = sqlite3.connect(path)
    other.execute("PRAGMA user_version = 99")
    other.close()
    with pytest.raises(DatabaseUnusable, match="newer colonizer"):
        Store.open(path)


def test_a_record_that_cannot_be_read_is_damage(path: Path) -> None:
    Store.open(path).close()
    other = sqlite3.connect(path)
    other.execute("INSERT INTO colonies VALUES ('x', '{}')")
    other.commit()
    other.close()
    store = Store.open(path)
    with pytest.raises(DatabaseUnusable, match="the colonies"):
        store.colonies()
    store.close()
