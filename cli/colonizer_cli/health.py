"""Whether endpoints answer, how fast, and what their tokens may do."""

import time
from collections.abc import Iterable, Mapping
from functools import partial

from colonizer_cli import kernels, servers
from colonizer_cli.mothership import patience_s, reach
from colonizer_cli.side_by_side import Failure, Job, side_by_side
from colonizer_client.errors import LinkError, SignInNeeded
from colonizer_client.kernel import calls as kernel_calls
from colonizer_client.kernel.session import KernelSession
from colonizer_client.mothership import calls
from colonizer_client.mothership.replies import clock_skew_s
from colonizer_config.address import StdioAddress
from colonizer_config.endpoints import Endpoint
from colonizer_config.paths import Paths
from colonizer_config.settings import Kind
from colonizer_config.value import Value

CHECK_LIMIT_S = 3.0
LOAD_S = 2.0
"""The SDK that kernels are spoken to with takes this long to load on a slow machine."""

COMMAND_LIMIT_S = 30.0
"""A kernel that is a command has to start first: some take 8 s."""


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


def check(endpoints: Iterable[Endpoint], paths: Paths, *, runs_commands: bool = False) -> Mapping[Endpoint, Health]:
    """The health of each endpoint, asked side by side; of one that is not asked here, that it was not.

    Args:
        endpoints: The endpoints.
        paths: The person's folders.
        runs_commands: Whether kernels and servers that are commands are run; the person has to have agreed to them.
    """
    rows = tuple(endpoints)
    resting = {endpoint: Health("not running") for endpoint in rows if not _is_asked(endpoint, runs_commands)}
    jobs = {endpoint: _job(endpoint, paths) for endpoint in rows if endpoint not in resting}
    found = side_by_side(jobs)
    failed = {endpoint: Health(_state(problem), problem=problem) for endpoint, problem in found.failures.items()}
    known = resting | failed | dict(found.answers)
    return {endpoint: known[endpoint] for endpoint in rows}


def _is_asked(endpoint: Endpoint, runs_commands: bool) -> bool:
    return runs_commands or not isinstance(endpoint.address, StdioAddress)


def _job(endpoint: Endpoint, paths: Paths) -> Job[Health]:
    if endpoint.kind is Kind.MOTHERSHIP:
        return Job(partial(_ask, endpoint, paths), patience_s(endpoint, CHECK_LIMIT_S))
    limit_s = COMMAND_LIMIT_S if isinstance(endpoint.address, StdioAddress) else CHECK_LIMIT_S + LOAD_S
    return Job(partial(_ask_kernel if endpoint.kind is Kind.KERNEL else _ask_server, endpoint, paths), limit_s)


def _ask_kernel(endpoint: Endpoint, paths: Paths) -> Health:
    async def talk(session: KernelSession) -> float | None:
        await session.run(kernel_calls.status())
        return session.latency_s

    latency_s = kernels.run(kernels.connector(endpoint, paths), talk)
    return Health("ok", None if latency_s is None else round(latency_s * 1000, 1))


def _ask_server(endpoint: Endpoint, paths: Paths) -> Health:
    return Health("ok", round(servers.ask(endpoint, paths).latency_s * 1000, 1))


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
