"""The steps of the main job, by keyboard in tmux: launch, answer, read the diff, stop, resume."""

from real_tmux import Tmux

ANSWERS = ["A guide for agents", ["Link it from the README", "by hand"], "Greet the reader"]
"""What the steps answer to the three questions of a demo colony."""

EDITED = ["M", "README.md", "??", "AGENTS.md"]
"""What a demo colony has done to its worktree after these answers, as git tells it in short."""


def launch(terminal: Tmux, host: str) -> None:
    """Launches a demo colony on the repository of the current folder."""
    terminal.press("c")
    terminal.shows(f"Colonize on {host}", "local/notes")
    terminal.type("Say hello")
    terminal.press("C-s")
    terminal.shows("What should I add to this repository?")


def answer_the_first_question(terminal: Tmux) -> None:
    """By its option, in Needs you."""
    terminal.press("2")
    terminal.shows("( ) · A guide for agents")
    terminal.press("a")
    terminal.shows("the agent waits for you", "1 A guide for agents")
    terminal.press("1", "Enter")
    terminal.shows("[ ] · Link it from the README")


def type_half_of_the_second_answer(terminal: Tmux) -> None:
    """An option, and half of an answer in one's own words."""
    terminal.press("a")
    terminal.shows("[ ] 1 Link it from the README")
    terminal.press("1", "4")
    terminal.type("by ha")
    terminal.shows("by ha", "draft kept")


def leave_the_card(terminal: Tmux) -> None:
    """From the field to the options, and from there to the list. What follows esc too fast is alt and a letter."""
    terminal.press("Escape")
    terminal.shows("1-4 pick")
    terminal.press("Escape")
    terminal.shows("a answer", "enter open")


def find_the_half_and_type_the_rest(terminal: Tmux) -> None:
    """The half is in the card, wherever one comes from, and what is typed goes on there."""
    terminal.press("2", "a")
    terminal.shows("by ha", "esc to the options")
    terminal.type("nd")
    terminal.press("C-s")
    terminal.shows("the agent waits for you", "title of the pull request be?")


def answer_the_last_question(terminal: Tmux) -> None:
    """In one's own words, since it has no options."""
    terminal.press("a")
    terminal.shows("in your own words")
    terminal.type("Greet the reader")
    terminal.press("C-s")
    terminal.shows("Nothing needs you")


def read_the_diff(terminal: Tmux) -> None:
    """What the colony edited."""
    terminal.press("1", "d")
    terminal.shows("AGENTS.md", "README.md", "against main")


def stop(terminal: Tmux) -> None:
    """Stops the colony that is open, after the dialog that names what is kept."""
    terminal.press("s")
    terminal.shows("Stop this colony?", "Its worktree and its branch are kept")
    terminal.press("y")
    terminal.shows("stopped · its worktree is kept")


def resume(terminal: Tmux) -> None:
    """Resumes it into its second run, after the dialog that names what is kept."""
    terminal.press("r")
    terminal.shows("Resume this colony?", "its log is kept")
    terminal.press("y")
    terminal.shows("run 2")
