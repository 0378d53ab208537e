"""An agent without a sandbox leaves commands where git finds them; the engine's git runs none of them.

Each plant is first passed by everything that the engine does, and then shown to be a live one by git as people run it.
"""

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from colonizer_engines.mothership.diff import diff
from colonizer_engines.mothership.repositories import identify, launch_base
from colonizer_engines.mothership.worktrees import Worktree, commits, create, leftovers, remove, restore_links
from real_git import Clone, executable, new_clone, new_colony

pytestmark = pytest.mark.anyio

FILES: dict[str, str | bytes] = {"a.txt": "a\n", "b.bin": "b\n", "sub/c.txt": "c\n"}


@dataclass(frozen=True)
class Ground:
    """Where something is planted."""

    clone: Clone
    colony: Worktree
    script: Path
    """Leaves a mark that it ran, and passes its input on."""

    def config(self, **settings: str) -> None:
        for key, value in settings.items():
            self.clone.git("config", key.replace("__", "."), value)

    def attributes(self, line: str) -> None:
        (self.colony.path / ".gitattributes").write_text(f"{line}\n", encoding="utf-8")


def file_monitor(ground: Ground) -> None:
    ground.config(core__fsmonitor=str(ground.script))


def hooks(ground: Ground) -> None:
    for name in ("post-checkout", "post-index-change", "reference-transaction", "fsmonitor-watchman"):
        executable(ground.clone.git_dir / "hooks" / name, f"exec '{ground.script}'")


def folder_of_hooks(ground: Ground) -> None:
    executable(ground.colony.path / "hooks" / "post-index-change", f"exec '{ground.script}'")
    ground.config(core__hooksPath=str(ground.colony.path / "hooks"))


def clean_filter(ground: Ground) -> None:
    ground.attributes("*.txt filter=planted")
    ground.config(filter__planted__clean=str(ground.script), filter__planted__smudge=str(ground.script))


def filter_process(ground: Ground) -> None:
    ground.attributes("*.txt filter=planted")
    ground.config(filter__planted__process=str(ground.script), filter__planted__required="true")


def filter_by_the_clones_attributes(ground: Ground) -> None:
    (ground.clone.git_dir / "info" / "attributes").write_text("*.txt filter=planted\n", encoding="utf-8")
    ground.config(filter__planted__clean=str(ground.script), filter__planted__smudge=str(ground.script))


def filter_by_attributes_elsewhere(ground: Ground) -> None:
    (ground.colony.path / "elsewhere").write_text("*.txt filter=planted\n", encoding="utf-8")
    ground.config(core__attributesFile=str(ground.colony.path / "elsewhere"), filter__planted__clean=str(ground.script))


def text_conversion(ground: Ground) -> None:
    ground.attributes("*.txt diff=planted")
    ground.config(diff__planted__textconv=str(ground.script))


def diff_driver(ground: Ground) -> None:
    ground.attributes("*.txt diff=planted")
    ground.config(diff__planted__command=str(ground.script))


def external_diff(ground: Ground) -> None:
    ground.config(diff__external=str(ground.script))


def included_configuration(ground: Ground) -> None:
    included = ground.colony.path / "included"
    included.write_text(f"[core]\n\tfsmonitor = {ground.script}\n", encoding="utf-8")
    ground.config(include__path=str(included))


def configuration_of_the_worktree(ground: Ground) -> None:
    ground.config(extensions__worktreeConfig="true")
    (ground.colony.admin_dir / "config.worktree").write_text(
        f"[core]\n\tfsmonitor = {ground.script}\n", encoding="utf-8"
    )


def other_git_directory(ground: Ground) -> None:
    (ground.colony.path / ".git").write_text(f"gitdir: {planted_clone(ground).git_dir}\n", encoding="utf-8")


def other_common_directory(ground: Ground) -> None:
    (ground.colony.admin_dir / "commondir").write_text(f"{planted_clone(ground).git_dir}\n", encoding="utf-8")


def planted_clone(ground: Ground) -> Clone:
    copy = Clone(ground.colony.path / "copy")
    ground.clone.git("clone", "--quiet", str(ground.clone.path), str(copy.path))
    copy.git("branch", ground.colony.branch)
    copy.git("config", "core.fsmonitor", str(ground.script))
    return copy


def nested_repository(ground: Ground) -> None:
    nested = new_clone(ground.colony.path / "nested")
    ground.clone.git("add", "nested", cwd=ground.colony.path)
    (nested.path / "README.md").write_text("changed\n", encoding="utf-8")
    nested.git("config", "core.fsmonitor", str(ground.script))


def lazy_fetch(ground: Ground) -> None:
    blob = ground.clone.git("rev-parse", "HEAD:a.txt")
    (ground.clone.git_dir / "objects" / blob[:2] / blob[2:]).unlink()
    helper = executable(ground.script.with_name("helper"), f"'{ground.script}' </dev/null\nexit 1")
    ground.config(
        remote__origin__url=f"ext::{helper}",
        core__sshCommand=str(helper),
        remote__origin__promisor="true",
        remote__origin__partialclonefilter="blob:none",
        extensions__partialClone="origin",
        protocol__ext__allow="always",
    )


