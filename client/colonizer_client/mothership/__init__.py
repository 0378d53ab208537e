"""The client of a mothership: HTTP and WebSocket."""
