"""Questions to the person that cover the screen, each with one result."""
