"""The diff of a colony: of the right base, with the right files, cut at the right place."""

import asyncio
import os
import shutil
from pathlib import Path

import pytest

from colonizer_engines.mothership.diff import TEXT_LIMIT_BYTES, DiffError, WorktreeDiff, diff
from colonizer_engines.mothership.patch import FileCount
from colonizer_engines.mothership.worktrees import Worktree, remove
from real_git import Clone, new_clone, new_colony

pytestmark = pytest.mark.anyio

APP = "def main():\n    print('hello')\n\n\nif __name__ == '__main__':\n    main()\n"


async def start(tmp_path: Path, files: dict[str, str | bytes] | None = None) -> tuple[Clone, Worktree]:
    clone = new_clone(tmp_path / "clone", files)
    return clone, await new_colony(clone, tmp_path / "data")


def paths(found: WorktreeDiff) -> list[str]:
    return [file.path for file in found.files]


async def test_a_diff_is_what_the_published_mothership_answers(tmp_path: Path) -> None:
    _, colony = await start(tmp_path, {"old.txt": "one\ntwo\nthree\n", "src/app.py": APP})
    (colony.path / "old.txt").unlink()
    (colony.path / "src/app.py").write_text(APP.replace("'hello')", "'hello, world')\n    return 0"))
    (colony.path / "notes").mkdir()
    (colony.path / "notes/plan.md").write_text("- step one\n- step two\n")
    assert await diff(colony) == WorktreeDiff(
        files=(FileCount("old.txt", 0, 3), FileCount("src/app.py", 2, 1), FileCount("notes/plan.md", 2, 0)),
        added=4,
        removed=4,
        text="diff --git a/old.txt b/old.txt\ndeleted file mode 100644\nindex 4cb29ea..0000000\n--- a/old.txt\n"
        "+++ /dev/null\n@@ -1,3 +0,0 @@\n-one\n-two\n-three\ndiff --git a/src/app.py b/src/app.py\n"
        "index 387db03..e056441 100644\n--- a/src/app.py\n+++ b/src/app.py\n@@ -1,5 +1,6 @@\n def main():\n"
        "-    print('hello')\n+    print('hello, world')\n+    return 0\n \n \n if __name__ == '__main__':\n"
        "diff --git a/notes/plan.md b/notes/plan.md\nnew file mode 100644\n--- /dev/null\n+++ b/notes/plan.md\n"
        "@@ -0,0 +1,2 @@\n+- step one\n+- step two\n",
        truncated=False,
    )


async def test_a_long_diff_is_cut_where_the_published_mothership_cuts_it(tmp_path: Path) -> None:
    clone, colony = await start(tmp_path)
    for number in range(6):
        line = f"of generated file {number} with some padding to fill it\n"
        (colony.path / f"big{number}.txt").write_text("".join(f"line {count} {line}" for count in range(1000)))
    clone.git("add", "--all", cwd=colony.path)
    found = await diff(colony)
    assert [(file.path, file.added) for file in found.files] == [
        ("big0.txt", 1000),
        ("big1.txt", 1000),
        ("big2.txt", 1000),
        ("big3.txt", 470),
    ]
    assert (len(found.text.encode()), found.added, found.truncated) == (204_790, 3470, True)


async def test_nothing_changed_is_an_empty_diff(tmp_path: Path) -> None:
    _, colony = await start(tmp_path)
    assert await diff(colony) == WorktreeDiff(files=(), added=0, removed=0, text="", truncated=False)


async def test_committed_staged_and_plain_changes_are_all_in_it(tmp_path: Path) -> None:
    clone, colony = await start(tmp_path, {"a": "1\n", "b": "1\n", "c": "1\n"})
    clone.commit({"a": "2\n"}, cwd=colony.path)
    (colony.path / "b").write_text("2\n")
    clone.git("add", "b", cwd=colony.path)
    (colony.path / "c").write_text("2\n")
    assert paths(await diff(colony)) == ["a", "b", "c"]


async def test_it_counts_from_where_the_colony_left_the_local_base_branch(tmp_path: Path) -> None:
    clone = new_clone(tmp_path / "clone")
    clone.git("update-ref", "refs/remotes/origin/main", "HEAD")
    clone.commit({"unpushed": "mine\n"})
    colony = await new_colony(clone, tmp_path / "data")
    clone.commit({"work": "1\n"}, cwd=colony.path)
    later = clone.commit({"later": "mine\n"})
    assert paths(await diff(colony)) == ["work"]
    clone.git("merge", "--quiet", later, cwd=colony.path)
    assert paths(await diff(colony)) == ["work"]