def lazy_fetch_of_a_commit(ground: Ground) -> None:
    lazy_fetch(ground)
    (ground.colony.admin_dir / "HEAD").write_text(f"{'1' * 40}\n", encoding="utf-8")


def lazy_fetch_by_ssh(ground: Ground) -> None:
    lazy_fetch(ground)
    ground.config(remote__origin__url="ssh://example.org/x")


Plant = Callable[[Ground], None]
PLANTS: tuple[Plant, ...] = (
    file_monitor,
    hooks,
    folder_of_hooks,
    clean_filter,
    filter_process,
    filter_by_the_clones_attributes,
    filter_by_attributes_elsewhere,
    text_conversion,
    diff_driver,
    external_diff,
    included_configuration,
    configuration_of_the_worktree,
    other_git_directory,
    other_common_directory,
    nested_repository,
    lazy_fetch,
    lazy_fetch_of_a_commit,
    lazy_fetch_by_ssh,
)


@pytest.mark.parametrize("plant", PLANTS)
async def test_the_engine_runs_nothing_that_an_agent_planted(tmp_path: Path, plant: Plant) -> None:
    clone = new_clone(tmp_path / "clone", FILES)
    colony = await new_colony(clone, tmp_path / "data", "one")
    ran = tmp_path / "ran"
    ground = Ground(clone, colony, executable(tmp_path / "script", f"touch '{ran}'\ncat"))
    (colony.path / "a.txt").write_text("b\n", encoding="utf-8")
    plant(ground)
    ran.unlink(missing_ok=True)

    await everything(ground, lacks_an_object=plant in PLANTS[-3:])
    assert not ran.exists()

    people_look(colony)
    assert ran.exists(), "the plant is a live one"


async def everything(ground: Ground, lacks_an_object: bool) -> None:
    """Whatever the engine does with a clone and the worktrees in it."""
    colony = ground.colony
    repository = await identify(ground.clone.path)
    base = await launch_base(repository)
    await leftovers(colony)
    await commits(colony)
    if not lacks_an_object:
        assert [file.path for file in (await diff(colony)).files][:1] == ["a.txt"]
        other = await create(repository, colony.path.parent / "two", "colonizer/session-two", base)
        await remove(other)


def people_look(colony: Worktree) -> None:
    """What a person does in the worktree, with all that stands in the configuration."""
    os.utime(colony.path / "a.txt", (1, 1))
    for command in ("status", "diff", "diff HEAD", "switch -q -c look", "cat-file -p HEAD:a.txt"):
        subprocess.run(["git", *command.split()], cwd=colony.path, capture_output=True, check=False, timeout=60)


async def test_the_diff_of_a_clone_that_lacks_an_object_says_so(tmp_path: Path) -> None:
    clone = new_clone(tmp_path / "clone", FILES)
    colony = await new_colony(clone, tmp_path / "data")
    (colony.path / "a.txt").write_text("b\n", encoding="utf-8")
    blob = clone.git("rev-parse", "HEAD:a.txt")
    (clone.git_dir / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(Exception, match=f"^the colony's diff failed: .*{blob}"):
        await diff(colony)


async def test_links_in_place_of_gits_files_are_not_written_through(tmp_path: Path) -> None:
    clone = new_clone(tmp_path / "clone", FILES)
    colony = await new_colony(clone, tmp_path / "data")
    precious = tmp_path / "precious"
    precious.write_bytes((colony.admin_dir / "index").read_bytes())
    (colony.admin_dir / "index").unlink()
    (colony.admin_dir / "index").symlink_to(precious)
    before = precious.stat()
    os.utime(colony.path / "a.txt", (1, 1))
    assert (await diff(colony)).text == ""
    assert (await leftovers(colony)).uncommitted == ()
    assert precious.stat() == before


async def test_a_pipe_in_place_of_gits_files_is_not_waited_for(tmp_path: Path) -> None:
    clone = new_clone(tmp_path / "clone", FILES)
    colony = await new_colony(clone, tmp_path / "data")
    for name in ("index", "gitdir", "commondir"):
        (colony.admin_dir / name).unlink()
        os.mkfifo(colony.admin_dir / name)
    os.mkfifo(colony.path / "pipe")
    (colony.path / "a.txt").write_text("b\n", encoding="utf-8")
    assert [file.path for file in (await diff(colony)).files] == ["a.txt"]
    restore_links(colony)
    assert (colony.admin_dir / "commondir").read_text(encoding="utf-8") == "../..\n"


@pytest.mark.parametrize("mark", ["--assume-unchanged", "--skip-worktree"])
async def test_a_mark_in_the_index_hides_no_change(tmp_path: Path, mark: str) -> None:
    clone = new_clone(tmp_path / "clone", FILES)
    colony = await new_colony(clone, tmp_path / "data")
    clone.git("update-index", mark, "a.txt", cwd=colony.path)
    (colony.path / "a.txt").write_text("changed\n", encoding="utf-8")
    assert clone.git("status", "--porcelain", cwd=colony.path) == ""
    assert [file.path for file in (await diff(colony)).files] == ["a.txt"]
    assert (await leftovers(colony)).uncommitted == ("a.txt",)
