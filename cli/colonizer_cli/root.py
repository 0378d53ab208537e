"""The command line as a whole: which commands there are, and the options that all of them take."""

import importlib
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from colonizer_config.version import __version__

_COMMANDS = {
    "engine": "engine",
    "tui": "tui",
}
"""Each command and its module in `colonizer_cli.commands`, where it stands under its own name."""


@dataclass(frozen=True, slots=True)
class GlobalOptions:
    """The options before or after a subcommand."""

    host: str | None = None
    token_file: Path | None = None
    as_json: bool = False


class LazyGroup(click.Group):
    """Loads a command's module when it is called, so that each starts as fast as its own imports allow."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands."""
        del ctx
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name, None where there is none."""
        del ctx
        module = _COMMANDS.get(cmd_name)
        if module is None:
            return None
        loaded: Any = importlib.import_module(f"colonizer_cli.commands.{module}")
        command: click.Command = getattr(loaded, cmd_name.replace("-", "_"))
        return command


@click.group(cls=LazyGroup, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="colonizer", message="%(prog)s %(version)s")
@click.pass_context
def root(ctx: click.Context) -> None:
    """A terminal cockpit for people who run many coding agents.

    Without a command it opens the cockpit.
    """
    if ctx.invoked_subcommand is None:
        if sys.stdin.isatty() and sys.stdout.isatty():
            from colonizer_cli.commands.tui import tui

            ctx.invoke(tui)
        else:
            click.echo(ctx.get_help())
