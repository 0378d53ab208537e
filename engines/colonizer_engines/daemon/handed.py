"""Having another application answer a request of the engine's table."""

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send


class Handed(Response):
    """The answer that another application gives, whatever it sends and however long that lasts."""

    def __init__(self, app: ASGIApp) -> None:
        super().__init__()
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers the request."""
        await self._app(scope, receive, send)
