"""Patches as text, held against those that git writes."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonizer_engines.mothership.patch import FileCount, counts, new_file, quoted, unquoted

NAMES = [
    "plain.txt",
    "with space",
    'quo"te',
    "back\\slash",
    "tab\there",
    "two\nlines",
    "größe",
    "\x7f\x01",
    "a/b c/ü",
    "-dash",
]
CONTENTS = [
    "",
    "one\n",
    "one",
    "one\ntwo\n",
    "\n",
    "\n\nx",
    "-- a\n++ b\n",
    "diff --git a/x b/x\n@@ -1 +1 @@\n",
    "cr\r\n",
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("content", CONTENTS)
def test_the_patch_of_a_new_file_is_the_one_of_git_without_its_index(tmp_path: Path, name: str, content: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode())
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(["git", "add", "-N", "."], cwd=tmp_path, check=True)
    written = subprocess.run(
        ["git", "-c", "core.quotePath=false", "diff"], cwd=tmp_path, check=True, capture_output=True
    ).stdout.decode()
    head, index, rest = written.partition("index ")
    without_index = head + rest.partition("\n")[2] if index else written
    # The published mothership says the length of a single line too.
    ours = new_file(name, content, executable=False).replace("@@ -0,0 +1,1 @@", "@@ -0,0 +1 @@")
    assert ours == without_index
    assert (
        counts(written)
        == counts(ours)
        == (FileCount(name, len(content.splitlines(keepends=True)) if content else 0, 0),)
    )


def test_an_executable_file_keeps_its_mode() -> None:
    assert "new file mode 100755\n" in new_file("run.sh", "x\n", executable=True)


@given(st.text())
def test_a_name_survives_being_quoted(name: str) -> None:
    assert unquoted(quoted(name)) == name
    assert "\n" not in quoted(name)


@given(
    st.text(st.characters(exclude_characters="\0"), min_size=1),
    st.text(st.characters(exclude_characters="\0")),
    st.text(st.characters(exclude_characters="\0")),
)
def test_whatever_files_are_called_and_hold_they_are_counted(name: str, first: str, second: str) -> None:
    patch = new_file(name, first, executable=False) + new_file(f"{name}2", second, executable=True)
    expected = (FileCount(name, lines(first), 0), FileCount(f"{name}2", lines(second), 0))
    assert counts(patch) == expected


@given(st.text(), st.integers(0, 400))
def test_a_patch_that_is_cut_anywhere_is_counted_as_far_as_it_goes(content: str, length: int) -> None:
    (count, *others) = counts(new_file("a.txt", f"x{content}", executable=False)[: 60 + length]) or (
        FileCount("a.txt", 0, 0),
    )
    assert others == []
    assert count.added <= lines(f"x{content}")


def lines(content: str) -> int:
    return content.count("\n") + (not content.endswith("\n")) if content else 0


@pytest.mark.parametrize(
    ("patch", "expected"),
    [
        ("", ()),
        (
            "diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n",
            (FileCount("run.sh", 0, 0),),
        ),
        (
            "diff --git a/x y b/x y\nsimilarity index 100%\nrename from x y\nrename to z b/z\n",
            (FileCount("z b/z", 0, 0),),
        ),
        (
            'diff --git a/old "b/n\\303\\244h\\te"\nsimilarity index 100%\nrename from old\nrename to "n\\th\\"e"\n',
            (FileCount('n\th"e', 0, 0),),
        ),
        (
            "diff --git a/i b/i.png b/i b/i.png\nindex 1..2 100644\nBinary files a/i b/i.png and b/i b/i.png differ\n",
            (FileCount("i b/i.png", 0, 0),),
        ),
        (
            "* Unmerged path both\ndiff --git a/both b/both\nindex 1..2 100644\n--- a/both\n+++ b/both\n"
            "@@ -1,2 +1 @@ head of\n--- a/not a name\n-x\n++++ b/nor this\n",
            (FileCount("both", 1, 2),),
        ),
        (
            "diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n"
            "\\ No newline at end of file\ndiff --git a/b b/b\n--- a/b\n+++ b/b\n@@ -1 +1 @@\n-a\n"
            "\\ No newline at end of file\n+b\n@@ -9 +9,2 @@\n c\n+d\n",
            (FileCount("gone", 0, 2), FileCount("b", 2, 1)),
        ),
    ],
)
def test_patches_of_git_are_counted(patch: str, expected: tuple[FileCount, ...]) -> None:
    assert counts(patch) == expected
