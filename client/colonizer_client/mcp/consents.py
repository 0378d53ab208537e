"""Commands that the person agreed to have run, by the hash of their exact words (threats D15)."""

from collections.abc import Sequence

from colonizer_client.identity import EndpointName
from colonizer_client.mothership import wire
from colonizer_client.store import Store
from colonizer_client.text import has_hidden_characters, safe_line
from colonizer_config.address import StdioAddress
from colonizer_config.value import Value


class ConsentAsked(Value):
    """A command that runs only when the person agrees to its exact words."""

    command: tuple[str, ...]
    """Safe to show, word by word as it would run."""
    env: tuple[str, ...] = ()
    """Names of the variables that it is given."""
    hides_characters: bool = False
    """The words hold characters that a person would not see as they are."""
    before: tuple[str, ...] = ()
    """What was agreed to for this endpoint last; empty where nothing was."""
    env_before: tuple[str, ...] = ()


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
