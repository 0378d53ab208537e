"""The kernel of the local engine, behind `/mcp/kernel`: loaded when it is first asked for (design §5)."""

import asyncio
import importlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from starlette.responses import Response
from starlette.types import ASGIApp

from colonizer_config.errors import ConfigError
from colonizer_config.settings import load
from colonizer_engines.daemon.handed import Handed
from colonizer_engines.host_names import HostNames
from colonizer_engines.kernel.errors import KernelError
from colonizer_engines.kernel.wire import PRESETS
from colonizer_engines.mcp_wire import CARRIED_PATH, KERNEL_PATH, LINES_PATH
from colonizer_engines.mothership.api.routes import Call, Route
from colonizer_engines.mothership.errors import Refusal
from colonizer_engines.mothership.tokens import Scope

_ENDING = "the engine is ending"


@dataclass(frozen=True, slots=True)
class Faces:
    """A loaded kernel, as it is reached."""

    for_operator: ASGIApp
    for_agents: ASGIApp
    lines: ASGIApp
    """Serves an agent whose stdio is carried here, line by line, in one request."""


class KernelService:
    """Loads the kernel at the first request, and keeps it until the engine ends."""

    def __init__(self, database: Path, settings: Path) -> None:
        self._database = database
        self._settings = settings
        self._wanted = asyncio.Event()
        self._faces = self._to_come()
        self._ending = False

    async def run(self) -> None:
        """Serves whoever asks for the kernel until it is cancelled; the database is closed then."""
        try:
            while True:
                await self._wanted.wait()
                try:
                    async with self._loaded() as faces:
                        self._faces.set_result(faces)
                        await self._to_come()
                except (KernelError, ConfigError) as problem:
                    self._refuse(str(problem))
        finally:
            self._ending = True
            self._refuse(_ENDING)

    async def faces(self) -> Faces:
        """The kernel, once it is loaded.

        Raises:
            Refusal: It cannot be had now; the next one who asks has it tried again.
        """
        if self._ending:
            raise Refusal(503, _ENDING, plain=True)
        self._wanted.set()
        return await asyncio.shield(self._faces)

    def routes(self, names: HostNames) -> list[Route]:
        """What the engine's table has of it; the operator's calls are on the private socket alone."""

        async def answer(call: Call) -> Response:
            if call.transport == "private":
                return Handed((await self.faces()).for_operator)
            if not names.allow_origin(call.request.headers.get("origin")):
                raise Refusal(403, "Origin not allowed", plain=True)
            return Handed((await self.faces()).for_agents)

        async def answer_carried(call: Call) -> Response:
            return Handed((await self.faces()).for_agents)

        async def answer_lines(call: Call) -> Response:
            return Handed((await self.faces()).lines)

        methods = ("GET", "POST", "DELETE")
        return [
            *(Route(method, KERNEL_PATH, Scope.OWNER, answer) for method in methods),
            *(Route(method, CARRIED_PATH, Scope.OWNER, answer_carried, private=True) for method in methods),
            Route("POST", LINES_PATH, Scope.OWNER, answer_lines, private=True),
        ]

    @asynccontextmanager
    async def _loaded(self) -> AsyncGenerator[Faces]:
        # The SDK is large; what is connected to the engine shall not wait for it.
        await asyncio.to_thread(importlib.import_module, "colonizer_engines.serve")
        from colonizer_engines.kernel.serve import KernelServer, at_work
        from colonizer_engines.serve import over_http, over_lines

        preset = PRESETS[load(self._settings).kernel.preset]
        async with at_work(preset.rules, self._database) as worker:
            agents = KernelServer(worker, preset)
            operator = KernelServer(worker, preset, for_operator=True)
            async with (
                over_http(operator) as for_operator,
                over_http(agents) as for_agents,
                over_lines(lambda _: nullcontext(agents)) as lines,
            ):
                yield Faces(for_operator, for_agents, lines)

    def _refuse(self, words: str) -> None:
        """Tells those who wait that they wait in vain."""
        self._wanted.clear()
        waiting, self._faces = self._faces, self._to_come()
        if not waiting.done():
            waiting.set_exception(Refusal(503, words, plain=True))
            waiting.exception()  # whether or not somebody still waits

    @staticmethod
    def _to_come() -> asyncio.Future[Faces]:
        return asyncio.get_running_loop().create_future()
