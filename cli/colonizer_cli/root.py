"""The command line as a whole: which commands there are, and the options that all of them take."""

import importlib
import sys
from typing import TYPE_CHECKING, Any

import click

from colonizer_cli.failures import told
from colonizer_cli.options import ALL, PlainGroup
from colonizer_config.version import __version__

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_COMMANDS = {
    "answer": "questions:answer",
    "ask": "questions:ask",
    "completion": "completion:completion",
    "connect": "connect:connect",
    "diff": "diff:diff",
    "doctor": "doctor:doctor",
    "engine": "engine:engine",
    "kernel": "kernel:kernel",
    "launch": "launch:launch",
    "list": "colonies:list_colonies",
    "logs": "logs:logs",
    "map": "repo_map:repository_map",
    "mothership": "mothership:mothership",
    "pr": "pr:pr",
    "repo": "repo:repo",
    "resume": "lifecycle:resume",
    "status": "colonies:status",
    "stop": "lifecycle:stop",
    "token": "token:token",
    "tui": "tui:tui",
    "version": "version:version",
}
"""Each command with its module in `colonizer_cli.commands` and its name there."""


class LazyGroup(PlainGroup):
    """Loads a command's module when it is called, so that each starts as fast as its own imports allow."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands."""
        del ctx
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name, None where there is none."""
        del ctx
        module, _, name = _COMMANDS.get(cmd_name, "").partition(":")
        if not module:
            return None
        loaded: Any = importlib.import_module(f"colonizer_cli.commands.{module}")
        command: click.Command = getattr(loaded, name)
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list["CompletionItem[Any]"]:
        """Commands that begin so, none of them loaded, and options."""
        from click.shell_completion import CompletionItem

        names = [CompletionItem[Any](name) for name in self.list_commands(ctx) if name.startswith(incomplete)]
        return names + click.Command.shell_complete(self, ctx, incomplete)

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command; what it raises becomes words and an exit code."""
        with told():
            return super().invoke(ctx)


_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@click.group(cls=LazyGroup, shown=ALL, invoke_without_command=True, context_settings=_SETTINGS)
@click.version_option(__version__, prog_name="colonizer", message="%(prog)s %(version)s")
@click.pass_context
def root(ctx: click.Context) -> None:
    """A terminal cockpit for people who run many coding agents.

    Without a command it opens the cockpit.
    """
    if ctx.invoked_subcommand is None:
        if sys.stdin.isatty() and sys.stdout.isatty():
            from colonizer_cli.commands.tui import tui

            with click.Context(tui, ctx, "tui") as own:
                tui.invoke(own)
        else:
            click.echo(ctx.get_help())
