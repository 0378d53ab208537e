"""The engine's process: one for each folder, started on demand, serving until nobody needs it (local decisions)."""

import asyncio
import json
import logging
import os
import signal
import socket
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

from colonizer_config.errors import FolderError
from colonizer_config.paths import EngineFolder, make_private
from colonizer_config.settings import load
from colonizer_config.version import __version__
from colonizer_engines.daemon.errors import DaemonError, EngineHeld
from colonizer_engines.daemon.kernel_service import KernelService
from colonizer_engines.daemon.life import Life
from colonizer_engines.daemon.listeners import private_socket, tcp_port
from colonizer_engines.daemon.lock import engine_lock
from colonizer_engines.daemon.log_file import open_log
from colonizer_engines.daemon.server import Listener
from colonizer_engines.daemon.token_file import kept_token
from colonizer_engines.host_names import HostNames
from colonizer_engines.mothership.api.door import Door
from colonizer_engines.mothership.api.local import engine_routes
from colonizer_engines.mothership.api.presence import Presence
from colonizer_engines.mothership.api.routes import Route, Table
from colonizer_engines.mothership.api.table import ROUTES
from colonizer_engines.mothership.boot import Folders
from colonizer_engines.mothership.clock import SystemClock
from colonizer_engines.mothership.errors import MothershipError
from colonizer_engines.mothership.mothership import Circumstances, Mothership
from colonizer_engines.mothership.store import Store

DEFAULT_BIND = ("127.0.0.1", 7979)
"""Where `mothership serve` listens unless it is told otherwise; the published program has 7878."""

IDLE_END_S = 30.0

EXIT_FAILED = 1
EXIT_HELD = 3
"""Another engine has the folder."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineOptions:
    """How the engine is to run; every path is absolute."""

    folder: EngineFolder
    socket: Path
    """The private socket."""
    settings: Path
    hidden: tuple[Path, ...] = ()
    """Folders and files that no agent may see: configuration, data, runtime folder."""
    bind: tuple[str, int] | None = None
    """A TCP address to serve too; the queue starts at once then, and the engine does not end for want of clients."""
    allowed_hosts: tuple[str, ...] = ()
    """Further names by which clients may call this host over TCP."""
    repositories: tuple[Path, ...] = ()
    """Repositories to know from the start."""
    idle_end_s: float | None = IDLE_END_S
    """How long after the last client an engine with nothing to do ends; None for never."""
    ready_fd: int | None = None
    """A descriptor that gets one line of JSON: `{"ready": true}`, or `{"error": "…"}`."""


class Guest(Protocol):
    """What the engine's listeners serve beside the mothership."""

    def routes(self, names: HostNames) -> Sequence[Route]:
        """What it adds to the table; `names` are those by which clients may call this host."""
        ...

    async def run(self) -> None:
        """Is there until it is cancelled, which is when the engine ends."""
        ...


def run(options: EngineOptions, guests: Sequence[Guest] = ()) -> int:
    """The exit code of the engine, once it has ended; 3 when another one has the folder. The kernel is always there."""
    report = _Readiness(options.ready_fd)
    try:
        with ExitStack() as stack:
            make_private(options.folder.root)
            # It outlives the folder that it was started from.
            os.chdir(options.folder.root)
            stack.enter_context(engine_lock(options.folder.lock, __version__))
            stack.callback(_close_log, open_log(options.folder.log))
            stack.push(_log_end)
            asyncio.run(_serve(options, guests, report, stack))
    except EngineHeld as problem:
        report.failed(str(problem), held=True)
        return EXIT_HELD
    except _EXPECTED as problem:
        report.failed(str(problem))
        return EXIT_FAILED
    return 0


_EXPECTED = (DaemonError, FolderError, MothershipError, OSError)
"""What can keep an engine from running without any fault of its own."""


def _log_end(kind: object, problem: BaseException | None, trace: object) -> None:
    if isinstance(problem, _EXPECTED):
        _log.error("the engine cannot run: %s", problem)
    elif problem is not None:
        _log.critical("the engine ends by a fault of its own", exc_info=problem)
    else:
        _log.info("the engine has ended in order")