@pytest.mark.parametrize("fate", ["deleted", "renamed", "replaced by another history"])
async def test_without_its_base_branch_it_counts_from_the_start(tmp_path: Path, fate: str) -> None:
    clone, colony = await start(tmp_path)
    clone.commit({"work": "1\n"}, cwd=colony.path)
    clone.git("switch", "--quiet", "--orphan", "other")
    clone.commit({"other": "1\n"})
    match fate:
        case "deleted":
            clone.git("branch", "--quiet", "-D", "main")
        case "renamed":
            clone.git("branch", "-m", "main", "trunk")
        case _:
            clone.git("branch", "--quiet", "--force", "main", "other")
    assert paths(await diff(colony)) == ["work"]


async def test_it_follows_an_agent_to_another_branch(tmp_path: Path) -> None:
    clone, colony = await start(tmp_path)
    clone.git("switch", "--quiet", "--create", "colonizer/else", cwd=colony.path)
    clone.commit({"work": "1\n"}, cwd=colony.path)
    assert paths(await diff(colony)) == ["work"]
    clone.git("switch", "--quiet", "--detach", cwd=colony.path)
    clone.commit({"more": "1\n"}, cwd=colony.path)
    assert paths(await diff(colony)) == ["more", "work"]


@pytest.mark.parametrize("lost", [".git", "admin", "index", "HEAD", "branch"])
async def test_it_survives_that_an_agent_deletes_what_git_keeps(tmp_path: Path, lost: str) -> None:
    clone, colony = await start(tmp_path, {"a": "1\n", "kept": "1\n"})
    clone.commit({"work": "1\n"}, cwd=colony.path)
    (colony.path / "a").write_text("2\n")
    (colony.path / "new").write_text("1\n")
    match lost:
        case ".git":
            (colony.path / ".git").unlink()
        case "admin":
            shutil.rmtree(colony.admin_dir)
        case "branch":
            clone.git("update-ref", "-d", f"refs/heads/{colony.branch}")
        case _:
            (colony.admin_dir / lost).unlink()
    assert sorted(paths(await diff(colony))) == ["a", "new", "work"]


@pytest.mark.parametrize("content", [b"", b"DIRC", b"\0" * 60, bytes(range(200))])
async def test_it_survives_an_index_that_is_no_index(tmp_path: Path, content: bytes) -> None:
    _, colony = await start(tmp_path, {"a": "1\n", "kept": "1\n"})
    (colony.path / "a").write_text("2\n")
    (colony.admin_dir / "index").write_bytes(content)
    assert paths(await diff(colony)) == ["a"]


async def test_an_index_that_is_kept_in_two_files_is_understood(tmp_path: Path) -> None:
    clone, colony = await start(tmp_path, {"a": "1\n", "kept": "1\n"})
    clone.git("update-index", "--split-index", cwd=colony.path)
    (colony.path / "a").write_text("2\n")
    assert paths(await diff(colony)) == ["a"]


async def test_a_conflict_is_shown_as_it_stands_in_the_file(tmp_path: Path) -> None:
    clone, colony = await start(tmp_path, {"both": "1\n"})
    theirs = clone.commit({"both": "2\n"})
    clone.commit({"both": "3\n"}, cwd=colony.path)
    clone.git("merge-base", "HEAD", theirs, cwd=colony.path)
    with pytest.raises(AssertionError, match="merge"):
        clone.git("merge", theirs, cwd=colony.path)
    found = await diff(colony)
    assert paths(found) == ["both"]
    assert f"+>>>>>>> {theirs}\n" in found.text


ODD_NAMES = [
    'quo"te',
    "with space",
    "two\nlines",
    "größe",
    "tab\t",
    "back\\slash",
    "a b/c d",
    "\x1b[2J",
    "-dash",
    "ünï cödé ",
]


@pytest.mark.parametrize("name", ODD_NAMES)
async def test_odd_names_are_found_tracked_or_not(tmp_path: Path, name: str) -> None:
    clone, colony = await start(tmp_path, {name: "1\n", f"{name}-moved": "long enough to be known again\n" * 9})
    (colony.path / name).write_text("2\n")
    (colony.path / f"{name}-new").write_text("1\n")
    clone.git("mv", "--", f"{name}-moved", f"{name}-there", cwd=colony.path)
    found = await diff(colony)
    assert sorted(found.files, key=lambda file: file.path) == sorted(
        (FileCount(name, 1, 1), FileCount(f"{name}-new", 1, 0), FileCount(f"{name}-there", 0, 0)),
        key=lambda file: file.path,
    )


