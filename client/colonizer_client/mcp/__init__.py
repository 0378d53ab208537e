"""Connections to MCP servers, whatever those are for."""
