"""Which host is meant when one is named, and which token goes to it (spec 2.1)."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from plain_command import Done, colonizer
from scripted_mothership import Reply, ScriptedMothership, scripted_mothership

LIST = {("GET", "/api/sessions"): Reply.json([]), ("GET", "/api/status"): Reply.json({})}
NOBODY = "127.0.0.1:1"
"""Nothing listens there."""


@pytest.fixture
def mothership() -> Iterator[ScriptedMothership]:
    with scripted_mothership(LIST) as server:
        yield server


@pytest.fixture
def token_file(tmp_path: Path) -> Path:
    path = tmp_path / "token"
    path.write_text("of-the-file\n", encoding="ascii")
    return path


def tokens(mothership: ScriptedMothership) -> set[str]:
    return {asked.token for asked in mothership.asked}


def test_the_flag_goes_before_the_environment(mothership: ScriptedMothership) -> None:
    done = colonizer("list", "--host", mothership.host, COLONIZER_BIND=NOBODY, COLONIZER_TOKEN="t")
    assert done == Done(0, "", "no colonies\n")


def test_the_environment_names_a_host_too(mothership: ScriptedMothership) -> None:
    assert colonizer("list", COLONIZER_BIND=mothership.host, COLONIZER_TOKEN="t").exit == 0


def test_options_stand_before_or_after_the_command_and_the_last_one_counts(mothership: ScriptedMothership) -> None:
    done = colonizer("--host", NOBODY, "--json", "list", "--host", mothership.host, COLONIZER_TOKEN="t")
    assert done == Done(0, "[]\n", "")


def test_options_may_stand_between_the_words_of_a_command() -> None:
    with scripted_mothership({("GET", "/api/tokens"): Reply.json([])}) as mothership:
        done = colonizer("token", "--json", "list", COLONIZER_BIND=mothership.host, COLONIZER_TOKEN="t")
    assert done == Done(0, "[]\n", "")


def test_the_token_of_the_environment_goes_before_the_files(mothership: ScriptedMothership, token_file: Path) -> None:
    argv = ("list", "--host", mothership.host, "--token-file", str(token_file))
    assert colonizer(*argv, COLONIZER_TOKEN=" of-the-environment ").exit == 0
    assert tokens(mothership) == {"of-the-environment"}


def test_a_token_file_that_is_named_is_used(mothership: ScriptedMothership, token_file: Path) -> None:
    assert colonizer("list", "--token-file", str(token_file), "--host", mothership.host).exit == 0
    assert tokens(mothership) == {"of-the-file"}


def test_the_owner_token_of_the_published_program_is_the_last_resort(
    mothership: ScriptedMothership, tmp_path: Path
) -> None:
    (tmp_path / "api-token").write_text("of-the-owner\n", encoding="ascii")
    assert colonizer("list", "--host", mothership.host, COLONIZER_CONFIG_DIR=str(tmp_path)).exit == 0
    assert tokens(mothership) == {"of-the-owner"}


@pytest.mark.parametrize("content", [None, "", " \n"])
def test_a_named_token_file_without_a_token_ends_the_search(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "token"
    if content is not None:
        path.write_text(content, encoding="ascii")
    (tmp_path / "api-token").write_text("of-the-owner\n", encoding="ascii")
    done = colonizer("list", "--host", NOBODY, "--token-file", str(path), COLONIZER_CONFIG_DIR=str(tmp_path))
    words = f"colonizer: no token in {path}: set COLONIZER_TOKEN or write the token into the file\n"
    assert done == Done(1, "", words)


def test_without_any_token_the_places_for_one_are_named(tmp_path: Path) -> None:
    done = colonizer("list", "--host", NOBODY, COLONIZER_CONFIG_DIR=str(tmp_path))
    words = (
        "colonizer: no API token: set COLONIZER_TOKEN or --token-file, or start `colonizer` once"
        f" (it writes {tmp_path}/api-token)\n"
    )
    assert done == Done(1, "", words)


@pytest.mark.parametrize("command", ["list", "status x", "ask x", "answer x y", "stop x", "resume x", "diff x", "pr x"])
def test_a_host_where_nothing_listens_is_named(command: str) -> None:
    done = colonizer(*command.split(), "--host", NOBODY, COLONIZER_TOKEN="t")
    assert done == Done(1, "", f"colonizer: no mothership answering on http://{NOBODY}: Connection refused\n")


@pytest.mark.parametrize(
    ("host", "words"),
    [
        ("http://hq", "takes a host or host:port, not a URL: drop the scheme"),
        ("[::1", "has a '[' without its ']'"),
        ("a:b:", "has brackets around what is not an IPv6 address"),
        ("hq:99999", "has a port that is not a number from 1 to 65535"),
        ("", "names no host"),
    ],
)
def test_what_is_no_host_is_a_mistake_of_usage(host: str, words: str) -> None:
    done = colonizer("list", "--host", host, COLONIZER_TOKEN="t")
    assert (done.exit, done.stdout) == (2, "")
    assert done.stderr.startswith(f"colonizer: --host {words}")


def test_a_bad_host_is_told_before_a_missing_token() -> None:
    assert colonizer("list", "--host", "http://hq").exit == 2


def test_a_token_file_without_a_host_is_refused_since_no_other_endpoint_would_get_it(token_file: Path) -> None:
    done = colonizer("list", "--token-file", str(token_file))
    assert (done.exit, done.stdout) == (2, "")
    assert "--token-file goes with --host" in done.stderr


def test_a_redirect_is_not_followed(mothership: ScriptedMothership) -> None:
    mothership.replies = {("GET", "/api/sessions"): Reply(302, "", None)}
    done = colonizer("list", COLONIZER_BIND=mothership.host, COLONIZER_TOKEN="t")
    assert done.exit == 1
    assert [asked.path for asked in mothership.asked] == ["/api/sessions"]


def test_settings_are_not_even_read_where_a_host_is_named(mothership: ScriptedMothership, tmp_path: Path) -> None:
    (tmp_path / "cockpit.toml").write_text("this is no TOML", encoding="utf-8")
    environment = {"COLONIZER_BIND": mothership.host, "COLONIZER_TOKEN": "t", "COLONIZER_CONFIG_DIR": str(tmp_path)}
    assert colonizer("list", **environment) == Done(0, "", "no colonies\n")