async def test_a_name_that_is_no_text_is_shown_as_well_as_it_can_be(tmp_path: Path) -> None:
    clone, colony = await start(tmp_path, {"caf\udce9": "1\n"})
    (colony.path / "caf\udce9").write_text("2\n")
    (colony.path / "new\udce9").write_text("1\n")
    found = await diff(colony)
    assert found.files == (FileCount("caf�", 1, 1), FileCount("new�", 1, 0))
    assert clone.git("diff", "--name-only", "-z", cwd=colony.path) == "caf\udce9\0"
    found.text.encode()


async def test_content_that_is_no_utf8_is_shown_as_well_as_it_can_be(tmp_path: Path) -> None:
    _, colony = await start(tmp_path, {"latin": "caf\xe9\n".encode("latin-1")})
    (colony.path / "latin").write_bytes("th\xe9\n".encode("latin-1"))
    (colony.path / "new").write_bytes("\xe9t\xe9\n".encode("latin-1"))
    found = await diff(colony)
    assert "-caf�\n+th�\n" in found.text
    assert "+�t�\n" in found.text


async def test_modes_links_and_binary_files_are_named(tmp_path: Path) -> None:
    _, colony = await start(tmp_path, {"run.sh": "x\n", "image": b"\0\1", "to-link": "x\n"})
    (colony.path / "run.sh").chmod(0o755)
    (colony.path / "image").write_bytes(b"\0\2")
    (colony.path / "to-link").unlink()
    (colony.path / "to-link").symlink_to("/etc/passwd")
    found = await diff(colony)
    assert set(paths(found)) == {"run.sh", "image", "to-link"}
    assert "old mode 100644\nnew mode 100755\n" in found.text
    assert "Binary files a/image and b/image differ\n" in found.text
    assert "root:" not in found.text
    assert "+/etc/passwd\n" in found.text


async def test_a_moved_submodule_is_shown_and_what_lies_in_it_is_not(tmp_path: Path) -> None:
    inner, clone = new_clone(tmp_path / "inner"), new_clone(tmp_path / "clone")
    clone.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner.path), "part")
    clone.commit({})
    colony = await new_colony(clone, tmp_path / "data")
    assert await diff(colony) == WorktreeDiff((), 0, 0, "", False)
    clone.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init", cwd=colony.path)
    (colony.path / "part" / "README.md").write_text("changed\n")
    assert (await diff(colony)).text == ""
    Clone(colony.path / "part").commit({"new": "1\n"})
    found = await diff(colony)
    assert found.files == (FileCount("part", 1, 1),)
    assert "+Subproject commit " in found.text


async def test_of_new_files_only_text_is_shown(tmp_path: Path) -> None:
    _, colony = await start(tmp_path, {".gitignore": "ignored\n"})
    (tmp_path / "secret").write_text("secret\n")
    (colony.path / "ignored").write_text("1\n")
    (colony.path / "binary").write_bytes(b"text\0")
    (colony.path / "huge").write_text("x" * (TEXT_LIMIT_BYTES + 1))
    (colony.path / "link").symlink_to(tmp_path / "secret")
    (colony.path / "folder-link").symlink_to(tmp_path)
    os.mkfifo(colony.path / "pipe")
    new_clone(colony.path / "nested")
    (colony.path / "empty").touch()
    (colony.path / "run.sh").write_text("1\n")
    (colony.path / "run.sh").chmod(0o755)
    found = await diff(colony)
    assert found.files == (FileCount("empty", 0, 0), FileCount("run.sh", 1, 0))
    assert "new file mode 100755\n" in found.text
    assert not found.truncated


async def test_the_persons_own_ignore_rules_hold(tmp_path: Path, sealed_machine: Path) -> None:
    clone, colony = await start(tmp_path)
    for name in ("global", "excluded", "seen"):
        (colony.path / name).write_text("1\n")
    (clone.git_dir / "info" / "exclude").write_text("excluded\n")
    (sealed_machine / "ignore rules").write_text("global\n")
    (sealed_machine / ".gitconfig").write_text("[core]\n\texcludesFile = ~/ignore rules\n")
    assert paths(await diff(colony)) == ["seen"]


async def test_not_more_than_two_hundred_new_files_are_shown(tmp_path: Path) -> None:
    _, colony = await start(tmp_path)
    for number in range(200):
        (colony.path / f"new{number:03}").write_text("1\n")
    (colony.path / "binary").write_bytes(b"\0")
    found = await diff(colony)
    assert (len(found.files), found.truncated) == (200, False)
    (colony.path / "new200").write_text("1\n")
    found = await diff(colony)
    assert (len(found.files), found.files[-1].path, found.truncated) == (200, "new199", True)


