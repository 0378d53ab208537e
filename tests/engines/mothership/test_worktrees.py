"""The worktree of a colony: made whole or not at all, read as it is, removed without a trace but its branch."""

import asyncio
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from colonizer_engines.mothership.repositories import Base, RepositoryError, identify, launch_base
from colonizer_engines.mothership.worktrees import commits, create, leftovers, remove, remove_tree, restore_links
from real_git import Clone, new_clone, new_colony

pytestmark = pytest.mark.anyio

BRANCH = "colonizer/session-a1b2c3d4"


def nothing_left(clone: Clone, folder: Path) -> bool:
    records = clone.git_dir / "worktrees"
    return (
        not os.path.lexists(folder)
        and not clone.has_branch(BRANCH)
        and not (records.exists() and any(records.iterdir()))
    )


async def test_a_new_worktree_has_the_files_of_the_base_on_a_branch_of_its_own(tmp_path: Path) -> None:
    clone = new_clone(tmp_path / "clone", {"a.txt": "a\n", "deep/er/run.sh": "#!/bin/sh\n"})
    (clone.path / "deep/er/run.sh").chmod(0o755)
    (clone.path / "link").symlink_to("a.txt")
    commit = clone.commit({})
    (clone.path / "a.txt").write_text("not committed\n")
    (clone.path / "new.txt").write_text("not tracked\n")
    colony = await new_colony(clone, tmp_path / "data")
    assert (colony.branch, colony.base, colony.start_commit) == (BRANCH, "main", commit)
    assert (colony.path / "a.txt").read_text() == "a\n"
    assert os.access(colony.path / "deep/er/run.sh", os.X_OK)
    assert os.readlink(colony.path / "link") == "a.txt"
    assert not (colony.path / "new.txt").exists()
    assert clone.git("status", "--porcelain", "--branch", cwd=colony.path) == f"## {BRANCH}"
    assert clone.git("symbolic-ref", "--short", "HEAD") == "main"
    assert clone.git("rev-parse", "--git-dir", cwd=colony.path) == str(colony.admin_dir)


@pytest.mark.parametrize("name", ["with space", "größe", "two\nlines", "-dash", 'quo"te', "tab\t"])
async def test_names_of_folders_may_be_odd(tmp_path: Path, name: str) -> None:
    clone = new_clone(tmp_path / name / name)
    colony = await new_colony(clone, tmp_path / name / "data", name)
    assert clone.git("status", "--porcelain", cwd=colony.path) == ""
    (colony.path / name).write_text("new\n")
    assert (await leftovers(colony)).uncommitted == (name,)
    await remove(colony)
    assert not colony.path.exists()
    assert not colony.admin_dir.exists()


async def test_a_link_on_the_way_to_the_folder_is_resolved(tmp_path: Path) -> None:
    clone = new_clone(tmp_path / "clone")
    (tmp_path / "real").mkdir()
    (tmp_path / "data").symlink_to("real")
    colony = await new_colony(clone, tmp_path / "data")
    assert colony.path == tmp_path / "real" / "a1b2c3d4"
    await remove(colony)
    assert nothing_left(clone, colony.path) is False, "the branch stays"
    assert not colony.path.exists()


async def test_a_taken_branch_is_named(tmp_path: Path) -> None:
    clone = new_clone(tmp_path / "clone")
    clone.git("branch", BRANCH)
    with pytest.raises(RepositoryError, match=f"the branch {BRANCH} of local/clone is taken"):
        await new_colony(clone, tmp_path / "data")
    assert clone.has_branch(BRANCH)
    assert not (tmp_path / "data" / "a1b2c3d4").exists()


async def test_a_branch_that_stands_in_the_way_is_named_with_the_fix(tmp_path: Path) -> None:
    clone = new_clone(tmp_path / "clone")
    clone.git("branch", "colonizer")
    with pytest.raises(RepositoryError, match=r"the branch colonizer of local/clone .* `git branch -m colonizer NEW`"):
        await new_colony(clone, tmp_path / "data")


async def test_a_taken_folder_is_named_and_left_alone(tmp_path: Path) -> None:
    clone = new_clone(tmp_path / "clone")
    mine = tmp_path / "data" / "a1b2c3d4" / "mine.txt"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine\n")
    with pytest.raises(RepositoryError, match="a1b2c3d4 is already there"):
        await new_colony(clone, tmp_path / "data")
    assert mine.read_text() == "mine\n"
    assert not clone.has_branch(BRANCH)


