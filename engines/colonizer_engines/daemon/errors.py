"""What can keep the engine's process from running.

DaemonError
├── EngineHeld      another engine has the folder
└── SocketTrouble   the private socket or the port cannot be opened
"""


class DaemonError(Exception):
    """The engine cannot run."""


class EngineHeld(DaemonError):
    """Another engine has the folder; it can be used instead."""

    def __init__(self, message: str, *, pid: int | None, version: str | None) -> None:
        super().__init__(message)
        self.pid = pid
        self.version = version


class SocketTrouble(DaemonError):
    """The private socket or the port cannot be opened."""
