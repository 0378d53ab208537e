"""Names and ids that cross borders between layers."""

from typing import NamedTuple, NewType

from colonizer_config.settings import EndpointName

__all__ = ["ColonyId", "ColonyKey", "EndpointName", "QuestionId"]

ColonyId = NewType("ColonyId", str)
"""A colony's id as its mothership gave it: raw, to be sent back; draw it with `safe_line`."""

QuestionId = NewType("QuestionId", str)
"""A question's id: unique within one run of one colony only (`q-1` comes again in the next run)."""


class ColonyKey(NamedTuple):
    """What a colony is, whatever its place in a list: its mothership and its id there."""

    endpoint: EndpointName
    colony: ColonyId

    def __str__(self) -> str:
        return f"{self.endpoint}/{self.colony}"
