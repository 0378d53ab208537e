"""The command line as a whole: which commands there are, and the options that all of them take."""

import sys
from typing import Any

import click

from colonizer_cli.failures import told
from colonizer_cli.lazy_group import LazyGroup
from colonizer_cli.options import ALL
from colonizer_config.version import __version__

_COMMANDS = {
    "answer": "questions:answer",
    "approvals": "approvals:approvals",
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
    "mcp": "mcp:mcp",
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


class RootGroup(LazyGroup):
    """All commands."""

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command; what it raises becomes words and an exit code."""
        with told():
            return super().invoke(ctx)


_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@click.group(cls=RootGroup, commands_in=_COMMANDS, shown=ALL, invoke_without_command=True, context_settings=_SETTINGS)
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
