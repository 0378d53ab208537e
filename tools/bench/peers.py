"""The smallest Textual programs, to measure beside the cockpit."""

import sys

SMALLEST = (
    sys.executable,
    "-c",
    """
from textual.app import App
from textual.widgets import Static
class Smallest(App):
    def compose(self):
        yield Static("The smallest program that shows a line of text")
Smallest().run()
""",
)
"""One line of text."""

LIST = (
    sys.executable,
    "-c",
    """
from rich.segment import Segment
from textual.app import App
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget
class Rows(Widget, can_focus=True):
    BINDINGS = [("j", "down")]
    place = 0
    def render_line(self, y):
        mark = "\\u258c" if y == self.place else " "
        return Strip([Segment(f"{mark} row {y} of a list that does nothing else".ljust(self.size.width))])
    def action_down(self):
        self.place = (self.place + 1) % self.size.height
        self.refresh(Region(0, self.place - 1, self.size.width, 1), Region(0, self.place, self.size.width, 1))
class List(App):
    def compose(self):
        yield Rows()
    def on_mount(self):
        self.query_one(Rows).focus()
List().run()
""",
)
"""A page of rows that never change, one of them marked with ▌; `j` moves the mark."""
