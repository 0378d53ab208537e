#!/usr/bin/env python3
"""Stands in for the published mothership's microVM tool, so that colonies really run where there are no microVMs.

A "microVM" is a process of this machine: the mothership's own supervisor, on the loopback port that was to be
published. Nothing is isolated: run the scripted agent with it and no other. MICROVM_STATE names its folder; a file
`fail-next` in it makes the next start fail with the file's text.
"""

import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

STATE = Path(os.environ["MICROVM_STATE"])
SUPERVISOR = "/opt/colonizer/bin/colonizer-agentd"
GRACE_S = 5.0


def values_of(argv: Sequence[str], option: str) -> list[str]:
    """The values of an option that may be repeated; what follows `--` is a command of the guest's."""
    ours = argv[: argv.index("--")] if "--" in argv else argv
    return [value for name, value in itertools.pairwise(ours) if name == option]


def box_of(name: str) -> Path:
    return STATE / "boxes" / Path(name).name


def on_host(path: str, mounts: Mapping[str, str]) -> str:
    """A path in the guest as a path here: there are no mounts."""
    for target in sorted(mounts, key=len, reverse=True):
        if path == target or path.startswith(f"{target}/"):
            return mounts[target] + path[len(target) :]
    return path


def run(argv: Sequence[str]) -> int:
    box = box_of(values_of(argv, "--name")[0])
    order = STATE / "fail-next"
    if order.exists():
        words = order.read_text().strip()
        order.unlink()
        sys.exit(f"microvm: {words}")
    end(box)
    box.mkdir(parents=True)
    parts = [spec.split(":") for spec in values_of(argv, "-v")]
    mounts = {target: source for source, target, *_ in parts if source != target}
    environment = guest_environment(values_of(argv, "-e"), mounts, box)
    host, port, _ = values_of(argv, "-p")[-1].split(":")
    start(box, mounts, environment, f"{host}:{port}")
    return 0


def guest_environment(pairs: Sequence[str], mounts: Mapping[str, str], box: Path) -> dict[str, str]:
    environment = {name: os.environ[name] for name in ("PATH", "LANG", "TZ") if name in os.environ}
    for pair in pairs:
        name, _, value = pair.partition("=")
        environment[name] = on_host(value, mounts)
    # A guest cannot write the repository's index, and has one of its own.
    index = box / "index"
    original = Path(environment.get("GIT_DIR", "/nowhere")) / "index"
    if original.is_file():
        shutil.copyfile(original, index)
    out = on_host("/harness/out", mounts)
    return {**environment, "HOME": str(box), "SHELL": "/bin/sh", "GIT_INDEX_FILE": str(index), "AGENT_OUT": out}


def start(box: Path, mounts: Mapping[str, str], environment: Mapping[str, str], listen: str) -> None:
    config = json.loads(Path(on_host("/colonizer/session.json", mounts)).read_text())
    agent = config["agent"]
    command = [on_host(word, mounts) for word in agent["command"]]
    agent["command"] = [sys.executable if word == "python3" else word for word in command]
    agent["env"] = {name: on_host(value, mounts) for name, value in agent.get("env", {}).items()}
    config["listen"] = listen
    config["workspace"] = on_host(config["workspace"], mounts)
    session, token, policy = box / "session.json", box / "token", box / "path-policy"
    session.write_text(json.dumps(config))
    policy.touch()
    token.touch(mode=0o600)
    token.write_text(Path(on_host("/colonizer/token", mounts)).read_text())
    argv: list[str | Path] = [
        *(mounts[SUPERVISOR], "--config", session, "--token-file", token),
        *("--state-dir", box / "var", "--path-policy", policy),
    ]
    with (box / "console.log").open("wb") as log:
        guest = subprocess.Popen(
            argv,
            env=dict(environment),
            cwd=config["workspace"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    (box / "pid").write_text(f"{guest.pid} {started(guest.pid)}")


def started(pid: int) -> str:
    """When a process started, empty where there is none or it is dead already."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] == "Z" else fields[19]


def living(box: Path) -> int | None:
    """The process of a box; a process that came to have its number is another one."""
    try:
        pid, since = (box / "pid").read_text().split()
    except (OSError, ValueError):
        return None
    return int(pid) if started(int(pid)) == since else None


def end(box: Path) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        pid = living(box)
        if pid is None:
            break
        os.killpg(pid, number)
        deadline = time.monotonic() + GRACE_S
        while living(box) is not None and time.monotonic() < deadline:
            time.sleep(0.02)
    shutil.rmtree(box, ignore_errors=True)


def remove(argv: Sequence[str]) -> int:
    for name in argv:
        if not name.startswith("-"):
            end(box_of(name))
    return 0


def list_names(argv: Sequence[str]) -> int:
    for box in sorted((STATE / "boxes").glob("*")):
        if "--running" not in argv or living(box) is not None:
            print(box.name)
    return 0


def nothing(_: Sequence[str]) -> int:
    return 0


VERBS: Mapping[str, Callable[[Sequence[str]], int]] = {
    "run": run,
    "rm": remove,
    "ls": list_names,
    "pull": nothing,
    "image": nothing,
    "version": nothing,
    "--version": nothing,
}

if __name__ == "__main__":
    sys.exit(VERBS[sys.argv[1]](sys.argv[2:]))
