"""`colonizer mothership serve`: a mothership of this machine for other machines and programs."""

import os
import threading
from pathlib import Path

import click

from colonizer_cli import output
from colonizer_cli.binding import bound_address
from colonizer_cli.failures import Failed
from colonizer_cli.options import PlainGroup
from colonizer_client.mothership import wire
from colonizer_config.paths import EngineFolder, Paths


@click.group(cls=PlainGroup)
def mothership() -> None:
    """Be a mothership that others can reach."""


@mothership.command(takes=())
@click.option("--bind", metavar="HOST[:PORT]", help="Where to listen, else on 127.0.0.1:7979.")
@click.option("--data-dir", type=click.Path(path_type=Path), help="Keep everything here, not with the local engine.")
@click.option(
    "--repo",
    "repositories",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Make this repository known; may be given again.",
)
def serve(bind: str | None, data_dir: Path | None, repositories: tuple[Path, ...]) -> None:
    """Serve a mothership until interrupted. Queued colonies start at once.

    Its agents get what this command's environment has of the variables that they need. The owner's token is kept in a
    file, and only the file's path is printed.
    """
    from colonizer_cli.hosting import be_engine, engine_options
    from colonizer_engines.daemon.process import DEFAULT_BIND

    paths = Paths.from_environment()
    folder = paths.engine if data_dir is None else EngineFolder(data_dir.absolute())
    address = bound_address(bind, DEFAULT_BIND)
    reading, writing = os.pipe()
    announcement = _Announcement(reading, f"serving {address}\nowner's token in {folder.token}")
    announcement.start()
    options = engine_options(
        paths,
        folder,
        ready_fd=writing,
        bind=(address.host, address.port or DEFAULT_BIND[1]),
        allowed_hosts=(address.named_host,),
        repositories=tuple(path.absolute() for path in repositories),
    )
    if be_engine(options) != 0:
        announcement.join()
        raise Failed(announcement.failure)


class _Announcement(threading.Thread):
    """Says where the mothership is once it is there; the engine has the main thread, and its signals."""

    def __init__(self, reading: int, words: str) -> None:
        super().__init__(daemon=True)
        self._reading = reading
        self._words = words
        self.failure = ""
        """Why it did not come to that."""

    def run(self) -> None:
        with open(self._reading, "rb") as report:
            told = wire.mapping(wire.parse(report.readline()))
        if wire.flag(told.get("ready")):
            output.say(self._words)
            output.flush_quietly()
        else:
            self.failure = wire.line(told.get("error"))
