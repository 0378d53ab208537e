import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonizer_config.address import HttpAddress, SshAddress, StdioAddress
from colonizer_config.errors import AddressError, SettingsError
from colonizer_config.settings import (
    AgentKind,
    AgentSettings,
    Approve,
    EndpointName,
    EndpointSettings,
    Kind,
    SandboxChoice,
    Settings,
    load,
    load_or_default,
    parse,
)

EVERYTHING = """\
default_endpoint = "hq"

[[endpoints]]
name = "hq"
kind = "mothership"
address = "mothership.tailnet:7878"
tags = ["work", "eu-1"]

[[endpoints]]
name = "safety"
kind = "kernel"
command = ["codomyrmex", "mcp"]
env = ["CODOMYRMEX_HOME"]

[[endpoints]]
name = "memory"
kind = "graph"
address = "https://graph.example/mcp"

[[endpoints]]
name = "far"
kind = "mothership"
address = "ssh://me@far:2222"

[agents.claude]
command = ["claude-runner", "--fast"]
env = ["ANTHROPIC_API_KEY"]

[agents.other]
kind = "acp"
command = ["other"]

[local]
agent = "other"
max_parallel = 5
sandbox = "bwrap"
network = false

[kernel]
preset = "codomyrmex-1.3"

[mcp]
approve = "writes"

[mcp.clients."Some Client"]
approve = "all"

[keys]
answer = "A"
"next thing" = "ctrl+n"

[ui]
theme = "nord"
ascii = true
"""


def test_every_key_of_the_file_is_read() -> None:
    settings = parse(EVERYTHING, "cockpit.toml")
    assert settings.default_endpoint == "hq"
    assert [endpoint.name for endpoint in settings.endpoints] == ["hq", "safety", "memory", "far"]
    assert [endpoint.target for endpoint in settings.endpoints] == [
        HttpAddress("http", "mothership.tailnet", 7878),
        StdioAddress(("codomyrmex", "mcp"), ("CODOMYRMEX_HOME",)),
        HttpAddress("https", "graph.example", None, "/mcp"),
        SshAddress("far", "me", 2222),
    ]
    assert settings.endpoints[0].tags == ("work", "eu-1")
    assert settings.agents["claude"] == AgentSettings(
        ("claude-runner", "--fast"), AgentKind.COMMAND, ("ANTHROPIC_API_KEY",)
    )
    assert settings.agents["other"].kind is AgentKind.ACP
    assert (settings.local.max_parallel, settings.local.sandbox, settings.local.network) == (
        5,
        SandboxChoice.BWRAP,
        False,
    )
    assert settings.kernel.preset == "codomyrmex-1.3"
    assert settings.mcp.approve is Approve.WRITES
    assert [settings.mcp.approve_of(client) for client in ("Some Client", "another")] == ["all", "writes"]
    assert settings.keys == {"answer": "A", "next thing": "ctrl+n"}
    assert (settings.ui.theme, settings.ui.ascii) == ("nord", True)


def test_a_missing_file_and_an_empty_one_are_the_defaults(tmp_path: Path) -> None:
    (tmp_path / "empty.toml").touch()
    assert load(tmp_path / "none.toml") == load(tmp_path / "empty.toml") == Settings()


def test_the_defaults_are_those_of_the_documentation() -> None:
    settings = Settings()
    assert settings.default_endpoint == "local"
    assert (settings.endpoints, settings.agents, settings.keys) == ((), {}, {})
    assert (settings.local.max_parallel, settings.local.sandbox, settings.local.network) == (3, "auto", True)
    assert (settings.kernel.preset, settings.mcp.approve) == ("seed", "never")
    assert (settings.ui.theme, settings.ui.ascii) == (None, False)


@pytest.mark.parametrize(
    ("text", "agent"),
    [
        ("", "demo"),
        ('[agents.b]\ncommand = ["b"]\n[agents.a]\ncommand = ["a"]', "b"),
        ('[agents.b]\ncommand = ["b"]\n[agents.a]\ncommand = ["a"]\n[local]\nagent = "a"', "a"),
        ('[agents.b]\ncommand = ["b"]\n[local]\nagent = "demo"', "demo"),
    ],
)
def test_the_default_agent_is_the_one_that_is_set_else_the_first_else_the_demo(text: str, agent: str) -> None:
    assert parse(text, "cockpit.toml").default_agent == agent


