from keyring.backend import KeyringBackend


class MemoryKeyring(KeyringBackend):
    """A keyring as a desktop has it, for the time of one test."""

    priority = 5.0  # pyright: ignore[reportAssignmentType, reportIncompatibleVariableOverride]

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call] # keyring has no annotation here
        self.entries: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.entries.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.entries[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.entries[service, username]
