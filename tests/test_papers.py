"""The README, the guide and the other papers: what they name exists, what they list is complete, their agent works."""

import importlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree

import click
import pytest

from colonizer_cli.failures import ExitCode
from colonizer_cli.root import root
from colonizer_client.snapshot import Snapshot
from colonizer_config.paths import Paths
from colonizer_config.settings import parse
from colonizer_config.version import __version__
from colonizer_tui.keys import ACTIONS, shown_key
from colonizer_tui.present.view import View
from moments import colony, still_app
from plain_command import process
from real_engine import until
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

OTHER_WORDS = {
    "daemons?": "the local engine, or a service",
    "dashboards?": "the cockpit",
    "sub-?agents?": "an agent, or a colony",
    "hot-?keys?|short-?cuts?|key-?bindings?": "a key",
    "simply|easily|seamless(?:ly)?|powerful|blazing(?:ly)?": "nothing: it is for the reader to say",
    r"pypi(?:\.org)?|pythonhosted\.org|npmjs\.(?:com|org)": "the package index",
}
"""Words that the papers do not use, and what they say in their place: each thing has one word, and praise has none."""


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


def prose_of(paper: Path) -> str:
    """The text of a paper without code and without the targets of links."""
    return LINK.sub("]", CODE.sub("", text_of(paper)))


def other_words(prose: str) -> list[tuple[str, str]]:
    """Each word that has another one in its place, with that one."""
    return [
        (found, instead)
        for pattern, instead in OTHER_WORDS.items()
        for found in re.findall(rf"\b(?:{pattern})(?!\w)", prose, re.IGNORECASE)
    ]


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


@pytest.mark.parametrize("paper", PAPERS, ids=name_of)
def test_a_paper_has_one_word_for_each_thing_and_no_praise(paper: Path) -> None:
    assert other_words(prose_of(paper)) == []


@pytest.mark.parametrize(
    "prose", ["The daemon starts.", "Simply press it", "its key-bindings", "from PyPI.", "Subagents"]
)
def test_a_word_that_the_papers_do_not_use_is_found(prose: str) -> None:
    assert len(other_words(prose)) == 1


def test_the_changes_tell_of_this_version() -> None:
    assert re.search(rf"^## .*\b{re.escape(__version__)}$", text_of(ROOT / "CHANGELOG.md"), re.MULTILINE)


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


@pytest.mark.anyio
async def test_the_pane_of_the_paper_draws_a_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package, source in zip(("present", "panes"), blocks(ROOT / "docs/adding-a-pane.md", "python"), strict=True):
        module = ModuleType(f"colonizer_tui.{package}.spending")
        monkeypatch.setitem(sys.modules, module.__name__, module)
        monkeypatch.setattr(module.__name__, module, raising=False)
        exec(compile(source, module.__name__, "exec"), module.__dict__)
    pane: Any = importlib.import_module("colonizer_tui.panes.spending").SpendingList()
    colonies = (
        colony("1", "running", 1, repo="acme/widgets", cost_usd=0.5),
        colony("2", "running", 1, repo="acme/widgets", cost_usd=1.25),
        colony("3", "running", 1, repo="acme/rocket", cost_usd=None),
    )
    app = still_app(tmp_path, [])
    async with app.run_test(size=(40, 10)) as pilot:
        await app.screen.mount(pane)
        await until(pilot, lambda: pane.size.width)
        pane.show(View(Snapshot(colonies={shown.key: shown for shown in colonies})))
        rows = ["".join(span.text for span in pane.line_at(row)).split() for row in range(pane.line_count())]
    assert rows == [["acme/rocket", "—"], ["acme/widgets", "1.75"]]


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
