"""Commands for which no host is named: every endpoint is asked, side by side (local decisions, section 3)."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from typing import cast

import pytest

from colonizer_cli.side_by_side import Job, side_by_side
from colonizer_client.errors import ClientError, NoReply, Unreachable
from colonizer_config.address import parse_address
from colonizer_config.endpoints import Endpoint, Origin
from colonizer_config.errors import SecretError
from colonizer_config.paths import Paths
from colonizer_config.secrets import TokenStore
from colonizer_config.settings import EndpointName, Kind
from colonizer_config.token import Token
from plain_command import LIMIT_S, Done, colonizer, own_environment
from scripted_mothership import NOT_FOUND, Reply, ScriptedMothership, scripted_mothership

Json = dict[str, object]

HANGING = """
import threading
from colonizer_cli.side_by_side import Job, side_by_side
from colonizer_config.endpoints import known_endpoints
from colonizer_config.paths import Paths
from colonizer_config.settings import Settings
[endpoint] = known_endpoints(Paths.from_environment(), Settings())
assert side_by_side({endpoint: Job(threading.Event().wait, 0.05)}).failures
"""

NOBODY = "127.0.0.1:1"
NO_ALERTS: Json = {}


class Cockpit:
    """Endpoints in the settings of this test, each with its own token."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self.paths = Paths.from_environment()
        self.paths.config.mkdir(parents=True, exist_ok=True)

    def server(self, name: str, *sessions: str | Json) -> ScriptedMothership:
        rows = [{"id": session} if isinstance(session, str) else session for session in sessions]
        replies = {("GET", "/api/sessions"): Reply.json(rows), ("GET", "/api/status"): Reply.json(NO_ALERTS)}
        replies |= {("GET", f"/api/sessions/{row['id']}"): Reply.json(row) for row in rows}
        mothership = self._stack.enter_context(scripted_mothership(replies))
        self.add(name, mothership.host)
        return mothership

    def add(self, name: str, host: str, *, with_token: bool = True) -> None:
        with self.paths.settings.open("a", encoding="utf-8") as file:
            file.write(f'[[endpoints]]\nname = "{name}"\nkind = "mothership"\naddress = "{host}"\n')
        if with_token:
            TokenStore(self.paths).store(parse_address(host), Token(f"token-of-{name}"), plain_file=True)


@pytest.fixture
def cockpit() -> Iterator[Cockpit]:
    with ExitStack() as stack:
        yield Cockpit(stack)


def engine_was_started(cockpit: Cockpit) -> bool:
    return cockpit.paths.engine.root.exists()


def test_a_list_names_the_endpoint_of_each_colony_first(cockpit: Cockpit) -> None:
    cockpit.server("hq", {"id": "a1b2c3d4", "status": "idle", "repo": "acme/widgets", "issue": 1, "issue_title": "One"})
    cockpit.server("a-long-name", {"id": "b", "status": "running", "repo": "o/r", "instructions": "Two"})
    assert colonizer("list") == Done(
        0,
        "hq          a1b2c3d4    idle                acme/widgets              #1 One\n"
        "a-long-name  b           running             o/r                       Two\n",
        "",
    )


def test_rows_of_json_say_where_they_are_from(cockpit: Cockpit) -> None:
    cockpit.server("hq", "a", "b")
    cockpit.server("lab", "a")
    rows = json.loads(colonizer("list", "--json").stdout)
    assert [(row["endpoint"], row["id"]) for row in rows] == [("hq", "a"), ("hq", "b"), ("lab", "a")]
    assert list(rows[0]) == ["endpoint", "id"]


def test_a_server_cannot_pass_its_rows_for_those_of_another_endpoint(cockpit: Cockpit) -> None:
    cockpit.server("hq", {"id": "a", "endpoint": "local"})
    assert json.loads(colonizer("list", "--json").stdout) == [{"endpoint": "hq", "id": "a"}]
    assert colonizer("list").stdout.startswith("hq ")


def test_each_endpoint_gets_its_own_token_and_never_the_one_of_the_environment(cockpit: Cockpit) -> None:
    hq, lab = cockpit.server("hq", "a"), cockpit.server("lab", "b")
    assert colonizer("list", COLONIZER_TOKEN="for-a-named-host").exit == 0
    assert {asked.token for asked in hq.asked} == {"token-of-hq"}
    assert {asked.token for asked in lab.asked} == {"token-of-lab"}


