"""Both programs' commands, each against the published mothership and against ours: they print and end alike."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from colonizer_client.text import safe_text
from colonizer_config.settings import AgentSettings
from colonizer_engines.mothership.fixture import load
from contract.published import FIXTURE, HQ, TOKEN, Published, every_state, their_command, until
from loopback_fleet import sign_in
from plain_command import Done, colonizer
from real_git import new_clone
from served_mothership import served, settings
from serving_process import serving

COLONIES = (
    *("a1b2c3d4", "5e6f7a8b", "c0ffee01", "c0ffee02", "ba5eba11", "57a11ed0", "51905e0d", "fa11ed00", "09e4ed00"),
    *("e3a6ed00", "c105ed00", "00c4a4e5", "9a46ed00", "0dd50e5a", "90e0e001", "90e0e002", "b10c4ed0", "9b115400"),
    *("1d1e0000", "910be000", "4057113e"),
)

READING = (
    *("list", "list --json", "list --org globex", "list --status merged", "list --parked", "list --status bogus"),
    *(f"status {colony}" for colony in COLONIES),
    *(f"ask {colony}" for colony in COLONIES),
    *("status ffffffff", "status a1b2c3d4 --json", "ask 5e6f7a8b --json", "ask ffffffff"),
    *("logs a1b2c3d4", "logs a1b2c3d4 --json", "logs 4057113e", "logs 1d1e0000", "logs ffffffff"),
    *("diff a1b2c3d4", "diff a1b2c3d4 --stat", "diff a1b2c3d4 --json", "diff 5e6f7a8b --stat", "diff 1d1e0000"),
    *("pr 09e4ed00", "pr 09e4ed00 --json", "pr e3a6ed00", "pr a1b2c3d4", "pr c105ed00 --wait --timeout 1s"),
    *("map acme/widgets", "map globex/rocket", "map acme/widgets --find app", "map nope"),
)

CHANGING = (
    *("answer a1b2c3d4 1", "answer 5e6f7a8b 0", "answer 5e6f7a8b whatever", "answer 4057113e yes"),
    *("answer 910be000 yes", "answer 910be000 yes", "stop 9b115400", "stop e3a6ed00", "stop 1d1e0000", "stop ffffffff"),
    *("resume a1b2c3d4", "resume 51905e0d", "resume ffffffff", "launch nope x", "token revoke tok_none"),
)
"""In this order; each program on a mothership of its own."""


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Generator[Published]:
    with every_state(tmp_path_factory.mktemp("published")) as made:
        yield made


def ours(line: str, host: str) -> Done:
    return colonizer(*line.split(), COLONIZER_BIND=host, COLONIZER_TOKEN=TOKEN)


def differences(line: str, host: str) -> list[str]:
    """Where the two programs part."""
    return compared(line, ours(line, host), their_command(*line.split(), host=host))


def compared(line: str, mine: Done, theirs: Done) -> list[str]:
    expected = theirs.stdout
    if line.startswith("status"):
        # An unknown cost is nothing there, and unknown here.
        expected = expected.replace("cost      $0.00\n", "cost      —\n") if "cost      —" in mine.stdout else expected
    if "--json" in line and theirs.exit == 0:
        is_same = lines_of(mine.stdout) == lines_of(expected)
    else:
        is_same = mine.stdout == safe_text(expected)
    found = [] if is_same else [f"stdout {mine.stdout!r}, theirs {expected!r}"]
    if (mine.exit, mine.stderr) != (theirs.exit, safe_text(theirs.stderr)):
        found.append(f"{mine.exit} {mine.stderr!r}, theirs {theirs.exit} {theirs.stderr!r}")
    return found


def lines_of(printed: str) -> object:
    try:
        return json.loads(printed)
    except ValueError:
        return [json.loads(line) for line in printed.splitlines()]


def test_reading_commands_agree_on_the_published_mothership(published: Published) -> None:
    assert {line: found for line in READING if (found := differences(line, published.host))} == {}


def test_changing_commands_agree_on_published_motherships(tmp_path: Path) -> None:
    wrong: dict[str, list[str]] = {}
    (tmp_path / "other").mkdir()
    with every_state(tmp_path) as one, every_state(tmp_path / "other") as other:
        for line in CHANGING:
            if found := compared(line, ours(line, one.host), their_command(*line.split(), host=other.host)):
                wrong[line] = found
    assert wrong == {}


@pytest.mark.anyio
async def test_both_programs_commands_agree_on_ours(tmp_path: Path) -> None:
    state = tmp_path / "state"
    subprocess.run([sys.executable, str(FIXTURE), str(state)], check=True)  # noqa: ASYNC221  # nothing else runs yet
    wrong: dict[str, list[str]] = {}
    async with served(
        tmp_path,
        given=settings(agents={"claude-code": AgentSettings(("/bin/true",))}),
        recovering=False,
        running=False,
        know=False,
        over_tcp=True,
        fill=lambda store, out: load(state, store, out),
    ) as mothership:
        host = mothership.http.base_url.netloc.decode()
        for line in (line for line in READING if not line.startswith("map")):
            if found := await asyncio.to_thread(differences, line, host):
                wrong[line] = found
        for line in CHANGING:
            theirs = await asyncio.to_thread(their_command, *line.split(), host=host)
            assert theirs.exit in (0, 1, 4, 5), (line, theirs)
    assert wrong == {}


def test_the_published_commands_drive_a_colony_of_ours(tmp_path: Path) -> None:
    clone = new_clone(tmp_path / "widgets")
    with serving("--repo", str(clone.path), folder=tmp_path / "data") as ours:
        host, token = ours.host, ours.token_file.read_text(encoding="ascii").strip()

        def theirs(*argv: str) -> str:
            done = their_command(*argv, host=host, token=token)
            assert done.exit == 0, (argv, done)
            return done.stdout

        def until_asking(colony: str, words: str) -> None:
            until(
                lambda: words in their_command("ask", colony, host=host, token=token).stdout,
                lambda: str(their_command("logs", colony, host=host, token=token)),
            )

        colony = theirs("launch", "local/widgets", "Say hello", "--no-autopilot").split()[1]
        until_asking(colony, "What should I add to this repository?")
        theirs("answer", colony, "1")
        until_asking(colony, "What else may I do?")
        theirs("answer", colony, "1")
        until_asking(colony, "title of the pull request")
        theirs("answer", colony, "A title")
        until(lambda: "(idle)" in theirs("status", colony), lambda: theirs("logs", colony))
        assert "question_answered" in theirs("logs", colony)
        assert "+++ b/AGENTS.md" in theirs("diff", colony)
        assert "AGENTS.md" in theirs("diff", colony, "--stat")
        assert colony in theirs("list")
        assert json.loads(theirs("status", colony, "--json"))["id"] == colony
        minted = theirs("token", "create", "ci", "--scope", "read").strip()
        assert their_command("list", host=host, token=minted).exit == 0
        assert their_command("stop", colony, host=host, token=minted).exit == 3
        assert "stopped" in theirs("stop", colony)
        assert "resumed" in theirs("resume", colony)
        theirs("stop", colony)


def test_our_commands_reach_it_as_a_configured_endpoint_too(published: Published) -> None:
    sign_in(published.port)
    done = colonizer("list", "--status", "merged")
    assert done.exit == 0
    assert done.stdout.startswith(f"{HQ:<10}")
    assert colonizer("status", f"{HQ}/e3a6ed00").stdout == ours("status e3a6ed00", published.host).stdout
