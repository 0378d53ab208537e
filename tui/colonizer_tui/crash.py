"""What a fault of our own leaves behind: a file for whoever mends it, and one clean line for the person."""

import os
import time
import traceback
from pathlib import Path

from colonizer_config.secrets import redact
from colonizer_tui.printable import printable


def record(error: BaseException, folder: Path) -> Path | None:
    """The file with the traceback, mode 0600, without values of variables, secrets or control characters.

    None where it cannot be written: then nothing more can be done for it.
    """
    text = printable(redact("".join(traceback.format_exception(error))))
    path = folder / f"crash-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.txt"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except OSError:
        return None
    return path


def words(error: BaseException, path: Path | None) -> str:
    """What the person is told after the screen is restored."""
    where = f"; the details are in {path}" if path is not None else ""
    return (
        f"colonizer: a fault of its own ended the cockpit ({type(error).__name__}){where}.\n"
        "Colonies go on, and what you typed is kept: start it again with `colonizer tui`."
    )
