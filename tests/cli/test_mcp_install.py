"""`mcp install` and `mcp uninstall` on the settings files of real clients, other servers and comments in them."""

import json
import os
import stat
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from colonizer_cli.options import ALL
from colonizer_cli.root import RootGroup
from colonizer_config.paths import Paths
from config.test_save import sandbox
from plain_command import Done, own_environment
from typed_terminal import typed

COMMANDS = RootGroup(
    "colonizer",
    commands_in={"install": "mcp_install:install", "uninstall": "mcp_install:uninstall"},
    shown=ALL,
)

IN_A_PROCESS = (
    sys.executable,
    "-c",
    "from cli.test_mcp_install import COMMANDS; COMMANDS(prog_name='colonizer mcp')",
)
"""The commands as a process of their own."""

TOKEN = "col_" + "a1" * 32

CLAUDE_CODE = """\
{
  "numStartups": 12,
  "mcpServers": {
    "files": {
      "type": "stdio",
      "command": "files",
      "args": [
        "/srv"
      ],
      "env": {}
    }
  },
  "projects": {
    "/srv/web": {
      "mcpServers": {},
      "history": []
    }
  }
}"""
CODEX = """\
# What I use.
model = "o9"  # the best
approval_policy = 'on-request'

# Servers.
[mcp_servers.docs]
command = "docs-server"
args = [
    "--all",  # all of them
]

[mcp_servers.docs.env]
KEY = "v"

[profiles.fast]
model = "mini"
"""
CURSOR = """\
{
\t// The servers of the team.
\t"mcpServers": {
\t\t"docs": { "url": "https://docs.example/mcp", "headers": { "Authorization": "Bearer x" } }, // read only
\t\t/* "old": { "command": "old" }, */
\t},
}
"""
OPENCODE = """\
{
    "$schema": "https://opencode.ai/config.json",
    // The model.
    "model": "a/b",
    "mcp": {
        "docs": {
            "type": "remote", "url": "https://docs.example/mcp",
        },
    },
}
"""
FILES: Mapping[str, tuple[str, str]] = {
    "claude-code": (".claude.json", CLAUDE_CODE),
    "codex": (".codex/config.toml", CODEX),
    "cursor": (".cursor/mcp.json", CURSOR),
    "opencode": (".config/opencode/opencode.jsonc", OPENCODE),
}
ADDED: Mapping[str, str] = {
    "claude-code": """\
    },
    "colonizer": {
      "type": "stdio",
      "command": "colonizer",
      "args": ["mcp"],
      "env": {}
    }
""",
    "codex": """\

[mcp_servers.colonizer]
command = "colonizer"
args = ["mcp"]
""",
    "cursor": """\
\t\t"colonizer": {
\t\t\t"command": "colonizer",
\t\t\t"args": ["mcp"]
\t\t},
""",
    "opencode": """\
        "colonizer": {
            "type": "local",
            "command": ["colonizer", "mcp"]
        },
""",
}


def mcp(*argv: str, stdin: str | None = None, **environment: str | None) -> Done:
    result = CliRunner().invoke(COMMANDS, argv, input=stdin, env=environment, prog_name="colonizer mcp")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Done(result.exit_code, result.stdout, result.stderr)


@pytest.fixture(autouse=True)
def no_settings_elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


