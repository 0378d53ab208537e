"""Diffs as git writes them, cut anywhere, as rows."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonizer_client.mothership import decode
from colonizer_tui.present.diff import LARGE_FILE_LINES, LOCKFILES, UNRESOLVED, FileDiff, RowKind, Rows, numbers, parse
from real_git import Clone

ODD_NAMES = (
    "with space.txt",
    "é.txt",
    "日本.py",
    "tab\there",
    "line\nfeed",
    'quo"te',
    "back\\slash",
    "-dash",
    "a b/c d",
)


Change = Callable[[Clone], None]


ODD_NAMES_AS_SHOWN = {
    "with space.txt", "é.txt", "日本.py", r"tab\there", r"line\nfeed", r"quo\"te", r"back\\slash", "-dash", "a b/c d",
}  # fmt: skip
FIRST: dict[str, str | bytes] = {
    "app.py": "def main():\n    print('hello')\n\n\nif __name__ == '__main__':\n    main()\n",
    "old.txt": "one\ntwo\nthree\n",
    "long.txt": "".join(f"line {number}\n" for number in range(200)),
    "crlf.txt": "one\r\ntwo\r\n",
    "bare.txt": "no end",
    "tool.sh": "#!/bin/sh\n",
    "logo.bin": bytes(range(256)),
    **dict.fromkeys(ODD_NAMES, "x\n"),
}


def begun(folder: Path) -> Clone:
    repo = Clone(folder)
    repo.git("init", "-q", "-b", "main")
    repo.commit(FIRST)
    return repo


def writing(name: str, content: str | bytes) -> Change:
    def change(repo: Clone) -> None:
        path = repo.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)

    return change


def removing(repo: Clone) -> None:
    (repo.path / "old.txt").unlink()


def renaming(repo: Clone) -> None:
    (repo.path / "moved to").mkdir()
    repo.git("mv", "long.txt", "moved to/a place.txt")


def changing_the_mode(repo: Clone) -> None:
    (repo.path / "tool.sh").chmod(0o755)


def editing_odd_names(repo: Clone) -> None:
    for name in ODD_NAMES:
        writing(name, "y\n")(repo)


def linking(repo: Clone) -> None:
    removing(repo)
    (repo.path / "old.txt").symlink_to("app.py")


def adding_a_submodule(repo: Clone) -> None:
    repo.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(repo.git_dir), "part")


def doing_a_lot(repo: Clone) -> None:
    editing_odd_names(repo)
    removing(repo)
    writing("app.py", "pass\n")(repo)


CHANGES: dict[str, Change] = {
    "edited": writing("app.py", "def main():\n    print('hello, world')\n    return 0\n\n\nmain()\n"),
    "two hunks": writing("long.txt", "".join(f"line {number % 150 or 'x'}\n" for number in range(200))),
    "new": writing("notes/plan.md", "- one\n- two\n"),
    "new and empty": writing("empty", ""),
    "deleted": removing,
    "renamed": renaming,
    "mode": changing_the_mode,
    "binary": writing("logo.bin", bytes(reversed(range(256)))),
    "no newline at the end": writing("bare.txt", "no end\nstill none"),
    "a newline at the end": writing("bare.txt", "no end\n"),
    "CRLF": writing("crlf.txt", "one\r\n2\r\n"),
    "CRLF to LF": writing("crlf.txt", "one\ntwo\n"),
    "lines that look like headers": writing(
        "old.txt", "-- a/fake\n++ b/fake\ndiff --git a/x b/x\n@@ -1 +1 @@\n\\ No newline\n"
    ),
    "odd names": editing_odd_names,
    "a file that becomes a link": linking,
    "a submodule": adding_a_submodule,
    "carriage returns and escapes": writing("old.txt", "a\rb\x1b[31m\x0c\x85\u2028\n\tc\n"),
    "bytes that are no text": writing("old.txt", b"\xff\xfe one\n"),
    "huge": writing("long.txt", "".join(f"{number}\n" for number in range(30_000))),
    "a lot": doing_a_lot,
}


@cache
def changed(name: str) -> tuple[str, list[tuple[int, int]]]:
    """A diff as the client holds it, and git's own counts for each file."""
    with TemporaryDirectory() as folder:
        repo = begun(Path(folder))
        CHANGES[name](repo)
        repo.git("add", "--all")
        text = repo.git("diff", "--cached", "-M", "HEAD") + "\n"
        counts = [row.split("\t")[:2] for row in repo.git("diff", "--cached", "-M", "--numstat", "HEAD").split("\n")]
    return shown(text), [(int(added), int(removed)) if added != "-" else (0, 0) for added, removed in counts]


