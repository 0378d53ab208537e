"""The embedded mothership: colonies are git worktrees worked by real processes."""
