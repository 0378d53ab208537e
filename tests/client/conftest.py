import pytest

LONGEST_ID = 60


def pytest_make_parametrize_id(config: pytest.Config, val: object, argname: str) -> str | None:
    """Shortens the names of tests whose cases are long texts."""
    del config
    is_long = isinstance(val, str | bytes) and len(val) > LONGEST_ID
    return f"{argname}-of-{len(val)}" if is_long and isinstance(val, str | bytes) else None
