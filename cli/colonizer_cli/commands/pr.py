"""`colonizer pr`: a colony's pull request, and waiting for its checks."""

import re
import time
from collections.abc import Callable, Mapping
from typing import Protocol

import click

from colonizer_cli import completing, output
from colonizer_cli.failures import ExitCode, Negative, end_with
from colonizer_cli.options import GlobalOptions, PlainCommand
from colonizer_cli.targets import Targets
from colonizer_client.identity import ColonyId
from colonizer_client.mothership import calls, wire
from colonizer_client.mothership.status import TERMINAL
from colonizer_client.text import safe_line
from colonizer_config.value import Value

POLL_S = 15.0

_PASSED = frozenset({"success", "no_checks"})
_FAILED = "failure"

_UNITS_S = {
    **dict.fromkeys(("", "s", "sec", "secs", "seconds"), 1),
    **dict.fromkeys(("m", "min", "minutes"), 60),
    **dict.fromkeys(("h", "hr", "hours"), 3600),
    **dict.fromkeys(("d", "day", "days"), 86400),
}
_LONGEST_S = 2**63


class PullRequest(Value):
    """What a colony's detail says of its pull request; every text as it came."""

    url: str | None
    status: str | None
    ci_state: str | None
    merged_at: object

    @classmethod
    def of(cls, detail: object) -> "PullRequest":
        """Read from the answer for one colony."""
        fields = wire.mapping(detail)

        def text(key: str) -> str | None:
            value = fields.get(key)
            return value if isinstance(value, str) else None

        return cls(text("pr_url"), text("status"), text("ci_state"), fields.get("merged_at"))

    @property
    def line(self) -> str:
        """What `pr` prints."""
        if self.url is None:
            return "no pull request yet"
        checks = "" if self.ci_state is None else f", checks {safe_line(self.ci_state)}"
        return f"{safe_line(self.url)} ({safe_line(self.status or 'unknown')}{checks})"

    def to_json(self, colony: ColonyId) -> Mapping[str, object]:
        """What `pr --json` prints."""
        return {
            "id": colony,
            "pr_url": self.url,
            "status": self.status,
            "ci_state": self.ci_state,
            "merged_at": self.merged_at,
        }


class Clock(Protocol):
    """Time as waiting needs it."""

    def monotonic(self) -> float:
        """Seconds that only go forward."""
        ...

    def sleep(self, seconds: float, /) -> None:
        """Returns after that many seconds."""
        ...


class Duration(click.ParamType[float]):
    """A span of time such as `90`, `15m` or `2h`, in seconds."""

    name = "duration"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The seconds of a duration as it was written."""
        found = re.fullmatch(r"\s*([0-9]+)\s*([a-zA-Z]*)\s*", str(value))
        seconds = int(found[1]) * _UNITS_S.get(found[2].lower(), 0) if found else 0
        if not 0 < seconds < _LONGEST_S:
            self.fail(f"a number of seconds, or s, m, h or d after it (got {str(value)!r})", param, ctx)
        return float(seconds)


@click.command(cls=PlainCommand)
@click.argument("colony", metavar="ID", shell_complete=completing.colonies)
@click.option("--wait", is_flag=True, help="Wait until its checks are done; ends with 7 where they fail.")
@click.option("--timeout", type=Duration(), help="Give up waiting after 90, 90s, 30m or 2h; ends with 8.")
@click.pass_obj
def pr(options: GlobalOptions, colony: str, wait: bool, timeout: float | None) -> None:
    """Print a colony's pull request and the state of its checks."""
    if timeout is not None and not wait:
        raise click.UsageError("--timeout goes with --wait")
    mothership, colony_id = Targets(options).holding(colony)

    def read() -> PullRequest:
        return PullRequest.of(mothership.ask(calls.colony(mothership.endpoint.name, colony_id).as_json()))

    found, code = until_settled(read, colony_id, timeout, time) if wait else (read(), ExitCode.DONE)
    if options.as_json:
        output.show_json(found.to_json(colony_id))
    else:
        output.say(found.line)
    end_with(code)


def until_settled(
    read: Callable[[], PullRequest], colony: ColonyId, timeout_s: float | None, clock: Clock
) -> tuple[PullRequest, ExitCode]:
    """The pull request once its checks are done, and whether they passed (spec 7.2).

    Raises:
        Negative: There will be no checks to wait for, or the time is over.
        ClientError: The colony cannot be read.
    """
    started = clock.monotonic()
    while True:
        found = read()
        code = _settled(found, safe_line(colony))
        if code is not None:
            return found, code
        left_s = POLL_S if timeout_s is None else started + timeout_s - clock.monotonic()
        if timeout_s is not None and left_s <= 0:
            state = safe_line(found.ci_state or "unknown")
            words = f"colony {safe_line(colony)}: checks still {state} after {timeout_s:.0f}s; gave up waiting"
            raise Negative(words, ExitCode.TIMED_OUT)
        clock.sleep(min(POLL_S, left_s))


def _settled(found: PullRequest, colony: str) -> ExitCode | None:
    """How waiting ends in this state, None where it goes on."""
    status = safe_line(found.status or "unknown")
    if found.url is None:
        if found.status == "parked":
            raise Negative(f"colony {colony} is parked; nothing will publish until it is resumed", ExitCode.FAILED)
        if found.status in TERMINAL:
            words = f"colony {colony} ended without opening a pull request (status {status})"
            raise Negative(words, ExitCode.FAILED)
        return None
    if found.ci_state in _PASSED:
        return ExitCode.DONE
    if found.ci_state == _FAILED:
        return ExitCode.CHECKS_FAILED
    if found.status in ("merged", "closed"):
        raise Negative(f"the pull request was {status} before its checks settled", ExitCode.FAILED)
    return None
