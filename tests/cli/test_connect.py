"""Endpoints of the settings by plain commands: no token on the command line, none kept before it was tried."""

import json
from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest

from colonizer_config.address import parse_address
from colonizer_config.paths import Paths
from colonizer_config.secrets import TokenStore
from colonizer_config.settings import load
from config.memory_keyring import MemoryKeyring
from plain_command import Done, colonizer
from scripted_mothership import Reply, ScriptedMothership, scripted_mothership
from typed_terminal import typed

SECRET = "5ec7e7" * 10

STANDING = {("GET", "/api/tokens/self"): Reply.json({"owner": False, "name": "me", "scope": "operate"})}
UNKNOWN = {("GET", "/api/tokens/self"): Reply(401, "missing or invalid API token; run `colonizer open`", "text/plain")}


@pytest.fixture
def mothership() -> Iterator[ScriptedMothership]:
    with scripted_mothership(STANDING) as server:
        yield server


@pytest.fixture
def memory_keyring() -> Iterator[MemoryKeyring]:
    before, memory = keyring.get_keyring(), MemoryKeyring()
    keyring.set_keyring(memory)
    yield memory
    keyring.set_keyring(before)


@pytest.fixture
def paths() -> Paths:
    return Paths.from_environment()


def kept(paths: Paths, host: str) -> str | None:
    found = TokenStore(paths).stored(parse_address(host))
    return None if found is None else found.token.reveal()


def names(paths: Paths) -> list[str]:
    return [endpoint.name for endpoint in load(paths.settings).endpoints]


def test_a_mothership_is_added_once_its_token_was_tried(mothership: ScriptedMothership, paths: Paths) -> None:
    done = colonizer("connect", "add", "hq", mothership.host, "--plain-file", stdin=f"{SECRET}\n")
    assert done == Done(0, f"hq added: http://{mothership.host}, scope operate, token kept in: plain file\n", "")
    assert [(asked.path, asked.token) for asked in mothership.asked] == [("/api/tokens/self", SECRET)]
    assert names(paths) == ["hq"]
    assert kept(paths, mothership.host) == SECRET


def test_the_token_goes_to_the_keyring_where_there_is_one(
    mothership: ScriptedMothership, paths: Paths, memory_keyring: MemoryKeyring
) -> None:
    done = colonizer("connect", "add", "hq", mothership.host, "--json", stdin=f"{SECRET}\n")
    assert json.loads(done.stdout) == {
        "name": "hq",
        "address": f"http://{mothership.host}",
        "scope": "operate",
        "token_kept_in": "keyring",
    }
    assert list(memory_keyring.entries.values()) == [SECRET]
    assert not paths.tokens.exists()


def test_a_sign_in_link_is_read_from_stdin(mothership: ScriptedMothership, paths: Paths) -> None:
    link = f"http://{mothership.host}/?token={SECRET}\n"
    assert colonizer("connect", "add", "hq", "--plain-file", stdin=link).exit == 0
    assert kept(paths, mothership.host) == SECRET
    assert SECRET not in paths.settings.read_text(encoding="utf-8")


def test_address_and_token_are_read_from_two_lines(mothership: ScriptedMothership, paths: Paths) -> None:
    done = colonizer("connect", "add", "hq", "--plain-file", stdin=f"{mothership.host}\n{SECRET}\n")
    assert done.exit == 0
    assert kept(paths, mothership.host) == SECRET


def test_the_token_is_read_from_a_file(mothership: ScriptedMothership, paths: Paths, tmp_path: Path) -> None:
    (tmp_path / "token").write_text(SECRET, encoding="ascii")
    argv = ("connect", "add", "hq", mothership.host, "--plain-file", "--token-file", str(tmp_path / "token"))
    assert colonizer(*argv, COLONIZER_TOKEN="another").exit == 0
    assert kept(paths, mothership.host) == SECRET


