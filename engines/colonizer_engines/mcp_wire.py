"""What both ends of the local engine's MCP routes have to know; to know it loads neither an engine nor the SDK."""

KERNEL_PATH = "/mcp/kernel"

CARRIED_PATH = "/mcp/kernel/carried"
"""The same without the operator's calls: for what carries the calls of agents to the private socket."""

LINES_PATH = "/mcp/kernel/lines"
"""The same again, as lines both ways in one POST."""

COLONIES_PATH = "/mcp/colonizer/lines"
"""The tools over colonies, as lines both ways in one POST; SESSION tells which ones, and whose."""

SESSION = "Colonizer-Session"
"""The header with what one client's session is, as JSON."""

MESSAGE_LIMIT_BYTES = 4 * 1024 * 1024
"""The longest message that is taken, as a line or as the body of a request."""

LISTENING = "subscriptions/listen"
"""The request that is answered when its client no longer listens, so that nobody who has said all waits for it."""
