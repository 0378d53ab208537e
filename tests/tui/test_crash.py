"""What a fault of our own leaves behind."""

import os
import stat
from pathlib import Path

import pytest

from colonizer_tui import crash

TOKEN = "col_" + "0123456789abcdef" * 4


def fault(message: str) -> BaseException:
    secret_local = "a value that only a variable holds".upper()
    try:
        raise ValueError(message + secret_local[:0])
    except ValueError as error:
        return error


def written(error: BaseException, folder: Path) -> str:
    path = crash.record(error, folder)
    assert path is not None
    return path.read_text()


def test_the_file_holds_the_traceback_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    path = crash.record(fault("it broke"), tmp_path)
    assert path is not None
    assert path.parent == tmp_path
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    text = path.read_text()
    assert "ValueError: it broke" in text
    assert "in fault" in text


def test_no_umask_opens_it_to_others(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        path = crash.record(fault("it broke"), tmp_path)
    finally:
        os.umask(before)
    assert path is not None
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_no_value_of_a_variable_is_in_it(tmp_path: Path) -> None:
    assert "A VALUE THAT ONLY" not in written(fault("it broke"), tmp_path)


def test_no_token_is_in_it(tmp_path: Path) -> None:
    text = written(fault(f"refused {TOKEN} and Authorization: Bearer abc.def"), tmp_path)
    assert TOKEN not in text
    assert "abc.def" not in text


def test_nothing_in_it_steers_the_terminal_that_shows_it(tmp_path: Path) -> None:
    text = written(fault("a\x1b]52;c;aGk=\x07b\x9b31mc\u202ed\re\ud800f"), tmp_path)
    assert "ValueError: a]52;c;aGk=b31mcde\ufffdf" in text
    assert not any(character < " " for character in text if character not in "\n\t")


def test_a_cause_is_in_it_too(tmp_path: Path) -> None:
    try:
        raise RuntimeError("after") from fault("before")
    except RuntimeError as error:
        text = written(error, tmp_path)
    assert text.index("before") < text.index("after")


def test_a_folder_that_is_not_there_yet_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    path = crash.record(fault("it broke"), tmp_path / "data" / "engine")
    assert path is not None
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_where_nothing_can_be_written_nothing_else_breaks(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert crash.record(fault("it broke"), tmp_path / "file") is None
    assert crash.record(fault("it broke"), Path("/proc/nowhere")) is None


def test_what_is_there_is_never_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def one_second(_: str) -> str:
        return "20261130-120000"

    monkeypatch.setattr("time.strftime", one_second)
    first = crash.record(fault("first"), tmp_path)
    assert first is not None
    assert crash.record(fault("second"), tmp_path) is None
    assert "first" in first.read_text()


def test_the_person_is_told_the_kind_of_fault_and_the_file_and_nothing_from_outside(tmp_path: Path) -> None:
    told = crash.words(fault("\x1b[31m" + TOKEN), tmp_path / "crash.txt")
    assert "ValueError" in told
    assert str(tmp_path / "crash.txt") in told
    assert TOKEN not in told
    assert "\x1b" not in told


def test_without_a_file_none_is_named() -> None:
    assert "details" not in crash.words(fault("it broke"), None)
