"""`colonizer kernel status` and others: what a colony kernel knows, and what it says of an action."""

import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click

from colonizer_cli import completing, kernel_text, output
from colonizer_cli.columns import cut, width_of_output
from colonizer_cli.failures import ExitCode, end_with
from colonizer_cli.kernels import Talk, confirmed, converse, kernel_called
from colonizer_cli.options import JSON, GlobalOptions, PlainCommand
from colonizer_cli.plan_file import plan_in
from colonizer_client.kernel import calls, decode, glance
from colonizer_client.kernel.calls import Call
from colonizer_client.kernel.models import Decision, OutcomeOrder, ProposalOrder
from colonizer_client.kernel.preset import Preset
from colonizer_client.kernel.session import KernelSession
from colonizer_config.endpoints import Endpoint
from colonizer_config.paths import Paths
from colonizer_config.settings import LOCAL
from colonizer_config.value import Value

T = TypeVar("T")

PLACES_SHOWN = 20
"""Places that `heat` prints for a person who does not say how many."""

which = click.option(
    "--kernel",
    "name",
    metavar="NAME",
    default=LOCAL,
    shell_complete=completing.kernels,
    help="Another kernel than the local engine's, by its name in the settings.",
)
without_asking = click.option("--yes", is_flag=True, help="Do not ask, also where others share the kernel.")


class Chosen(Value):
    """The kernel that a command is about."""

    kernel: Endpoint
    paths: Paths

    @classmethod
    def called(cls, name: str) -> "Chosen":
        """The kernel of that name."""
        paths = Paths.from_environment()
        return cls(kernel_called(name, paths), paths)

    def ask(self, talk: Talk[T]) -> T:
        """What comes of talking to it."""
        return converse(self.kernel, self.paths, talk)


class Answer(Value):
    """The value of a tool, raw, and what the kernel told of itself."""

    value: object
    preset: Preset
    server: str


@click.command(cls=PlainCommand, takes=(JSON,))
@which
@click.pass_obj
def status(options: GlobalOptions, name: str) -> None:
    """Show the colony in short: tick, traces, budgets, roles and the last outcomes."""
    chosen = Chosen.called(name)
    _show_status(options, chosen, chosen.ask(partial(_answer, calls.status())))


@click.command(cls=PlainCommand, takes=(JSON,))
@which
@click.option("--top", type=click.IntRange(min=1), metavar="N", help="The N most hazardous places alone.")
@click.pass_obj
def heat(options: GlobalOptions, name: str, top: int | None) -> None:
    """Show the traces of each place, the most hazardous first.

    `!` marks a hazard from 3 on, at which actions are held, `!!` one from 6 on. `-` is no trace, `?` one that was not
    told. A kernel other than the local engine's tells only the places that its status names.
    """
    chosen = Chosen.called(name)
    field = chosen.ask(glance.field)
    shown = field.rows[: top or (None if options.as_json else PLACES_SHOWN)]
    if options.as_json:
        output.show_json(kernel_text.field_json(chosen.kernel.name, field, shown))
        return
    if not field.rows:
        output.note("no traces")
        return
    _say(*kernel_text.heat_lines(shown))
    if not field.is_whole:
        output.note("these are the places that the kernel's status names; there may be others")
    if top is None and len(shown) < len(field.rows):
        output.note(f"{len(field.rows) - len(shown)} more places: --top {len(field.rows)}")


@click.command(cls=PlainCommand, takes=(JSON,))
@which
@click.argument("agents", metavar="[AGENT]...", nargs=-1)
@click.pass_obj
def agents(options: GlobalOptions, name: str, agents: tuple[str, ...]) -> None:
    """Show the agents: trust, role, accepted proposals, and what leads to the next role.

    A kernel other than the local engine's tells only the agents that its status names; any kernel tells of an AGENT
    that is named, and some keep a record from then on.
    """

    async def read(session: KernelSession) -> tuple[tuple[object, ...], Preset]:
        return await glance.agents(session, agents), session.preset

    found, preset = Chosen.called(name).ask(read)
    if options.as_json:
        output.show_json(found)
    elif found:
        _say(*kernel_text.agent_lines(map(decode.profile, found), preset))
    else:
        output.note("no agents")


@click.command(cls=PlainCommand, takes=(JSON,))
@which
@click.argument("file", type=click.Path(allow_dash=True, dir_okay=False, path_type=Path))
@click.pass_obj
def falsify(options: GlobalOptions, name: str, file: Path) -> None:
    """Attack the plan in FILE, a JSON object, or - for stdin. Nothing is stored.

    Ends with 7 where the recommendation is not to execute it.
    """
    plan = plan_in(file)
    value = Chosen.called(name).ask(partial(_answer, calls.falsify(plan))).value
    review = decode.plan_review(value)
    if options.as_json:
        output.show_json(value)
    else:
        _say(*kernel_text.review_lines(review))
    _end(review.recommendation)


