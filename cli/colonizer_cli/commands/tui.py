"""`colonizer tui`: the cockpit."""

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

    from colonizer_cli.wiring import Wiring, agent_env
    from colonizer_config.paths import Paths
    from colonizer_config.settings import load_or_default
    from colonizer_tui import theme
    from colonizer_tui.app import CockpitApp
    from colonizer_tui.surroundings import Surroundings

    paths = Paths.from_environment()
    loaded = load_or_default(paths.settings)
    settings = loaded.settings
    wiring = Wiring(paths, settings)
    default = settings.default_agent
    has_colour = not os.environ.get("NO_COLOR")
    if terminal.is_remote(os.environ):
        os.environ.setdefault("TEXTUAL_ANIMATIONS", "none")
    app = CockpitApp(
        wiring.cockpit,
        Surroundings(
            repo=lambda: "" if wiring.local.standing_in is None else wiring.local.standing_in.name_raw,
            agents=(default, *(name for name in (*settings.agents, "demo") if name != default)),
            agent_env=lambda agent: agent_env(settings, agent),
            default_endpoint=settings.default_endpoint,
            keys=settings.keys,
            theme=(settings.ui.theme or theme.DEFAULT_THEME) if has_colour else theme.PLAIN,
            ascii=settings.ui.ascii or terminal.wants_ascii(os.environ),
            crash_folder=paths.engine.root,
            problems=() if loaded.problem is None else (str(loaded.problem),),
        ),
    )
    app.run()
    sys.exit(app.return_code or 0)
