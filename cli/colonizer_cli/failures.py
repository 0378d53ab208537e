"""How commands end that did not do what was asked: exit codes and words (spec 7.1).

CommandError
├── Failed     the command cannot go on; told as `colonizer: <text>`
└── Negative   it found out what was asked, and the answer is no; the text stands by itself
"""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from enum import IntEnum

import click

from colonizer_cli import output
from colonizer_client.errors import (
    BadRequest,
    ClientError,
    Conflict,
    ConsentNeeded,
    Forbidden,
    NotFound,
    NothingToAnswer,
    OnItsWay,
    SignInNeeded,
    TooMany,
)
from colonizer_config.errors import AddressError, ConfigError


class ExitCode(IntEnum):
    """What a script learns from a command's end."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    DENIED = 3
    ABSENT = 4
    CONFLICT = 5
    CAPPED = 6
    CHECKS_FAILED = 7
    TIMED_OUT = 8
    INTERRUPTED = 130


class CommandError(Exception):
    """The command ends with `code`; its text is what the person reads."""

    def __init__(self, message: str, code: ExitCode = ExitCode.FAILED) -> None:
        super().__init__(message)
        self.code = code


class Failed(CommandError):
    """The command cannot go on."""


class Negative(CommandError):
    """The answer is no, such as when nothing is asked."""


_CODES: Mapping[type[Exception], ExitCode] = {
    AddressError: ExitCode.USAGE,
    SignInNeeded: ExitCode.DENIED,
    Forbidden: ExitCode.DENIED,
    ConsentNeeded: ExitCode.DENIED,
    NotFound: ExitCode.ABSENT,
    BadRequest: ExitCode.ABSENT,
    Conflict: ExitCode.CONFLICT,
    NothingToAnswer: ExitCode.CONFLICT,
    OnItsWay: ExitCode.CONFLICT,
    TooMany: ExitCode.CAPPED,
}
"""Every error that is not in it, nor derived from one that is, ends with 1."""


def exit_code(problem: Exception) -> ExitCode:
    """The code with which a command ends on this error."""
    if isinstance(problem, CommandError):
        return problem.code
    return next((_CODES[kind] for kind in type(problem).__mro__ if kind in _CODES), ExitCode.FAILED)


@contextmanager
def told() -> Generator[None]:
    """Turns what a command raises into one line on stderr and an exit code, and hands over all that was printed.

    Raises:
        click.exceptions.Exit: The command failed.
    """
    try:
        yield
        output.flush()
    except Negative as negative:
        raise _ended(str(negative), negative.code) from None
    except (CommandError, ClientError, ConfigError) as problem:
        raise _ended(f"colonizer: {problem}", exit_code(problem)) from None
    except BrokenPipeError:
        # Whoever read the output has had enough, which is no failure.
        output.discard()
    except output.OutputLost as problem:
        output.discard()
        raise _ended(f"colonizer: {problem}", ExitCode.FAILED) from None
    except KeyboardInterrupt:
        raise _ended("", ExitCode.INTERRUPTED) from None


def end_with(code: ExitCode) -> None:
    """Ends the command with this code, once all is printed; does nothing where the code means that all is well.

    Raises:
        click.exceptions.Exit: The code means something else.
        OutputLost: What was printed cannot be written.
    """
    if code is not ExitCode.DONE:
        try:
            output.flush()
        except BrokenPipeError:
            output.discard()
        raise click.exceptions.Exit(code)


def _ended(words: str, code: ExitCode) -> click.exceptions.Exit:
    output.flush_quietly()
    if words:
        output.note(words)
    return click.exceptions.Exit(code)
