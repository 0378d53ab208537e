"""Where a server of ours listens, as the person says it."""

from colonizer_cli import output
from colonizer_config.address import HttpAddress, parse_bind


def bound_address(bind: str | None, default: tuple[str, int]) -> HttpAddress:
    """Where to listen: what `--bind` says, else the default; one that others can reach is warned of.

    Raises:
        AddressError: It is no address.
    """
    host, port = default
    if bind is not None:
        given = parse_bind(bind, source="--bind")
        host, port = given.host, given.port or port
    address = HttpAddress("http", host, port)
    if address.is_exposed or address.is_everywhere:
        output.note(
            f"colonizer: warning: whoever reaches {address} can try tokens, and what is sent there is not encrypted"
        )
    return address
