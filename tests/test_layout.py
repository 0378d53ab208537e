"""The shape of the repository: six source roots that every tool knows, and rules that no tool checks."""

import ast
import re
import subprocess
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
ROOTS = ["cli", "client", "config", "engines", "server", "tui"]
PACKAGES = [f"colonizer_{root}" for root in ROOTS]
BESIDE = ["tests", "tools"]
"""What is written by the same rules and not shipped."""

LISTS = {
    "tool.hatch.build.targets.wheel.only-include": [f"{root}/colonizer_{root}" for root in ROOTS],
    "tool.hatch.build.targets.wheel.sources": ROOTS,
    "tool.hatch.build.targets.wheel.dev-mode-dirs": ROOTS,
    "tool.pytest.ini_options.pythonpath": [*ROOTS, "tests"],
    "tool.coverage.run.source": ROOTS,
    "tool.mypy.mypy_path": [*ROOTS, *BESIDE],
    "tool.mypy.files": [*ROOTS, *BESIDE],
    "tool.pyright.include": [*ROOTS, *BESIDE],
    "tool.pyright.extraPaths": [*ROOTS, *BESIDE],
    "tool.ruff.src": [*ROOTS, *BESIDE],
    "tool.importlinter.root_packages": PACKAGES,
}

VAGUE_NAMES = {"utils", "util", "helpers", "helper", "manager", "common", "misc"}

RECORDED = ROOT / "tests/data/recorded"

OWN_HOME = re.compile(r"(?<![\w.])/(?:home|Users)/(?!me\b|you\b)\w|(?<![\w.])/root/")
UNFINISHED = re.compile(r"\b(?:TODO|FIXME|XXX|HACK|WIP)\b")


@pytest.fixture(scope="module")
def project() -> Mapping[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def tracked_texts() -> dict[str, str]:
    """The text of each file that git knows, but for pictures, for what other programs said, and for this module."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode:
        pytest.skip("this is no git checkout")
    paths = [ROOT / name for name in listed.stdout.decode().split("\0") if name and not name.endswith(".png")]
    return {
        str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
        for path in paths
        if path.is_file() and path != Path(__file__) and RECORDED not in path.parents
    }


def found(pattern: re.Pattern[str], text: str) -> list[str]:
    """The lines that hold what is searched for, each with its number."""
    return [
        f"{number}: {line.strip()[:120]}" for number, line in enumerate(text.splitlines(), 1) if pattern.search(line)
    ]


@pytest.mark.parametrize("setting", LISTS)
def test_every_tool_knows_every_root(setting: str, project: Mapping[str, Any]) -> None:
    value: Any = project
    for key in setting.split("."):
        value = value[key]
    assert value == LISTS[setting]


@pytest.mark.parametrize("root", ROOTS)
def test_a_root_holds_one_typed_package_and_nothing_else(root: str) -> None:
    assert {path.name for path in (ROOT / root).iterdir() if path.name != "__pycache__"} == {f"colonizer_{root}"}
    assert (ROOT / root / f"colonizer_{root}" / "py.typed").read_bytes() == b""


@pytest.mark.parametrize("root", ROOTS)
def test_the_init_of_a_package_holds_one_docstring(root: str) -> None:
    for path in (ROOT / root).rglob("__init__.py"):
        body = ast.parse(path.read_text(encoding="utf-8")).body
        assert [type(statement) for statement in body] == [ast.Expr], path
        assert ast.get_docstring(ast.Module(body, [])), path


@pytest.mark.parametrize("root", [*ROOTS, *BESIDE])
def test_a_module_says_what_it_is_and_has_a_name_of_its_own(root: str) -> None:
    for path in (ROOT / root).rglob("*.py"):
        assert path.stem not in VAGUE_NAMES, path
        if root != "tests":
            assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), path


def test_nothing_tracked_names_the_home_of_a_person() -> None:
    assert {name: lines for name, text in tracked_texts().items() if (lines := found(OWN_HOME, text))} == {}


def test_nothing_tracked_is_left_for_later() -> None:
    assert {name: lines for name, text in tracked_texts().items() if (lines := found(UNFINISHED, text))} == {}


@pytest.mark.parametrize("line", ["cd /root/work", "see /home/ada/notes", '"/Users/ada"', "# TODO: later", "a HACK"])
def test_what_does_not_belong_in_a_tracked_file_is_found(line: str) -> None:
    assert found(OWN_HOME, line) or found(UNFINISHED, line)


@pytest.mark.parametrize("line", ["/home/you/.config", "https://example.org/home/page", "TODOS", "the root/ folder"])
def test_what_belongs_in_a_tracked_file_is_let_through(line: str) -> None:
    assert not found(OWN_HOME, line)
    assert not found(UNFINISHED, line)
