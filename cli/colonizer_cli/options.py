"""The options that stand before or after a command's name, and the commands that take them."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

import click

from colonizer_config.value import Value

HOST, TOKEN_FILE, JSON = "host", "token_file", "as_json"
ALL = (HOST, TOKEN_FILE, JSON)

_FLAGS = {HOST: "--host", TOKEN_FILE: "--token-file", JSON: "--json"}
_GIVEN = f"{__name__}.given"


class GlobalOptions(Value):
    """What was given before or after the command's name."""

    host: str | None = None
    token_file: Path | None = None
    as_json: bool = False


def global_options_of(ctx: click.Context) -> GlobalOptions:
    """What was given so far."""
    return GlobalOptions(**ctx.meta.get(_GIVEN, {}))


class PlainCommand(click.Command):
    """A command with the global options; its callback gets them by `click.pass_obj`.

    `takes` names those that mean something to it; the others are refused where they are given (spec 7.1).
    """

    def __init__(self, *args: Any, takes: Collection[str] = ALL, **more: Any) -> None:
        super().__init__(*args, **more)
        self.takes = takes
        self.params.extend(global_options(takes))

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command with its `GlobalOptions`."""
        given: dict[str, Any] = ctx.meta.get(_GIVEN, {})
        for name in given.keys() - set(self.takes):
            called = ctx.command_path.partition(" ")[2]
            raise click.UsageError(f"{_FLAGS[name]} only applies to the client commands, not `colonizer {called}`", ctx)
        ctx.obj = global_options_of(ctx)
        return super().invoke(ctx)


class PlainGroup(click.Group):
    """A family of commands; the global options may stand before the command's name, and `shown` are in the help."""

    command_class = PlainCommand

    def __init__(self, *args: Any, shown: Collection[str] = (), **more: Any) -> None:
        super().__init__(*args, **more)
        self.params.extend(global_options(shown))


def global_options(shown: Collection[str]) -> list[click.Parameter]:
    """The options, those of `shown` with their help."""

    def option(name: str, **more: Any) -> click.Option:
        return click.Option(
            [_FLAGS[name], name], callback=_remember, expose_value=False, hidden=name not in shown, **more
        )

    return [
        option(
            HOST, metavar="HOST[:PORT]", help="This mothership alone; COLONIZER_BIND and COLONIZER_TOKEN do it too."
        ),
        option(TOKEN_FILE, type=click.Path(path_type=Path), help="The file that holds the token."),
        option(JSON, is_flag=True, help="Print JSON."),
    ]


def _remember(ctx: click.Context, parameter: click.Parameter, value: Any) -> None:
    """Keeps what was given; after the command's name it replaces what was given before."""
    if value not in (None, False):
        ctx.meta.setdefault(_GIVEN, {})[parameter.name] = value
