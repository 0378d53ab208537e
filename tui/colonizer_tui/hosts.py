"""What the terminal face asks for when the person changes their list of hosts. It sees neither settings nor tokens."""

from collections.abc import Callable
from typing import Protocol

from colonizer_config.value import Value


class HostError(Exception):
    """Why a host cannot be changed so, in one sentence."""


class NoKeyring(HostError):
    """There is no keyring: the token goes into a plain file only where the person wants that.

    The text names the file.
    """


class Trial(Value):
    """A token that the host took and that is kept nowhere yet."""

    told: str
    """What it may do there, in words."""
    keep: Callable[[bool], str]
    """Keeps it, True in a plain file; the place in words. Blocks; raises HostError."""


class Hosts(Protocol):
    """The person's own hosts. Calls block unless they say that they do not, and raise HostError."""

    def fault(self, address: str) -> str:
        """Why this is no address; empty where it is one, or nothing. Does not block."""
        ...

    def warning(self, address: str) -> str:
        """What has to be known before a token is sent to this address; empty for nothing. Does not block."""
        ...

    def try_token(self, name: str, pasted: str) -> Trial:
        """Tries a token, or the one of a sign-in link, at the address that the settings have for this host."""
        ...

    def try_addition(self, name: str, address: str, pasted: str) -> Trial:
        """Tries a token at the address of a host that is new; keeping it adds the host. A link can hold both."""
        ...

    def change(self, name: str, new_name: str, address: str) -> None:
        """Gives a host another name or address. At another address it has no token; that of the one before goes."""
        ...

    def sign_out(self, name: str) -> str:
        """Forgets the token of a host; what was done, in words."""
        ...

    def remove(self, name: str) -> str:
        """Takes a host out of the settings, and forgets its token; what was done, in words."""
        ...

    def apply(self, renamed: tuple[str, str] | None = None) -> None:
        """Connects the cockpit to what the settings say now; `renamed` is a name before and after. Does not block."""
        ...
