"""Where everything lives.

The folders of the environment are shared with a published mothership on the same machine
(`COLONIZER_CONFIG_DIR`, `COLONIZER_DATA_DIR`); the files in them never are.
"""

import hashlib
import os
import stat
from collections.abc import Mapping
from pathlib import Path

from colonizer_config.errors import FolderError
from colonizer_config.value import Value

_OWN_NAMES = frozenset({"colonizer", "local", "tokens"})

SOCKET_PATH_LIMIT_BYTES = 107
"""The longest path that a Unix socket's address holds on Linux (104 on macOS, where the fallback is short too)."""


class EngineFolder(Value):
    """The folder of one local engine and the files in it."""

    root: Path

    @property
    def token(self) -> Path:
        """The owner token of the embedded mothership, mode 0600."""
        return self.root / "api-token"

    @property
    def lock(self) -> Path:
        """Held by the running engine; its text is the engine's process id and version."""
        return self.root / "engine.lock"

    @property
    def log(self) -> Path:
        """What the engine says of itself."""
        return self.root / "engine.log"

    @property
    def mothership_db(self) -> Path:
        """Colonies, events, tokens and repositories of the embedded mothership."""
        return self.root / "mothership.db"

    @property
    def kernel_db(self) -> Path:
        """What the embedded kernel keeps."""
        return self.root / "kernel.db"

    @property
    def kernel_token(self) -> Path:
        """What programs need that reach a kernel of this folder over HTTP, mode 0600."""
        return self.root / "kernel-token"

    @property
    def cockpit_db(self) -> Path:
        """Drafts, the outbox and approvals; every face shares it."""
        return self.root / "cockpit.db"

    @property
    def worktrees(self) -> Path:
        """One git worktree for each colony, named by its id."""
        return self.root / "worktrees"

    @property
    def out(self) -> Path:
        """One folder for each colony's artifacts, named by its id."""
        return self.root / "out"


class Paths(Value):
    """The folders of one person on one machine."""

    config: Path
    data: Path
    runtime: Path
    named_cache: Path | None
    """What the environment names for caches, None where it names nothing."""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> "Paths":
        """The folders that the environment names, else the customary ones. Nothing is created.

        Raises:
            FolderError: The data folder's path holds `:` or `,`, or no home folder is known.
        """
        env = os.environ if environment is None else environment
        config = _named(env, "COLONIZER_CONFIG_DIR") or _home(env) / ".config" / "colonizer"
        data = _named(env, "COLONIZER_DATA_DIR") or _home(env) / ".local" / "share" / "colonizer"
        if any(mark in str(data) for mark in ":,"):
            raise FolderError(f"the data folder's path may not hold ':' or ',': {data}")
        return cls(config=config, data=data, runtime=_runtime(env), named_cache=_named(env, "XDG_CACHE_HOME"))

    @property
    def cache(self) -> Path:
        """The folder of what can be had again, such as the last lists that were seen."""
        if self.named_cache is not None:
            return self.named_cache / "colonizer"
        import platformdirs  # loaded where the platform's own custom is asked for

        return Path(platformdirs.user_cache_path("colonizer"))

    @property
    def settings(self) -> Path:
        """The settings file."""
        return self.config / "cockpit.toml"

    @property
    def published_token(self) -> Path:
        """The owner token of a published mothership on this machine, where there is one."""
        return self.config / "api-token"

    @property
    def tokens(self) -> Path:
        """The folder of the tokens that the person chose to keep in plain files, mode 0700."""
        return self.config / "tokens"

    @property
    def entries(self) -> Path:
        """The folder of what was changed in the settings of other programs, so that it can be taken back."""
        return self.engine.root / "entries"

    @property
    def engine(self) -> EngineFolder:
        """The folder of this person's local engine."""
        return EngineFolder(self.data / "local")

    def socket(self, folder: EngineFolder) -> Path:
        """The private socket of the engine that owns `folder`: one short name for each data path."""
        digest = hashlib.sha256(os.fsencode(folder.root.resolve())).hexdigest()[:8]
        preferred = self.runtime / f"{digest}.sock"
        if len(os.fsencode(preferred)) <= SOCKET_PATH_LIMIT_BYTES:
            return preferred
        return _short_runtime() / f"{digest}.sock"


def make_private(folder: Path) -> Path:
    """The folder, made with mode 0700 where it was missing, and closed to others where it is ours by name, or empty.

    Raises:
        FolderError: It cannot be made, is not a folder, belongs to somebody else, or others may enter it and
            closing it would take something from them.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode):
            raise FolderError(f"{folder} is not a folder")
        if found.st_uid != os.geteuid():
            raise FolderError(f"{folder} belongs to user {found.st_uid}; remove it or choose another folder")
        if (mode := stat.S_IMODE(found.st_mode)) & 0o077:
            if not _is_ours(folder):
                raise FolderError(
                    f"{folder} is open to others (mode {mode:04o}) and holds other things than ours; "
                    "chmod 700 it, or choose another folder"
                )
            folder.chmod(0o700)
    except OSError as problem:
        raise FolderError(f"cannot use the folder {folder}: {problem.strerror or problem}") from problem
    return folder


def _is_ours(folder: Path) -> bool:
    """Whether the folder is one that only we make, or holds nothing that others could miss."""
    return folder.name in _OWN_NAMES or folder.name.startswith("colonizer-") or not any(folder.iterdir())


def _named(env: Mapping[str, str], name: str) -> Path | None:
    value = env.get(name, "").strip()
    return Path(value).absolute() if value else None


def _home(env: Mapping[str, str]) -> Path:
    home = env.get("HOME", "").strip()
    if not home:
        raise FolderError("HOME is not set; set it, or COLONIZER_CONFIG_DIR and COLONIZER_DATA_DIR")
    return Path(home)


def _runtime(env: Mapping[str, str]) -> Path:
    named = env.get("XDG_RUNTIME_DIR", "").strip()
    return Path(named) / "colonizer" if named else _short_runtime()


def _short_runtime() -> Path:
    return Path(f"/tmp/colonizer-{os.geteuid()}")
