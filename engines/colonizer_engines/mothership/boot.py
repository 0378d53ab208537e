"""How a colony's agent is brought up: worktree, folder for its artifacts, sandbox, process."""

import asyncio
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from colonizer_config.errors import SettingsError
from colonizer_config.settings import AgentSettings, SandboxChoice, Settings
from colonizer_engines.mothership.agents import Environments, ReadSettings, environment, find_agent
from colonizer_engines.mothership.colony import Colony
from colonizer_engines.mothership.errors import Refusal, StartProblem
from colonizer_engines.mothership.fleet import Change, Fleet
from colonizer_engines.mothership.git import GitError, git
from colonizer_engines.mothership.repositories import Base, Repository, RepositoryError
from colonizer_engines.mothership.run import Start
from colonizer_engines.mothership.runner import Runner, RunnerError, RunnerStart
from colonizer_engines.mothership.sandbox import Confinement, Sandbox, SandboxError, choose
from colonizer_engines.mothership.session import ColonyId
from colonizer_engines.mothership.worktrees import Worktree, create, remove, remove_tree


@dataclass(frozen=True, slots=True)
class Folders:
    """Where the embedded mothership keeps the files of colonies, and what no agent may see."""

    worktrees: Path
    out: Path
    hidden: tuple[Path, ...] = ()
    """Our own folders and the person's secrets."""

    def worktree_of(self, colony: ColonyId) -> Path:
        """Where the colony works."""
        return self.worktrees / colony

    def out_of(self, colony: ColonyId) -> Path:
        """Where the colony puts its artifacts."""
        return self.out / colony


class Sandboxes:
    """The sandbox of each setting, tried once."""

    def __init__(self) -> None:
        self._chosen: dict[SandboxChoice, Sandbox] = {}

    async def of(self, setting: SandboxChoice) -> Sandbox:
        """The sandbox that the setting means on this machine.

        Raises:
            SandboxError: What is asked for cannot be had.
        """
        if setting not in self._chosen:
            self._chosen[setting] = await choose(setting.value)
        return self._chosen[setting]

    async def name_of(self, setting: SandboxChoice) -> str:
        """What confines an agent that starts now, `bwrap` or `none`; what was asked for where it cannot be had."""
        try:
            return (await self.of(setting)).name
        except SandboxError:
            return setting.value


class LocalBoot:
    """Brings agents up on this machine."""

    def __init__(
        self,
        fleet: Fleet,
        folders: Folders,
        sandboxes: Sandboxes,
        read_settings: ReadSettings,
        environments: Environments,
        own_environment: Mapping[str, str],
    ) -> None:
        self._fleet = fleet
        self._folders = folders
        self._sandboxes = sandboxes
        self._read_settings = read_settings
        self._environments = environments
        self._own_environment = own_environment

    async def bring_up(self, colony: ColonyId, start: Start) -> Runner:
        """The running agent, in its worktree.

        Raises:
            StartProblem: It cannot be started.
        """
        try:
            settings = self._read_settings()
            agent = find_agent(settings, self._fleet.get(colony).session.agent)
            worktree = await self._worktree(colony, start)
            start.finish("worktree")
            argv = await self._confined(start, settings, agent, worktree)
            start.finish("sandbox")
            runner = await self._run(colony, agent, argv, worktree)
        except (SettingsError, Refusal, RepositoryError, GitError, SandboxError, RunnerError, OSError) as problem:
            raise StartProblem(str(problem)) from problem
        start.finish("agent")
        return runner

    async def _worktree(self, colony_id: ColonyId, start: Start) -> Worktree:
        """The colony's worktree, made where it has none yet."""
        colony = self._fleet.get(colony_id)
        found = colony.worktree
        if found is not None:
            if not found.path.is_dir():
                raise StartProblem(f"the worktree {found.path} is gone")
            return found
        origin = colony.origin
        if origin is None:
            raise StartProblem("it is not known which repository this colony belongs to")
        repository = Repository(colony.session.repo, Path(origin.git_dir), Path(origin.top))
        base = await _newest(repository, Base(origin.branch, origin.commit))
        folder = self._folders.worktree_of(colony_id)
        await _clear_half_made(repository, folder, colony.session.branch, base)
        worktree = await create(repository, folder, colony.session.branch, base)
        await start.record(lambda change: _record_worktree(change, colony_id, worktree))
        return worktree

    async def _confined(
        self, start: Start, settings: Settings, agent: AgentSettings, worktree: Worktree
    ) -> tuple[str, ...]:
        colony = start.colony
        out = self._folders.out_of(colony)
        out.mkdir(mode=0o700, parents=True, exist_ok=True)
        sandbox = await self._sandboxes.of(settings.local.sandbox)
        origin = self._fleet.get(colony).origin
        clone = () if origin is None else (Path(origin.top), Path(origin.git_dir))
        confinement = Confinement(
            worktree=worktree,
            out=out,
            read_only=(*clone, *_programs(agent.command)),
            hidden=self._folders.hidden,
            network=settings.local.network,
        )
        name = sandbox.name
        if self._fleet.get(colony).session.sandbox != name:
            await start.record(lambda change: change.put_session(replace(change.colony(colony).session, sandbox=name)))
        return sandbox.wrap(agent.command, confinement)

    async def _run(self, colony_id: ColonyId, agent: AgentSettings, argv: Sequence[str], worktree: Worktree) -> Runner:
        given = self._environments.of(colony_id)
        out = self._folders.out_of(colony_id)
        variables = environment(self._fleet.get(colony_id), agent, given, self._own_environment, out)
        return await Runner.start(RunnerStart(tuple(argv), worktree.path, variables))


