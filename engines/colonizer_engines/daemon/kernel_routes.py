"""The routes of the local engine behind which its kernel is; what finds them should not have to load an engine."""

KERNEL_PATH = "/mcp/kernel"

CARRIED_PATH = "/mcp/kernel/carried"
"""The same without the operator's calls: for what carries the calls of agents to the private socket."""

LINES_PATH = "/mcp/kernel/lines"
"""The same again, as lines both ways in one POST."""
