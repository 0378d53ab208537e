"""Measures all figures, or those of the groups that are named."""

import importlib
import os
import sys

GROUPS = (
    "start", "loaded", "commands", "lists", "ingest", "idle", "memory", "diff", "transcript", "isolation", "mothership",
    "kernel", "kernel_served", "heatmap", "mcp", "catalogue",
)  # fmt: skip


def main() -> None:
    """Runs the groups one after the other, so that none disturbs another."""
    for name in sys.argv[1:] or GROUPS:
        busy = os.getloadavg()[0] / (os.cpu_count() or 1)
        if busy > 1:
            words = f"{name}: others use this machine too (load {busy:.1f} for each core): compare ratios and CPU time"
            print(words, file=sys.stderr)
        importlib.import_module(f"bench.{name}").measure()


if __name__ == "__main__":
    main()
