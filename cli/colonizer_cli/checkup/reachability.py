"""The hosts: whether each answers, how fast, what our token may do, and whether its clock is right."""

from collections.abc import Iterator

from colonizer_cli.checkup.finding import Finding, fault, ok, warning
from colonizer_cli.health import Health, check
from colonizer_config.endpoints import Endpoint, Origin, known_endpoints
from colonizer_config.paths import Paths
from colonizer_config.settings import Kind, Settings

SKEW_S = 5.0
"""A clock that is wrong by less is only slow to answer."""


def hosts(paths: Paths, settings: Settings) -> Iterator[Finding]:
    """Each host but the local engine, which is looked at without being started."""
    known = known_endpoints(paths, settings)
    asked = [one for one in known if one.origin is not Origin.BUILT_IN and one.kind is Kind.MOTHERSHIP]
    for endpoint, health in check(asked, paths).items():
        yield _reached(endpoint, health)


def _reached(endpoint: Endpoint, health: Health) -> Finding:
    subject = f"host {endpoint.name}"
    if health.problem is not None:
        if health.state == "sign in":
            return fault(subject, f"sign in: {health.problem}", f"`colonizer connect login {endpoint.name}`")
        return fault(subject, f"{health.state}: {health.problem}", f"is {endpoint.address} right, and does it run?")
    words = f"answers in {health.latency_ms or 0:.0f} ms, scope {health.scope}"
    skew = health.skew_s
    if skew is not None and abs(skew) >= SKEW_S:
        clock = f"its clock is {abs(skew):.0f} s {'ahead of' if skew > 0 else 'behind'} ours"
        return warning(subject, f"{words}; {clock}", "set one of the two clocks right")
    return ok(subject, words)