def _record_worktree(change: Change, colony_id: ColonyId, worktree: Worktree) -> None:
    colony = change.colony(colony_id)
    session = replace(
        colony.session, worktree=str(worktree.path), git_admin_dir=str(worktree.admin_dir), base=worktree.base
    )
    change.put(replace(colony, session=session, start_commit=worktree.start_commit))
    change.log(colony_id, f"worktree ready on branch {worktree.branch}, from {worktree.base}")


async def _newest(repository: Repository, base: Base) -> Base:
    """The branch as it is now: a colony may have waited long for its slot."""
    name = f"refs/heads/{base.branch}^{{commit}}"
    try:
        found = await git("rev-parse", "--verify", "--quiet", "--end-of-options", name, repository=repository.git_dir)
    except GitError:
        return base
    return Base(base.branch, found.decode().strip())


async def _clear_half_made(repository: Repository, folder: Path, branch: str, base: Base) -> None:
    """Removes what an engine left that was killed while it made the worktree; the branch has the colony's own name."""
    if not await asyncio.to_thread(os.path.lexists, folder):
        return
    admin = repository.git_dir / "worktrees" / folder.name
    await remove(Worktree(folder, repository.git_dir, admin, branch, base.branch, base.commit))
    await git("branch", "-D", "--", branch, repository=repository.git_dir, accept=(0, 1))


def _programs(command: Sequence[str]) -> tuple[Path, ...]:
    """The files and folders that the command runs from."""
    named = [shutil.which(command[0]), *command[1:]]
    files = [Path(word).absolute() for word in named if word and os.path.isabs(word) and Path(word).exists()]
    return (*files, Path(sys.prefix), Path(sys.base_prefix), Path(__file__).parent)


async def remove_files(colony: Colony, folders: Folders) -> None:
    """Removes the colony's worktree and its folder of artifacts; its branch stays.

    Raises:
        RepositoryError: Something cannot be removed.
    """
    if colony.worktree is not None:
        await remove(colony.worktree)
    await asyncio.to_thread(_remove_tree, folders.out_of(colony.id))


def _remove_tree(folder: Path) -> None:
    if folder.is_symlink():
        folder.unlink()
    elif folder.exists():
        try:
            remove_tree(folder)
        except OSError as problem:
            raise RepositoryError(f"cannot remove {folder}: {problem.strerror}") from problem
