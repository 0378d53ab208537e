"""The person's own editor, on a text of ours."""

import os
import shlex
import subprocess
import tempfile
from pathlib import Path

from colonizer_cli.failures import Failed

_FALLBACK = "vi"


def edited(text: str, suffix: str) -> str:
    """The text as the person saved it in VISUAL or EDITOR; the file is nobody else's, and goes afterwards.

    Raises:
        Failed: The editor cannot be started, ended with a failure, or left what is no text.
    """
    command = os.environ.get("VISUAL") or os.environ.get("EDITOR") or _FALLBACK
    with tempfile.TemporaryDirectory(prefix="colonizer-") as folder:
        file = Path(folder) / f"edit{suffix}"
        file.write_text(text, encoding="utf-8")
        try:
            done = subprocess.run((*shlex.split(command), str(file)), check=False)
        except (OSError, ValueError) as problem:
            raise Failed(f"the editor {command} cannot be started: {problem}") from problem
        if done.returncode != 0:
            raise Failed(f"the editor ended with {done.returncode}: nothing was decided")
        try:
            return file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as problem:
            raise Failed(f"what the editor left cannot be read: {problem}") from problem