async def test_many_colonies_of_one_clone_are_made_at_once(tmp_path: Path) -> None:
    clone = new_clone(tmp_path / "clone")
    colonies = await asyncio.gather(*(new_colony(clone, tmp_path / "data", f"c{number}") for number in range(8)))
    assert len({colony.admin_dir for colony in colonies}) == 8
    for colony in colonies:
        assert clone.git("status", "--porcelain", "--branch", cwd=colony.path) == f"## {colony.branch}"


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("clone", "/clone/.git cannot be written: a colony needs a branch of its own in local/clone"),
        ("data", "/data/a1b2c3d4/.git': Read-only file system"),
    ],
)
async def test_a_read_only_place_is_named_and_nothing_is_left(tmp_path: Path, place: str, words: str) -> None:
    clone = new_clone(tmp_path / "clone")
    (tmp_path / "data").mkdir()
    assert words in create_within(tmp_path, "--ro-bind", str(tmp_path / place), str(tmp_path / place))
    assert nothing_left(clone, tmp_path / "data" / "a1b2c3d4")


async def test_a_full_disk_is_named_and_nothing_is_left(tmp_path: Path) -> None:
    clone = new_clone(tmp_path / "clone", {"big.bin": os.urandom(1_000_000)})
    (tmp_path / "data").mkdir()
    words = create_within(tmp_path, "--size", "65536", "--tmpfs", str(tmp_path / "data"))
    assert words.startswith("cannot make a worktree of local/clone: ")
    assert nothing_left(clone, tmp_path / "data" / "a1b2c3d4")


def create_within(folder: Path, *mounts: str) -> str:
    """What making a colony says where the mounts are as given."""
    script = """
        import asyncio, sys
        from pathlib import Path
        from colonizer_engines.mothership.repositories import RepositoryError
        from real_git import Clone, new_colony
        folder = Path(sys.argv[1])
        try:
            asyncio.run(new_colony(Clone(folder / "clone"), folder / "data"))
        except RepositoryError as error:
            print(error)
    """
    command = ("bwrap", "--dev-bind", "/", "/", *mounts, "--", sys.executable, "-c", dedent(script), str(folder))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(command, env=environment, capture_output=True, check=True, text=True).stdout


