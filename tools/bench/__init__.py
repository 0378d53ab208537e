"""Measures what the design promises of speed and size, each figure beside its peer where there is one."""
