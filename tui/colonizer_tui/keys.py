"""Every key of the application: one meaning each.

An action's name is what the settings remap (`[keys]`), what the help and the footer show, and what a widget implements
as `do_<name>`: the key goes to the focused widget first, then outwards to the application.
"""

import string
import unicodedata
from collections.abc import Mapping

from msgspec.structs import replace
from textual.keys import KEY_ALIASES, KEY_NAME_REPLACEMENTS

from colonizer_config.value import Value


class Action(Value):
    """Something that a key does."""

    name: str
    keys: tuple[str, ...]
    """In Textual's names; the first is the one that is shown."""
    label: str
    """One or two words for the footer."""
    help: str
    group: str

    @property
    def shown(self) -> str:
        """The key as a person reads it."""
        return shown_key(self.keys[0])


_SHOWN = {
    "question_mark": "?",
    "slash": "/",
    "colon": ":",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "left_curly_bracket": "{",
    "right_curly_bracket": "}",
    "escape": "esc",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "left_parenthesis": "(",
    "right_parenthesis": ")",
}


def shown_key(key: str) -> str:
    """A key's name as a person reads it: `ctrl+s`, `?`, `esc`."""
    return _SHOWN.get(key, key)


WORKSPACES = "Workspaces"
"""The group of the actions that go to one."""

MOVING = "Moving"
"""The group of the actions that only move about."""

