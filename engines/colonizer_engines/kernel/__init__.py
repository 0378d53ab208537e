"""The embedded colony kernel: which actions are safe, and whom to trust with them."""
