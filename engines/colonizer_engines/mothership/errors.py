"""What can go wrong in the embedded mothership, drawn as one tree.

MothershipError
├── Refusal              a request that is answered with a status and words, not carried out
├── StartProblem         a colony cannot be started, and why
└── StoreError           the database did not take or give something
    ├── StorageFull      there is no room, or the disk does not take writes; goes away when space returns
    └── DatabaseUnusable the file is damaged, newer than this program, or not ours; never overwritten
"""

from collections.abc import Mapping


class MothershipError(Exception):
    """Anything that the embedded mothership says went wrong."""

    retryable = False


class Refusal(MothershipError):
    """A request that is answered with words instead of being carried out.

    `body` is the JSON object of the answer; None where the published program answers in plain text.
    """

    def __init__(self, status: int, words: str, *, plain: bool = False, **more: object) -> None:
        super().__init__(words)
        self.status = status
        self.words = words
        self.body: Mapping[str, object] | None = None if plain else {"error": words, **more}


class StartProblem(MothershipError):
    """A colony cannot be started, and why."""


class StoreError(MothershipError):
    """The database did not take or give something."""


class StorageFull(StoreError):
    """There is no room, or the disk does not take writes."""

    retryable = True


class DatabaseUnusable(StoreError):
    """The database is damaged, newer than this program, or not ours."""
