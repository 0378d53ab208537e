"""`colonizer completion`: the script that lets a shell complete what is typed."""

import click
from click.shell_completion import get_completion_class

from colonizer_cli import output
from colonizer_cli.options import PlainCommand

PROGRAM = "colonizer"
VARIABLE = "_COLONIZER_COMPLETE"
"""What the script sets when it asks the program; click derives the same from the program's name."""


@click.command(cls=PlainCommand, takes=())
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script for a shell.

    \b
    bash   eval "$(colonizer completion bash)"                              in ~/.bashrc
    zsh    eval "$(colonizer completion zsh)"                               in ~/.zshrc, after compinit
    fish   colonizer completion fish > ~/.config/fish/completions/colonizer.fish

    Ids of colonies come from the lists that were seen last; nobody is asked.
    """  # noqa: D301  # click's sign for a paragraph that is not to be wrapped
    found = get_completion_class(shell)
    assert found is not None, "click knows these shells"
    script = found(click.get_current_context().find_root().command, {}, PROGRAM, VARIABLE)
    output.say(script.source_template % script.source_vars())