async def test_a_missing_object_is_named_and_nothing_is_left(tmp_path: Path) -> None:
    clone = new_clone(tmp_path / "clone", {"a.txt": "a\n"})
    blob = clone.git("rev-parse", "HEAD:a.txt")
    (clone.git_dir / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(RepositoryError, match=f"cannot make a worktree of local/clone: .*{blob}"):
        await new_colony(clone, tmp_path / "data")
    assert nothing_left(clone, tmp_path / "data" / "a1b2c3d4")


async def test_a_base_that_is_gone_is_refused_and_nothing_is_left(tmp_path: Path) -> None:
    clone = new_clone(tmp_path / "clone")
    with pytest.raises(RepositoryError, match="cannot make a worktree of local/clone: "):
        await create(await identify(clone.path), tmp_path / "data", BRANCH, Base("main", "0" * 39 + "1"))
    assert nothing_left(clone, tmp_path / "data")


async def test_making_a_worktree_that_nobody_waits_for_leaves_nothing(tmp_path: Path) -> None:
    clone = new_clone(tmp_path / "clone")
    # Git waits at this pipe when it writes the first file.
    pipe = clone.git_dir / "info" / "attributes"
    os.mkfifo(pipe)
    making = asyncio.create_task(new_colony(clone, tmp_path / "data"))
    async with asyncio.timeout(10):
        writer = await asyncio.to_thread(os.open, pipe, os.O_WRONLY)
        assert clone.has_branch(BRANCH)
        making.cancel()
        with pytest.raises(asyncio.CancelledError):
            await making
    os.close(writer)
    assert nothing_left(clone, tmp_path / "data" / "a1b2c3d4")


async def test_filters_are_not_run_and_their_files_are_there_as_stored(tmp_path: Path) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
    clone = new_clone(
        tmp_path / "clone", {".gitattributes": "*.psd filter=lfs diff=lfs merge=lfs -text\n", "a.psd": pointer}
    )
    for key, value in (("smudge", "no-such-program"), ("process", "no-such-program"), ("required", "true")):
        clone.git("config", f"filter.lfs.{key}", value)
    colony = await new_colony(clone, tmp_path / "data")
    assert (colony.path / "a.psd").read_text() == pointer
    assert (await leftovers(colony)).uncommitted == ()


async def test_a_person_who_sees_a_part_of_the_clone_gets_a_whole_worktree(tmp_path: Path) -> None:
    clone = new_clone(tmp_path / "clone", {"near/a.txt": "a\n", "far/b.txt": "b\n"})
    clone.git("sparse-checkout", "set", "near")
    assert not (clone.path / "far").exists()
    colony = await new_colony(clone, tmp_path / "data")
    assert (colony.path / "far/b.txt").read_text() == "b\n"
    assert (await leftovers(colony)).uncommitted == ()


async def test_removing_takes_the_files_and_leaves_branch_and_clone(tmp_path: Path) -> None:
    clone = new_clone(tmp_path / "clone")
    colony = await new_colony(clone, tmp_path / "data")
    clone.commit({"work.txt": "work\n"}, cwd=colony.path)
    (colony.path / "new.txt").write_text("new\n")
    await remove(colony)
    assert not colony.path.exists()
    assert clone.git("worktree", "list", "--porcelain").count("worktree ") == 1
    assert clone.git("show", f"{BRANCH}:work.txt") == "work"
    await remove(colony)


async def test_removing_what_is_half_gone_removes_the_rest(tmp_path: Path) -> None:
    clone = new_clone(tmp_path / "clone")
    first, second = await new_colony(clone, tmp_path / "data", "one"), await new_colony(clone, tmp_path / "data", "two")
    shutil.rmtree(first.path)
    shutil.rmtree(second.admin_dir)
    await remove(first)
    await remove(second)
    assert not first.admin_dir.exists()
    assert not second.path.exists()


async def test_removing_follows_no_link(tmp_path: Path) -> None:
    clone = new_clone(tmp_path / "clone")
    colony = await new_colony(clone, tmp_path / "data")
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").touch()
    (colony.path / "link").symlink_to(tmp_path / "precious")
    (colony.admin_dir / "link").symlink_to(tmp_path / "precious")
    await remove(colony)
    assert (tmp_path / "precious" / "file").exists()


async def test_removing_leaves_a_record_that_belongs_to_another_worktree(tmp_path: Path) -> None:
    clone = new_clone(tmp_path / "clone")
    colony = await new_colony(clone, tmp_path / "data", "same")
    shutil.rmtree(colony.path)
    clone.git("worktree", "prune")
    clone.git("worktree", "add", "--quiet", "-b", "mine", str(tmp_path / "mine" / "same"))
    await remove(colony)
    assert clone.git("rev-parse", "--git-dir", cwd=tmp_path / "mine" / "same") == str(colony.admin_dir)


async def test_leftovers_name_every_kind_of_change_and_count_the_commits(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "changed": "1\n",
        "staged": "1\n",
        "deleted": "1\n",
        "moved": "same content\n",
        "kept": "1\n",
    }
    clone = new_clone(tmp_path / "clone", {**files, ".gitignore": "ignored\n"})
    colony = await new_colony(clone, tmp_path / "data")
    clone.commit({"committed": "1\n"}, cwd=colony.path)
    clone.commit({"committed": "2\n"}, cwd=colony.path)
    (colony.path / "changed").write_text("2\n")
    (colony.path / "staged").write_text("2\n")
    clone.git("add", "staged", cwd=colony.path)
    (colony.path / "deleted").unlink()
    clone.git("mv", "moved", "moved there", cwd=colony.path)
    (colony.path / "folder").mkdir()
    for name in ("new", "folder/new", "ignored"):
        (colony.path / name).write_text("new\n")
    found = await leftovers(colony)
    assert sorted(found.uncommitted) == ["changed", "deleted", "folder/", "moved", "moved there", "new", "staged"]
    assert found.unmerged_commits == 2


async def test_a_change_that_is_as_old_as_the_index_is_found_by_its_content(tmp_path: Path) -> None:
    clone = new_clone(tmp_path / "clone", {"a.txt": "one\n"})
    colony = await new_colony(clone, tmp_path / "data")
    index, file = colony.admin_dir / "index", colony.path / "a.txt"
    old = bytes.fromhex(clone.git("rev-parse", "HEAD:a.txt"))
    file.write_text("two\n")
    os.utime(file, (1_000_000_000, 1_000_000_000))
    clone.git("add", "a.txt", cwd=colony.path)
    # So it is after a checkout and a change within one tick of the clock: old content, size and times of the new one.
    new = bytes.fromhex(clone.git("rev-parse", ":a.txt", cwd=colony.path))
    content = index.read_bytes()[:-20].replace(new, old)
    index.write_bytes(content + hashlib.sha1(content).digest())
    os.utime(index, (1_000_000_000, 1_000_000_000))
    assert (await leftovers(colony)).uncommitted == ("a.txt",)


async def test_commits_that_the_base_branch_has_got_are_not_left_over(tmp_path: Path) -> None:
    clone = new_clone(tmp_path / "clone")
    colony = await new_colony(clone, tmp_path / "data")
    clone.commit({"a": "a\n"}, cwd=colony.path)
    assert (await leftovers(colony)).unmerged_commits == 1
    clone.git("merge", "--quiet", BRANCH)
    assert (await leftovers(colony)).unmerged_commits == 0


async def test_commits_beside_the_branch_are_left_over_too(tmp_path: Path) -> None:
    clone = new_clone(tmp_path / "clone")
    colony = await new_colony(clone, tmp_path / "data")
    clone.commit({"a": "a\n"}, cwd=colony.path)
    clone.git("switch", "--quiet", "--detach", "main", cwd=colony.path)
    clone.commit({"b": "b\n"}, cwd=colony.path)
    assert (await leftovers(colony)).unmerged_commits == 2


async def test_without_its_folder_a_colony_has_commits_left_over_only(tmp_path: Path) -> None:
    clone = new_clone(tmp_path / "clone")
    colony = await new_colony(clone, tmp_path / "data")
    clone.commit({"a": "a\n"}, cwd=colony.path)
    await remove(colony)
    found = await leftovers(colony)
    assert (found.uncommitted, found.unmerged_commits) == ((), 1)


async def test_without_the_clone_nothing_can_be_told(tmp_path: Path) -> None:
    clone = new_clone(tmp_path / "clone")
    colony = await new_colony(clone, tmp_path / "data")
    clone.path.rename(tmp_path / "moved")
    for question in (leftovers, commits):
        with pytest.raises(RepositoryError, match="cannot read "):
            await question(colony)


async def test_commits_are_the_colonys_own_from_the_oldest_on(tmp_path: Path) -> None:
    clone = new_clone(tmp_path / "clone")
    clone.commit({"theirs": "unpushed\n"})
    colony = await new_colony(clone, tmp_path / "data")
    assert await commits(colony) == ()
    made = tuple(clone.commit({"work": f"{step}\n"}, cwd=colony.path) for step in range(3))
    assert await commits(colony) == made
    clone.commit({"theirs": "later\n"})
    assert await commits(colony) == made


async def test_the_links_of_a_worktree_are_restored(tmp_path: Path) -> None:
    clone = new_clone(tmp_path / "clone")
    colony = await new_colony(clone, tmp_path / "data")
    before = {name: (colony.admin_dir / name).read_bytes() for name in ("commondir", "gitdir")}
    (colony.path / ".git").unlink()
    (tmp_path / "precious").write_text("mine\n")
    (colony.admin_dir / "commondir").unlink()
    (colony.admin_dir / "commondir").symlink_to(tmp_path / "precious")
    (colony.admin_dir / "gitdir").write_text("/elsewhere/.git\n")
    (colony.admin_dir / "config.worktree").write_text("[core]\n\tfsmonitor = false\n")
    restore_links(colony)
    assert clone.git("status", "--porcelain", cwd=colony.path) == ""
    assert {name: (colony.admin_dir / name).read_bytes() for name in before} == before
    assert (colony.admin_dir / "config.worktree").read_bytes() == b""
    assert (tmp_path / "precious").read_text() == "mine\n"


async def test_what_an_agent_planted_in_gits_own_folders_is_taken_away(tmp_path: Path) -> None:
    clone = new_clone(tmp_path / "clone")
    colony = await new_colony(clone, tmp_path / "data")
    precious = tmp_path / "precious"
    branches = clone.git_dir / "refs/heads/colonizer"
    (colony.admin_dir / "COMMIT_EDITMSG").symlink_to(precious)
    (colony.admin_dir / "logs/HEAD").unlink(missing_ok=True)
    (colony.admin_dir / "logs/HEAD").symlink_to(precious)
    (branches / "engine.lock").symlink_to(precious)
    os.mkfifo(branches / "zz")
    (clone.git_dir / "logs/refs/heads/colonizer/away").symlink_to(tmp_path)
    restore_links(colony)
    clone.commit({"work": "done\n"}, cwd=colony.path)
    assert colony.branch in clone.git("branch", "--list", "colonizer/*")
    assert not precious.exists()


async def test_folders_that_their_owner_may_not_open_are_removed(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    (folder / "shut" / "inner").mkdir(parents=True)
    (folder / "shut" / "inner" / "file").write_text("x")
    for path in (folder / "shut" / "inner", folder / "shut", folder):
        path.chmod(0)
    remove_tree(folder)
    assert not folder.exists()


async def test_a_folder_in_the_place_of_a_link_is_not_removed(tmp_path: Path) -> None:
    clone = new_clone(tmp_path / "clone")
    colony = await new_colony(clone, tmp_path / "data")
    (colony.path / ".git").unlink()
    (colony.path / ".git" / "mine").mkdir(parents=True)
    with pytest.raises(OSError, match=r"\.git"):
        restore_links(colony)
    assert (colony.path / ".git" / "mine").is_dir()


async def test_a_worktree_can_be_made_from_the_worktree_of_another_colony(tmp_path: Path) -> None:
    clone = new_clone(tmp_path / "clone")
    first = await new_colony(clone, tmp_path / "data", "one")
    clone.commit({"a": "a\n"}, cwd=first.path)
    repository = await identify(first.path)
    second = await create(repository, tmp_path / "data" / "two", "colonizer/session-two", await launch_base(repository))
    assert (second.git_dir, second.base, second.start_commit) == (clone.git_dir, "main", clone.git("rev-parse", "main"))
