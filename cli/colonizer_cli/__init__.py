"""The `colonizer` command."""
