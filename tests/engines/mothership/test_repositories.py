"""How a folder becomes a repository: its name, its clone, and the branch that a colony starts from."""

from pathlib import Path

import pytest

from colonizer_engines.mothership.repositories import RepositoryError, identify, launch_base
from real_git import executable, new_clone, new_colony

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("https://github.com/acme/widgets.git", "acme/widgets"),
        ("https://github.com/acme/widgets", "acme/widgets"),
        ("https://github.com/acme/widgets.git/", "acme/widgets"),
        ("https://ada:s3cret@example.org:8443/deep/er/acme/wid.gets.git", "acme/wid.gets"),
        ("ssh://git@example.org:2222/acme/widgets.git", "acme/widgets"),
        ("file:///srv/git/acme/widgets.git", "acme/widgets"),
        ("git@github.com:acme/widgets.git", "acme/widgets"),
        ("host:group/acme/widgets", "acme/widgets"),
        ("host:/srv/acme/widgets.git", "acme/widgets"),
        ("host:widgets.git", "local/clone"),
        ("https://example.org/widgets.git", "local/clone"),
        ("https://example.org/ac%20me/widgets.git", "local/clone"),
        ("https://example.org/../widgets", "local/clone"),
        ("https://example.org/acme/" + "w" * 101, "local/clone"),
        ("https://example.org/acme/" + "w" * 100, "acme/" + "w" * 100),
        ("/srv/acme/widgets.git", "local/clone"),
        ("../acme/widgets", "local/clone"),
        ("https://example.org/acme/wid\ngets", "local/clone"),
        ("", "local/clone"),
    ],
)
async def test_the_name_is_the_end_of_the_origins_address(tmp_path: Path, address: str, name: str) -> None:
    clone = new_clone(tmp_path / "clone")
    clone.git("config", "remote.origin.url", address)
    assert (await identify(clone.path)).name == name


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("widgets", "local/widgets"),
        ("my widgets", "local/my-widgets"),
        ("проект", "local/repository"),
        ("größe\n2", "local/gr-e-2"),
        ("-", "local/repository"),
        ("x" * 150, "local/" + "x" * 100),
    ],
)
async def test_without_an_origin_the_name_is_the_folders(tmp_path: Path, folder: str, name: str) -> None:
    clone = new_clone(tmp_path / folder)
    found = await identify(clone.path)
    assert (found.name, found.top, found.git_dir) == (name, clone.path, clone.git_dir)


async def test_a_second_clone_of_the_same_name_is_numbered(tmp_path: Path) -> None:
    clone = new_clone(tmp_path / "widgets")
    elsewhere = Path("/srv/other/.git")
    assert (await identify(clone.path, {"LOCAL/Widgets": elsewhere})).name == "local/widgets-2"
    assert (
        await identify(clone.path, {"local/widgets": elsewhere, "local/widgets-2": elsewhere})
    ).name == "local/widgets-3"


async def test_a_number_fits_into_the_longest_name(tmp_path: Path) -> None:
    clone = new_clone(tmp_path / ("x" * 100))
    assert (await identify(clone.path, {f"local/{'x' * 100}": Path("/other")})).name == f"local/{'x' * 98}-2"


async def test_a_known_clone_keeps_its_name(tmp_path: Path) -> None:
    clone = new_clone(tmp_path / "widgets")
    taken = {"local/widgets": Path("/srv/other/.git"), "acme/gadgets": clone.git_dir}
    assert (await identify(clone.path, taken)).name == "acme/gadgets"


async def test_a_folder_within_means_its_clone(tmp_path: Path) -> None:
    clone = new_clone(tmp_path / "clone", {"a/b/c.txt": "c\n"})
    (tmp_path / "link").symlink_to(clone.path / "a")
    whole = await identify(clone.path)
    for folder in (clone.path / "a/b", clone.git_dir, clone.git_dir / "objects", tmp_path / "link"):
        assert await identify(folder) == whole


async def test_a_linked_worktree_means_its_main_clone(tmp_path: Path) -> None:
    clone = new_clone(tmp_path / "clone", {"a/b.txt": "b\n"})
    clone.git("worktree", "add", "--quiet", "-b", "feature", str(tmp_path / "feature"))
    colony = await new_colony(clone, tmp_path / "data")
    whole = await identify(clone.path)
    for folder in (tmp_path / "feature" / "a", colony.path):
        assert await identify(folder) == whole


