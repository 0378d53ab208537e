"""`colonizer tui`: the cockpit."""

import gc
import os
import sys

import click

from colonizer_cli.options import PlainCommand


@click.command(cls=PlainCommand, takes=())
def tui() -> None:
    """Open the cockpit: watch, answer, stop, resume and launch colonies."""
    from colonizer_tui import terminal

    refusal = terminal.refusal(os.environ)
    if refusal:
        click.echo(f"colonizer: {refusal}", err=True)
        sys.exit(1)

    # How soon what a key did is drawn, at the latest; data waits for its own turn. Textual reads it when it is loaded.
    os.environ.setdefault("TEXTUAL_FPS", "120")
    # All that is loaded now stays: to look through it for garbage would cost a twentieth of the time until the first
    # picture, and would hold up keys later.
    gc.disable()
    from colonizer_cli.cockpit_face import keep_seen, live_surroundings
    from colonizer_cli.wiring import Wiring
    from colonizer_config.paths import Paths
    from colonizer_config.settings import load_or_default
    from colonizer_tui.app import CockpitApp

    if terminal.is_remote(os.environ):
        os.environ.setdefault("TEXTUAL_ANIMATIONS", "none")
    paths = Paths.from_environment()
    loaded = load_or_default(paths.settings)
    wiring = Wiring(paths, loaded.settings)
    app = CockpitApp(wiring.cockpit, live_surroundings(paths, loaded, wiring))
    gc.freeze()
    gc.enable()
    app.run()
    keep_seen(paths, wiring)
    sys.exit(app.return_code or 0)
