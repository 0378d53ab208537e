"""Which calls wait for a person: the strictest of what the session was started with and what the settings say."""

from pathlib import Path

from colonizer_client.approvals.models import canonical, digest_of
from colonizer_config.settings import Approve, McpSettings
from colonizer_config.settings_file import SettingsFile
from colonizer_config.value import Value
from colonizer_server.session import Session
from colonizer_server.tools import Tool

_UNREADABLE = McpSettings(approve=Approve.WRITES)
"""Settings that cannot be read may have said so."""


class Policy(Value):
    """What goes for one client of one session."""

    approve: Approve
    version: str
    """The same for the same policy; an approval that was given under another one is worth nothing."""

    def covers(self, tool: Tool) -> bool:
        """Whether calls of this tool wait."""
        return self.approve is Approve.ALL or (self.approve is Approve.WRITES and not tool.is_read)

    @classmethod
    def of(cls, session: Session, settings: McpSettings, client: str) -> "Policy":
        """The policy for a client of that name."""
        approve = Approve.strictest(session.approve, settings.approve_of(client))
        effective = {"approve": approve, "scope": session.scope.word, "mothership": session.where}
        return cls(approve, digest_of(canonical(effective))[:16])


class SettingsInForce:
    """The `[mcp]` table of a settings file as it is now."""

    def __init__(self, path: Path) -> None:
        self._file = SettingsFile(path)

    def now(self) -> McpSettings:
        """What it says; where it cannot be read, that writes wait."""
        loaded = self._file.now()
        return loaded.settings.mcp if loaded.problem is None else _UNREADABLE
