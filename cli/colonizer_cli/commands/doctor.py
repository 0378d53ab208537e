"""`colonizer doctor`: what the program finds here, and what to do about it."""

import os
from collections.abc import Iterator

import click

from colonizer_cli import output
from colonizer_cli.checkup.finding import Finding, Level
from colonizer_cli.failures import ExitCode, end_with
from colonizer_cli.options import JSON, GlobalOptions, PlainCommand
from colonizer_config.paths import Paths
from colonizer_config.settings import load_or_default

SIGNS = {Level.OK: "ok     ", Level.WARNING: "warning", Level.FAULT: "fault  "}


@click.command(cls=PlainCommand, takes=(JSON,))
@click.pass_obj
def doctor(options: GlobalOptions) -> None:
    """Look at what the program needs and finds here: terminal, clipboard, keyring, git, sandbox, hosts.

    Nothing is started and nothing is changed. Ends with 1 where something is a fault.
    """
    found: list[Finding] = []
    for finding in _findings():
        found.append(finding)
        if not options.as_json:
            _show(finding)
    if options.as_json:
        output.show_json([finding.to_json() for finding in found])
    has_fault = any(finding.level is Level.FAULT for finding in found)
    end_with(ExitCode.FAILED if has_fault else ExitCode.DONE)


def _findings() -> Iterator[Finding]:
    from colonizer_cli.checkup.machine import machine
    from colonizer_cli.checkup.reachability import hosts
    from colonizer_cli.checkup.screen import screen

    paths = Paths.from_environment()
    loaded = load_or_default(paths.settings)
    yield from screen(os.environ)
    yield from machine(paths, loaded)
    yield from hosts(paths, loaded.settings)


def _show(finding: Finding) -> None:
    output.say(f"{SIGNS[finding.level]}  {finding.subject:12}  {finding.words}")
    if finding.advice and finding.level is not Level.OK:
        output.say(f"{'':23}→ {finding.advice}")
    output.flush()
