"""The words of a colony's status (spec 1.2) and the risk scale of its questions (spec 3.1).

A status that none of these sets holds is one of tomorrow: it is drawn as its own word and belongs to none of them.
"""

from enum import IntEnum

LIVE = frozenset({"starting", "running", "waiting_for_answer", "idle"})
"""An agent process is there, or is about to be."""

BUSY = LIVE | {"publishing"}

TERMINAL = frozenset({"pr_opened", "merged", "closed", "no_changes", "stopped", "failed"})
"""Nothing goes on by itself. `parked`, `queued`, `blocked` and `publishing` are neither live nor terminal."""

HOLDS_ISSUE = frozenset({"queued", "blocked", "publishing", "pr_opened"}) | LIVE
"""A second launch on the same issue is refused while a colony is in one of these (spec 1.2)."""

KNOWN = BUSY | TERMINAL | {"queued", "blocked", "parked"}


class Risk(IntEnum):
    """What an answer may lead to; a larger value asks for more care."""

    READ_ONLY = 1
    WORKSPACE_WRITE = 2
    PUBLISH_AFFECTING = 3
    CREDENTIAL_ADJACENT = 4
    UNKNOWN = 5

    @classmethod
    def from_wire(cls, value: object) -> "Risk":
        """The risk that the wire names: absent means a write to the workspace, anything unheard-of is the highest."""
        if value is None:
            return cls.WORKSPACE_WRITE
        if isinstance(value, str) and value.upper() in cls.__members__:
            return cls[value.upper()]
        return cls.UNKNOWN

    @property
    def words(self) -> str:
        """The risk as a person reads it."""
        return self.name.lower().replace("_", " ") if self is not Risk.UNKNOWN else "unknown risk"
