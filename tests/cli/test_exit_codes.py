"""How commands end that could not do what they were asked (spec 7.1)."""

import subprocess

import pytest

from colonizer_cli.failures import ExitCode, exit_code
from colonizer_client import errors
from colonizer_config import errors as config_errors
from plain_command import LIMIT_S, PROGRAM, Done, colonizer, own_environment, started
from scripted_mothership import Reply, scripted_mothership

COLONY = ("GET", "/api/sessions/a1b2c3d4")


def status(reply: Reply) -> Done:
    with scripted_mothership({COLONY: reply}) as mothership:
        return colonizer("status", "a1b2c3d4", COLONIZER_BIND=mothership.host, COLONIZER_TOKEN="t")


@pytest.mark.parametrize(
    ("http", "code"),
    [(400, 1), (401, 3), (403, 3), (404, 4), (405, 1), (409, 5), (413, 1), (422, 1), (429, 6), (500, 1), (503, 1)],
)
def test_the_status_of_a_refusal_becomes_the_exit_code(http: int, code: int) -> None:
    assert status(Reply.json({"error": "the reason"}, http)) == Done(code, "", "colonizer: the reason\n")


def test_a_refusal_in_plain_text_is_told_in_its_own_words() -> None:
    reply = Reply(403, "this API token's scope (read) does not cover POST /path\n", "text/plain")
    assert status(reply).stderr == "colonizer: this API token's scope (read) does not cover POST /path\n"


def test_a_refusal_without_words_is_told_by_its_status() -> None:
    assert status(Reply(500, "", None)).stderr == "colonizer: 500 Internal Server Error\n"


def test_a_page_in_the_place_of_an_answer_is_shown_by_its_beginning() -> None:
    done = status(Reply(200, "<html>\x1b[2J" + "x" * 1000, "text/html"))
    assert done.exit == 1
    assert done.stderr.startswith("colonizer: the mothership answered 200 OK with something but JSON: <html>␛[2Jxxx")
    assert len(done.stderr) < 400


def test_controls_in_a_refusal_are_shown() -> None:
    done = status(Reply.json({"error": "no\x1b]0;owned\x07\r\x9b31m\u202e"}, 409))
    assert done.stderr == "colonizer: no␛]0;owned␇␍⟨U+009B⟩31m⟨U+202E⟩\n"


@pytest.mark.parametrize(
    "argv",
    [
        ("frobnicate",),
        ("loop", "list"),
        ("handoff", "a1b2c3d4"),
        ("list", "--host"),
        ("list", "--parked", "--status", "x"),
        ("answer", "5e6f7a8b"),
        ("status",),
        ("token", "create", "x"),
        ("token", "create", "x", "--scope", "owner"),
        ("token", "create", "x", "--scope", "read", "--budget-usd-per-day", "nan"),
        ("token",),
        ("launch", "a/b", "--autopilot", "--no-autopilot"),
        ("launch", "a/b", "--package", "p"),
        ("launch", "a/b", "--advisory", "q"),
        ("launch", "a/b", "--issue", "-1"),
        ("launch",),
        ("launch", "--host", "hq"),
        ("pr", "x", "--timeout", "3"),
        ("pr", "x", "--wait", "--timeout", "soon"),
        ("version", "--json"),
        ("--host", "hq", "version"),
        ("repo", "list", "--host", "hq"),
        ("engine", "status", "--token-file", "f"),
        ("engine", "stop", "--json"),
        ("connect", "list", "--host", "hq"),
        ("--host", "hq", "tui"),
    ],
    ids=" ".join,
)
def test_a_mistake_of_usage_ends_with_2_and_prints_nothing_on_stdout(argv: tuple[str, ...]) -> None:
    done = colonizer(*argv)
    assert (done.exit, done.stdout) == (2, "")
    assert done.stderr


def test_an_option_that_means_nothing_to_a_command_is_refused_by_name() -> None:
    words = "--json only applies to the client commands, not `colonizer version`"
    assert words in colonizer("--json", "version").stderr


@pytest.mark.parametrize(
    ("problem", "code"),
    [
        (errors.SignInNeeded("", status=401), ExitCode.DENIED),
        (errors.Forbidden("", status=403), ExitCode.DENIED),
        (errors.NotFound("", status=404), ExitCode.ABSENT),
        (errors.BadRequest(), ExitCode.ABSENT),
        (errors.Conflict("", status=409), ExitCode.CONFLICT),
        (errors.NothingToAnswer(), ExitCode.CONFLICT),
        (errors.TooMany("", status=429), ExitCode.CAPPED),
        (errors.Refusal("", status=400), ExitCode.FAILED),
        (errors.ServerFault("", status=500), ExitCode.FAILED),
        (errors.Unreachable(), ExitCode.FAILED),
        (errors.NoReply(), ExitCode.FAILED),
        (errors.EngineUnavailable(), ExitCode.FAILED),
        (config_errors.AddressError(), ExitCode.USAGE),
        (config_errors.SettingsError(""), ExitCode.FAILED),
        (config_errors.SecretError(), ExitCode.FAILED),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
def test_each_kind_of_error_has_its_code(problem: Exception, code: ExitCode) -> None:
    assert exit_code(problem) is code


def test_output_that_cannot_be_written_is_worse_than_what_a_code_says_of_it() -> None:
    session = {"id": "c1", "status": "pr_opened", "pr_url": "u", "ci_state": "failure"}
    with scripted_mothership({("GET", "/api/sessions/c1"): Reply.json(session)}) as mothership:
        environment = own_environment({"COLONIZER_BIND": mothership.host, "COLONIZER_TOKEN": "t"})
        command = ("sh", "-c", 'exec "$@" >/dev/full', "sh", *PROGRAM, "pr", "c1", "--wait")
        done = subprocess.run(command, capture_output=True, env=environment, timeout=LIMIT_S, check=False)
    assert (done.returncode, done.stderr) == (1, b"colonizer: the output cannot be written: No space left on device\n")


def test_a_code_is_kept_where_nobody_reads_the_output() -> None:
    session = {"id": "c1", "status": "pr_opened", "pr_url": "u", "ci_state": "failure"}
    with scripted_mothership({("GET", "/api/sessions/c1"): Reply.json(session)}) as mothership:
        environment = {"COLONIZER_BIND": mothership.host, "COLONIZER_TOKEN": "t"}
        with started("pr", "c1", "--wait", environment=environment) as waiting:
            assert waiting.stdout is not None
            assert waiting.stderr is not None
            waiting.stdout.close()
            assert waiting.wait(LIMIT_S) == 7
            assert waiting.stderr.read() == ""