ACTIONS: tuple[Action, ...] = (
    Action("fleet", ("1",), "fleet", "all colonies of all hosts", WORKSPACES),
    Action("needs_you", ("2",), "needs you", "what waits for you, most urgent first", WORKSPACES),
    Action("colony", ("3",), "colony", "the opened colony: transcript and diff", WORKSPACES),
    Action("kernel", ("4",), "kernel", "colony kernels: where it is hot, who may do what, and why not", WORKSPACES),
    Action("connections", ("7",), "connections", "hosts: how they are, and what went wrong", WORKSPACES),
    Action("next_pane", ("tab",), "next pane", "the next pane", MOVING),
    Action("previous_pane", ("shift+tab",), "previous pane", "the previous pane", MOVING),
    Action("down", ("j", "down"), "down", "one row down", MOVING),
    Action("up", ("k", "up"), "up", "one row up", MOVING),
    Action("left", ("left",), "left", "long lines: back to the left; in a heatmap a column", MOVING),
    Action("right", ("right",), "right", "long lines: further to the right; in a heatmap a column", MOVING),
    Action("page_down", ("pagedown", "ctrl+f"), "page down", "one page down", MOVING),
    Action("page_up", ("pageup", "ctrl+b"), "page up", "one page up", MOVING),
    Action("first", ("g", "home"), "first", "to the first row", MOVING),
    Action("last", ("G", "end"), "last", "to the last row; a transcript follows its end again", MOVING),
    Action("enter", ("enter",), "open", "open what is selected", MOVING),
    Action("back", ("escape",), "back", "one step back; nothing that you typed is lost", MOVING),
    Action("find", ("slash",), "find", "filter a list by terms; elsewhere find text", "Finding"),
    Action("next_match", ("n",), "next match", "the next match", "Finding"),
    Action("previous_match", ("N",), "previous match", "the previous match", "Finding"),
    Action("next_need", ("w",), "next", "the next colony that needs you", "Finding"),
    Action("previous_need", ("W",), "previous", "the previous colony that needs you", "Finding"),
    Action("go_to", ("colon",), "go to", "go to a workspace, a host or a colony by its name", "Finding"),
    Action("palette", ("ctrl+p",), "palette", "find an action by its name, and do it", "Finding"),
    Action("jump", ("ctrl+o",), "jump", "a letter on all that is in sight: typing it goes there", "Finding"),
    Action("mark", ("space",), "mark", "mark: stop, resume, keep or clean up all that are marked", "Finding"),
    Action("order", ("t",), "order", "change the order of the list", "Finding"),
    Action("answer", ("a",), "answer", "open the card of the question", "Colony"),
    Action("send", ("ctrl+s",), "send", "send the card, the form or the message", "Colony"),
    Action("message", ("m",), "message", "write to the agent", "Colony"),
    Action("interrupt", ("i",), "interrupt", "stop the agent's turn, not the colony", "Colony"),
    Action("stop", ("s",), "stop", "stop the colony; worktree and branch are kept", "Colony"),
    Action("resume", ("r",), "resume", "start the colony's next run; on a host: connect again", "Colony"),
    Action("keep", ("K",), "keep", "keep a colony whose work was covered, so that it can be resumed", "Colony"),
    Action("publish", ("p",), "publish", "publish the colony's work as a pull request", "Colony"),
    Action("colonize", ("c",), "colonize", "launch a colony", "Colony"),
    Action("diff", ("d",), "diff", "the colony's changes", "Colony"),
    Action(
        "clean_up",
        ("X",),
        "clean up",
        "remove the colony's worktree; the branch stays; on a host or a token: remove it; on an offer: dismiss it",
        "Colony",
    ),
    Action("sign_in", ("l",), "sign in", "sign in to the host with a token", "Hosts"),
    Action("sign_out", ("O",), "sign out", "forget the token of the host", "Hosts"),
    Action("add", ("A",), "add", "add a host; in its tokens: make one", "Hosts"),
    Action("edit", ("E",), "edit", "another name or address for the host", "Hosts"),
    Action("tokens", ("T",), "tokens", "the host's tokens: see, make and revoke them", "Hosts"),
    Action("wire_log", ("L",), "wire log", "what goes over the wire to the host", "Hosts"),
    Action("next_kernel", ("right_parenthesis",), "next kernel", "the next kernel", "Kernel"),
    Action("previous_kernel", ("left_parenthesis",), "previous kernel", "the previous kernel", "Kernel"),
    Action("earlier", ("less_than_sign",), "earlier", "the heatmap as it was a tick earlier", "Kernel"),
    Action("later", ("greater_than_sign",), "later", "the heatmap a tick later, up to now", "Kernel"),
    Action("propose", ("P",), "propose", "ask the kernel's gate for its verdict on an action", "Kernel"),
    Action("record", ("R",), "record", "record the outcome of an action", "Kernel"),
    Action("tick", ("b",), "tick", "one tick: every trace fades a little, for all who use the kernel", "Kernel"),
    Action("auto_tick", ("B",), "auto tick", "ticks by itself every so many seconds, or no more", "Kernel"),
    Action("deposit", ("D",), "leave a trace", "leave a trace yourself, in the local kernel", "Kernel"),
    Action("calm_down", ("C",), "calm down", "take all traces of the local kernel away; trust stays", "Kernel"),
    Action("export", ("x",), "export", "the pruning report as Markdown and JSON, into two new files", "Kernel"),
    Action("explain", ("e",), "why", "explain this status: what, why, what comes next, what you can do", "Reading"),
    Action("copy", ("y",), "copy", "copy what is in front of you", "Reading"),
    Action("browse", ("o",), "browser", "open the pull request, or a link of the text, in the browser", "Reading"),
    Action("view", ("v",), "view all", "the whole text, nothing cut", "Reading"),
    Action("fold", ("f",), "fold", "fold or unfold", "Reading"),
    Action("fold_all", ("F",), "fold all", "fold all groups of a heatmap, or unfold them", "Reading"),
    Action("next_hunk", ("right_square_bracket",), "next hunk", "the next hunk", "Reading"),
    Action("previous_hunk", ("left_square_bracket",), "previous hunk", "the previous hunk", "Reading"),
    Action("next_file", ("right_curly_bracket",), "next file", "the next file", "Reading"),
    Action("previous_file", ("left_curly_bracket",), "previous file", "the previous file", "Reading"),
    Action("help", ("question_mark",), "help", "what the keys do here", "Program"),
    Action("suspend", ("ctrl+z",), "suspend", "back to the shell until `fg`", "Program"),
    Action("quit", ("ctrl+q",), "quit", "leave; colonies go on", "Program"),
)
"""All actions, in the order in which the help lists them."""


