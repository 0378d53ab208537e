"""The program that becomes an agent's runner (Linux): it ties its life to the engine's and makes way for the command.

Run by path: `python -I -S tether.py ENGINE REPORT COMMAND…`. ENGINE is the engine's process id. REPORT is a descriptor
that gets the words when the command cannot be run, and is closed without a word when it runs.

A function between fork and exec (`preexec_fn`) would do the same and can hang an engine that has threads.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Nothing: the process is the command's when this has worked, and gone when not."""
    engine, report, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    os.set_inheritable(report, False)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != engine:  # it died before the kernel knew of the tie
        os._exit(1)
    # Python ignores these two, and what is ignored stays ignored in the command.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    try:
        os.execvpe(command[0], command, _given_environment())
    except OSError as problem:
        os.write(report, f"{problem.strerror}: {command[0]}".encode(errors="replace"))
        os._exit(127)


def _given_environment() -> dict[bytes, bytes]:
    """The environment that this process was given; `os.environ` has what Python's own start added to it."""
    with open("/proc/self/environ", "rb") as given:
        entries = [entry.partition(b"=") for entry in given.read().split(b"\0") if entry]
    return {name: value for name, _, value in entries}


if __name__ == "__main__":
    main()