MOTHERSHIP = '[[endpoints]]\nname = "hq"\nkind = "mothership"\naddress = "hq"\n'


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("\nmax_paralel = 3", 2, "unknown key max_paralel; valid keys are default_endpoint, endpoints, agents"),
        ("[local]\n\nmax_paralel = 3", 3, "unknown key local.max_paralel; the nearest valid key is max_parallel"),
        ("[locl]\nagent = 'x'", 1, "unknown key locl; the nearest valid key is local"),
        (f"{MOTHERSHIP}\n{MOTHERSHIP[:-1]}2\nadress = 'x'", 9, "this is not TOML"),
        (f"{MOTHERSHIP}{MOTHERSHIP}adress = 'x'", 9, "unknown key endpoints.adress; the nearest valid key is address"),
        ("endpoints = [\n{ nam = 'x' } ]", 1, "unknown key endpoints.nam; the nearest valid key is name"),
        ('"\\u001b[2J" = 1', 1, r"unknown key '\x1b[2J'"),
        (f"{'k' * 300} = 1", 1, f"unknown key {'k' * 59}…;"),
        ("[ui]\nascii = 1", 2, "ui.ascii is a whole number, where true or false is expected"),
        ("[ui]\nascii = 'yes'", 2, "ui.ascii is a string, where true or false is expected"),
        ("[ui]\ntheme = 2026-11-01", 2, "ui.theme is a date or time, where a string is expected"),
        ("[ui]\ntheme = ''", 2, "ui.theme must be a string in one line that is not empty"),
        ('[ui]\ntheme = "a\\u0007"', 2, "ui.theme must be a string in one line that is not empty"),
        ("[local]\nmax_parallel = true", 2, "is true or false, where a whole number is expected"),
        ("[local]\nmax_parallel = 2.5", 2, "is a number with a fraction, where a whole number is expected"),
        ("[local]\nmax_parallel = 0", 2, "local.max_parallel must be from 1 to 1000"),
        ("[local]\nsandbox = 'bwarp'", 2, "local.sandbox cannot be that; the nearest valid word is bwrap"),
        ("[local]\nsandbox = false", 2, "local.sandbox is true or false, where a string is expected"),
        ("[local]\nagent = 'clause'\n[agents.claude]\ncommand=['c']", 2, "no agent clause; the nearest one is claude"),
        ("local = 3", 1, "local is a whole number, where a table is expected"),
        ("keys = ['a']", 1, "keys is an array, where a table is expected"),
        ("[keys]\nanswer = ['a', 'b']", 2, "keys.answer is an array, where a string is expected"),
        ("[keys.sub]\nanswer = 'a'", 1, "keys.sub is a table, where a string is expected"),
        ("[endpoints]\nname = 'x'", 1, "endpoints is a table, where an array is expected"),
        ("endpoints = ['hq']", 1, "endpoints is a string, where a table is expected"),
        ("[[endpoints]]\nname = 'hq'", 1, "endpoints has no kind"),
        (f"{MOTHERSHIP}[[endpoints]]\nkind = 'kernel'", 5, "endpoints has no name"),
        (
            "[[endpoints]]\nname = 'hq'\nkind = 'kernle'",
            3,
            "endpoints.kind cannot be that; the nearest valid word is ker",
        ),
        ("[[endpoints]]\nname = 'a/b'\nkind = 'kernel'", 2, "endpoints.name must be a name: at most 40 letters"),
        ("[[endpoints]]\nname = 'hq'\nkind = 'kernel'\nenv = ['A=b']", 4, "the name of an environment variable, never"),
        ("[[endpoints]]\nname = 'hq'\nkind = 'kernel'\ncommand = 'x y'", 4, "is a string, where an array is expected"),
        ("[[endpoints]]\nname = 'hq'\nkind = 'kernel'\ncommand = []", 4, "begins with the program to run"),
        ("[[endpoints]]\nname = 'hq'\nkind = 'kernel'\ncommand = ['']", 4, "begins with the program to run"),
        ('[[endpoints]]\nname = "hq"\nkind = "mcp"\ncommand = ["x\\u0000"]', 4, "holds a NUL character"),
        ("[[endpoints]]\nname = 'hq'\nkind = 'mcp'\ncommand = ['x', 1]", 4, "where an array of strings is expected"),
        ("[agents.claude]\nkind = 'command'", 1, "agents.claude has no command"),
        ("[agents.'a b']\ncommand = ['x']", 1, "must be a name"),
        ("[mcp]\napprove = 'write'", 2, "mcp.approve cannot be that; the nearest valid word is writes"),
        ("[mcp.clients.x]\nallow = 'all'", 2, "unknown key mcp.clients.x.allow"),
        (f"default_endpoint = 'hqx'\n{MOTHERSHIP}", 1, "there is no endpoint hqx; the nearest one is hq"),
        (
            "default_endpoint = 'k'\n[[endpoints]]\nname='k'\nkind='mcp'\ncommand=['x']",
            1,
            "has to be a mothership; k is of",
        ),
        (f"[kernel]\nbridge = 'lokal'\n{MOTHERSHIP}", 2, "there is no kernel lokal; the nearest one is local"),
        (f"[kernel]\nbridge = 'hq'\n{MOTHERSHIP}", 2, "there is no kernel hq"),
        (f"{MOTHERSHIP}\n{MOTHERSHIP}", 7, "there is another endpoint with the name hq"),
        (f"{MOTHERSHIP}\n{MOTHERSHIP.replace('hq', 'HQ')}", 7, "there is another endpoint with the name HQ"),
        (MOTHERSHIP.replace('"hq"', '"local"', 1), 2, "the name local is reserved"),
        (MOTHERSHIP.replace('"hq"', '"Mothership"', 1), 2, "the name Mothership is reserved"),
        (
            MOTHERSHIP.replace('= "hq"\n', '= "ftp://hq"\n').replace('"ftp://hq"', '"hq"', 1),
            4,
            "endpoint hq: address begi",
        ),
        ("[[endpoints]]\nname = 'hq'\nkind = 'mothership'", 1, "endpoint hq: a mothership has an address"),
        ("a = 1\nb = \nc = 1", 2, "this is not TOML: Invalid value"),
        ("a = 1\na = 2", 2, "this is not TOML: Cannot overwrite a value"),
        ('a = "', 1, "this is not TOML"),
        ("\n\nx = 99999" + "9" * 5000, 3, "this is not TOML: Exceeds the limit"),
        ("\ufeffa = 1", 1, "this is not TOML"),
        ("a = '\x1b[2J'", 1, r"this is not TOML: Found invalid character '\x1b'"),
    ],
)
def test_a_fault_names_its_line_and_what_is_valid(text: str, line: int, words: str) -> None:
    with pytest.raises(SettingsError) as refused:
        parse(text, "cockpit.toml")
    assert refused.value.line == line
    assert str(refused.value).startswith(f"cockpit.toml, line {line}: ")
    assert words in str(refused.value)
    assert str(refused.value).isprintable()