class Hint(Value):
    """What helps where you are: an action by its name, or keys that are no action's."""

    action: str = ""
    label: str = ""
    """What it does here, where that is not what it does elsewhere."""
    keys: str = ""
    """As a person reads them, where they are no action's."""
    reason: str = ""
    """Why it does nothing now, where only the workspace knows."""


def hints_of(*actions: str) -> tuple[Hint, ...]:
    """These actions, as they are named everywhere."""
    return tuple(map(Hint, actions))


class Keymap(Value):
    """The actions with the keys that the person chose."""

    actions: Mapping[str, Action]
    problems: tuple[str, ...] = ()
    """What is wrong with the person's choices, in words; each such choice is left out."""

    def shown(self, name: str) -> str:
        """The key of an action as a person reads it."""
        return self.actions[name].shown


def keymap(chosen: Mapping[str, str]) -> Keymap:
    """The keys with the person's changes (`[keys]`: action to key) made, all together: two keys may be swapped."""
    actions = {action.name: action for action in ACTIONS}
    problems: list[str] = []
    wanted: dict[str, str] = {}
    for name, key in chosen.items():
        known = named_key(key)
        if name not in actions:
            problems.append(f"[keys] {name}: no such action")
        elif known is None:
            problems.append(f"[keys] {name}: no key is called “{key}”")
        else:
            wanted[name] = known
    while (clash := _clash(actions, wanted)) is not None:
        name, holder = clash
        problems.append(f"[keys] {name}: {shown_key(wanted.pop(name))} already means {holder.label}")
    return Keymap(_with_keys(actions, wanted), tuple(problems))


def named_key(key: str) -> str | None:
    """Textual's name of a key that is named so, or as it is shown; None where there is no such key."""
    *before, base = key.rsplit("+", 1) if len(key) > 1 else [key]
    held = [part for modifiers in before for part in modifiers.lower().split("+")]
    if len(base) > 1 or "ctrl" in held:
        base = base.lower()
    if len(base) == 1 and base.isprintable() and not base.isalnum():
        base = unicodedata.name(base, "").lower().replace("-", "_").replace(" ", "_")
    base = _NAMED.get(base, KEY_NAME_REPLACEMENTS.get(base, base))
    if not set(held) <= _MODIFIERS or not (base in _BASES or (len(base) == 1 and base.isalnum()) or _is_sign(base)):
        return None
    name = "+".join((*held, base))
    return next((key for key, aliases in KEY_ALIASES.items() if name in aliases), name)


_NAMED = {shown: name for name, shown in _SHOWN.items()}
_MODIFIERS = frozenset({"ctrl", "shift", "alt", "meta", "super", "hyper"})
_BASES = frozenset(
    {
        "up", "down", "left", "right", "home", "end", "pageup", "pagedown", "insert", "delete", "backspace", "enter",
        "tab", "space", "escape", *(f"f{number}" for number in range(1, 25)),
    }
)  # fmt: skip


_ASCII_SIGNS = frozenset(
    unicodedata.name(sign).lower().replace("-", "_").replace(" ", "_") for sign in string.punctuation
)


def _is_sign(name: str) -> bool:
    """Whether Textual names a sign so, such as `question_mark`: after its name in Unicode."""
    if name in KEY_NAME_REPLACEMENTS.values() or name in _ASCII_SIGNS:
        return True
    try:
        return " " not in name and not unicodedata.lookup(name.replace("_", " ")).isalnum()
    except KeyError:
        return False


def _with_keys(actions: Mapping[str, Action], wanted: Mapping[str, str]) -> Mapping[str, Action]:
    return {
        name: replace(action, keys=(wanted[name],)) if name in wanted else action for name, action in actions.items()
    }


def _clash(actions: Mapping[str, Action], wanted: Mapping[str, str]) -> tuple[str, Action] | None:
    """A chosen key that means something else too, the one that was chosen last first, and what it means."""
    everyone = _with_keys(actions, wanted).values()
    for name in reversed(list(wanted)):
        holder = next((action for action in everyone if wanted[name] in action.keys and action.name != name), None)
        if holder is not None:
            return name, holder
    return None


AS_SHIPPED = keymap({})
"""The keys of who has chosen none."""
