"""The settings file is looked at now and then: read when it changed and rests, never half written."""

import os
from pathlib import Path

import pytest

from colonizer_cli.settings_watch import SettingsWatch
from colonizer_config.settings import Loaded, load_or_default


class Watched:
    """A settings file, what a watch of it has told, and what was put to use."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.used: list[Loaded] = []
        self.watch = SettingsWatch(path, load_or_default(path), self.used.append)

    def themes(self, looks: int = 3) -> list[str | None]:
        """The themes that some looks find."""
        found = [self.watch.look() for _ in range(looks)]
        return [loaded.settings.ui.theme for loaded in found if loaded is not None]


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    path = tmp_path / "cockpit.toml"
    path.write_text('[ui]\ntheme = "a"\n')
    return Watched(path)


def test_a_file_that_stays_as_it_is_is_not_read_again(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(path: Path) -> Loaded:
        pytest.fail(f"{path} was read")

    monkeypatch.setattr("colonizer_cli.settings_watch.load_or_default", read)
    assert watched.themes() == []


def test_a_change_is_told_once_and_put_to_use(watched: Watched) -> None:
    watched.path.write_text('[ui]\ntheme = "other"\n')
    assert watched.themes() == ["other"]
    assert [loaded.settings.ui.theme for loaded in watched.used] == ["other"]


def test_a_file_in_the_place_of_the_old_one_is_found_though_it_is_as_long_and_as_old(watched: Watched) -> None:
    before = watched.path.stat()
    beside = watched.path.with_name("new")
    beside.write_text('[ui]\ntheme = "b"\n')
    os.utime(beside, ns=(before.st_atime_ns, before.st_mtime_ns))
    os.replace(beside, watched.path)
    assert watched.themes() == ["b"]


def test_a_file_that_is_half_written_is_not_read(watched: Watched) -> None:
    watched.path.write_text("")
    assert watched.watch.look() is None
    watched.path.write_text('[ui]\ntheme = "whole"\n')
    assert watched.themes() == ["whole"]


def test_a_file_that_was_moved_away_for_a_moment_was_never_gone(watched: Watched) -> None:
    aside = watched.path.rename(watched.path.with_name("aside"))
    assert watched.watch.look() is None
    aside.rename(watched.path)
    assert watched.themes() == []


def test_a_file_that_is_gone_means_the_defaults(watched: Watched) -> None:
    watched.path.unlink()
    assert watched.themes() == [None]


def test_a_mistake_keeps_what_was_set_and_is_told_once(watched: Watched) -> None:
    watched.path.write_text("[ui]\ntheme = 3\n")
    watched.watch.look()
    found = watched.watch.look()
    assert found is not None
    assert found.settings.ui.theme == "a"
    assert found.problem is not None
    assert found.problem.line == 2
    os.utime(watched.path)
    assert watched.themes() == []


def test_a_mistake_that_was_mended_is_told(watched: Watched) -> None:
    watched.path.write_text("[ui]\ntheme = 3\n")
    assert watched.themes() == ["a"]
    watched.path.write_text('[ui]\ntheme = "a"\n')
    assert watched.themes() == ["a"]


def test_a_touch_without_a_change_is_no_news(watched: Watched) -> None:
    os.utime(watched.path)
    assert watched.themes() == []