@pytest.mark.parametrize(
    "link", ["http://hq:7878/?token=" + SECRET, "hq?token=" + SECRET, "https://hq/?token=" + SECRET + "#x"]
)
def test_a_token_on_the_command_line_is_refused_with_words_and_not_repeated(link: str, paths: Paths) -> None:
    done = colonizer("connect", "add", "hq", link)
    assert (done.exit, done.stdout) == (2, "")
    assert "list of processes" in done.stderr
    assert SECRET not in done.stderr
    assert not paths.settings.exists()


@pytest.mark.parametrize("text", [f"http://me:{SECRET}@hq", f"http://hq/#{SECRET}", f"ftp://{SECRET}"])
def test_an_address_that_may_hold_a_secret_is_refused_and_not_repeated(text: str) -> None:
    done = colonizer("connect", "add", "hq", text)
    assert done.exit == 2
    assert SECRET not in done.stderr


def test_a_wrong_token_is_not_kept(mothership: ScriptedMothership, paths: Paths) -> None:
    mothership.replies = UNKNOWN
    done = colonizer("connect", "add", "hq", mothership.host, "--plain-file", stdin=f"{SECRET}\n")
    assert done == Done(3, "", "colonizer: missing or invalid API token; run `colonizer open`\n")
    assert not paths.settings.exists()
    assert kept(paths, mothership.host) is None


def test_a_mothership_that_does_not_answer_is_not_added(paths: Paths) -> None:
    done = colonizer("connect", "add", "hq", "127.0.0.1:1", "--plain-file", stdin=f"{SECRET}\n")
    assert done == Done(1, "", "colonizer: no mothership answering on http://127.0.0.1:1: Connection refused\n")
    assert not paths.settings.exists()


def test_without_a_keyring_nothing_is_kept_in_a_file_unasked(mothership: ScriptedMothership, paths: Paths) -> None:
    done = colonizer("connect", "add", "hq", mothership.host, stdin=f"{SECRET}\n")
    assert (done.exit, done.stdout) == (1, "")
    assert "--plain-file" in done.stderr
    assert not paths.settings.exists()
    assert kept(paths, mothership.host) is None


def test_on_a_terminal_the_token_is_typed_unseen_and_a_plain_file_is_asked_for(
    mothership: ScriptedMothership, paths: Paths
) -> None:
    with typed("connect", "add", "hq", mothership.host) as adding:
        adding.until("(not shown): ")
        adding.type(SECRET)
        adding.until("[y/N] ")
        adding.type("y")
        adding.until("hq added")
        assert adding.end() == 0
    assert SECRET not in adding.seen
    assert kept(paths, mothership.host) == SECRET


def test_http_beyond_this_machine_is_warned_of_before_the_token_is_sent(paths: Paths) -> None:
    done = colonizer("connect", "add", "hq", "hq.invalid", "--plain-file", stdin=f"{SECRET}\n")
    assert done.stderr.startswith("colonizer: warning: http://hq.invalid:7878 is not encrypted")
    assert not paths.settings.exists()


@pytest.mark.parametrize("name", ["local", "mothership", "two words", "hq"])
def test_a_name_that_cannot_be_used_is_told_before_anything_is_asked(
    name: str, mothership: ScriptedMothership, paths: Paths
) -> None:
    colonizer("connect", "add", "hq", mothership.host, "--plain-file", stdin=f"{SECRET}\n")
    before = paths.settings.read_text(encoding="utf-8")
    done = colonizer("connect", "add", name, stdin="")
    assert (done.exit, done.stdout) == (1, "")
    assert "nothing was given" not in done.stderr
    assert paths.settings.read_text(encoding="utf-8") == before


@pytest.mark.parametrize("argv", [("add", "hq", "hq"), ("remove", "hq"), ("default", "hq")])
def test_broken_settings_are_not_written_to(argv: tuple[str, ...], paths: Paths) -> None:
    paths.settings.parent.mkdir(parents=True)
    paths.settings.write_text("nonsense = 1\n", encoding="utf-8")
    done = colonizer("connect", *argv, stdin=f"{SECRET}\n")
    assert (done.exit, done.stdout) == (1, "")
    assert "cockpit.toml, line 1" in done.stderr
    assert paths.settings.read_text(encoding="utf-8") == "nonsense = 1\n"


