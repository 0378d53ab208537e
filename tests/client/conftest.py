from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from client.fleet_server import FleetServer, fleet_server
from client.hand_clock import HandClock

LONGEST_ID = 60


def pytest_make_parametrize_id(config: pytest.Config, val: object, argname: str) -> str | None:
    """Shortens the names of tests whose cases are long texts."""
    del config
    is_long = isinstance(val, str | bytes) and len(val) > LONGEST_ID
    return f"{argname}-of-{len(val)}" if is_long and isinstance(val, str | bytes) else None


@pytest.fixture
async def server(tmp_path: Path) -> AsyncGenerator[FleetServer, None]:
    async with fleet_server(tmp_path / "s") as made:
        yield made


@pytest.fixture
def clock() -> HandClock:
    return HandClock()