async def test_a_submodule_is_a_repository_of_its_own(tmp_path: Path) -> None:
    inner, outer = new_clone(tmp_path / "inner"), new_clone(tmp_path / "outer")
    outer.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner.path), "parts/inner")
    found = await identify(outer.path / "parts/inner")
    assert (found.git_dir, found.top) == (outer.git_dir / "modules/parts/inner", outer.path / "parts/inner")


async def test_a_git_directory_elsewhere_belongs_to_the_folder_that_names_it(tmp_path: Path) -> None:
    clone = new_clone(tmp_path / "clone")
    clone.git("init", "--quiet", f"--separate-git-dir={tmp_path / 'elsewhere.git'}")
    found = await identify(clone.path)
    assert (found.git_dir, found.top) == (tmp_path / "elsewhere.git", clone.path)


async def test_what_is_no_repository_is_refused_with_the_fix(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RepositoryError, match="there is no folder"):
        await identify(tmp_path / "gone")
    with pytest.raises(RepositoryError, match="there is no folder"):
        await identify(tmp_path / "file")
    with pytest.raises(RepositoryError, match="is not in a git repository: run `git init`"):
        await identify(tmp_path)


async def test_a_bare_repository_is_refused_from_its_worktrees_too(tmp_path: Path) -> None:
    clone = new_clone(tmp_path / "clone")
    clone.git("clone", "--quiet", "--bare", str(clone.path), str(tmp_path / "bare.git"))
    clone.git("worktree", "add", "--quiet", "-b", "feature", str(tmp_path / "feature"), cwd=tmp_path / "bare.git")
    for folder in (tmp_path / "bare.git", tmp_path / "feature"):
        with pytest.raises(RepositoryError, match="is a bare repository: clone it"):
            await identify(folder)


async def test_a_path_that_cannot_be_stored_is_refused(tmp_path: Path) -> None:
    clone = new_clone(tmp_path / "caf\udce9")
    with pytest.raises(RepositoryError, match="not UTF-8"):
        await identify(clone.path)


async def test_finding_a_repository_runs_nothing_that_it_names(tmp_path: Path) -> None:
    clone = new_clone(tmp_path / "clone")
    planted = executable(tmp_path / "planted", f"touch '{tmp_path}/ran'")
    clone.git("config", "core.fsmonitor", str(planted))
    clone.git("status")
    assert (tmp_path / "ran").exists(), "the plant is a real one"
    (tmp_path / "ran").unlink()
    await launch_base(await identify(clone.path))
    assert not (tmp_path / "ran").exists()


async def test_a_colony_starts_from_the_branch_that_is_checked_out(tmp_path: Path) -> None:
    clone = new_clone(tmp_path / "clone")
    clone.git("switch", "--quiet", "--create", "feature/größe")
    commit = clone.commit({"a.txt": "a\n"})
    base = await launch_base(await identify(clone.path))
    assert (base.branch, base.commit) == ("feature/größe", commit)


async def test_a_detached_head_is_refused_with_the_fix(tmp_path: Path) -> None:
    clone = new_clone(tmp_path / "clone")
    clone.git("switch", "--quiet", "--detach")
    with pytest.raises(RepositoryError, match="local/clone has no branch checked out: run `git switch BRANCH` in"):
        await launch_base(await identify(clone.path))


async def test_a_branch_without_a_commit_is_refused_with_the_fix(tmp_path: Path) -> None:
    clone = new_clone(tmp_path / "clone")
    clone.git("switch", "--quiet", "--orphan", "fresh")
    with pytest.raises(RepositoryError, match="local/clone has no commit on fresh yet: make a first one in"):
        await launch_base(await identify(clone.path))


async def test_a_clone_that_became_bare_or_vanished_is_refused(tmp_path: Path) -> None:
    clone = new_clone(tmp_path / "clone")
    repository = await identify(clone.path)
    clone.git("config", "core.bare", "true")
    with pytest.raises(RepositoryError, match="is a bare repository"):
        await launch_base(repository)
    clone.git_dir.rename(tmp_path / "moved")
    with pytest.raises(RepositoryError, match="local/clone cannot be read: not a git repository"):
        await launch_base(repository)
