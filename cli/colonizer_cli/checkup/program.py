"""Runs another program for a word of it."""

import subprocess
from collections.abc import Sequence

LIMIT_S = 3.0
WORDS_LIMIT = 500


def said(command: Sequence[str]) -> str | None:
    """What the program printed, on either stream; None where it cannot be run, fails, or does not end in time."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return None if done.returncode else done.stdout.decode("utf-8", "replace")[:WORDS_LIMIT].strip()
