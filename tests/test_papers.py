"""The README, the guide and the other papers: what they name exists, what they list is complete, their agent works."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from pathlib import Path
from xml.etree import ElementTree

import click
import pytest

from colonizer_cli.failures import ExitCode
from colonizer_cli.root import root
from colonizer_config.paths import Paths
from colonizer_config.settings import parse
from colonizer_tui.keys import ACTIONS, shown_key
from plain_command import process
from real_git import new_clone
from test_layout import ROOT

README = ROOT / "README.md"
GUIDE = ROOT / "docs/guide"
PAPERS = [README, ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
PICTURES = sorted((ROOT / "screenshots").glob("*.svg"))

LINK = re.compile(r"\]\((?!https?:)([^)\s]+)\)")
CODE = re.compile(r"```(\w*)\n(.*?)```|`([^`\n]+)`", re.DOTALL)
COMMAND = re.compile(r"(?:^|[\s$(\"])colonizer((?: [a-z][a-z-]*| --?[a-z][a-z-]*)+)", re.MULTILINE)
TARGET = re.compile(r"\bmake ([a-z]+)")


def text_of(paper: Path) -> str:
    return paper.read_text(encoding="utf-8")


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@cache
def code_of(paper: Path) -> tuple[tuple[str, str], ...]:
    """Language and text of all that a paper shows as code; the language of a piece in a line is empty."""
    return tuple((language, block or inline) for language, block, inline in CODE.findall(text_of(paper)))


def blocks(paper: Path, language: str) -> list[str]:
    return [text for found, text in code_of(paper) if found == language]


def anchors(paper: Path) -> set[str]:
    """The anchors of a paper's headings."""
    headings = re.findall(r"^#+ (.+)$", text_of(paper), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def marked(paper: Path, mark: str) -> str:
    """What stands between `<!-- mark: … -->` and `<!-- /mark -->`."""
    found = re.search(rf"<!-- {mark}: .*? -->\n(.*?)<!-- /{mark} -->", text_of(paper), re.DOTALL)
    assert found is not None
    return found[1]


def commands_named(paper: Path) -> Iterator[list[str]]:
    """The words after `colonizer` in the code of a paper: commands, and options by their names."""
    for _, text in code_of(paper):
        for words in COMMAND.findall(text):
            yield words.split()


def unknown_words(words: list[str]) -> list[str]:
    """The words that are neither a command nor an option where they stand; other words are arguments."""
    command: click.Command = root
    context = click.Context(root)
    for place, word in enumerate(words):
        if word.startswith("-"):
            known = {option for parameter in command.get_params(context) for option in parameter.opts}
            if word not in known:
                return words[place:]
        elif isinstance(command, click.Group):
            found = command.get_command(context, word)
            if found is None:
                return words[place:]
            command = found
    return []


@pytest.mark.parametrize("paper", PAPERS, ids=name_of)
def test_what_a_paper_links_to_is_there(paper: Path) -> None:
    for link in LINK.findall(text_of(paper)):
        path, _, anchor = link.partition("#")
        target = (paper.parent / path).resolve() if path else paper
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


@pytest.mark.parametrize("paper", PAPERS, ids=name_of)
def test_every_command_and_make_target_of_a_paper_exists(paper: Path) -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for words in commands_named(paper):
        assert unknown_words(words) == [], words
    for _, text in code_of(paper):
        assert set(TARGET.findall(text)) <= targets


@pytest.mark.parametrize("words", [["lists"], ["engine", "begin"], ["list", "--jason"], ["tui", "--mcp"]])
def test_a_command_that_does_not_exist_is_found(words: list[str]) -> None:
    assert unknown_words(words) != []


def test_the_readme_has_an_example_of_every_command() -> None:
    with click.Context(root) as context:
        commands = set(root.list_commands(context))
    assert {words[0] for words in commands_named(README)} >= commands


def test_the_readme_lists_every_key() -> None:
    rows = ["| | |", "|---|---|"]
    for group, actions in groupby(ACTIONS, lambda action: action.group):
        keys = [f"{' '.join(f'`{shown_key(key)}`' for key in action.keys)} {action.label}" for action in actions]
        rows.append(f"| {group} | {' · '.join(keys)} |")
    assert marked(README, "keys") == "\n".join(rows) + "\n"


def test_the_settings_page_lists_every_action() -> None:
    listed = " ".join(f"`{action.name}`" for action in ACTIONS)
    assert " ".join(marked(GUIDE / "settings.md", "actions").split()) == listed


def test_the_exit_codes_are_those_of_the_program() -> None:
    table = re.findall(r"^\| (\d+) \| ([a-z ]+) \|", text_of(GUIDE / "commands.md"), re.MULTILINE)
    assert table == [(str(code.value), code.name.lower().replace("_", " ")) for code in ExitCode]


@pytest.mark.parametrize("paper", [README, *sorted(GUIDE.glob("*.md"))], ids=name_of)
def test_the_settings_that_a_paper_shows_are_accepted(paper: Path) -> None:
    for text in blocks(paper, "toml"):
        parse(text, paper.name)


def test_every_decision_has_its_number_and_its_parts() -> None:
    decisions = sorted((ROOT / "docs/decisions").glob("*.md"))
    assert [int(path.name[:3]) for path in decisions] == list(range(1, len(decisions) + 1))
    for path in decisions:
        headings = re.findall(r"^#+ (.+)$", text_of(path), re.MULTILINE)
        assert headings[0].startswith(f"{path.name[:3]} "), path
        assert headings[1:] == ["Context", "Choice", "What would change it"], path


def test_the_agent_of_the_guide_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [source] = blocks(GUIDE / "agents.md", "python")
    agent = tmp_path / "greeter.py"
    agent.write_text(source, encoding="utf-8")
    settings = Paths.from_environment().settings
    settings.parent.mkdir(parents=True)
    settings.write_text(f"[agents.greeter]\ncommand = {json.dumps([sys.executable, str(agent)])}\n", encoding="utf-8")
    monkeypatch.chdir(new_clone(tmp_path / "notes").path)
    colony = json.loads(process("launch", "Greet", "--json").stdout)["id"]
    try:
        with subprocess.Popen(
            [sys.executable, "-m", "colonizer_cli.main", "logs", "-f", "--json", colony],
            stdout=subprocess.PIPE,
            text=True,
        ) as log:
            assert log.stdout is not None
            events = map(json.loads, log.stdout)
            next(event for event in events if event.get("state") == "waiting_for_answer")
            assert process("answer", colony, "the moon").exit == 0
            next(event for event in events if event.get("state") == "idle")
            log.terminate()
        assert "+Hello, the moon!" in process("diff", colony).stdout
    finally:
        process("engine", "stop", "--yes")


@pytest.mark.parametrize("picture", PICTURES, ids=lambda path: path.stem)
def test_a_picture_loads_nothing_and_shows_nobodys_machine(picture: Path) -> None:
    text = text_of(picture)
    assert picture.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
    assert "url(http" not in text
    assert "@import" not in text
    shown = " ".join(ElementTree.fromstring(text).itertext()).replace("\N{NO-BREAK SPACE}", " ")
    folders = re.findall(r"(?<![\w.:/])/(?:home|root|tmp|var|Users|opt|srv)[^\s…]*", shown)
    assert {folder for folder in folders if not folder.startswith("/home/you/")} == set()
    assert not re.search(r"col_[0-9a-f]|[0-9a-f]{64}", shown)


def test_there_are_pictures() -> None:
    assert {path.stem for path in PICTURES} >= {"fleet", "needs-you", "colony", "connections", "first-run", "launch"}