def test_a_dead_endpoint_costs_its_own_rows_alone(cockpit: Cockpit) -> None:
    cockpit.add("dead", NOBODY)
    cockpit.add("stranger", "127.0.0.1:2", with_token=False)
    cockpit.server("hq", "a")
    done = colonizer("list")
    assert done.exit == 0
    assert done.stdout == "hq          a           ?                   ?                         \n"
    assert done.stderr == (
        f"colonizer: dead: no mothership answering on http://{NOBODY}: Connection refused\n"
        "colonizer: stranger: no token is kept for http://127.0.0.1:2: "
        "sign in with `colonizer connect login stranger`\n"
    )


def test_an_endpoint_that_is_no_mothership_is_not_asked(cockpit: Cockpit) -> None:
    with cockpit.paths.settings.open("a", encoding="utf-8") as file:
        file.write('[[endpoints]]\nname = "brain"\nkind = "graph"\naddress = "http://127.0.0.1:1/mcp"\n')
    assert colonizer("list") == Done(0, "", "no colonies\n")


def test_a_list_on_a_machine_without_colonies_starts_nothing(cockpit: Cockpit) -> None:
    assert colonizer("list") == Done(0, "", "no colonies\n")
    assert colonizer("list", "--json") == Done(0, "[]\n", "")
    assert colonizer("status", "a1b2c3d4") == Done(4, "", "colonizer: no such session\n")
    assert not engine_was_started(cockpit)


def test_broken_settings_are_warned_of_and_the_defaults_are_used(cockpit: Cockpit) -> None:
    cockpit.paths.settings.write_text('default_endpoint = "local"\nnonsense = 1\n', encoding="utf-8")
    done = colonizer("list")
    assert (done.exit, done.stdout) == (0, "")
    assert done.stderr.startswith("colonizer: warning: cockpit.toml, line 2: ")
    assert done.stderr.count("warning") == 1


def test_the_filters_count_for_every_endpoint(cockpit: Cockpit) -> None:
    cockpit.server("hq", {"id": "a", "status": "parked", "repo": "acme/x"}, {"id": "b", "status": "idle"})
    cockpit.server("lab", {"id": "c", "status": "Parked", "repo": "globex/x"})
    ids = [row["id"] for row in json.loads(colonizer("list", "--parked", "--json").stdout)]
    assert ids == ["a", "c"]
    ids = [row["id"] for row in json.loads(colonizer("list", "--org", "acme", "--json").stdout)]
    assert ids == ["a"]


def test_a_colony_is_found_on_whatever_endpoint_it_is(cockpit: Cockpit) -> None:
    hq = cockpit.server("hq", {"id": "a", "status": "idle"})
    lab = cockpit.server("lab", {"id": "b", "status": "parked"})
    assert colonizer("status", "b").stdout.startswith("colony    b (parked)\n")
    assert {asked.path for asked in hq.asked} == {"/api/sessions/b"}
    assert {asked.token for asked in lab.asked} == {"token-of-lab"}


def test_an_id_that_two_endpoints_know_is_not_guessed(cockpit: Cockpit) -> None:
    hq, lab = cockpit.server("hq", "a"), cockpit.server("lab", "a")
    assert colonizer("stop", "a") == Done(2, "", "colonizer: a is on hq and lab: say which, such as hq/a\n")
    assert {asked.method for asked in (*hq.asked, *lab.asked)} == {"GET"}


def test_the_endpoint_can_be_named_with_the_id(cockpit: Cockpit) -> None:
    hq, lab = cockpit.server("hq", "a"), cockpit.server("lab", {"id": "a", "status": "idle"})
    assert colonizer("status", "lab/a").stdout.startswith("colony    a (idle)\n")
    assert hq.asked == []
    assert [asked.path for asked in lab.asked] == ["/api/sessions/a"]


def test_an_endpoint_that_does_not_exist_is_a_mistake_of_usage(cockpit: Cockpit) -> None:
    cockpit.server("hq", "a")
    done = colonizer("status", "../a")
    assert done == Done(2, "", "colonizer: there is no mothership called ..; known here: local, hq\n")


def test_an_id_that_nobody_knows_is_not_found(cockpit: Cockpit) -> None:
    cockpit.server("hq", "a")
    assert colonizer("status", "b") == Done(4, "", "colonizer: no such session\n")


def test_an_id_is_not_called_unknown_while_an_endpoint_is_down(cockpit: Cockpit) -> None:
    cockpit.server("hq", "a")
    cockpit.add("dead", NOBODY)
    done = colonizer("status", "b")
    assert (done.exit, done.stdout) == (1, "")
    assert done.stderr.endswith("colonizer: no such session on the endpoints that answered: local, hq\n")


def test_a_dead_endpoint_does_not_hide_a_colony_of_another(cockpit: Cockpit) -> None:
    cockpit.add("dead", NOBODY)
    cockpit.server("hq", "a")
    assert colonizer("status", "a").exit == 0


