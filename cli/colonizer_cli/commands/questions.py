"""`colonizer ask` and `colonizer answer`: what a colony waits for, and what it is told (spec 7.2, 7.3)."""

from collections.abc import Iterator, Mapping

import click

from colonizer_cli import completing, output
from colonizer_cli.failures import ExitCode, Negative
from colonizer_cli.options import GlobalOptions, PlainCommand
from colonizer_cli.targets import Targets
from colonizer_client.answers import matched
from colonizer_client.mothership import calls, decode, wire
from colonizer_client.mothership.replies import Reply, json_of
from colonizer_client.text import safe_line, safe_text

_CONTINUED = "\n    "
"""Between the lines of one text, so that a line in it cannot pass for an option."""


@click.command(cls=PlainCommand)
@click.argument("colony", metavar="ID", shell_complete=completing.colonies)
@click.pass_obj
def ask(options: GlobalOptions, colony: str) -> None:
    """Show what a colony asks, with its numbered options."""
    mothership, colony_id = Targets(options).holding(colony)
    question = mothership.ask(calls.question(colony_id).reading(_question_or_none))
    if question is None:
        raise Negative(f"{safe_line(colony_id)} is not asking anything", ExitCode.CONFLICT)
    if options.as_json:
        output.show_json(question)
        return
    fields = wire.mapping(question)
    output.say(f"{safe_line(colony_id)} is asking ({wire.line(fields.get('risk'))})")
    for prompt in wire.sequence(fields.get("questions")):
        for text in _lines(wire.mapping(prompt)):
            output.say(text)


@click.command(cls=PlainCommand)
@click.argument("colony", metavar="ID", shell_complete=completing.colonies)
@click.argument("text", metavar="ANSWER")
@click.pass_obj
def answer(options: GlobalOptions, colony: str, text: str) -> None:
    """Answer what a colony asks.

    ANSWER is the number of an option, its label, or free text. It answers the first question; where several are
    asked at once and free text is meant, the cockpit answers them all.
    """
    mothership, colony_id = Targets(options).holding(colony)
    question = mothership.ask(calls.question(colony_id))
    if question is None:
        words = f"{safe_line(colony_id)} is not asking anything; there is no question to answer"
        raise Negative(words, ExitCode.CONFLICT)
    body = matched(question, text)
    mothership.ask(calls.answer(colony_id, body))
    if options.as_json:
        output.show_json(body.to_json())
    else:
        output.say(f"answer sent to {safe_line(colony_id)}")


def _question_or_none(reply: Reply) -> object:
    """The question as it came, once it is known to be one."""
    if reply.status == 204:
        return None
    question = json_of(reply)
    decode.open_question(question)
    return question


def _lines(prompt: Mapping[str, object]) -> Iterator[str]:
    yield ""
    yield safe_text(wire.raw(prompt.get("question"))).replace("\n", _CONTINUED)
    for number, option in enumerate(map(wire.mapping, wire.sequence(prompt.get("options"))), 1):
        label, description = wire.line(option.get("label")), option.get("description")
        yield f"  {number}) {label}" + (f" — {wire.line(description)}" if isinstance(description, str) else "")
