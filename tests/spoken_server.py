"""A command that serves MCP on stdio, spoken to line by line."""

import json
import subprocess
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any, cast

from plain_command import LIMIT_S, PROGRAM, own_environment
from recorded import Json

INITIALIZE: Json = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
INITIALIZED: Json = {"jsonrpc": "2.0", "method": "notifications/initialized"}

OUTCOME: Json = {"agent_id": "a", "action_type": "x", "target": "t", "actual_outcome": "done", "tests_passed": True}


class Spoken:
    """The conversation with one server."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.process = process
        self._in, self._out = process.stdin, process.stdout
        self._last = 0

    def open(self) -> Json:
        """The server's side of the handshake."""
        self.say(INITIALIZE)
        answer = self.hear()
        self.say(INITIALIZED)
        return answer

    def say(self, message: Json | bytes) -> None:
        self._in.write(message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n")
        self._in.flush()

    def hear(self) -> Json:
        """The next message; every line of the server is one."""
        return cast("Json", json.loads(self._out.readline()))

    def send(self, method: str, **params: object) -> int:
        """The id of a request that is on its way."""
        self._last += 1
        self.say({"jsonrpc": "2.0", "id": self._last, "method": method, "params": params})
        return self._last

    def ask(self, method: str, **params: object) -> Json:
        """The answer to a request."""
        request = self.send(method, **params)
        answer = self.hear()
        assert answer["id"] == request
        return answer

    def end(self) -> tuple[int, bytes]:
        """The exit code and what was on stderr, once all is said."""
        self._in.close()
        assert self._out.read() == b""
        assert self.process.stderr is not None
        return self.process.wait(LIMIT_S), self.process.stderr.read()

    def call(self, tool: str, **arguments: object) -> Any:
        """The value of a tool of a kernel with the seed's rules."""
        answer = self.ask("tools/call", name=tool, arguments=arguments)
        assert not answer["result"]["isError"], answer
        return answer["result"]["structuredContent"]


@contextmanager
def spoken(*argv: str, program: Sequence[str] = PROGRAM, **environment: str) -> Generator[Spoken]:
    """A command that is there until the test is over."""
    with subprocess.Popen(
        (*program, *argv),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=own_environment(environment),
    ) as process:
        try:
            yield Spoken(process)
        finally:
            process.kill()


def file_of(*messages: Json | bytes) -> str:
    """Messages as a file holds them."""
    return "".join((one if isinstance(one, bytes) else json.dumps(one).encode() + b"\n").decode() for one in messages)
