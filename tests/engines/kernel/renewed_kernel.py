"""A server on stdio whose kernel a test can make anew: a new process for each case would take a second of its own."""

import asyncio
import sys

from mcp_types import CallToolRequestParams, CallToolResult

from colonizer_engines.kernel.kernel import Kernel
from colonizer_engines.kernel.serve import KernelServer, Worker
from colonizer_engines.kernel.wire import PRESETS
from colonizer_engines.serve import over_stdio
from engines.kernel.vectors import Time

RENEW = "renew"
"""Begins with a new kernel."""

SET_CLOCK = "set_clock"
"""Puts the kernel's clock `offset_s` seconds off."""


class RenewedServer(KernelServer):
    """Understands two more calls, which it does not list."""

    def __init__(self, preset: str) -> None:
        self._kind = PRESETS[preset]
        super().__init__(self._new_worker(), self._kind)

    async def _call(self, context: object, params: CallToolRequestParams) -> CallToolResult:
        if params.name == RENEW:
            self._worker = self._new_worker()
        elif params.name == SET_CLOCK:
            self._time.offset_s = (params.arguments or {})["offset_s"]
        else:
            return await super()._call(context, params)
        return CallToolResult(content=[])

    def _new_worker(self) -> Worker:
        self._time = Time()
        return Worker(Kernel(self._kind.rules, clock=self._time))


if __name__ == "__main__":
    asyncio.run(over_stdio(RenewedServer(sys.argv[1])))
