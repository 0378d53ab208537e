"""What is shipped: the wheel holds our packages and runs without the checkout, the source archive builds the same."""

import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Sequence
from email import message_from_bytes
from email.message import Message
from pathlib import Path

import pytest

from plain_command import LIMIT_S, Done, own_environment
from test_layout import PACKAGES, ROOT

BUILD_LIMIT_S = 120


def build(source: Path, folder: Path, *targets: str) -> list[Path]:
    """What the build backend makes of a source tree."""
    options = [word for target in targets for word in ("-t", target)]
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", str(folder), *options],
        cwd=source,
        check=True,
        capture_output=True,
        timeout=BUILD_LIMIT_S,
    )
    return sorted(folder.iterdir())


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    [built] = build(ROOT, tmp_path_factory.mktemp("wheel"), "wheel")
    return built


def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        return message_from_bytes(archive.read(name))


def sources() -> set[str]:
    """The files of our packages as an installation has them."""
    return {
        str(path.relative_to(ROOT / package.removeprefix("colonizer_")))
        for package in PACKAGES
        for path in (ROOT / package.removeprefix("colonizer_") / package).rglob("*")
        if path.is_file() and path.suffix in (".py", ".typed", ".json")
    }


def test_the_wheel_holds_our_packages_and_nothing_else(wheel: Path) -> None:
    shipped = {name for name in names(wheel) if ".dist-info/" not in name}
    assert shipped == sources()
    assert {f"{package}/py.typed" for package in PACKAGES} <= shipped


def test_the_wheel_says_what_it_is(wheel: Path) -> None:
    facts = metadata(wheel)
    assert (facts["Name"], facts["License-Expression"]) == ("colonizer-tui", "MIT")
    assert facts["Requires-Python"] == ">=3.11"
    assert str(facts.get_payload()).startswith("# Colonizer")
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names(wheel))


def test_the_source_archive_builds_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    [archive] = build(ROOT, tmp_path / "sdist", "sdist")
    with tarfile.open(archive) as packed:
        # The argument of extractall is younger than some Python 3.11.
        packed.extraction_filter = getattr(tarfile, "data_filter", None)
        packed.extractall(tmp_path)
    tree = tmp_path / archive.name.removesuffix(".tar.gz")
    [again] = build(tree, tmp_path / "again", "wheel")
    assert names(again) == names(wheel)
    assert not (tree / ".venv").exists()


class TestInstalled:
    """The program as it is installed: our packages alone, beside the libraries."""

    @pytest.fixture
    def site(self, wheel: Path, tmp_path: Path) -> Path:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(tmp_path / "site")
        return tmp_path / "site"

    def run(self, site: Path, argv: Sequence[str]) -> Done:
        done = subprocess.run(
            [sys.executable, *argv],
            cwd=site.parent,
            env=own_environment({"PYTHONPATH": os.fspath(site)}),
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def test_every_package_is_found_there(self, site: Path) -> None:
        program = f"import {', '.join(PACKAGES)}; print(*(m.__file__ for m in ({', '.join(PACKAGES)})), sep='\\n')"
        found = self.run(site, ["-c", program]).stdout.splitlines()
        assert found == [f"{site}/{package}/__init__.py" for package in PACKAGES]

    def test_its_local_engine_starts_and_ends(self, site: Path) -> None:
        colonizer = ["-m", "colonizer_cli.main"]
        assert self.run(site, [*colonizer, "repo", "list"]) == Done(0, "", "no repositories\n")
        assert self.run(site, [*colonizer, "engine", "stop", "--yes"]) == Done(0, "the local engine has ended\n", "")