async def test_new_files_are_cut_where_the_diff_ends(tmp_path: Path) -> None:
    _, colony = await start(tmp_path, {"tracked": "1\n"})
    (colony.path / "tracked").write_text("2\n")
    for name in ("one", "three", "two"):
        (colony.path / name).write_text("0123456789\n" * 10_000)
    found = await diff(colony)
    assert (paths(found), found.truncated) == (["tracked", "one", "three"], True)
    assert TEXT_LIMIT_BYTES - 12 <= len(found.text.encode()) <= TEXT_LIMIT_BYTES
    assert found.text.endswith("\n")


async def test_one_endless_line_is_cut_before_it_begins(tmp_path: Path) -> None:
    _, colony = await start(tmp_path, {"tracked": "1\n"})
    (colony.path / "tracked").write_text("x" * 5_000_000)
    found = await diff(colony)
    assert found.files == (FileCount("tracked", 0, 1),)
    assert found.truncated
    assert found.text.endswith("@@ -1 +1 @@\n-1\n")


async def test_what_grows_when_it_is_made_text_still_fits(tmp_path: Path) -> None:
    _, colony = await start(tmp_path, {"latin": "x\n"})
    (colony.path / "latin").write_bytes(b"\xe9\xe9\xe9\xe9\n" * 30_000)
    found = await diff(colony)
    assert found.truncated
    assert len(found.text.encode()) <= TEXT_LIMIT_BYTES


async def test_a_file_too_big_to_compare_is_called_binary(tmp_path: Path) -> None:
    _, colony = await start(tmp_path, {"tracked": "1\n"})
    (colony.path / "tracked").write_bytes(b"0123456789abcde\n" * (1 << 20) + b"x\n")
    found = await diff(colony)
    assert found.text.endswith("Binary files a/tracked and b/tracked differ\n")


async def test_files_that_come_and_go_meanwhile_do_not_stop_it(tmp_path: Path) -> None:
    _, colony = await start(tmp_path, {f"tracked{number}": "1\n" for number in range(50)})
    stop = asyncio.Event()

    async def churn() -> None:
        while not stop.is_set():
            for number in range(50):
                for name in (f"tracked{number}", f"new{number}"):
                    (colony.path / name).unlink(missing_ok=True)
                    (colony.path / name).write_text(f"{number}\n" * number)
                await asyncio.sleep(0)

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(churn())
        try:
            for _ in range(5):
                await diff(colony)
        finally:
            stop.set()


async def test_a_file_does_not_show_what_lies_behind_a_link_in_its_path(tmp_path: Path) -> None:
    clone, colony = await start(tmp_path, {"folder/secret": "mine\n"})
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/secret").write_text("the person's\n")
    shutil.rmtree(colony.path / "folder")
    (colony.path / "folder").symlink_to(tmp_path / "folder")
    found = await diff(colony)
    assert found.files == (FileCount("folder/secret", 0, 1),)
    assert "person" not in found.text
    assert clone.git("status", "--porcelain") == ""


async def test_no_worktree_no_diff(tmp_path: Path) -> None:
    _, colony = await start(tmp_path)
    await remove(colony)
    with pytest.raises(DiffError, match=r"^this colony has no worktree to diff: it never booted, or it was cleaned up"):
        await diff(colony)


async def test_a_clone_without_its_history_gives_no_diff(tmp_path: Path) -> None:
    clone, colony = await start(tmp_path)
    clone.path.rename(tmp_path / "moved")
    with pytest.raises(DiffError, match=r"^could not find where this colony branched from main$"):
        await diff(colony)


async def test_a_full_disk_under_the_engine_is_an_error_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, colony = await start(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    with pytest.raises(DiffError, match=r"^the colony's diff failed: "):
        await diff(colony)


async def test_a_clone_with_long_hashes_has_diffs_too(tmp_path: Path) -> None:
    path = tmp_path / "clone"
    path.mkdir()
    clone = Clone(path)
    clone.git("init", "--quiet", "--initial-branch=main", "--object-format=sha256")
    clone.commit({"a": "1\n"})
    colony = await new_colony(clone, tmp_path / "data")
    (colony.path / "a").write_text("2\n")
    assert len(colony.start_commit) == 64
    assert paths(await diff(colony)) == ["a"]


async def test_a_clone_with_a_cut_history_has_diffs_too(tmp_path: Path) -> None:
    origin = new_clone(tmp_path / "origin", {"a": "1\n"})
    origin.commit({"a": "2\n"})
    origin.git("clone", "--quiet", "--depth=1", f"file://{origin.path}", str(tmp_path / "clone"))
    colony = await new_colony(Clone(tmp_path / "clone"), tmp_path / "data")
    Clone(tmp_path / "clone").commit({"a": "3\n"}, cwd=colony.path)
    assert (await diff(colony)).files == (FileCount("a", 1, 1),)
