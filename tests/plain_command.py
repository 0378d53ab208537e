"""The program as tests run it: in this process, or as a process of its own where its end or its streams matter."""

import os
import subprocess
import sys
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from click.testing import CliRunner

from colonizer_cli.root import root

LIMIT_S = 30
"""No command of a test takes this long; one that does has hung."""

PROGRAM = (sys.executable, "-m", "colonizer_cli.main")


@dataclass(frozen=True)
class Done:
    exit: int
    stdout: str
    stderr: str


def colonizer(*argv: str, stdin: str | None = None, **environment: str | None) -> Done:
    """Runs a command in this process. A variable that is None is not set."""
    result = CliRunner().invoke(root, argv, input=stdin, env=environment, prog_name="colonizer")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Done(result.exit_code, result.stdout, result.stderr)


def process(*argv: str, stdin: str = "", cwd: str | os.PathLike[str] | None = None, **environment: str) -> Done:
    """Runs a command as the process that it is."""
    done = subprocess.run(
        (*PROGRAM, *argv),
        input=stdin,
        capture_output=True,
        encoding="utf-8",
        env=own_environment(environment),
        cwd=cwd,
        timeout=LIMIT_S,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


@contextmanager
def started(
    *argv: str, environment: Mapping[str, str] | None = None, limit_s: float = LIMIT_S
) -> Generator["subprocess.Popen[str]"]:
    """A command that goes on by itself. What waits for it waits in vain for so long only: then it is killed."""
    with subprocess.Popen(
        (*PROGRAM, *argv),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env=own_environment(environment or {}),
    ) as command:
        watchdog = threading.Timer(limit_s, command.kill)
        watchdog.start()
        try:
            yield command
        finally:
            watchdog.cancel()
            command.kill()


def own_environment(more: Mapping[str, str]) -> dict[str, str]:
    """The environment of the test, with the source roots, for a process that buffers its output as it does outside."""
    mine = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return {**mine, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **more}