async def _serve(options: EngineOptions, guests: Sequence[Guest], report: "_Readiness", stack: ExitStack) -> None:
    token = kept_token(options.folder.token)
    store = Store.open(options.folder.mothership_db)
    stack.callback(store.close)
    mothership = Mothership(store, _circumstances(options, token))
    for path in options.repositories:
        await mothership.repositories.add(path)
    presence = Presence()
    life = Life(mothership, presence, options.idle_end_s if options.bind is None else None)
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, life.stop)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    guests = (KernelService(options.folder.kernel_db, options.settings), *guests)
    listeners = _listeners(options, mothership, presence, life, guests, stack)
    if options.bind is not None:
        mothership.scheduler.begin()
    failures: list[str] = []
    try:
        await _live(mothership, life, guests, listeners, report)
    except* MothershipError as problems:
        failures = [str(problem) for problem in problems.exceptions]
    if failures:
        raise DaemonError("; ".join(failures))


_Listeners = Sequence[tuple[Listener, socket.socket]]


def _listeners(
    options: EngineOptions,
    mothership: Mothership,
    presence: Presence,
    life: Life,
    guests: Sequence[Guest],
    stack: ExitStack,
) -> _Listeners:
    """What answers on the private socket and, where it is asked for, on a port; all are open."""
    bound = () if options.bind is None else (options.bind[0],)
    names = HostNames((*bound, *options.allowed_hosts))
    table = Table([*ROUTES, *engine_routes(life), *(route for guest in guests for route in guest.routes(names))])
    private = Listener(Door(mothership, table, "private", presence, names))
    listeners = [(private, stack.enter_context(private_socket(options.socket)))]
    if options.bind is not None:
        host, port = options.bind
        public = Listener(Door(mothership, table, "tcp", presence, names))
        listeners.append((public, stack.enter_context(tcp_port(host, port))))
    return listeners


async def _live(
    mothership: Mothership, life: Life, guests: Sequence[Guest], listeners: _Listeners, report: "_Readiness"
) -> None:
    async with asyncio.TaskGroup() as tasks:
        colonies = tasks.create_task(mothership.serve(life.stopping))
        visiting = [tasks.create_task(guest.run()) for guest in guests]
        serving = [tasks.create_task(listener.run_on(listening)) for listener, listening in listeners]
        tasks.create_task(life.watch())
        report.ready()
        _log.info("engine %s runs, process %d", __version__, os.getpid())
        await life.stopping.wait()
        # Clients see the agents stop before their connections end.
        await asyncio.wait([colonies])
        mothership.fleet.end_all_feeds()
        for visit in visiting:
            visit.cancel()
        for listener, _ in listeners:
            listener.stop()
        await asyncio.wait(serving)


def _circumstances(options: EngineOptions, token: str) -> Circumstances:
    ours = (options.settings.parent, options.folder.root, options.socket.parent)
    with suppress(OSError):  # what is not there when an agent starts could not be hidden from it
        options.settings.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    environment = dict(os.environ)
    return Circumstances(
        folders=Folders(options.folder.worktrees, options.folder.out, (*ours, *options.hidden)),
        read_settings=partial(load, options.settings),
        owner_token=token,
        version=__version__,
        own_environment=environment,
        # Somebody who serves a mothership gives its agents what their own shell has.
        agent_environment=environment if options.bind is not None else {},
        clock=SystemClock(),
        writes_blocked=any(environment.get(f"COLONIZER_NO_{name}") for name in ("EXTERNAL_EFFECTS", "WRITE")),
    )


class _Readiness:
    """Tells the process that waits for this one how the start went, once."""

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor

    def ready(self) -> None:
        """The engine can be reached."""
        self._tell({"ready": True})

    def failed(self, words: str, *, held: bool = False) -> None:
        """The engine cannot run, or another one has the folder."""
        self._tell({"error": words, "held": True} if held else {"error": words})

    def _tell(self, line: Mapping[str, object]) -> None:
        if self._descriptor is None:
            return
        descriptor, self._descriptor = self._descriptor, None
        with suppress(OSError):  # whoever waited is gone
            os.write(descriptor, json.dumps(line).encode() + b"\n")
        os.close(descriptor)


def _close_log(handler: logging.Handler) -> None:
    logging.getLogger().removeHandler(handler)
    handler.close()
