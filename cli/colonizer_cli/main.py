"""The entry of the `colonizer` program."""

import io
import sys
from types import TracebackType


def main() -> None:
    """Runs the program and ends the process."""
    if sys.argv[1:] in (["--version"], ["version"]):
        # Scripts ask for this in loops: nothing but the version is loaded.
        from colonizer_config.version import __version__

        print(f"v{__version__}" if sys.argv[1] == "version" else f"colonizer {__version__}")
        return
    import threading

    from colonizer_cli.root import root

    sys.excepthook = _tell_fault
    threading.excepthook = lambda fault: _tell_fault(fault.exc_type, fault.exc_value, fault.exc_traceback)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A character that the terminal's encoding lacks must not end the command.
            stream.reconfigure(errors="backslashreplace")
    root(prog_name="colonizer")


def _tell_fault(kind: type[BaseException], problem: BaseException | None, trace: TracebackType | None) -> None:
    """Prints the trace of a fault in this program; its words may hold text from outside, and secrets."""
    import traceback

    from colonizer_client.text import safe_text
    from colonizer_config.secrets import redact

    words = "".join(traceback.format_exception(kind, problem, trace))
    print(safe_text(redact(words)), end="", file=sys.stderr)


if __name__ == "__main__":
    main()
