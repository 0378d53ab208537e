"""How the application ends when something else than a key ends it. Nothing is ever sent by leaving."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from typing import Protocol

from textual.timer import Timer

HANG_UP_CHECK_S = 1.0


class Leaving(Protocol):
    """What an ending application can do."""

    def store_drafts(self) -> None:
        """Keeps everything that was typed a moment ago."""
        ...

    def exit(self, result: None = None, return_code: int = 0) -> None:
        """Ends in order, the terminal restored."""
        ...

    def set_interval(self, interval: float, callback: Callable[[], None], /) -> Timer:
        """Calls back again and again."""
        ...


def watch(app: Leaving) -> None:
    """Lets the application end in order when the system asks for it, or when its terminal is gone."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, _leave, app, number)
    # Somebody may send it to a terminal that is still there.
    loop.add_signal_handler(signal.SIGHUP, lambda: _leave(app, signal.SIGHUP) if _has_terminal() else _hang_up(app))
    # Not every terminal that goes sends a signal; a read from one that is gone would end at once for ever.
    app.set_interval(HANG_UP_CHECK_S, lambda: None if _has_terminal() else _hang_up(app))


def _leave(app: Leaving, number: int) -> None:
    app.store_drafts()
    app.exit(return_code=128 + number)


def _hang_up(app: Leaving) -> None:
    """There is no terminal to restore, and writing to it would block: the process ends here."""
    app.store_drafts()
    os._exit(128 + signal.SIGHUP)


def _has_terminal() -> bool:
    try:
        return sys.__stdin__ is not None and sys.__stdin__.isatty()
    except ValueError:
        return False
