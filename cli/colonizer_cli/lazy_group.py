"""A family of commands of which each is loaded when it is called."""

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from colonizer_cli.options import PlainGroup

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class LazyGroup(PlainGroup):
    """Loads a command's module when it is called, so that each starts as fast as its own imports allow.

    `commands_in` names each command's module in `colonizer_cli.commands` and its name there, as `module:name`.
    """

    def __init__(self, *args: Any, commands_in: Mapping[str, str], **more: Any) -> None:
        super().__init__(*args, **more)
        self._commands_in = commands_in

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands."""
        del ctx
        return sorted(self._commands_in)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name, None where there is none."""
        del ctx
        module, _, name = self._commands_in.get(cmd_name, "").partition(":")
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
