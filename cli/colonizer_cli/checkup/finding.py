"""What a look at one thing found."""

from collections.abc import Mapping
from enum import StrEnum

from colonizer_config.value import Value


class Level(StrEnum):
    """How good it is."""

    OK = "ok"
    WARNING = "warning"
    """Something is less than it could be; all goes on."""
    FAULT = "fault"
    """Something that is set up, or needed, does not work."""


class Finding(Value):
    """One thing, how it is, and what to do about it."""

    subject: str
    """One or two words."""
    level: Level
    words: str
    advice: str = ""
    """What to do; empty where there is nothing to do."""

    def to_json(self) -> Mapping[str, str]:
        """The finding's row."""
        return {"subject": self.subject, "level": self.level, "words": self.words, "advice": self.advice}


def ok(subject: str, words: str, advice: str = "") -> Finding:
    """All is well."""
    return Finding(subject, Level.OK, words, advice)


def warning(subject: str, words: str, advice: str) -> Finding:
    """Less than it could be."""
    return Finding(subject, Level.WARNING, words, advice)


def fault(subject: str, words: str, advice: str) -> Finding:
    """It does not work."""
    return Finding(subject, Level.FAULT, words, advice)
