"""What a plain command loads before it does anything: a script calls it in a loop."""

import json
import subprocess
import sys

import pytest

from plain_command import LIMIT_S, colonizer, own_environment, process

HEAVY = {
    "textual",
    "rich",
    "mcp",
    "httpx",
    "websockets",
    "psutil",
    "keyring",
    "tomlkit",
    "starlette",
    "uvicorn",
    "platformdirs",
}

LOADED = """
import json, sys
sys.argv = ["colonizer", *sys.argv[1:]]
from colonizer_cli.main import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})), file=sys.stderr)
"""


def loaded(*argv: str) -> set[str]:
    done = subprocess.run(
        (sys.executable, "-c", LOADED, *argv),
        capture_output=True,
        text=True,
        env=own_environment({}),
        timeout=LIMIT_S,
        check=True,
    )
    return set(json.loads(done.stderr.splitlines()[-1]))


@pytest.mark.parametrize("argv", [("--version",), ("version",)])
def test_the_version_loads_the_version(argv: tuple[str, ...]) -> None:
    modules = loaded(*argv)
    assert {name for name in modules if name.startswith("colonizer_")} == {"colonizer_cli", "colonizer_config"}
    assert modules.isdisjoint({"click", "msgspec", "asyncio", *HEAVY})


def test_a_list_of_a_running_engine_loads_no_library_of_the_other_faces() -> None:
    colonizer("repo", "list")
    try:
        modules = loaded("list", "--json")
    finally:
        colonizer("engine", "stop", "--yes")
    assert modules.isdisjoint(HEAVY | {"asyncio", "colonizer_tui", "colonizer_server", "colonizer_engines"})


def test_a_list_of_nothing_loads_no_more() -> None:
    assert loaded("list").isdisjoint(HEAVY | {"asyncio"})


def test_what_carries_an_agents_calls_loads_no_server() -> None:
    assert loaded("kernel", "serve").isdisjoint(HEAVY | {"asyncio", "pydantic", "h11"})


def test_help_names_every_command_and_loads_no_face() -> None:
    done = process("--help")
    commands = {line.split()[0] for line in done.stdout.partition("Commands:\n")[2].splitlines()}
    assert {"list", "status", "launch", "ask", "answer", "stop", "resume", "diff", "logs", "pr", "map"} <= commands
    assert {"token", "repo", "connect", "engine", "kernel", "mothership", "tui", "version"} <= commands
    assert loaded("--help").isdisjoint(HEAVY | {"colonizer_tui", "colonizer_engines"})


def test_kernel_commands_load_the_sdk_when_a_kernel_is_called_and_not_before() -> None:
    heavy = HEAVY | {"httpx2", "pydantic", "colonizer_tui", "colonizer_engines"}
    assert loaded("kernel", "propose", "--help").isdisjoint(heavy)


def test_without_a_terminal_the_bare_command_prints_its_help() -> None:
    assert process().stdout == process("--help").stdout


def test_both_spellings_of_the_version_agree() -> None:
    assert process("--version").stdout == f"colonizer {process('version').stdout.removeprefix('v')}"


def test_the_shell_can_complete_the_commands() -> None:
    environment = {"_COLONIZER_COMPLETE": "bash_complete", "COMP_WORDS": "colonizer sta", "COMP_CWORD": "1"}
    assert process(**environment).stdout == "plain,status\n"