def test_removing_an_endpoint_forgets_its_token(mothership: ScriptedMothership, paths: Paths) -> None:
    colonizer("connect", "add", "hq", mothership.host, "--plain-file", stdin=f"{SECRET}\n")
    done = colonizer("connect", "remove", "hq")
    assert done == Done(0, "hq removed; its token is forgotten (plain file)\n", "")
    assert names(paths) == []
    assert kept(paths, mothership.host) is None


def test_a_token_that_another_endpoint_needs_is_kept(mothership: ScriptedMothership, paths: Paths) -> None:
    for name in ("hq", "again"):
        colonizer("connect", "add", name, mothership.host, "--plain-file", stdin=f"{SECRET}\n")
    assert colonizer("connect", "remove", "hq") == Done(0, "hq removed\n", "")
    assert kept(paths, mothership.host) == SECRET


def test_the_default_endpoint_is_changed_before_it_is_removed(mothership: ScriptedMothership, paths: Paths) -> None:
    colonizer("connect", "add", "hq", mothership.host, "--plain-file", stdin=f"{SECRET}\n")
    assert colonizer("connect", "default", "hq") == Done(0, "hq is the default endpoint\n", "")
    assert load(paths.settings).default_endpoint == "hq"
    assert colonizer("connect", "remove", "hq").exit == 1
    assert colonizer("connect", "default", "local").exit == 0
    assert colonizer("connect", "remove", "hq").exit == 0


def test_an_endpoint_that_is_not_there_is_not_removed() -> None:
    done = colonizer("connect", "remove", "hq")
    assert done == Done(1, "", "colonizer: there is no endpoint hq in cockpit.toml\n")


NEW = "ab12cd" * 10


def add_hq(mothership: ScriptedMothership) -> None:
    assert colonizer("connect", "add", "hq", mothership.host, "--plain-file", stdin=f"{SECRET}\n").exit == 0


@pytest.mark.parametrize("pasted", [NEW, "http://{host}/?token=" + NEW, "http://127.0.0.1:7878/?token=" + NEW])
def test_signing_in_again_puts_another_token_in_the_place_of_the_first(
    pasted: str, mothership: ScriptedMothership, paths: Paths
) -> None:
    add_hq(mothership)
    before = paths.settings.read_text(encoding="utf-8")
    done = colonizer("connect", "login", "hq", "--plain-file", stdin=pasted.format(host=mothership.host) + "\n")
    assert done == Done(0, f"hq signed in: http://{mothership.host}, scope operate, token kept in: plain file\n", "")
    assert mothership.asked[-1].token == NEW
    assert kept(paths, mothership.host) == NEW
    assert paths.settings.read_text(encoding="utf-8") == before


def test_a_link_for_another_host_is_not_sent_anywhere(mothership: ScriptedMothership, paths: Paths) -> None:
    add_hq(mothership)
    asked = len(mothership.asked)
    done = colonizer("connect", "login", "hq", "--plain-file", stdin=f"http://evil.example/?token={NEW}\n")
    assert done.exit == 2
    assert f"this link is for http://evil.example, not for http://{mothership.host}: nothing was sent" in done.stderr
    assert NEW not in done.stderr
    assert (len(mothership.asked), kept(paths, mothership.host)) == (asked, SECRET)


def test_a_token_that_is_refused_leaves_the_one_before(mothership: ScriptedMothership, paths: Paths) -> None:
    add_hq(mothership)
    mothership.replies = UNKNOWN
    assert colonizer("connect", "login", "hq", "--plain-file", stdin=f"{NEW}\n").exit == 3
    assert kept(paths, mothership.host) == SECRET


def test_signing_in_takes_the_token_from_a_file_and_keeps_none_unasked(
    mothership: ScriptedMothership, paths: Paths, tmp_path: Path
) -> None:
    add_hq(mothership)
    (tmp_path / "token").write_text(NEW, encoding="ascii")
    argv = ("connect", "login", "hq", "--token-file", str(tmp_path / "token"))
    done = colonizer(*argv)
    assert (done.exit, kept(paths, mothership.host)) == (1, SECRET)
    assert "--plain-file; nothing was kept" in done.stderr
    done = colonizer(*argv, "--plain-file", "--json")
    assert json.loads(done.stdout)["token_kept_in"] == "plain file"
    assert kept(paths, mothership.host) == NEW