@pytest.mark.parametrize(
    ("kind", "values", "words"),
    [
        (Kind.MOTHERSHIP, {}, "a mothership has an address"),
        (Kind.MOTHERSHIP, {"address": "hq", "command": ("x",)}, "a mothership has an address alone"),
        (Kind.MOTHERSHIP, {"address": "hq", "env": ("X",)}, "a mothership has an address alone"),
        (Kind.KERNEL, {}, "either an address or a command"),
        (Kind.FLOCK, {"address": "https://x/mcp", "command": ("x",)}, "either an address or a command"),
        (Kind.GRAPH, {"address": "https://x/mcp", "env": ("X",)}, "env goes with a command"),
        (Kind.MCP, {"address": "hq:80"}, "is a URL, such as https://host/mcp"),
        (Kind.MCP, {"address": "ssh://hq"}, "is a URL, such as https://host/mcp"),
    ],
)
def test_values_that_do_not_go_together_name_no_target(kind: Kind, values: dict[str, str], words: str) -> None:
    with pytest.raises(AddressError, match=re.escape(words)):
        _ = EndpointSettings(EndpointName("x"), kind, **values).target  # type: ignore[arg-type] # a table of cases


@pytest.mark.parametrize(
    "text",
    [
        "token = 'hunter2pass'",
        "[[endpoints]]\nname = 'hq'\nkind = 'mothership'\naddress = 'http://me:hunter2pass@hq'",
        "[[endpoints]]\nname = 'hq'\nkind = 'mothership'\naddress = 'http://hq/?token=hunter2pass'",
        "[[endpoints]]\nname = 'hq'\nkind = 'mothership'\naddress = ['hunter2pass']",
        "[[endpoints]]\nname = 'hq'\nkind = 'hunter2pass'",
        "[[endpoints]]\nname = 'hq'\nkind = 'mcp'\ncommand = ['x']\nenv = ['KEY=hunter2pass']",
        "[mcp]\napprove = 'hunter2pass'",
    ],
)
def test_an_error_never_repeats_a_value_that_could_be_a_secret(text: str) -> None:
    with pytest.raises(SettingsError) as refused:
        parse(text, "cockpit.toml")
    assert "hunter2pass" not in str(refused.value)
    assert refused.value.__cause__ is None


