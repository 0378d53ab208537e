"""Commands that the person agreed to have run, by the hash of their exact words (threats D15)."""

from collections.abc import Sequence

from colonizer_client.identity import EndpointName
from colonizer_client.kernel.view import ConsentAsked
from colonizer_client.mothership import wire
from colonizer_client.store import Store
from colonizer_client.text import has_hidden_characters, safe_line
from colonizer_config.address import StdioAddress


def asked(store: Store, endpoint: EndpointName, address: StdioAddress) -> ConsentAsked | None:
    """What the person has to agree to before the command runs, None where that was done.

    Raises:
        StoreError: It cannot be read what was agreed to.
    """
    if store.remembered(_agreed(address)) is not None:
        return None
    before = wire.mapping(store.remembered(_last(endpoint)))
    return ConsentAsked(
        command=_shown(address.command),
        env=_shown(address.env),
        hides_characters=any(map(has_hidden_characters, address.command)),
        before=wire.words(before.get("command")),
        env_before=wire.words(before.get("env")),
    )


def agree(store: Store, endpoint: EndpointName, address: StdioAddress) -> None:
    """Keeps that the person agreed to these very words.

    Raises:
        StoreError: That cannot be kept.
    """
    words = {"command": list(address.command), "env": list(address.env)}
    store.remember(_last(endpoint), words)
    store.remember(_agreed(address), words)


def _agreed(address: StdioAddress) -> str:
    return f"consent {address.identity}"


def _last(endpoint: EndpointName) -> str:
    return f"consent of {endpoint}"


def _shown(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(safe_line(word) for word in words)
