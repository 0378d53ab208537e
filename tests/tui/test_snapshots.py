"""How each pane looks: empty, filled, stale, in trouble; and the main screens in every size and theme."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from colonizer_client.mothership.models import Diff, FileChange
from colonizer_client.snapshot import (
    ColonyChanged,
    DiffChanged,
    DiffState,
    EndpointChanged,
    Health,
    HubEvent,
    Phase,
    QuestionRead,
)
from colonizer_tui import theme
from moments import (
    HQ,
    LAB,
    LOCAL,
    RELEASE,
    SMALL_DIFF,
    WORK,
    colony,
    diff_read,
    endpoint,
    every_state,
    key_of,
    question,
    silent,
    still_app,
    transcript_of,
)
from pictures import SIZES, Compare, looks_as_before, pressing, seen_from_all_sides


def _file_name(name: str) -> str:
    return name.replace(",", "").replace(" ", "-")


GREET = key_of("a1b2c3d4")
OPENED = [*every_state(), transcript_of(GREET, WORK, has_older=True), diff_read(GREET)]
TO_GREET = ["j"] * 6 + ["enter"]
"""The keys from the start to the opened colony."""

BIG_LOCKFILE = "diff --git a/uv.lock b/uv.lock\n--- a/uv.lock\n+++ b/uv.lock\n@@ -1,0 +1,3 @@\n+a\n+b\n+c\n"
CUT_FILES = (FileChange("uv.lock", 3, 0), *SMALL_DIFF.files)
CUT_DIFF = Diff("main", CUT_FILES, 7, 4, BIG_LOCKFILE + SMALL_DIFF.text, truncated=True)
NO_ENGINE = "the local engine cannot be started: no space left on device"
UNSANDBOXED = endpoint(LOCAL, sandbox="none")

MAIN_SCREENS: dict[str, tuple[Sequence[HubEvent], list[str]]] = {
    "fleet": (every_state(), ["j", "j"]),
    "needs you": (every_state(), ["2", "j", "j"]),
    "card": (every_state(), ["2", "j", "j", "a", "1"]),
    "colony": (OPENED, TO_GREET),
    "connections": ([*every_state(), silent(LAB)], ["7", "j", "j"]),
}


@pytest.mark.anyio
@pytest.mark.parametrize("screen", MAIN_SCREENS, ids=_file_name)
async def test_a_main_screen_looks_as_it_did(screen: str, snapshot: SnapshotAssertion, tmp_path: Path) -> None:
    events, keys = MAIN_SCREENS[screen]
    app = still_app(tmp_path, events)
    themes = (theme.DEFAULT_THEME, "colonizer-light")
    assert not await seen_from_all_sides(app, pressing(app, keys), snapshot, SIZES, themes)


PANES: dict[str, tuple[Sequence[HubEvent], list[str]]] = {
    "fleet, first run": ([EndpointChanged(endpoint(LOCAL))], []),
    "fleet, first run without a sandbox": ([EndpointChanged(UNSANDBOXED)], []),
    "fleet, the engine starts": ([EndpointChanged(endpoint(LOCAL, health=Health.CONNECTING, as_of=None))], []),
    "fleet, no engine": (
        [EndpointChanged(endpoint(LOCAL, health=Health.SILENT, as_of=None, error=NO_ENGINE))],
        [],
    ),
    "fleet, a silent host": ([*every_state(), silent(HQ)], ["j"]),
    "fleet, nothing found": (every_state(), ["slash", "z", "z", "z"]),
    "fleet, found": (every_state(), ["slash", *"stop", "enter"]),
    "fleet, an unsandboxed colony": (
        [EndpointChanged(UNSANDBOXED), ColonyChanged(colony("10ca1000", "running", 1, host=LOCAL, sandbox="none"))],
        [],
    ),
    "inspector with changes": ([*every_state(), diff_read(RELEASE, CUT_DIFF)], ["j", "j"]),
    "needs you, empty": ([EndpointChanged(endpoint(LOCAL))], ["2"]),
    "needs you, a silent host": ([*every_state(), silent(HQ)], ["2", "j"]),
    "card, one single choice": (every_state(), ["2", "j", "a", "2"]),
    "card, several choices": (every_state(), ["2", "j", "j", "a", "1", "1", "3"]),
    "card, in your own words": (every_state(), ["2", "j", "j", "a", "1", "4", *"by hand"]),
    "card, no prompts": ([*every_state(), QuestionRead(RELEASE, question())], ["2", "j", "j", "a"]),
    "card, a preview": (every_state(), ["2", "j", "j", "a", "j"]),
    "card, not answered": (every_state(), ["2", "j", "j", "a", "ctrl+s"]),
    "colony, none opened": (every_state()[:3], ["3"]),
    "colony, loading": (every_state(), TO_GREET),
    "colony, the log is gone": (
        [*every_state(), transcript_of(GREET, WORK, phase=Phase.RECONNECTING, error="it took too long")],
        TO_GREET,
    ),
    "colony, a silent host": ([*OPENED, silent(HQ)], TO_GREET),
    "transcript, unfolded": (OPENED, [*TO_GREET, *"gkkkk", "f"]),
    "transcript, searched": (OPENED, [*TO_GREET, "slash", *"greet", "enter"]),
    "diff": (OPENED, [*TO_GREET, "d", "j", "j"]),
    "diff, cut, with a lockfile": ([*OPENED, diff_read(GREET, CUT_DIFF)], [*TO_GREET, "d"]),
    "diff, none": (
        [*every_state(), DiffChanged(GREET, DiffState(error="this colony has no worktree to diff: it was cleaned up"))],
        [*TO_GREET, "d"],
    ),
    "diff, nothing changed": (
        [*OPENED, diff_read(GREET, Diff("main", (), 0, 0, "", truncated=False))],
        [*TO_GREET, "d"],
    ),
    "connections, signed out": (
        [
            EndpointChanged(endpoint(LOCAL)),
            EndpointChanged(
                endpoint(HQ, health=Health.SIGNED_OUT, error="missing or invalid API token", standing=None)
            ),
        ],
        ["7", "j"],
    ),
    "connections, a skewed clock and a small scope": (
        [EndpointChanged(endpoint(HQ, skew_s=86_400.0, is_polled=True, unreadable_rows=2))],
        ["7"],
    ),
    "explanation": (every_state(), ["j", "j", "e"]),
    "explanation of a failure": (every_state(), ["j", "j", "j", "e"]),
    "explanation of a silent host": ([*every_state(), silent(HQ)], ["j", "j", "e"]),
    "copy, no clipboard program": (OPENED, [*TO_GREET, "d", "j", "y"]),
    "browser, none here": (every_state(), ["slash", *"review", "enter", "o"]),
    "publish dialog": (every_state(), ["slash", "t", "u", "r", "n", "enter", "p"]),
    "find bar, what there is": (every_state(), ["slash"]),
    "find bar, completed": (every_state(), ["slash", *"greet host:", "tab"]),
    "find bar, a key that there is not": (every_state(), ["slash", *"hots:hq"]),
    "find bar, a filter that holds": (every_state(), ["slash", *"!status:running widg", "enter"]),
    "needs you, filtered": (every_state(), ["2", "slash", *"rocket", "enter"]),
    "go to": (every_state(), ["colon"]),
    "go to, some letters": (every_state(), ["colon", *"wid re"]),
    "palette": (every_state(), ["ctrl+p"]),
    "palette, nothing fits": (every_state(), ["ctrl+p", *"zzz"]),
    "jump, fleet": (every_state(), ["j", "ctrl+o"]),
    "jump, colony": (OPENED, [*TO_GREET, "ctrl+o"]),
    "jump, card": (every_state(), ["2", "j", "j", "a", "ctrl+o"]),
    "marked": (every_state(), ["space", "j", "space", "space"]),
    "stop many": (every_state(), ["space", "j", "space", "space", "s"]),
    "stop many, failed": (every_state(), ["space", "j", "space", "s", "y"]),
    "stop dialog": (every_state(), ["j", "j", "s"]),
    "launch dialog": (every_state(), ["c"]),
    "help": (every_state(), ["question_mark"]),
    "viewer": (every_state(), ["2", "j", "j", "a", "v"]),
}


@pytest.mark.parametrize("pane", PANES, ids=_file_name)
def test_a_pane_looks_as_it_did(pane: str, snap_compare: Compare, tmp_path: Path) -> None:
    events, keys = PANES[pane]
    assert looks_as_before(snap_compare, still_app(tmp_path, events), keys)


def test_the_launch_form_is_complete_in_a_small_terminal(snap_compare: Compare, tmp_path: Path) -> None:
    events = [*every_state(), EndpointChanged(endpoint(LOCAL, sandbox="bwrap"))]
    assert looks_as_before(snap_compare, still_app(tmp_path, events), ["c"], SIZES["80x24"])


def test_the_fleet_is_complete_in_ascii_without_colours(snap_compare: Compare, tmp_path: Path) -> None:
    app = still_app(tmp_path, every_state(), theme=theme.PLAIN, ascii=True)
    assert looks_as_before(snap_compare, app, ["j"])


IN_ASCII = {
    "fleet, a filter": ["slash", *"greet host:", "tab"],
    "fleet, marked": ["space", "j", "space", "space"],
    "go to": ["colon", *"wid re"],
    "palette": ["ctrl+p", *"sto"],
    "jump": ["ctrl+o"],
    "stop many": ["space", "j", "space", "space", "s"],
}


@pytest.mark.parametrize("state", IN_ASCII, ids=_file_name)
def test_finding_is_complete_in_the_smallest_usual_size_in_ascii_without_colours(
    state: str, snap_compare: Compare, tmp_path: Path
) -> None:
    app = still_app(tmp_path, every_state(), theme=theme.PLAIN, ascii=True)
    assert looks_as_before(snap_compare, app, IN_ASCII[state], SIZES["80x24"])


def test_the_fleet_is_legible_in_high_contrast(snap_compare: Compare, tmp_path: Path) -> None:
    app = still_app(tmp_path, every_state(), theme="colonizer-contrast")
    assert looks_as_before(snap_compare, app, ["j"])


@pytest.mark.parametrize("screen", ["fleet", "card", "colony"])
def test_a_screen_is_complete_in_sixteen_colours(screen: str, snap_compare: Compare, tmp_path: Path) -> None:
    events, keys = MAIN_SCREENS[screen]
    assert looks_as_before(snap_compare, still_app(tmp_path, events, theme=theme.SIXTEEN), keys)


def test_below_the_smallest_size_one_line_says_so(snap_compare: Compare, tmp_path: Path) -> None:
    assert looks_as_before(snap_compare, still_app(tmp_path, every_state()), [], (39, 9))
