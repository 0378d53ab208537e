"""A local engine of this test's own, and a cockpit that talks to it."""

import asyncio
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TypeVar

import psutil
from textual.pilot import Pilot

from colonizer_cli.cockpit_hosts import CockpitHosts
from colonizer_cli.local import local_engine
from colonizer_cli.wiring import Wiring
from colonizer_client.engine import LocalEngine
from colonizer_client.errors import ClientError
from colonizer_client.identity import EndpointName
from colonizer_client.mothership import calls
from colonizer_client.mothership.calls import Call
from colonizer_client.mothership.models import Colony
from colonizer_client.mothership.oneshot import OneShot
from colonizer_config.paths import Paths
from colonizer_config.settings import load
from colonizer_tui.app import CockpitApp
from colonizer_tui.surroundings import Surroundings

T = TypeVar("T")

LOCAL = EndpointName("local")
PATIENCE_S = 20.0
LOOK_AGAIN_S = 0.05
"""The screen is drawn anew for each look, which costs more than what most tests wait for."""


@dataclass(frozen=True, slots=True)
class RealEngine:
    """The engine of the sealed home, as a test asks it behind the cockpit's back."""

    paths: Paths
    engine: LocalEngine

    def ask(self, call: Call[T]) -> T:
        """The result of a call over the private socket."""
        return OneShot(self.engine.address, self.engine.token()).run(call)

    def colonies(self) -> tuple[Colony, ...]:
        """All colonies, newest first."""
        return self.ask(calls.colonies(LOCAL))[0]

    def pid(self) -> int:
        """The engine's process."""
        found = self.ask(calls.engine_state()).get("pid")
        assert isinstance(found, int)
        return found


@contextmanager
def real_engine() -> Generator[RealEngine]:
    """The engine of the sealed home; it runs when something starts it, and no longer than the test."""
    paths = Paths.from_environment()
    engine = RealEngine(paths, local_engine(paths))
    try:
        yield engine
    finally:
        if engine.engine.is_running():
            process = psutil.Process(engine.pid())
            with suppress(ClientError):
                engine.ask(calls.stop_engine())
            deadline = time.monotonic() + PATIENCE_S
            while is_alive(process):
                if time.monotonic() > deadline:
                    process.kill()
                    raise TimeoutError("the engine does not end")
                time.sleep(0.01)


def freeze(pid: int) -> None:
    """Stops a process where it is; it is so when this returns."""
    process = psutil.Process(pid)
    process.suspend()
    while process.status() != psutil.STATUS_STOPPED:
        time.sleep(0.001)


def is_alive(process: psutil.Process) -> bool:
    """Whether it still does anything; who should bury the dead is another matter, and may take seconds."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def cockpit_app() -> CockpitApp:
    """The cockpit as the program wires it, standing in the current folder."""
    paths = Paths.from_environment()
    wiring = Wiring(paths, load(paths.settings))
    local = wiring.local
    return CockpitApp(
        wiring.cockpit,
        Surroundings(
            repo=lambda: "" if local.standing_in is None else local.standing_in.name_raw,
            agents=("demo",),
            crash_folder=paths.engine.root,
            hosts=CockpitHosts(paths, wiring),
        ),
    )


async def until(pilot: Pilot[None], condition: Callable[[], object]) -> None:
    """Returns when the condition holds; lets the application work meanwhile.

    Raises:
        TimeoutError: It does not hold in time; the screen is in the error.
    """
    try:
        async with asyncio.timeout(PATIENCE_S):
            while not condition():
                await pilot.pause(LOOK_AGAIN_S)
    except TimeoutError:
        raise TimeoutError(f"this is on the screen:\n{screen_text(pilot)}") from None


async def settled(pilot: Pilot[None]) -> None:
    """Returns when the screen has come to rest: messages pass from queue to queue, and pictures come by a timer."""
    looks = ["", "", screen_text(pilot)]
    while len({*looks}) > 1:
        await pilot.pause(0.05)
        looks = [*looks[1:], screen_text(pilot)]


def screen_text(pilot: Pilot[None]) -> str:
    """What is on the screen, without colours."""
    app = pilot.app
    strips = app.screen._compositor.render_strips(app.size)  # pyright: ignore[reportPrivateUsage]
    return "\n".join(strip.text.rstrip() for strip in strips)