def put_file(client: str, text: str | None = None, mode: int = 0o644) -> Path:
    name, sample = FILES[client]
    path = Path(os.environ["HOME"], name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(sample if text is None else text, encoding="utf-8")
    path.chmod(mode)
    return path


def entry(path: Path) -> Any:
    """Our entry in a client's file that is plain JSON or TOML."""
    text = path.read_text(encoding="utf-8")
    document: dict[str, Any] = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    return next(document[key]["colonizer"] for key in ("mcpServers", "mcp_servers", "mcp") if key in document)


@pytest.mark.parametrize("client", FILES)
def test_installed_into_a_file_in_use_the_rest_stays_and_uninstalled_the_file_is_what_it_was(client: str) -> None:
    path = put_file(client, mode=0o640)
    before = path.read_text(encoding="utf-8")
    done = mcp("install", client)
    assert done.exit == 0
    assert done.stdout.startswith(f"colonizer is in {path}: ")
    after = path.read_text(encoding="utf-8")
    assert after.count(ADDED[client]) == 1
    rest = [line for line in after.splitlines() if line not in ADDED[client].splitlines()]
    assert rest == [line for line in before.splitlines() if line not in ADDED[client].splitlines()]
    assert mcp("install", client).stdout == f"{path} has colonizer already: nothing was written\n"
    assert path.read_text(encoding="utf-8") == after
    assert mcp("uninstall", client).stdout == f"colonizer is no more in {path}\n"
    assert path.read_bytes() == before.encode()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert mcp("uninstall", client) == Done(0, f"{path} has no colonizer: nothing was written\n", "")


@pytest.mark.parametrize("client", FILES)
def test_where_a_client_has_no_settings_yet_they_are_made_and_removed_again(client: str) -> None:
    path = Path(os.environ["HOME"], FILES[client][0]).with_suffix(".toml" if client == "codex" else ".json")
    assert mcp("install", client, "--scope", "operate").exit == 0
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert '"operate"' in path.read_text(encoding="utf-8")
    assert mcp("uninstall", client).stdout == f"{path} is removed: there was none before\n"
    assert not path.exists()


@pytest.mark.parametrize("client", FILES)
def test_print_shows_the_entry_as_the_client_writes_it_and_writes_nothing(client: str) -> None:
    path = put_file(client)
    done = mcp("install", client, "--with-token", "--print", COLONIZER_TOKEN=TOKEN)
    assert done.exit == 0
    assert done.stderr == f"this would be written to {path}\n"
    assert TOKEN not in done.stdout
    assert "col_…" in done.stdout
    shown = tomllib.loads(done.stdout) if client == "codex" else json.loads(done.stdout)
    [servers] = shown.values()
    assert list(servers) == ["colonizer"]
    assert path.read_text(encoding="utf-8") == FILES[client][1]
    assert not Paths.from_environment().entries.exists()


def test_the_options_that_name_a_mothership_stand_before_the_command() -> None:
    rows: tuple[tuple[tuple[str, ...], dict[str, str], list[str]], ...] = (
        (("--host", "ship.tailnet:7878"), {}, ["--host", "ship.tailnet:7878", "mcp"]),
        (("--host", "ship", "--token-file", "t"), {}, ["--host", "ship", "--token-file", f"{Path.cwd() / 't'}", "mcp"]),
        ((), {"COLONIZER_BIND": "[::1]:99"}, ["--host", "[::1]:99", "mcp"]),
        ((), {"COLONIZER_BIND": "ship"}, ["--host", "ship:80", "mcp"]),
        (("--scope", "launch"), {}, ["mcp", "--scope", "launch"]),
        (("--approve", "all"), {}, ["mcp", "--approve", "all"]),
        (("--catalog", "--scope", "read"), {}, ["mcp", "--scope", "read", "--catalog"]),
        (("--resources", "--catalog"), {}, ["mcp", "--catalog", "--resources"]),
    )
    for options, environment, words in rows:
        assert mcp("install", "cursor", *options, **environment).exit == 0
        path = Path(os.environ["HOME"], ".cursor/mcp.json")
        assert entry(path) == {"command": "colonizer", "args": words}
    assert mcp("install", "cursor", "--host", "http://ship").exit == 2
    assert mcp("install", "cursor", "--token-file", "t").exit == 2


def test_no_token_is_written_unless_it_is_asked_for_and_then_it_is_the_given_one() -> None:
    Paths.from_environment().published_token.parent.mkdir(parents=True)
    Paths.from_environment().published_token.write_text("the-owners", encoding="ascii")
    Path("t").write_text("of-the-file\n", encoding="ascii")
    path = put_file("codex")
    assert mcp("install", "codex", COLONIZER_TOKEN=TOKEN).exit == 0
    assert TOKEN not in path.read_text(encoding="utf-8")
    rows: tuple[tuple[tuple[str, ...], str | None, str, str], ...] = (
        ((), TOKEN, "", TOKEN),
        (("--host", "ship", "--token-file", "t"), None, "", "of-the-file"),
        (("--host", "ship"), None, "typed\n", "typed"),
    )
    for options, offered, stdin, token in rows:
        done = mcp("install", "codex", "--with-token", *options, COLONIZER_TOKEN=offered, stdin=stdin)
        assert done.exit == 0
        assert f"others may read {path}, with the token in it" in done.stderr
        assert token not in done.stdout + done.stderr
        found = entry(path)
        assert found["env"] == {"COLONIZER_TOKEN": token}
        assert "t" not in found["args"]
    notes = [note.read_text(encoding="ascii") for note in Paths.from_environment().entries.iterdir()]
    assert "typed" not in "".join(notes)
    assert mcp("install", "codex", "--with-token", stdin="").exit == 2
    assert mcp("install", "codex", "--with-token", stdin="two words\n").exit == 1
    assert mcp("uninstall", "codex").exit == 0
    assert path.read_text(encoding="utf-8") == CODEX
    assert mcp("install", "codex", "--with-token", "--project", COLONIZER_TOKEN=TOKEN).exit == 2


def test_another_entry_of_that_name_is_shown_without_its_secrets_and_replaced_only_by_force() -> None:
    theirs = '{"mcpServers": {"colonizer": {"command": "npx", "args": ["x"], "env": {"KEY": "s3cret"}}}}\n'
    path = put_file("cursor", theirs)
    for words in (("install", "cursor"), ("uninstall", "cursor")):
        done = mcp(*words)
        assert done.exit == 5
        assert (
            f'{path} has another colonizer: {{"command": "npx", "args": ["x"], "env": {{"KEY": "…"}}}}' in done.stderr
        )
        assert "--force" in done.stderr
        assert path.read_text(encoding="utf-8") == theirs
    assert "only with --force" in mcp("install", "cursor", "--print").stderr
    assert mcp("install", "cursor", "--force").exit == 0
    assert entry(path) == {"command": "colonizer", "args": ["mcp"]}
    assert mcp("uninstall", "cursor").stdout == f"colonizer in {path} is again what it was before\n"
    assert path.read_text(encoding="utf-8") == theirs
    assert mcp("install", "cursor", "--name", "colonies").exit == 0
    assert mcp("uninstall", "cursor", "--name", "colonies").exit == 0
    assert path.read_text(encoding="utf-8") == theirs
    assert mcp("install", "cursor", "--name", "a.b").exit == 2
    assert mcp("uninstall", "cursor", "--force").exit == 0
    assert json.loads(path.read_text(encoding="utf-8")) == {"mcpServers": {}}


def test_on_a_terminal_the_person_is_asked_before_another_entry_is_replaced() -> None:
    path = put_file("cursor", '{"mcpServers": {"colonizer": {"url": "https://x.example"}}}\n')
    with typed("uninstall", "cursor", program=IN_A_PROCESS) as person:
        person.until("Take it out? [y/N]")
        person.type("y")
        assert person.end() == 0
    assert json.loads(path.read_text(encoding="utf-8")) == {"mcpServers": {}}


def test_what_was_written_by_hand_or_by_the_client_is_taken_out_like_ours() -> None:
    path = put_file("claude-code", '{"mcpServers": {"colonizer": {"command": "/usr/bin/colonizer", "args": ["mcp"]}}}')
    assert mcp("uninstall", "claude-code").exit == 0
    assert json.loads(path.read_text(encoding="utf-8")) == {"mcpServers": {}}


def test_a_broken_file_is_refused_with_its_line_and_stays_as_it_is() -> None:
    rows = (
        (
            "claude-code",
            '{\n "a": 1\n "b"}',
            ".claude.json, line 3: this is not JSON: a comma or } is expected",
        ),
        ("codex", "a = 1\nb\n", "config.toml, line 2: this is not TOML"),
        ("cursor", '{\n"mcpServers": 1}', "mcp.json, line 2: mcpServers is no object"),
        (
            "opencode",
            '{\n"mcp": {}, /*',
            "opencode.jsonc, line 2: this is not JSON: this comment is not closed",
        ),
    )
    for client, text, words in rows:
        path = put_file(client, text)
        for command in (("install", client), ("install", client, "--print"), ("uninstall", client)):
            done = mcp(*command)
            assert done.exit == 1
            assert done.stderr.startswith(f"colonizer: {path.parent}/{words}")
            assert path.read_text(encoding="utf-8") == text


def test_the_folders_that_the_environment_names_are_the_clients() -> None:
    rows = (
        ("claude-code", "CLAUDE_CONFIG_DIR", ".claude.json"),
        ("codex", "CODEX_HOME", "config.toml"),
        ("opencode", "XDG_CONFIG_HOME", "opencode/opencode.json"),
    )
    for client, variable, file in rows:
        folder = Path.cwd() / client
        assert mcp("install", client, **{variable: str(folder)}).exit == 0
        assert (folder / file).exists()
    assert mcp("install", "cursor", HOME=None).exit == 1


def test_a_projects_own_files_are_in_the_folder_where_the_person_stands() -> None:
    Path("opencode.jsonc").write_text("{}", encoding="utf-8")
    for client, file in (
        ("claude-code", ".mcp.json"),
        ("codex", ".codex/config.toml"),
        ("cursor", ".cursor/mcp.json"),
        ("opencode", "opencode.jsonc"),
    ):
        assert mcp("install", client, "--project").exit == 0
        entry(Path(file))
        assert mcp("uninstall", client, "--project").exit == 0
    assert os.listdir() == ["opencode.jsonc"]


def test_of_two_files_that_a_client_reads_the_one_with_the_entry_counts() -> None:
    second = put_file("opencode", '{"mcp": {}}')
    assert mcp("install", "opencode").exit == 0
    first = second.with_suffix(".json")
    first.write_text("{}", encoding="utf-8")
    assert "nothing was written" in mcp("install", "opencode").stdout
    assert mcp("uninstall", "opencode").exit == 0
    assert (first.read_text(encoding="utf-8"), second.read_text(encoding="utf-8")) == ("{}", '{"mcp": {}}')


def test_where_opencode_has_the_newer_group_of_servers_ours_stands_there() -> None:
    path = put_file("opencode", '{"mcp": {"servers": {"a": {"type": "local", "command": ["a"]}}}}')
    assert mcp("install", "opencode").exit == 0
    assert list(json.loads(path.read_text(encoding="utf-8"))["mcp"]["servers"]) == ["a", "colonizer"]
    path = put_file("opencode", '{"mcp": {"servers": {"type": "local", "command": ["a"]}}}')
    assert mcp("install", "opencode").exit == 0
    assert list(json.loads(path.read_text(encoding="utf-8"))["mcp"]) == ["servers", "colonizer"]


def test_a_folder_that_is_read_only_is_an_error_in_words_and_nothing_changes() -> None:
    path = put_file("cursor")
    folder = str(path.parent)
    run = subprocess.run(
        [sandbox(), "--dev-bind", "/", "/", "--ro-bind", folder, folder, *IN_A_PROCESS, "install", "cursor"],
        capture_output=True,
        encoding="utf-8",
        env=own_environment({}),
        timeout=30,
        check=False,
    )
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr == f"colonizer: cannot write {path}: Read-only file system\n"
    assert path.read_text(encoding="utf-8") == CURSOR
    assert os.listdir(folder) == ["mcp.json"]
    assert not list(Paths.from_environment().entries.glob("*"))
