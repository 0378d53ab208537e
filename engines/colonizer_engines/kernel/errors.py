"""What can go wrong in the embedded colony kernel, drawn as one tree.

KernelError
├── BadArgument        one argument of a call cannot be taken, and why; nothing was changed
├── ToolProblem        a call that reaches no rule: unknown tool, or arguments of the wrong shape
└── StoreError         the database did not take or give something; nothing of the call is kept
    ├── StorageFull    there is no room, or the disk does not take writes; goes away when space returns
    ├── StoreHeld      another process owns the database
    └── DatabaseUnusable  the file is damaged, newer than this program, or not ours; never overwritten
"""

from collections.abc import Sequence


class KernelError(Exception):
    """Anything that the embedded kernel says went wrong."""

    retryable = False


class BadArgument(KernelError):
    """One argument cannot be taken; its words name it."""

    def __init__(self, field: str, words: str) -> None:
        super().__init__(words)
        self.field = field


class ToolProblem(KernelError):
    """A call that reaches no rule.

    `code` is the word of the recorded program; `constraints` pairs a field with what it breaks.
    """

    def __init__(self, code: str, words: str, constraints: Sequence[tuple[str, str]] = ()) -> None:
        super().__init__(words)
        self.code = code
        self.constraints = tuple(constraints)


class StoreError(KernelError):
    """The database did not take or give something."""


class StorageFull(StoreError):
    """There is no room, or the disk does not take writes."""

    retryable = True


class StoreHeld(StoreError):
    """Another process owns the database."""


class DatabaseUnusable(StoreError):
    """The database is damaged, newer than this program, or not ours."""
