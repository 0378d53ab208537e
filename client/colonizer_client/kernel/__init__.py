"""Colony kernels: which actions are safe, which agents are trusted, and where traces of both lie."""
