"""A kernel of ten thousand hot places behind the private socket of a home's local engine, changed as fast as asked.

`python -m bench.hot_kernel` says `ready` when it serves. Each line `RATE SECONDS` on stdin has so many traces a second
deposited, from within, so that all work on the machine is that of a kernel and its reader; then it says `sent`.
"""

import asyncio
import random
import select
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from socket import AF_UNIX, SOCK_STREAM, socket
from typing import IO

import uvicorn

from colonizer_config.paths import Paths, make_private
from colonizer_engines.daemon.token_file import kept_token
from colonizer_engines.kernel.kernel import Kernel
from colonizer_engines.kernel.serve import KernelServer, Worker, at_work
from colonizer_engines.kernel.signals import SLOW, SignalType
from colonizer_engines.kernel.wire import PRESETS
from colonizer_engines.serve import over_http

MODULES, EACH = 200, 50
STEP_S = 0.02


class HotKernel:
    """The running process."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self._line()

    def begin(self, rate: int, seconds: float) -> None:
        """Has traces deposited."""
        _of(self._process.stdin).write(f"{rate} {seconds}\n")
        _of(self._process.stdin).flush()

    def has_sent(self) -> bool:
        """Whether all of them were."""
        return bool(select.select([_of(self._process.stdout)], [], [], 0)[0] and self._line())

    def _line(self) -> str:
        line = _of(self._process.stdout).readline()
        if not line:
            raise RuntimeError("the kernel ended")
        return line


@contextmanager
def hot_kernel() -> Generator[HotKernel]:
    """The kernel, from when it serves; it ends with the block."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "bench.hot_kernel"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        yield HotKernel(process)
    finally:
        process.kill()
        process.communicate()


def _of(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None
    return pipe


def _deposit(kernel: Kernel, module: int, place: int, kind: SignalType, chance: random.Random) -> None:
    location = f"garden.module_{module:03}.place_{place:02}"
    kernel.deposit(location, kind, chance.uniform(0.1, 2.5), SLOW, {})


async def _serve() -> None:
    paths, preset = Paths.from_environment(), PRESETS["seed"]
    make_private(paths.engine.root.parent)
    make_private(paths.engine.root)
    kept_token(paths.engine.token)
    place = paths.socket(paths.engine)
    make_private(place.parent)
    with socket(AF_UNIX, SOCK_STREAM) as listening:
        listening.bind(str(place))
        listening.listen()
        async with at_work(preset.rules, None) as worker:
            await worker.run(_fill)
            async with over_http(KernelServer(worker, preset, for_operator=True)) as app:
                server = uvicorn.Server(uvicorn.Config(app, interface="asgi3", log_level="error", lifespan="off"))
                serving = asyncio.create_task(server.serve([listening]))
                print("ready", flush=True)
                while words := (await asyncio.to_thread(sys.stdin.readline)).split():
                    await _change(worker, int(words[0]), float(words[1]))
                    print("sent", flush=True)
                server.should_exit = True
                await serving


def _fill(kernel: Kernel) -> None:
    chance = random.Random(4)
    for module in range(MODULES):
        for place in range(EACH):
            for kind in SignalType:
                _deposit(kernel, module, place, kind, chance)
    for _ in range(3):
        kernel.tick()


async def _change(worker: Worker, rate: int, seconds: float) -> None:
    chance, kinds = random.Random(5), list(SignalType)
    begun, made = time.monotonic(), 0

    def catch_up(kernel: Kernel) -> None:
        nonlocal made
        while made < (time.monotonic() - begun) * rate:
            _deposit(kernel, chance.randrange(MODULES), chance.randrange(EACH), chance.choice(kinds), chance)
            made += 1

    while time.monotonic() < begun + seconds:
        await worker.run(catch_up)
        await asyncio.sleep(STEP_S)


if __name__ == "__main__":
    asyncio.run(_serve())
