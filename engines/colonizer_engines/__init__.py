"""The embedded engines and the one local process that serves them."""
