"""`colonizer kernel offers`: what colonies came to, offered to be recorded in the kernel of the settings."""

import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import partial

import click

from colonizer_cli import output
from colonizer_cli.columns import cut, width_of_output
from colonizer_cli.failures import ExitCode, Failed
from colonizer_cli.kernels import confirmed, converse, kernel_called
from colonizer_cli.local import never_started
from colonizer_cli.mothership import patience_s, reach
from colonizer_cli.options import JSON, GlobalOptions, PlainGroup
from colonizer_cli.side_by_side import Job, side_by_side
from colonizer_cli.targets import Targets
from colonizer_client.clock import SystemClock
from colonizer_client.kernel import calls as kernel_calls
from colonizer_client.kernel.bridge import Offer
from colonizer_client.kernel.models import OutcomeOrder, Recorded
from colonizer_client.kernel.recording import Acceptance, Bridge
from colonizer_client.kernel.session import KernelSession
from colonizer_client.mothership import calls
from colonizer_client.mothership.models import Colony
from colonizer_client.store import Store
from colonizer_client.text import safe_line
from colonizer_config.endpoints import Endpoint

LIST_LIMIT_S = 3.0
"""How long each mothership may take to tell its colonies."""

WHO = "a person by a plain command"

_GUESSES = {True: "passed", False: "failed", None: "?"}


@click.group(cls=PlainGroup, invoke_without_command=True)
@click.pass_context
def offers(ctx: click.Context) -> None:
    """Show how colonies ended, offered to be recorded as outcomes; nothing is recorded before you accept it.

    They are made while `bridge` under [kernel] in the settings names a kernel: for each run of a colony that was
    stopped or failed, and whose pull request was merged or refused. Every call is written into audit.jsonl.
    """
    if ctx.invoked_subcommand is None:
        with click.Context(list_offers, ctx, "list") as own:
            list_offers.invoke(own)


@offers.command("list", takes=(JSON,))
@click.pass_obj
def list_offers(options: GlobalOptions) -> None:
    """List the offers, the oldest first."""
    targets = Targets(GlobalOptions())
    kernel = _chosen(targets)
    with _bridge(targets) as bridge:
        _look(targets, bridge)
        found = bridge.offers.unsettled()
    if options.as_json:
        output.show_json([_json(offer, kernel) for offer in found])
        return
    columns = width_of_output()
    for offer in found:
        for line in _lines(offer):
            output.say(cut(line, columns))
    if not found:
        output.note(f"no offers for the kernel {kernel.name}")


@offers.command(takes=(JSON,))
@click.argument("offer_id", metavar="ID")
@click.option(
    "--passed/--failed", default=None, help="Whether its tests passed, where the offer does not say, or errs."
)
@click.option("--feedback", type=click.FloatRange(-1, 1), help="What you think of the work, from -1 to 1.")
@click.option("--again", is_flag=True, help="Also where it was sent and nobody knows whether it was recorded.")
@click.option("--yes", is_flag=True, help="Do not ask, also where others share the kernel.")
@click.pass_obj
def accept(
    options: GlobalOptions, offer_id: str, passed: bool | None, feedback: float | None, again: bool, yes: bool
) -> None:
    """Record an offered outcome in the kernel."""
    targets = Targets(GlobalOptions())
    kernel = _chosen(targets)
    with _bridge(targets) as bridge:
        offer = bridge.offers.get(offer_id)
        judged = offer.passed if passed is None else passed
        if judged is None:
            raise click.UsageError("this offer does not tell whether the tests passed: say --passed or --failed")
        confirmed(kernel, f"Record that colony {offer.key.colony} {offer.happened}", yes=yes)
        word = Acceptance(judged, feedback, again)
        recorded = converse(kernel, targets.paths, partial(_record, bridge, offer, word, kernel))
    if options.as_json:
        output.show_json({"offer": offer.id, "trust": recorded.trust, "role": recorded.role})
    else:
        agent = safe_line(offer.agent)
        output.say(f"recorded in {kernel.name}: {agent} has trust {recorded.trust:.2f}, role {recorded.role}")


@offers.command(takes=())
@click.argument("offer_id", metavar="ID")
def dismiss(offer_id: str) -> None:
    """Drop an offer; this run of its colony is not offered again."""
    targets = Targets(GlobalOptions())
    kernel = _chosen(targets)
    with _bridge(targets) as bridge:
        offer = bridge.dismiss(offer_id, kernel.name)
    output.say(f"offer {offer.id} dismissed")


async def _record(bridge: Bridge, offer: Offer, word: Acceptance, kernel: Endpoint, session: KernelSession) -> Recorded:
    async def record(order: OutcomeOrder) -> Recorded:
        return await session.run(kernel_calls.record(order))

    return await bridge.accept(offer.id, word, kernel.name, record)


def _chosen(targets: Targets) -> Endpoint:
    """The kernel that the settings name for outcomes."""
    name = targets.settings.kernel.bridge
    if name is None:
        words = f'no kernel is chosen: put `bridge = "local"` under [kernel] in {targets.paths.settings}'
        raise Failed(words, ExitCode.CONFLICT)
    return kernel_called(name, targets.paths)


@contextmanager
def _bridge(targets: Targets) -> Generator[Bridge]:
    with closing(Store(targets.paths.engine.cockpit_db)) as store:
        yield Bridge(store, SystemClock(), WHO)


def _look(targets: Targets, bridge: Bridge) -> None:
    """Has the bridge see the colonies of every mothership that answers."""
    found = side_by_side(
        {
            endpoint: Job(partial(_colonies, targets, endpoint), patience_s(endpoint, LIST_LIMIT_S))
            for endpoint in targets.endpoints
        }
    )
    found.tell_failures()
    for endpoint, colonies in found.answers.items():
        bridge.offers.look(endpoint.name, colonies)


def _colonies(targets: Targets, endpoint: Endpoint) -> tuple[Colony, ...]:
    if never_started(endpoint, targets.paths):
        return ()
    return reach(endpoint, targets.paths, LIST_LIMIT_S).ask(calls.colonies(endpoint.name))[0]


def _lines(offer: Offer) -> Iterator[str]:
    made = time.strftime("%Y-%m-%d %H:%M", time.localtime(offer.created_at))
    agent, target = safe_line(offer.agent), safe_line(offer.target)
    tests = _GUESSES[offer.passed]
    yield f"{offer.id:8}  {made}  {offer.happened:8}  tests {tests:6}  {agent:12}  {target}  {offer.outcome}"
    if offer.words or offer.state == "sent":
        state = "not known whether it was recorded" if offer.state == "sent" else "not recorded"
        yield f"{'':8}  {state}{': ' if offer.words else ''}{offer.words}"


def _json(offer: Offer, kernel: Endpoint) -> Mapping[str, object]:
    return {
        "id": offer.id,
        "kernel": kernel.name,
        "endpoint": offer.key.endpoint,
        "colony": offer.key.colony,
        "run": offer.run,
        "happened": offer.happened,
        "agent": offer.agent,
        "target": offer.target,
        "outcome": offer.outcome,
        "tests_passed": offer.passed,
        "feedback": offer.feedback,
        "state": offer.state,
        "words": offer.words,
        "created_at": offer.created_at,
    }
