"""This machine: settings, keyring, git, the sandbox of agents, the local engine."""

import asyncio
import os
import re
from collections.abc import Iterator

from colonizer_cli.checkup.finding import Finding, fault, ok, warning
from colonizer_cli.checkup.program import said
from colonizer_cli.local import local_engine
from colonizer_client.errors import ClientError
from colonizer_client.mothership import calls
from colonizer_client.mothership.oneshot import OneShot
from colonizer_config.errors import ConfigError, NoKeyringError
from colonizer_config.paths import SOCKET_PATH_LIMIT_BYTES, Paths
from colonizer_config.settings import Loaded, SandboxChoice
from colonizer_config.system_keyring import SystemKeyring
from colonizer_config.version import __version__

LEAST_GIT = (2, 31)
"""The first that knows `rev-parse --path-format`, by which the local engine finds a repository."""

ANSWER_LIMIT_S = 3.0


def machine(paths: Paths, loaded: Loaded) -> Iterator[Finding]:
    """Each thing in turn."""
    yield _settings(paths, loaded)
    yield _keyring()
    yield _git()
    yield _sandbox(loaded.settings.local.sandbox)
    yield _engine(paths)
    yield _socket(paths)


def _settings(paths: Paths, loaded: Loaded) -> Finding:
    if loaded.problem is not None:
        return fault("settings", str(loaded.problem), f"mend {paths.settings}; until then the defaults count")
    if not paths.settings.exists():
        return ok("settings", f"none: the defaults count ({paths.settings})")
    return ok("settings", str(paths.settings))


def _keyring() -> Finding:
    advice = "tokens can be kept in plain files that only you can read: `colonizer connect add --plain-file`"
    try:
        return ok("keyring", SystemKeyring().name())
    except NoKeyringError:
        return warning("keyring", "there is none", advice)
    except ConfigError as problem:
        return warning("keyring", str(problem), f"unlock it; or {advice}")


def _git() -> Finding:
    words = said(["git", "--version"])
    if words is None:
        return fault("git", "it is not installed, or cannot be run", "install git: colonies work in its worktrees")
    found = re.search(r"(\d+)\.(\d+)", words)
    if found is None or (int(found[1]), int(found[2])) < LEAST_GIT:
        least = ".".join(map(str, LEAST_GIT))
        return fault("git", f"{words}: too old for the local engine", f"install git {least} or newer")
    return ok("git", f"{words}, worktrees supported")


def _sandbox(setting: SandboxChoice) -> Finding:
    from colonizer_engines.mothership.sandbox import SandboxError, Unconfined, choose  # the engine's, which is large

    try:
        chosen = asyncio.run(choose(setting.value))
    except SandboxError as problem:
        return fault("sandbox", str(problem), "install bubblewrap, or set [local] sandbox to auto or none")
    if isinstance(chosen, Unconfined):
        advice = "install bubblewrap and allow user namespaces: without it agents can do what you can"
        return warning("sandbox", f"none: {chosen.reason}", advice)
    return ok("sandbox", chosen.name)


def _engine(paths: Paths) -> Finding:
    engine = local_engine(paths)
    try:
        if not engine.is_running():
            if engine.is_locked():
                return fault("local engine", "stuck: it has the folder and does not answer", f"see {paths.engine.log}")
            return ok("local engine", "not running: it starts by itself where it is needed")
        version = OneShot(engine.address, engine.token(), timeout_s=ANSWER_LIMIT_S).run(calls.server_version())
    except ClientError as problem:
        return fault("local engine", str(problem), f"`colonizer engine stop`; see {paths.engine.log}")
    if version != __version__:
        return warning("local engine", f"version {version}, this is {__version__}", "`colonizer engine stop`")
    return ok("local engine", f"running, version {version}")


def _socket(paths: Paths) -> Finding:
    path = paths.socket(paths.engine)
    size = len(os.fsencode(path))
    words = f"{path} ({size} of {SOCKET_PATH_LIMIT_BYTES} bytes)"
    if size > SOCKET_PATH_LIMIT_BYTES:
        return fault("socket", words, "set XDG_RUNTIME_DIR to a shorter path")
    return ok("socket", words)
