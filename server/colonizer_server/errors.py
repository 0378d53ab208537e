"""What goes wrong in a call of a tool."""


class ToolError(Exception):
    """The tool could not do it; the text is what the caller reads, as the text of an error result."""


class UnknownResource(ToolError):
    """There is no resource or prompt of this name."""
