"""Whether endpoints answer, how fast, and what their tokens may do."""

import time
from collections.abc import Iterable, Mapping
from functools import partial

from colonizer_cli.mothership import patience_s, reach
from colonizer_cli.side_by_side import Failure, Job, side_by_side
from colonizer_client.errors import LinkError, SignInNeeded
from colonizer_client.mothership import calls
from colonizer_client.mothership.replies import clock_skew_s
from colonizer_config.endpoints import Endpoint
from colonizer_config.paths import Paths
from colonizer_config.settings import Kind
from colonizer_config.value import Value

CHECK_LIMIT_S = 3.0


class Health(Value):
    """How one endpoint stands."""

    state: str
    """`ok`, `no answer`, `sign in`, `trouble`, or why it was not asked."""
    latency_ms: float | None = None
    scope: str | None = None
    skew_s: float | None = None
    """How far its clock is ahead of ours."""
    problem: Failure | None = None

    def to_json(self, endpoint: Endpoint) -> Mapping[str, object]:
        """The endpoint's row."""
        return {
            "name": endpoint.name,
            "kind": endpoint.kind,
            "address": str(endpoint.address),
            "state": self.state,
            "latency_ms": self.latency_ms,
            "scope": self.scope,
            "error": None if self.problem is None else str(self.problem),
        }


def check(endpoints: Iterable[Endpoint], paths: Paths) -> Mapping[Endpoint, Health]:
    """The health of each endpoint, asked side by side; of a kind that this version cannot ask, that it was not."""
    asked = [endpoint for endpoint in endpoints if endpoint.kind is Kind.MOTHERSHIP]
    found = side_by_side(
        {endpoint: Job(partial(_ask, endpoint, paths), patience_s(endpoint, CHECK_LIMIT_S)) for endpoint in asked}
    )
    failed = {endpoint: Health(_state(problem), problem=problem) for endpoint, problem in found.failures.items()}
    return {endpoint: Health("not asked") for endpoint in endpoints} | failed | dict(found.answers)


def _ask(endpoint: Endpoint, paths: Paths) -> Health:
    mothership = reach(endpoint, paths, CHECK_LIMIT_S)
    asked = calls.standing()
    started = time.monotonic()
    standing, date = mothership.ask(asked.reading(lambda reply: (asked.read(reply), reply.date)))
    latency_ms = round((time.monotonic() - started) * 1000, 1)
    return Health("ok", latency_ms, standing.scope, clock_skew_s(date, time.time()))


def _state(problem: Failure) -> str:
    match problem:
        case SignInNeeded():
            return "sign in"
        case LinkError():
            return "no answer"
        case _:
            return "trouble"