@click.command(cls=PlainCommand, takes=(JSON,))
@which
@click.option("--agent", required=True, help="Who would do it.")
@click.option("--action", required=True, metavar="TYPE", help="What kind of action it is, such as patch_file.")
@click.option("--target", required=True, metavar="PLACE", help="What it is done to: a module, a file, a repository.")
@click.option("--rationale", required=True, help="Why it should be done.")
@click.option("--rollback", default="", metavar="PLAN", help="How it would be undone.")
@click.option("--evidence", default="{}", metavar="JSON", help="What speaks for it, as a JSON object.")
@without_asking
@click.pass_obj
def propose(options: GlobalOptions, /, name: str, yes: bool, **words: Any) -> None:
    """Have an action judged: execute, hold or refuse. The kernel remembers that it was proposed.

    Ends with 7 where the answer is not to execute it, so that `propose … && act` is safe.
    """
    order = ProposalOrder(
        agent=words["agent"],
        action=words["action"],
        target=words["target"],
        rationale=words["rationale"],
        rollback_plan=words["rollback"],
        evidence=words["evidence"],
    )
    chosen = Chosen.called(name)
    confirmed(chosen.kernel, "Propose this action", yes=yes)
    value = chosen.ask(partial(_answer, calls.propose(order))).value
    reply = decode.gate_reply(value)
    if options.as_json:
        output.show_json(value)
    else:
        _say(*kernel_text.verdict_lines(order, reply))
    _end(reply.decision)


@click.command(cls=PlainCommand, takes=(JSON,))
@which
@click.option("--agent", required=True, help="Who did it.")
@click.option("--action", required=True, metavar="TYPE", help="What kind of action it was.")
@click.option("--target", required=True, metavar="PLACE", help="What it was done to.")
@click.option("--outcome", required=True, metavar="WORDS", help="What came of it.")
@click.option("--passed/--failed", default=None, help="Whether its tests passed; one of the two is needed.")
@click.option("--feedback", type=click.FloatRange(-1, 1), default=0.0, help="What you think of it, from -1 to 1.")
@without_asking
@click.pass_obj
def record(options: GlobalOptions, /, name: str, yes: bool, **given: Any) -> None:
    """Record what came of an action; it changes traces, and its agent's trust and role."""
    if given["passed"] is None:
        raise click.UsageError("say --passed or --failed: whether its tests passed")
    order = OutcomeOrder(
        agent=given["agent"],
        action=given["action"],
        target=given["target"],
        outcome=given["outcome"],
        tests_passed=given["passed"],
        feedback=given["feedback"],
    )
    chosen = Chosen.called(name)
    confirmed(chosen.kernel, "Record this outcome", yes=yes)
    value = chosen.ask(partial(_answer, calls.record(order))).value
    if options.as_json:
        output.show_json(value)
    else:
        _say(kernel_text.recorded_line(order.agent, decode.recorded(value)))


@click.command(cls=PlainCommand, takes=(JSON,))
@which
@without_asking
@click.pass_obj
def prune(options: GlobalOptions, name: str, yes: bool) -> None:
    """Report the modules that may go, the surest first. The kernel notes that it was asked; nothing is deleted."""
    chosen = Chosen.called(name)
    confirmed(chosen.kernel, "Have it make a pruning report", yes=yes)
    value, kept = chosen.ask(_pruning)
    report = decode.pruning_report(value)
    if options.as_json:
        output.show_json(value)
        return
    _say(*kernel_text.pruning_lines(report, kept))
    if not report.candidates:
        output.note("nothing to prune")


@click.command(cls=PlainCommand, takes=(JSON,))
@which
@without_asking
@click.pass_obj
def tick(options: GlobalOptions, name: str, yes: bool) -> None:
    """Move the field one tick on: every trace fades a little, for all who share the kernel."""
    chosen = Chosen.called(name)
    confirmed(chosen.kernel, "Move it one tick on: its traces fade", yes=yes)
    _show_status(options, chosen, chosen.ask(partial(_answer, calls.tick())))


async def _answer(call: Call[Any], session: KernelSession) -> Answer:
    value = await session.run(call.as_json())
    return Answer(value, session.preset, session.capabilities.server)


async def _pruning(session: KernelSession) -> tuple[object, Mapping[str, str]]:
    """The report, raw, and why places are left alone, where the kernel tells."""
    value = await session.run(calls.pruning_report().as_json())
    if not session.capabilities.has_operator_calls:
        return value, {}
    places = (await session.run(calls.matrix())).places
    told = await session.run(calls.protections([place.raw for place in places]))
    return value, {place.shown: told[place.raw] for place in places if place.raw in told}


def _show_status(options: GlobalOptions, chosen: Chosen, answer: Answer) -> None:
    if options.as_json:
        output.show_json(answer.value)
        return
    kernel = f"{chosen.kernel.name} ({answer.server or 'nameless'}, rules of {answer.preset.name})"
    _say(*kernel_text.status_lines(decode.status(answer.value), kernel, answer.preset, time.time()))


def _say(*lines: str) -> None:
    columns = width_of_output()
    for line in lines:
        output.say(cut(line, columns))


def _end(decision: Decision) -> None:
    end_with(ExitCode.DONE if decision is Decision.EXECUTE else ExitCode.CHECKS_FAILED)
