import contextlib
import os
from pathlib import Path

STRANGER = (12345, 23456)
"""A user and a group that are not ours."""


def given_away(path: Path) -> bool:
    """Whether the file could be made the stranger's, which root may do."""
    with contextlib.suppress(OSError):
        os.chown(path, *STRANGER)
    return path.stat().st_uid == STRANGER[0]
