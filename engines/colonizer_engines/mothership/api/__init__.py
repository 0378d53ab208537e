"""The wire of the embedded mothership: HTTP and WebSocket (spec 2 and 3)."""
