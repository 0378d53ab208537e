"""The life of the local engine process: lock, socket, start, end."""
