"""How the table of routes is written and read; the guard and the dispatch use the same one (spec 2.3)."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import unquote

from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.websockets import WebSocket

from colonizer_engines.mothership.mothership import Mothership
from colonizer_engines.mothership.tokens import Caller, Scope

Transport = Literal["private", "tcp"]
"""How a client came in: through the private socket, or over the network."""

SOCKET = "(socket)"
"""Stands for the method of a WebSocket; no request can have it, since a method is a word."""

Subject = Literal["session", "map"]


@dataclass(frozen=True, slots=True)
class Call:
    """A request that has passed the guard."""

    mothership: Mothership
    caller: Caller
    connection: HTTPConnection
    parameters: Mapping[str, str]
    """The parts of the path that the route leaves open, decoded."""
    transport: Transport

    @property
    def request(self) -> Request:
        """The HTTP request."""
        assert isinstance(self.connection, Request)
        return self.connection

    @property
    def socket(self) -> WebSocket:
        """The WebSocket, not accepted yet."""
        assert isinstance(self.connection, WebSocket)
        return self.connection

    @property
    def colony(self) -> str:
        """The id of the colony that the path names."""
        return self.parameters["id"]


Answering = Callable[[Call], Awaitable[Response]]
Talking = Callable[[Call], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Route:
    """One row of the table."""

    method: str
    """`GET`, `POST`, …, or `SOCKET`."""
    path: str
    """As the specification writes it: `/api/sessions/{id}/stop`."""
    scope: Scope
    """The least scope that may call it."""
    handler: Answering | Talking
    private: bool = False
    """Whether only the private socket has it."""

    @property
    def begins_queue(self) -> bool:
        """Whether a request is taken for somebody's who is at work with colonies (local decisions, section 4)."""
        return self.method not in ("GET", SOCKET) and self.path.startswith("/api/")

    @property
    def subject(self) -> Subject | None:
        """What a token's limits to orgs and repositories are about."""
        if self.path.startswith("/api/sessions/{id}"):
            return "session"
        return "map" if self.path.startswith("/api/maps/") else None


@dataclass(frozen=True, slots=True)
class Match:
    """A route that fits a request, and the open parts of its path."""

    route: Route
    parameters: Mapping[str, str]


class Table:
    """The routes, found by the path of a request."""

    def __init__(self, routes: Sequence[Route]) -> None:
        self._rows = [(route, tuple(route.path.split("/"))) for route in routes]

    def matches(self, raw_path: str, transport: Transport) -> list[Match]:
        """The routes of every method that fit the path, which is still percent-encoded."""
        parts = raw_path.split("/")
        return [
            Match(route, parameters)
            for route, template in self._rows
            if not (route.private and transport != "private") and (parameters := _fit(template, parts)) is not None
        ]


def _fit(template: tuple[str, ...], parts: list[str]) -> dict[str, str] | None:
    if len(template) != len(parts):
        return None
    found: dict[str, str] = {}
    for expected, part in zip(template, parts, strict=True):
        if expected.startswith("{"):
            if not part:
                return None
            found[expected[1:-1]] = unquote(part)
        elif expected != part:
            return None
    return found
