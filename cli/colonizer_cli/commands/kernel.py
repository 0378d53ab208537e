"""`colonizer kernel`: each of its commands with the module in which it is."""

import click

from colonizer_cli.lazy_group import LazyGroup

_COMMANDS = {
    "agents": "kernel_asks:agents",
    "falsify": "kernel_asks:falsify",
    "heat": "kernel_asks:heat",
    "offers": "kernel_offers:offers",
    "propose": "kernel_asks:propose",
    "prune": "kernel_asks:prune",
    "record": "kernel_asks:record",
    "serve": "kernel_serve:serve",
    "status": "kernel_asks:status",
    "tick": "kernel_asks:tick",
}


@click.group(cls=LazyGroup, commands_in=_COMMANDS)
def kernel() -> None:
    """Ask a colony kernel which actions are safe, and give other programs one.

    Each command but `serve` asks the local engine's kernel, which is started where it does not run, or with --kernel
    another one of the settings.
    """
