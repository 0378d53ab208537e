"""What cleaning up a colony loses and keeps, in sentences."""

from collections.abc import Sequence

from colonizer_client.mothership.models import Colony, Leftovers
from colonizer_tui.present.words import count

PATHS_SHOWN = 8


def losses(left: Leftovers) -> Sequence[str]:
    """The uncommitted files by name, as many as have room; that there are none."""
    paths = left.uncommitted
    if not paths:
        return ("Nothing in it is uncommitted.",)
    more = f"   and {len(paths) - PATHS_SHOWN:,} more" if len(paths) > PATHS_SHOWN else ""
    shown = [f"   {path}" for path in paths[:PATHS_SHOWN]]
    return (f"Lost with it, for they are not committed: {count(len(paths), 'file')}", *shown, *filter(None, (more,)))


def kept(colony: Colony, left: Leftovers | None) -> str:
    """What stays."""
    commits = left.unmerged_commits if left is not None else 0
    ahead = f" with {count(commits, 'commit')} that its base does not have" if commits else ""
    return f"Kept: the branch {colony.branch}{ahead}, and the colony's log."