@pytest.mark.parametrize("command", ["login", "logout"])
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("local", "the local engine keeps its own token"),
        ("mothership", "signed in to by "),
        ("nobody", "there is no endpoint called nobody; known here: local, mothership, brain"),
    ],
)
def test_what_nobody_signs_in_to_says_so(command: str, name: str, words: str, paths: Paths) -> None:
    paths.config.mkdir(parents=True)
    paths.published_token.write_text(SECRET, encoding="ascii")
    paths.settings.write_text(
        '[[endpoints]]\nname = "brain"\nkind = "graph"\naddress = "http://127.0.0.1:1/mcp"\n', encoding="utf-8"
    )
    done = colonizer("connect", command, name, stdin=f"{NEW}\n")
    assert (done.exit, done.stdout) == (2, "")
    assert words in done.stderr


def test_signing_out_forgets_the_token_and_leaves_the_settings(mothership: ScriptedMothership, paths: Paths) -> None:
    for name in ("hq", "again"):
        colonizer("connect", "add", name, mothership.host, "--plain-file", stdin=f"{SECRET}\n")
    before = paths.settings.read_text(encoding="utf-8")
    done = colonizer("connect", "logout", "hq")
    assert done == Done(0, "hq signed out: its token is forgotten (plain file); again used it too\n", "")
    assert kept(paths, mothership.host) is None
    assert paths.settings.read_text(encoding="utf-8") == before
    assert colonizer("connect", "logout", "hq") == Done(0, "hq had no token here\n", "")
    done = colonizer("connect", "test", "hq")
    assert done.exit == 3
    assert "sign in with `colonizer connect login hq`" in done.stderr


def test_a_list_shows_how_each_endpoint_stands(mothership: ScriptedMothership, paths: Paths) -> None:
    colonizer("connect", "add", "hq", mothership.host, "--plain-file", stdin=f"{SECRET}\n")
    with paths.settings.open("a", encoding="utf-8") as file:
        file.write('[[endpoints]]\nname = "down"\nkind = "mothership"\naddress = "127.0.0.1:1"\n')
        file.write('[[endpoints]]\nname = "brain"\nkind = "graph"\naddress = "http://127.0.0.1:1/mcp"\n')
    done = colonizer("connect", "list", "--json")
    assert done.exit == 0
    rows = {row["name"]: row for row in json.loads(done.stdout)}
    assert {name: row["state"] for name, row in rows.items()} == {
        "local": "not running",
        "hq": "ok",
        "down": "sign in",
        "brain": "no answer",
    }
    assert rows["hq"]["scope"] == "operate"
    assert rows["hq"]["latency_ms"] >= 0
    assert "sign in with" in rows["down"]["error"]
    assert not paths.engine.root.exists()
    lines = colonizer("connect", "list").stdout.splitlines()
    assert lines[0].startswith("local       mothership  not running        -  -         unix:/")
    assert lines[1].startswith("hq          mothership  ok           ")


def test_a_test_ends_with_the_code_of_the_first_failure(mothership: ScriptedMothership) -> None:
    colonizer("connect", "add", "hq", mothership.host, "--plain-file", stdin=f"{SECRET}\n")
    assert colonizer("connect", "test", "hq").exit == 0
    mothership.replies = UNKNOWN
    done = colonizer("connect", "test", "hq")
    assert done.exit == 3
    assert "sign in" in done.stdout
    assert done.stderr == "colonizer: hq: missing or invalid API token; run `colonizer open`\n"
    assert colonizer("connect", "test", "nobody").exit == 2


def test_a_test_of_the_local_engine_starts_it() -> None:
    try:
        done = colonizer("connect", "test", "local", "--json")
        [row] = json.loads(done.stdout)
        assert (done.exit, row["state"], row["scope"]) == (0, "ok", "owner")
    finally:
        colonizer("engine", "stop", "--yes")