def shown(text: str) -> str:
    return decode.diff({"diff": text}).text


def body(files: list[FileDiff]) -> list[str]:
    return [line for file in files for hunk in file.hunks for line in hunk.lines]


@pytest.mark.parametrize("name", CHANGES)
def test_the_counts_are_those_of_git(name: str) -> None:
    text, counts = changed(name)
    if name == "a file that becomes a link":
        counts = [(0, 3), (1, 0)]  # git counts one file, and writes two
    assert [(file.added, file.removed) for file in parse(text)] == counts


@pytest.mark.parametrize("name", CHANGES)
def test_every_line_of_every_hunk_is_kept_in_its_order(name: str) -> None:
    text, _ = changed(name)
    files = parse(text)
    lines = iter(text.split("\n"))
    assert all(line in lines for line in body(files))
    assert sum(len(hunk.lines) for file in files for hunk in file.hunks) >= text.count("\n+") - len(files)


@pytest.mark.parametrize(
    ("name", "path", "old_path", "notes"),
    [
        ("edited", "app.py", "", []),
        ("new", "notes/plan.md", "", ["new file mode 100644"]),
        ("new and empty", "empty", "", ["new file mode 100644"]),
        ("deleted", "old.txt", "", ["deleted file mode 100644"]),
        ("mode", "tool.sh", "", ["old mode 100644", "new mode 100755"]),
        ("binary", "logo.bin", "", ["Binary files a/logo.bin and b/logo.bin differ"]),
        ("CRLF", "crlf.txt", "", []),
        ("lines that look like headers", "old.txt", "", []),
    ],
)
def test_a_file_has_its_name_and_what_git_says_of_it(name: str, path: str, old_path: str, notes: list[str]) -> None:
    (file,) = parse(changed(name)[0])
    assert (file.path, file.old_path, file.notes) == (path, old_path, notes)


def test_a_renamed_file_has_both_names() -> None:
    renamed = next(file for file in parse(changed("renamed")[0]) if file.old_path)
    assert (renamed.path, renamed.old_path, renamed.hunks) == ("moved to/a place.txt", "long.txt", [])


def test_odd_names_are_read_as_a_person_reads_them_and_no_name_is_a_rename() -> None:
    files = parse(changed("odd names")[0])
    assert {file.path for file in files} == ODD_NAMES_AS_SHOWN
    assert [file.old_path for file in files] == [""] * len(ODD_NAMES)


@pytest.mark.parametrize(
    ("quoted", "path"),
    [
        (r'"b/\303\251"', "é"),
        (r'"b/\342\200\256txt"', "⟨U+202E⟩txt"),
        (r'"b/\377"', r"\377"),
        (r'"b/\\303\\251"', r"\\303\\251"),
        (r'"b/a\033[31m"', r"a\033[31m"),
    ],
)
def test_a_quoted_name_is_never_made_into_one_that_lies(quoted: str, path: str) -> None:
    (file,) = parse(f"diff --git {quoted.replace('b/', 'a/')} {quoted}\n+++ {quoted}\n")
    assert file.path == path


def test_lines_between_commits_of_a_submodule_are_lines_of_a_file() -> None:
    text, _ = changed("a submodule")
    part = next(file for file in parse(text) if file.path == "part")
    assert [line[:19] for hunk in part.hunks for line in hunk.lines] == ["+Subproject commit "]


def test_an_unresolved_merge_leaves_the_name_of_the_file_before_it_alone(tmp_path: Path) -> None:
    repo = begun(tmp_path)
    repo.git("checkout", "-q", "-b", "other")
    repo.commit({"old.txt": "one\n+ b/wrong\nthree\n"})
    repo.git("checkout", "-q", "main")
    repo.commit({"old.txt": "one\n++ b/wrong\nthree\n"})
    with pytest.raises(AssertionError, match="merge"):
        repo.git("merge", "other")
    writing("app.py", "pass\n")(repo)
    text = shown("\n".join(repo.git("diff", "--", name) for name in ("app.py", "old.txt", "app.py")))
    files = [(file.path, file.notes) for file in parse(text)]
    assert files == [("app.py", []), ("old.txt", [UNRESOLVED]), ("app.py", [])]


