"""`colonizer version`."""

import click

from colonizer_cli import output
from colonizer_cli.options import PlainCommand
from colonizer_config.version import __version__


@click.command(cls=PlainCommand, takes=())
def version() -> None:
    """Print the version of this program."""
    output.say(f"v{__version__}")
