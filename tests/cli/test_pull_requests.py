"""`pr --wait`: how waiting for checks ends (spec 7.2)."""

from collections.abc import Iterator

import pytest

from colonizer_cli.commands.pr import POLL_S, PullRequest, until_settled
from colonizer_cli.failures import ExitCode, Negative
from colonizer_client.errors import NotFound
from colonizer_client.identity import ColonyId
from plain_command import Done, colonizer
from scripted_mothership import Reply, scripted_mothership

COLONY = ColonyId("c1")


class HandClock:
    """Time that passes only where somebody waits."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.slept: list[float] = []

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float, /) -> None:
        self.slept.append(seconds)
        self.now += seconds


def pull_request(status: str, url: str | None = "https://x/pull/1", ci_state: str | None = None) -> PullRequest:
    return PullRequest(url, status, ci_state, None)


def waited(*states: PullRequest, timeout_s: float | None = None) -> tuple[ExitCode, HandClock]:
    """How waiting ended; the last state stays."""
    rest, clock = list(states), HandClock()
    _, code = until_settled(lambda: rest.pop(0) if len(rest) > 1 else rest[0], COLONY, timeout_s, clock)
    return code, clock


@pytest.mark.parametrize("status", ["pr_opened", "merged", "closed", "running", "parked"])
@pytest.mark.parametrize(("ci_state", "code"), [("success", 0), ("no_checks", 0), ("failure", 7)])
def test_settled_checks_end_it_whatever_the_status(status: str, ci_state: str, code: int) -> None:
    found, clock = waited(pull_request(status, ci_state=ci_state))
    assert (found, clock.slept) == (code, [])


@pytest.mark.parametrize("status", ["merged", "closed"])
@pytest.mark.parametrize("ci_state", ["pending", None, "of_tomorrow"])
def test_a_pull_request_that_is_over_before_its_checks_is_a_failure(status: str, ci_state: str | None) -> None:
    with pytest.raises(Negative, match=f"^the pull request was {status} before its checks settled$") as raised:
        waited(pull_request(status, ci_state=ci_state))
    assert raised.value.code is ExitCode.FAILED


@pytest.mark.parametrize("status", ["no_changes", "stopped", "failed", "pr_opened", "merged", "closed"])
def test_an_end_without_a_pull_request_is_a_failure(status: str) -> None:
    words = rf"^colony c1 ended without opening a pull request \(status {status}\)$"
    with pytest.raises(Negative, match=words) as raised:
        waited(pull_request(status, url=None))
    assert raised.value.code is ExitCode.FAILED


def test_a_parked_colony_without_one_publishes_nothing() -> None:
    with pytest.raises(Negative, match=r"^colony c1 is parked; nothing will publish until it is resumed$"):
        waited(pull_request("parked", url=None))


@pytest.mark.parametrize(
    "before",
    [
        pull_request("parked", ci_state="pending"),
        pull_request("pr_opened", ci_state="pending"),
        pull_request("publishing", url=None),
        pull_request("running", url=None),
        pull_request("of_tomorrow", url=None),
        PullRequest(None, None, None, None),
    ],
)
def test_everything_else_is_waited_for(before: PullRequest) -> None:
    code, clock = waited(before, before, pull_request("pr_opened", ci_state="success"))
    assert (code, clock.slept) == (ExitCode.DONE, [POLL_S, POLL_S])


def test_the_last_wait_ends_at_the_deadline_and_is_followed_by_a_last_look() -> None:
    pending, passed = pull_request("pr_opened", ci_state="pending"), pull_request("pr_opened", ci_state="success")
    code, clock = waited(pending, pending, passed, timeout_s=20)
    assert (code, clock.slept) == (ExitCode.DONE, [15.0, 5.0])


@pytest.mark.parametrize(("ci_state", "word"), [("pending", "pending"), (None, "unknown")])
def test_after_the_deadline_it_gives_up(ci_state: str | None, word: str) -> None:
    words = f"^colony c1: checks still {word} after 1800s; gave up waiting$"
    with pytest.raises(Negative, match=words) as raised:
        waited(pull_request("pr_opened", ci_state=ci_state), timeout_s=1800)
    assert raised.value.code is ExitCode.TIMED_OUT


def test_a_colony_that_cannot_be_read_ends_it() -> None:
    states = iter([pull_request("running", url=None)])

    def read() -> PullRequest:
        found = next(states, None)
        if found is None:
            raise NotFound("no such session", status=404)
        return found

    with pytest.raises(NotFound):
        until_settled(read, COLONY, None, HandClock())


@pytest.fixture
def host() -> Iterator[str]:
    session = {"id": "c1", "status": "pr_opened", "pr_url": "u", "ci_state": "failure"}
    with scripted_mothership({("GET", "/api/sessions/c1"): Reply.json(session)}) as mothership:
        yield mothership.host


def test_failed_checks_are_printed_and_end_with_7(host: str) -> None:
    done = colonizer("pr", "c1", "--wait", COLONIZER_BIND=host, COLONIZER_TOKEN="t")
    assert done == Done(7, "u (pr_opened, checks failure)\n", "")


@pytest.mark.parametrize(
    "written",
    [
        "90",
        "90s",
        "90sec",
        "90secs",
        "90seconds",
        "1m",
        "1min",
        "1minutes",
        "1h",
        "1hr",
        "1HOURS",
        "1d",
        "1Day",
        "2 days",
    ],
)
def test_a_duration_has_many_spellings(host: str, written: str) -> None:
    assert colonizer("pr", "c1", "--wait", "--timeout", written, COLONIZER_BIND=host, COLONIZER_TOKEN="t").exit == 7


@pytest.mark.parametrize("written", ["0", "0s", "", "s", "1.5s", "1_0", "+1", "1w", "@90", "1m30s", "9" * 30, "٣"])
def test_what_is_no_duration_is_a_mistake_of_usage(host: str, written: str) -> None:
    assert colonizer("pr", "c1", "--wait", "--timeout", written, COLONIZER_BIND=host, COLONIZER_TOKEN="t").exit == 2
