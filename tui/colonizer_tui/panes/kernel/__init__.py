"""The panes of the kernel workspace."""
