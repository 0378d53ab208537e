"""What the engine writes down of itself: a bounded file without secrets and without escapes."""

import logging
import os
import re
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

LOG_LIMIT_BYTES = 1024 * 1024
"""The file and one older one are at most this long each."""

_SECRETS = re.compile(r"(?:col|cph)_[0-9a-f]{8,}|\b[0-9a-f]{64}\b|(?<=Bearer )\S+")


class _CleanFormatter(logging.Formatter):
    """One record a line, outside text shown instead of obeyed; a traceback is indented below its line."""

    def format(self, record: logging.LogRecord) -> str:
        record.message, record.asctime = record.getMessage(), self.formatTime(record)
        trace = self.formatException(record.exc_info).splitlines() if record.exc_info else []
        return "\n".join([_clean(self.formatMessage(record)), *(f"    {_clean(line)}" for line in trace)])


class _PrivateHandler(RotatingFileHandler):
    """A file that only this user can read, older ones included."""

    def _open(self) -> TextIOWrapper:
        return open(self.baseFilename, "a", encoding="utf-8", errors="replace", opener=_opener)


def open_log(path: Path, level: int = logging.INFO) -> logging.Handler:
    """The handler that writes to the engine's log file, attached to the root logger."""
    handler = _PrivateHandler(path, maxBytes=LOG_LIMIT_BYTES, backupCount=1, encoding="utf-8")
    handler.setFormatter(_CleanFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(level)
    # It would note each request that an agent makes through us.
    logging.getLogger("httpx").setLevel(logging.WARNING)
    return handler


def _opener(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


def _clean(words: str) -> str:
    return "".join(
        letter if letter.isprintable() else f"⟨U+{ord(letter):04X}⟩" for letter in _SECRETS.sub("‹redacted›", words)
    )
