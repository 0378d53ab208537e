"""What messages of an MCP server have to go through before the SDK reads them, which throws whole answers away."""

from typing import Protocol, cast


class Mending(Protocol):
    """Changes the results of one connection in place, so that the SDK reads them (MCP notes 7)."""

    noise: int
    """Lines that were no message."""

    def mend(self, result: dict[str, object]) -> None:
        """Makes a result into one that the SDK reads."""
        ...


def without_halves(value: object) -> object:
    """The value with every half of a character replaced, which no library encodes."""
    match value:
        case str():
            return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case dict():
            fields = cast("dict[str, object]", value)
            return {cast("str", without_halves(key)): without_halves(inner) for key, inner in fields.items()}
        case list():
            return [without_halves(inner) for inner in cast("list[object]", value)]
        case _:
            return value
