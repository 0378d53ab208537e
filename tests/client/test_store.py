import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from colonizer_client.errors import StoreError
from colonizer_client.store import SCHEMA_VERSION, Store


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "local/cockpit.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    opened = Store(path)
    yield opened
    opened.close()


def test_what_is_remembered_is_there_after_a_restart(path: Path) -> None:
    first = Store(path)
    first.remember("workspace", {"front": 2, "name": "\ud800"})
    first.remember("workspace", {"front": 3})
    first.close()
    second = Store(path)
    assert second.remembered("workspace") == {"front": 3}
    assert second.remembered("another") is None
    second.close()


def test_the_file_and_its_side_files_are_the_persons_alone(store: Store, path: Path) -> None:
    store.remember("x", 1)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [stat.S_IMODE(file.stat().st_mode) for file in sorted(path.parent.iterdir())] == [0o600] * 3


def test_an_older_file_that_others_could_read_is_closed_to_them(path: Path) -> None:
    path.parent.mkdir()
    path.touch(0o644)
    path.chmod(0o644)
    Store(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_change_that_fails_leaves_nothing_behind(store: Store) -> None:
    def half(db: sqlite3.Connection) -> None:
        db.execute("INSERT INTO remembered VALUES ('a', '1')")
        raise KeyError("half-way")

    with pytest.raises(KeyError):
        store.write(half)
    assert store.remembered("a") is None
    store.remember("a", 2)
    assert store.remembered("a") == 2


def test_a_statement_that_fails_is_a_store_error_and_leaves_nothing_behind(store: Store) -> None:
    def half(db: sqlite3.Connection) -> None:
        db.execute("INSERT INTO remembered VALUES ('a', '1')")
        db.execute("INSERT INTO nowhere VALUES (1)")

    with pytest.raises(StoreError, match="nowhere"):
        store.write(half)
    assert store.remembered("a") is None


def fill_the_disk(store: Store) -> None:
    """Lets the file grow no more: SQLite answers as on a full disk."""
    (pages,) = store.rows("PRAGMA page_count")[0]
    store.rows(f"PRAGMA max_page_count = {pages}")


def test_a_full_disk_is_said_and_what_was_kept_stays(store: Store) -> None:
    store.remember("kept", "as it was")
    fill_the_disk(store)
    with pytest.raises(StoreError, match="full"):
        store.remember("big", "x" * 1_000_000)
    assert store.remembered("kept") == "as it was"
    assert store.remembered("big") is None
    store.rows("PRAGMA max_page_count = 1000000")
    store.remember("big", "x" * 1_000_000)
    assert store.remembered("big") == "x" * 1_000_000


def test_a_file_that_another_process_holds_is_said_and_free_again_afterwards(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("colonizer_client.store.BUSY_TIMEOUT_MS", 50)
    store = Store(path)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="locked"):
        store.remember("a", 1)
    assert store.remembered("a") is None, "reading goes on"
    holder.execute("ROLLBACK")
    holder.close()
    store.remember("a", 1)
    assert store.remembered("a") == 1
    store.close()


@pytest.mark.parametrize(
    "content", [b"this is no database, but a rather long text file" * 50, b"SQLite format 3\0" + b"\xff" * 5000]
)
def test_a_damaged_file_is_said_and_left_as_it_is(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(StoreError, match=r"cockpit\.db"):
        Store(path)
    assert path.read_bytes() == content


def test_damage_that_shows_later_is_said(path: Path) -> None:
    first = Store(path)
    for number in range(200):
        first.remember(f"name {number}", "x" * 500)
    first.close()
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * 40_000)
    store = Store(path)
    with pytest.raises(StoreError):
        store.rows("SELECT * FROM remembered ORDER BY value")
    store.close()


def test_a_file_of_a_newer_version_is_left_alone(path: Path) -> None:
    Store(path).close()
    db = sqlite3.connect(path)
    db.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    db.close()
    with pytest.raises(StoreError, match="newer version"):
        Store(path)


def test_a_remembered_value_that_is_damaged_is_none(store: Store) -> None:
    store.write(lambda db: db.execute("INSERT INTO remembered VALUES ('a', '{not json')"))
    assert store.remembered("a") is None


@pytest.mark.parametrize("make", ["folder", "link", "file"])
def test_a_place_that_cannot_hold_the_file_is_said(path: Path, tmp_path: Path, make: str) -> None:
    if make == "file":
        path.parent.write_text("in the way")
    else:
        path.parent.mkdir()
        path.mkdir() if make == "folder" else path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match="cannot open"):
        Store(path)
    assert not (tmp_path / "elsewhere").exists()


def test_a_closed_store_says_so(path: Path) -> None:
    store = Store(path)
    store.close()
    with pytest.raises(StoreError):
        store.remember("a", 1)


OPENER = """
import sys
from pathlib import Path
from colonizer_client.store import Store
sys.stdin.readline()
store = Store(Path(sys.argv[1]))
store.remember(sys.argv[2], "here")
store.close()
"""


def test_faces_that_start_in_the_same_moment_share_one_file(path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    faces = [
        subprocess.Popen([sys.executable, "-c", OPENER, path, f"face {number}"], stdin=subprocess.PIPE, env=environment)
        for number in range(6)
    ]
    for face in faces:
        assert face.stdin is not None
        face.stdin.write(b"\n")
        face.stdin.flush()
    for face in faces:
        face.communicate(timeout=60)
    assert [face.returncode for face in faces] == [0] * 6
    store = Store(path)
    assert [store.remembered(f"face {number}") for number in range(6)] == ["here"] * 6
    store.close()
