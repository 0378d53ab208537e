"""Fields of forms: one whose text nobody sees, and one that gives up a secret that was pasted into it."""

from collections.abc import Callable

from textual.widgets import Input


class PlainField(Input):
    """A line of text; a sign-in link is handed on before it is drawn, since it holds a token."""

    def __init__(self, value: str, *, placeholder: str, id: str, divert: Callable[[str], str]) -> None:  # noqa: A002
        self._divert = divert
        # Selected on focus, the first letter would go with the second one where both were typed ahead of the focus.
        super().__init__(value, placeholder=placeholder, id=id, compact=True, select_on_focus=False)
        self.cursor_blink = False

    def validate_value(self, value: str) -> str:
        """The text that may be seen."""
        return self._divert(value) if "token=" in value else value


class SecretField(Input):
    """A line that shows only how long it is, and that nothing can be copied from."""

    def __init__(self, *, placeholder: str, id: str) -> None:  # noqa: A002  # Textual's name
        super().__init__("", placeholder=placeholder, id=id, password=True, compact=True, select_on_focus=False)
        self.cursor_blink = False

    def action_copy(self) -> None:
        """Copies nothing: the terminal's clipboard is no place for a secret."""

    def action_cut(self) -> None:
        """Cuts nothing."""
