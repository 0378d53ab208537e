"""Whether what happens can be written down."""

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class WriteTrouble:
    """That the disk does not take writes, or did not; spec 3.6 `storage`."""

    message: str
    ts: str
    failures: int = 1
    recovered_at: str | None = None

    def wire(self) -> dict[str, object]:
        """The keys that `storage` has besides its figures."""
        return {
            "kind": "write",
            "message": self.message,
            "ts": self.ts,
            "failures": self.failures,
            "recovered_at": self.recovered_at,
        }


class StorageHealth:
    """The last trouble with writing, and whether it is over."""

    def __init__(self) -> None:
        self.trouble: WriteTrouble | None = None

    @property
    def failing(self) -> bool:
        """Whether the last write failed."""
        return self.trouble is not None and self.trouble.recovered_at is None

    def failed(self, message: str, moment: str) -> None:
        """Notes a write that failed."""
        if self.trouble is not None and self.failing:
            self.trouble = replace(self.trouble, message=message, failures=self.trouble.failures + 1)
        else:
            self.trouble = WriteTrouble(message, moment)

    def worked(self, moment: str) -> None:
        """Notes a write that worked."""
        if self.trouble is not None and self.failing:
            self.trouble = replace(self.trouble, recovered_at=moment)
