"""The tools of every MCP server that is known here, behind one door."""
