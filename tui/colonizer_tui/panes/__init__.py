"""One class for each region of a workspace."""