def test_a_file_that_is_nested_too_deeply_is_an_error_of_the_settings() -> None:
    with pytest.raises(SettingsError, match="nested too deeply"):
        parse("x = " + "[" * 5000, "cockpit.toml")


@given(st.text(max_size=60) | st.lists(st.sampled_from(EVERYTHING.splitlines()), max_size=8).map("\n".join))
def test_any_text_is_settings_or_an_error_with_a_line(text: str) -> None:
    try:
        parse(text, "cockpit.toml")
    except SettingsError as refused:
        problem = refused
    else:
        return
    assert problem.line is not None
    assert 1 <= problem.line <= text.count("\n") + 1
    assert str(problem).isprintable()


def test_bad_utf8_names_its_line(tmp_path: Path) -> None:
    file = tmp_path / "cockpit.toml"
    file.write_bytes(b"# fine\n# \xff\n")
    with pytest.raises(SettingsError, match="line 2: this is not UTF-8") as refused:
        load(file)
    assert refused.value.line == 2


def test_a_folder_in_the_place_of_the_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="is not a file"):
        load(tmp_path)


def test_a_pipe_in_the_place_of_the_file_is_an_error_and_nothing_waits(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "cockpit.toml")
    with pytest.raises(SettingsError, match="is not a file"):
        load(tmp_path / "cockpit.toml")


def test_a_link_to_nothing_is_an_error_and_not_the_defaults(tmp_path: Path) -> None:
    (tmp_path / "cockpit.toml").symlink_to("dotfiles/cockpit.toml")
    with pytest.raises(SettingsError, match="is a link to a file that is not there"):
        load(tmp_path / "cockpit.toml")


@pytest.mark.parametrize("target", ["cockpit.toml", "file/inside.toml"])
def test_a_file_that_cannot_be_opened_is_an_error(tmp_path: Path, target: str) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "cockpit.toml").symlink_to("cockpit.toml")
    with pytest.raises(SettingsError, match="cannot read"):
        load(tmp_path / target)


def test_a_huge_file_is_refused_and_not_read_whole(tmp_path: Path) -> None:
    file = tmp_path / "cockpit.toml"
    with file.open("wb") as sparse:
        sparse.truncate(10 * 1024 * 1024)
    with pytest.raises(SettingsError, match="is larger than 256 KiB"):
        load(file)


def test_a_faulty_file_gives_the_defaults_together_with_the_problem(tmp_path: Path) -> None:
    file = tmp_path / "cockpit.toml"
    file.write_text("[ui]\nascii = 1\n", encoding="utf-8")
    loaded = load_or_default(file)
    assert loaded.settings == Settings()
    assert loaded.problem is not None
    assert loaded.problem.line == 2


def test_a_right_file_gives_its_settings_and_no_problem(tmp_path: Path) -> None:
    file = tmp_path / "cockpit.toml"
    file.write_text(EVERYTHING.replace("\n", "\r\n"), encoding="utf-8", newline="")
    assert load_or_default(file).problem is None
    assert load_or_default(file).settings == parse(EVERYTHING, "cockpit.toml")