@given(st.sampled_from(["edited", "renamed", "odd names", "binary", "a lot", "a submodule"]), st.data())
def test_a_diff_that_is_cut_anywhere_is_read_up_to_there(name: str, data: st.DataObject) -> None:
    text, _ = changed(name)
    cut = text.encode()[: data.draw(st.integers(0, len(text.encode())))].decode(errors="replace")
    files, whole = parse(cut), parse(text)
    assert len(files) <= len(whole)
    assert len(body(files)) <= len(body(whole))
    assert body(files)[:-1] == body(whole)[: max(len(body(files)) - 1, 0)]
    for file, all_of_it in zip(files, whole, strict=False):
        assert file.added <= all_of_it.added
        assert file.removed <= all_of_it.removed


@given(
    st.lists(
        st.one_of(
            st.sampled_from(
                ["diff --git a/x b/x", "diff --cc y", "--- a/x", "+++ b/x", "@@ -1,2 +1,2 @@", "@@ -0,0 +1 @@", "\\ No"]
            ),
            st.text(max_size=8),
            st.sampled_from(["+", "-", " ", "", '"', 'rename to "', "diff --git ", "diff --"]),
        ),
        max_size=20,
    )
)
def test_whatever_the_text_is_every_row_can_be_drawn(lines: list[str]) -> None:
    files = parse("\n".join(lines))
    rows = Rows(files, frozenset())
    assert len(rows) == sum(1 + file.line_count for file in files)
    for place in range(len(rows)):
        row = rows[place]
        assert files[row.file] is files[rows.file_at(place)]
    assert all(len(numbers(hunk)) == len(hunk.lines) for file in files for hunk in file.hunks)


def test_a_hunk_that_ends_before_its_time_does_not_swallow_the_next_file() -> None:
    text = "diff --git a/a b/a\n@@ -1,9 +1,9 @@\n a\ndiff --git a/b b/b\n@@ -1 +1 @@\n-x\n+y\n"
    assert [(file.path, file.added, file.removed) for file in parse(text)] == [("a", 0, 0), ("b", 1, 1)]


@pytest.mark.parametrize("text", ["", "\n", "nothing of a diff\n+a\n-b", "@@ -1 +1 @@\n-a\n+b\n"])
def test_what_belongs_to_no_file_is_left_out(text: str) -> None:
    assert parse(text) == []


def test_line_numbers_count_on_each_side() -> None:
    (file,) = parse("diff --git a/a b/a\n@@ -7,3 +9,3 @@ def f():\n a\n-b\n+c\n\\ No newline at end of file\n d\n")
    (hunk,) = file.hunks
    assert hunk.heading == "def f():"
    assert numbers(hunk) == [(7, 9), (8, None), (None, 10), (None, None), (9, 11)]


def test_rows_are_the_files_with_what_lies_below_them() -> None:
    files = parse(changed("a lot")[0])
    rows = Rows(files, frozenset())
    kinds = [rows[place].kind for place in range(len(rows))]
    assert kinds.count(RowKind.FILE) == len(files)
    assert kinds.count(RowKind.HUNK) == sum(len(file.hunks) for file in files)
    assert kinds.count(RowKind.ADDED) == sum(file.added for file in files)
    assert kinds.count(RowKind.REMOVED) == sum(file.removed for file in files)
    assert [rows[rows.start_of(place)].kind for place in range(len(files))] == [RowKind.FILE] * len(files)
    for place, file in enumerate(files):
        assert [rows[start].kind for start in rows.hunk_starts(place)] == [RowKind.HUNK] * len(file.hunks)


def test_a_folded_file_is_one_row() -> None:
    files = parse(changed("a lot")[0])
    rows = Rows(files, frozenset({files[0].path}))
    assert len(rows) == len(Rows(files, frozenset())) - files[0].line_count
    assert rows[1].file == 1


@pytest.mark.parametrize("name", sorted(LOCKFILES))
def test_a_lockfile_is_folded_at_first_in_whichever_folder(name: str) -> None:
    assert FileDiff(name).is_folded_at_first
    assert FileDiff(f"deep/er/{name}").is_folded_at_first
    assert not FileDiff(f"{name}.md").is_folded_at_first


def test_a_large_file_is_folded_at_first_and_no_smaller_one() -> None:
    def of(lines: int) -> FileDiff:
        return parse(f"diff --git a/a b/a\n@@ -0,0 +1,{lines} @@\n" + "+x\n" * lines)[0]

    assert of(LARGE_FILE_LINES).is_folded_at_first
    assert not of(LARGE_FILE_LINES - 1).is_folded_at_first
