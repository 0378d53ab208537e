import os
import stat
from pathlib import Path

import pytest

from colonizer_config.errors import FolderError
from colonizer_config.paths import SOCKET_PATH_LIMIT_BYTES, EngineFolder, Paths, make_private
from config.ownership import given_away


def test_the_folders_of_the_environment_are_used(tmp_path: Path) -> None:
    named = {"COLONIZER_CONFIG_DIR": str(tmp_path / "c"), "COLONIZER_DATA_DIR": str(tmp_path / "d"), "HOME": "/nowhere"}
    paths = Paths.from_environment(named)
    assert paths.settings == tmp_path / "c" / "cockpit.toml"
    assert paths.published_token == tmp_path / "c" / "api-token"
    assert paths.tokens == tmp_path / "c" / "tokens"
    assert paths.engine.token == tmp_path / "d" / "local" / "api-token"


def test_blank_variables_name_nothing() -> None:
    paths = Paths.from_environment({"COLONIZER_CONFIG_DIR": " ", "COLONIZER_DATA_DIR": "", "HOME": "/home/me"})
    assert paths.config == Path("/home/me/.config/colonizer")
    assert paths.data == Path("/home/me/.local/share/colonizer")


def test_without_a_home_the_error_says_what_to_set() -> None:
    with pytest.raises(FolderError, match="HOME is not set"):
        Paths.from_environment({})


@pytest.mark.parametrize("mark", [":", ","])
def test_a_data_folder_with_a_mark_of_mount_options_is_refused(mark: str) -> None:
    with pytest.raises(FolderError, match="may not hold"):
        Paths.from_environment({"HOME": "/home/me", "COLONIZER_DATA_DIR": f"/srv/a{mark}b"})


def test_the_socket_lies_in_the_runtime_folder_under_a_name_of_the_data_path() -> None:
    paths = Paths.from_environment({"HOME": "/home/me", "XDG_RUNTIME_DIR": "/run/user/7"})
    socket = paths.socket(paths.engine)
    assert socket.parent == Path("/run/user/7/colonizer")
    assert socket != paths.socket(EngineFolder(Path("/srv/other")))


@pytest.mark.parametrize("runtime", ["", f"/run/{'x' * 100}"])
def test_a_missing_or_long_runtime_folder_gives_a_short_socket_path(runtime: str) -> None:
    paths = Paths.from_environment({"HOME": "/home/me", "XDG_RUNTIME_DIR": runtime})
    socket = paths.socket(paths.engine)
    assert socket.parent == Path(f"/tmp/colonizer-{os.geteuid()}")
    assert len(os.fsencode(socket)) <= SOCKET_PATH_LIMIT_BYTES


def test_a_private_folder_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    folder = make_private(tmp_path / "a" / "b")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_folder_that_others_may_enter_is_closed(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    assert stat.S_IMODE(make_private(tmp_path).stat().st_mode) == 0o700


def test_a_link_or_a_file_in_the_place_of_a_private_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "file").touch()
    with pytest.raises(FolderError, match="is not a folder"):
        make_private(tmp_path / "link")
    with pytest.raises(FolderError, match="cannot use the folder"):
        make_private(tmp_path / "file")


def test_a_folder_of_another_user_is_refused(tmp_path: Path) -> None:
    theirs = tmp_path if given_away(tmp_path) else Path("/")
    if theirs.stat().st_uid == os.geteuid():
        pytest.skip("there is no folder of another user here")
    with pytest.raises(FolderError, match=f"belongs to user {theirs.stat().st_uid};"):
        make_private(theirs)


def test_an_open_folder_with_other_things_in_it_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    folder.mkdir(mode=0o755)
    (folder / "notes.txt").write_text("everybody's")
    with pytest.raises(FolderError, match="chmod 700"):
        make_private(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o755
