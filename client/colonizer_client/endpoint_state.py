"""How a connection is, whatever is on its other end."""

from enum import Enum, auto

from colonizer_client.identity import EndpointName
from colonizer_client.mothership.models import Standing
from colonizer_config.value import Value


class Health(Enum):
    """How a connection is."""

    CONNECTING = auto()
    LIVE = auto()
    SILENT = auto()
    """It was asked and did not answer, or failed; it is asked again after a while."""
    SIGNED_OUT = auto()
    """It refused the token: nothing is sent until the person acts."""


class EndpointState(Value):
    """A connection as it is now. Times are seconds since 1970 by our own clock."""

    name: EndpointName
    address: str
    kind: str = "mothership"
    is_local: bool = False
    """The local engine, which may run agents on this machine."""
    is_own: bool = True
    """It is there because the person added it, and is changed and removed likewise; others exist by themselves."""
    health: Health = Health.CONNECTING
    since: float = 0.0
    """Since when the health is what it is."""
    error: str = ""
    """Why it is not live, in words."""
    fault: str = ""
    """Why it was not live the last time that it was not; it stays when the connection is back."""
    fault_at: float | None = None
    retry_at: float | None = None
    standing: Standing | None = None
    version: str = ""
    latency_s: float | None = None
    skew_s: float | None = None
    """How far the server's clock is ahead of ours, None while unknown."""
    as_of: float | None = None
    """When the colonies were last heard of; None when never."""
    is_polled: bool = False
    """The list is asked for every few seconds, since the token may not see the live stream."""
    unreadable_rows: int = 0
    sandbox: str = ""
    """What confines agents of the local engine: `bwrap` or `none`; empty elsewhere or while unknown."""
    token_place: str = ""
    """Where the token is kept, in words; empty while unknown or of no interest."""
    notice: str = ""
    """Something to know that is no failure, such as an engine of another version."""

    def server_now(self, now: float) -> float:
        """Our time turned into the server's; a skew of less than two seconds is what the wire cannot tell from none."""
        return now if self.skew_s is None or abs(self.skew_s) < 2 else now + self.skew_s
