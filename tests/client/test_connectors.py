from pathlib import Path

import pytest

from client.raw_server import SECRET, Exchange, raw_server
from colonizer_client.connectors import LocalConnector, RemoteConnector
from colonizer_client.engine import LocalEngine
from colonizer_client.errors import ClientError, EngineUnavailable, NoReply, SignInNeeded
from colonizer_client.mothership import calls
from colonizer_config.address import HttpAddress
from colonizer_config.endpoints import known_endpoints
from colonizer_config.paths import Paths
from colonizer_config.private_file import write_private
from colonizer_config.secrets import TokenStore
from colonizer_config.settings import EndpointName, EndpointSettings, Kind, Settings
from colonizer_config.token import Token
from colonizer_config.version import __version__

pytestmark = pytest.mark.anyio


@pytest.fixture
def paths() -> Paths:
    return Paths.from_environment()


class Engine:
    """An engine that runs already: a server on the private socket, and its token."""

    def __init__(self, paths: Paths) -> None:
        self.engine = LocalEngine(paths, ("false",))
        self.socket = self.engine.address.path
        self.socket.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_private(paths.engine.token, SECRET)
        self.version = __version__
        self.added: tuple[int, bytes] = (200, b'{"name": "local/app", "path": "/p"}')

    async def __call__(self, exchange: Exchange) -> None:
        if "/api/version" in exchange.line:
            await exchange.reply(200, f'{{"version": "v{self.version}"}}'.encode())
        elif self.added[0]:
            await exchange.reply(*self.added)
        else:
            exchange.writer.close()


async def test_the_local_engine_is_reached_with_its_token_and_told_where_the_face_stands(paths: Paths) -> None:
    engine = Engine(paths)
    notices: list[str] = []
    async with raw_server(engine, engine.socket) as server:
        connector = LocalConnector(engine.engine, Path("/p"))
        transport = await connector.open(notices.append)
        await transport.close()
    assert notices == [""]
    assert connector.standing_in is not None
    assert connector.standing_in.name == "local/app"
    assert {exchange.header("authorization") for exchange in server.exchanges} == {f"Bearer {SECRET}"}
    assert server.exchanges[-1].body == b'{"path": "/p"}'


async def test_an_engine_of_another_version_is_said(paths: Paths) -> None:
    engine = Engine(paths)
    engine.version = "0.0.0"
    notices: list[str] = []
    async with raw_server(engine, engine.socket):
        await (await LocalConnector(engine.engine).open(notices.append)).close()
    assert "the running engine has version 0.0.0" in notices[0]
    assert "colonizer engine stop" in notices[0]


@pytest.mark.parametrize(
    ("status", "body"),
    [(400, b'{"error": "not a repository"}'), (500, b"not a repository"), (200, b"not a repository")],
)
async def test_a_folder_that_is_no_repository_is_said_and_stops_nothing(paths: Paths, status: int, body: bytes) -> None:
    engine = Engine(paths)
    engine.added = (status, body)
    notices: list[str] = []
    async with raw_server(engine, engine.socket):
        connector = LocalConnector(engine.engine, Path("/tmp"))
        await (await connector.open(notices.append)).close()
    assert "not a repository" in notices[0]
    assert connector.standing_in is None


@pytest.mark.parametrize(("status", "error"), [(401, SignInNeeded), (0, NoReply)])
async def test_an_engine_that_refuses_the_token_or_breaks_off_is_no_connection(
    paths: Paths, status: int, error: type[ClientError]
) -> None:
    engine = Engine(paths)
    engine.added = (status, b"no")
    async with raw_server(engine, engine.socket):
        with pytest.raises(error):
            await LocalConnector(engine.engine, Path("/p")).open(lambda words: None)


async def test_an_engine_that_cannot_be_started_is_said(paths: Paths) -> None:
    with pytest.raises(EngineUnavailable, match="ended with code 1"):
        await LocalConnector(LocalEngine(paths, ("false",))).open(lambda words: None)


async def test_a_mothership_is_reached_with_the_token_that_is_kept_for_it(paths: Paths) -> None:
    async with raw_server(lambda exchange: exchange.reply(200, b'{"version": "v1"}')) as server:
        assert isinstance(server.address, HttpAddress)
        settings = Settings(
            endpoints=(EndpointSettings(EndpointName("hq"), Kind.MOTHERSHIP, server.address.authority),)
        )
        (endpoint,) = [each for each in known_endpoints(paths, settings) if each.name == "hq"]
        tokens = TokenStore(paths)
        connector = RemoteConnector(endpoint, server.address, tokens)
        with pytest.raises(SignInNeeded, match="no token is kept"):
            await connector.open(lambda words: None)
        tokens.store(server.address, Token(SECRET), plain_file=True)
        transport = await connector.open(lambda words: None)
        assert await transport.run(calls.server_version()) == "1"
        await transport.close()
    assert server.exchanges[0].header("authorization") == f"Bearer {SECRET}"
