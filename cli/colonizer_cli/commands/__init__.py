"""One module for each command or family of commands, loaded when it is called."""
