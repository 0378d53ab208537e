"""`colonizer engine`: the local process that hosts embedded colonies."""

import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

import click

from colonizer_cli import output
from colonizer_cli.colony_row import colony_row
from colonizer_cli.failures import ExitCode, Failed, end_with
from colonizer_cli.local import local_engine
from colonizer_cli.mothership import Mothership, reach
from colonizer_cli.options import JSON, GlobalOptions, PlainGroup
from colonizer_cli.sign_in import agreed
from colonizer_client.mothership import calls, wire
from colonizer_client.mothership.status import BUSY
from colonizer_config.endpoints import known_endpoints
from colonizer_config.paths import Paths
from colonizer_config.settings import LOCAL, Settings

ANSWER_LIMIT_S = 5.0
END_LIMIT_S = 30.0
"""Agents that do not end when they are told to are ended after a few seconds."""

LOOK_S = 0.2
"""How often a log file is looked at for more, and a folder for the end of its engine."""


@click.group(cls=PlainGroup)
def engine() -> None:
    """The local engine: it starts by itself and outlives the cockpit."""


@engine.command(hidden=True, takes=())
@click.option("--ready-fd", type=int, help="A descriptor that is told when the engine answers.")
def run(ready_fd: int | None) -> None:
    """Be the local engine. Faces start it by themselves."""
    from colonizer_cli.hosting import be_engine, engine_options

    paths = Paths.from_environment()
    sys.exit(be_engine(engine_options(paths, paths.engine, ready_fd=ready_fd)))


@engine.command("status", takes=(JSON,))
@click.pass_obj
def show_status(options: GlobalOptions) -> None:
    """Tell whether the local engine runs, and what it has to do. Ends with 1 where it does not run."""
    paths = Paths.from_environment()
    control = local_engine(paths)
    places = {"socket": str(control.address.path), "folder": str(paths.engine.root)}
    if control.is_running():
        facts = _reach(paths).ask(calls.engine_state())
    else:
        facts = {"state": "stuck: it has the folder and does not answer" if control.is_locked() else "not running"}
    running = "pid" in facts
    if options.as_json:
        output.show_json({"running": running, **facts, **places})
    else:
        _show_facts((_running(facts) if running else {"engine": str(facts["state"])}) | places)
    end_with(ExitCode.DONE if running else ExitCode.FAILED)


@engine.command("logs", takes=())
@click.option("-f", "--follow", is_flag=True, help="Go on with each line as it comes.")
def show_logs(follow: bool) -> None:
    """Print what the engine says of itself."""
    path = Paths.from_environment().engine.log
    try:
        for line in _lines(path, follow=follow):
            output.say(line)
            if follow:
                output.flush()
    except FileNotFoundError:
        output.note("no engine has run here yet")
    except OSError as problem:
        raise Failed(f"cannot read {path}: {problem.strerror or problem}") from problem
    except KeyboardInterrupt:
        return


@engine.command("stop", takes=())
@click.option("--yes", is_flag=True, help="Do not ask.")
def stop(yes: bool) -> None:
    """End the local engine. Its colonies stop; their branches and worktrees stay, and they can be resumed."""
    paths = Paths.from_environment()
    control = local_engine(paths)
    if not control.is_running():
        if control.is_locked():
            raise Failed(f"the engine of {paths.engine.root} does not answer; see {paths.engine.log}")
        output.note("the local engine does not run")
        return
    mothership = _reach(paths)
    busy = _busy(mothership)
    if busy and not yes:
        output.note("This would end:")
        for session in busy:
            output.note(f"  {colony_row(session)}")
        output.note("Their branches and worktrees stay, and they can be resumed.")
        if not agreed("Stop the engine?"):
            raise Failed("nothing was stopped; --yes stops it without asking", ExitCode.USAGE)
    mothership.ask(calls.stop_engine())
    deadline = time.monotonic() + END_LIMIT_S
    while control.is_locked():
        if time.monotonic() > deadline:
            raise Failed(f"the engine was told to end and still runs; see {paths.engine.log}")
        time.sleep(LOOK_S)
    output.say("the local engine has ended")


def _reach(paths: Paths) -> Mothership:
    embedded, *_ = known_endpoints(paths, Settings())
    return reach(embedded, paths, ANSWER_LIMIT_S)


def _busy(mothership: Mothership) -> Sequence[Mapping[str, object]]:
    """The colonies whose work ends with the engine."""
    rows = map(wire.mapping, wire.sequence(mothership.ask(calls.colonies(LOCAL).as_json())))
    return [row for row in rows if row.get("status") in BUSY]


def _running(facts: Mapping[str, object]) -> dict[str, str]:
    colonies = wire.mapping(facts.get("colonies"))
    counts = ", ".join(f"{wire.integer(colonies.get(key)) or 0} {key}" for key in ("live", "publishing", "queued"))
    return {
        "engine": "running",
        "pid": str(wire.integer(facts.get("pid")) or "?"),
        "version": wire.line(facts.get("version")),
        "since": wire.line(facts.get("started_at")),
        "colonies": f"{counts}, {wire.integer(colonies.get('total')) or 0} in all",
    }


def _show_facts(facts: Mapping[str, str]) -> None:
    for label, value in facts.items():
        output.say(f"{label:9} {value}")


def _lines(path: Path, *, follow: bool) -> Iterator[str]:
    """The lines of the file; with `follow` also those that come, over a change of files as logs do it."""
    while True:
        with path.open("rb") as file:
            while True:
                line = file.readline()
                if line:
                    yield line.decode("utf-8", "replace").rstrip("\n")
                elif not follow:
                    return
                elif _is_replaced(path, file):
                    break
                else:
                    time.sleep(LOOK_S)


def _is_replaced(path: Path, file: BinaryIO) -> bool:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return False
    return not os.path.samestat(found, os.fstat(file.fileno()))