def test_a_command_about_no_colony_goes_to_the_default_endpoint(cockpit: Cockpit) -> None:
    hq, lab = cockpit.server("hq"), cockpit.server("lab")
    lab.replies = {("GET", "/api/tokens"): Reply.json([])}
    settings = cockpit.paths.settings.read_text(encoding="utf-8")
    cockpit.paths.settings.write_text(f'default_endpoint = "lab"\n{settings}', encoding="utf-8")
    assert colonizer("token", "list") == Done(0, "", "no tokens\n")
    assert hq.asked == []


def test_a_launch_with_a_repository_goes_to_the_default_endpoint_as_it_is(cockpit: Cockpit) -> None:
    lab = cockpit.server("lab")
    lab.replies = {("POST", "/api/sessions"): Reply.json({"id": "n1", "status": "queued"})}
    settings = cockpit.paths.settings.read_text(encoding="utf-8")
    cockpit.paths.settings.write_text(f'default_endpoint = "lab"\n{settings}', encoding="utf-8")
    assert colonizer("launch", "acme/widgets", "Do it").stdout == "colony n1 started (queued)\n"
    sent = cast("Json", lab.asked[0].sent)
    assert sent["repo"] == "acme/widgets"
    assert sent.keys().isdisjoint({"agent_env", "agent_module"})
    assert not engine_was_started(cockpit)


def test_an_agent_can_be_asked_for(cockpit: Cockpit) -> None:
    del cockpit
    with scripted_mothership({("POST", "/api/sessions"): Reply.json({"id": "n1"})}) as mothership:
        colonizer("launch", "a/b", "--agent", "codex", COLONIZER_BIND=mothership.host, COLONIZER_TOKEN="t")
    assert cast("Json", mothership.asked[0].sent)["agent_module"] == "codex"


def test_the_token_file_of_the_published_program_makes_an_endpoint(cockpit: Cockpit) -> None:
    (cockpit.paths.config / "api-token").write_text("owner", encoding="ascii")
    done = colonizer("status", "nobody/x")
    assert "known here: local, mothership" in done.stderr


# The asking itself.


def endpoint(name: str) -> Endpoint:
    return Endpoint(EndpointName(name), Kind.MOTHERSHIP, parse_address("hq"), Origin.SETTINGS)


def failing(problem: ClientError | SecretError) -> Job[str]:
    def ask() -> str:
        raise problem

    return Job(ask, 5)


def test_a_job_that_hangs_is_given_up_and_holds_nobody() -> None:
    hangs, released = threading.Event(), threading.Event()

    def hang() -> str:
        hangs.set()
        released.wait()
        return "too late"

    slow, fast = endpoint("slow"), endpoint("fast")
    try:
        found = side_by_side({slow: Job(hang, 0.05), fast: Job(lambda: "in time", 5)})
    finally:
        released.set()
    assert hangs.is_set()
    assert found.answers == {fast: "in time"}
    assert isinstance(found.failures[slow], NoReply)
    assert str(found.failures[slow]) == "no answer within 0.05 s"


def test_a_job_that_hangs_does_not_hold_the_end_of_the_program() -> None:
    done = subprocess.run(
        (sys.executable, "-c", HANGING), capture_output=True, env=own_environment({}), timeout=LIMIT_S, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_all_jobs_run_at_once() -> None:
    together = threading.Barrier(3, timeout=5)
    names = [endpoint(name) for name in "abc"]
    found = side_by_side({name: Job(together.wait, 10) for name in names})
    assert set(found.answers.values()) == {0, 1, 2}


def test_failures_and_answers_keep_their_order() -> None:
    one, two, three, four = map(endpoint, ("one", "two", "three", "four"))
    secret, silent = SecretError("no"), Unreachable("no")
    found = side_by_side(
        {one: failing(secret), two: Job(lambda: "2", 5), three: failing(silent), four: Job(lambda: "4", 5)}
    )
    assert list(found.answers) == [two, four]
    assert dict(found.failures) == {one: secret, three: silent}


def test_an_answer_of_nothing_is_an_answer() -> None:
    one = endpoint("one")
    assert side_by_side({one: Job(lambda: None, 5)}).answers == {one: None}


def test_what_was_told_of_an_id_is_not_taken_for_a_colony(cockpit: Cockpit) -> None:
    hq = cockpit.server("hq", "a")
    hq.replies = {("GET", "/api/sessions/b"): NOT_FOUND}
    cockpit.server("lab", "b")
    assert colonizer("pr", "b") == Done(0, "no pull request yet\n", "")
