"""The agents that can be launched, and what their processes are given (local decisions on runners)."""

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from colonizer_config.settings import DEMO_AGENT, AgentKind, AgentSettings, Settings
from colonizer_engines.mothership.colony import Colony
from colonizer_engines.mothership.errors import Refusal
from colonizer_engines.mothership.question import choice_words
from colonizer_engines.mothership.session import UNTITLED, ColonyId
from colonizer_engines.mothership.wire import as_object

ReadSettings = Callable[[], Settings]
"""Reads the settings anew.

Raises:
    SettingsError: They cannot be read.
"""

_INHERITED = frozenset({"PATH", "HOME", "USER", "LANG", "TZ", "TMPDIR", "COLONIZER_DEMO_PACE"})
"""What an agent gets of the engine's own environment, with every LC_…."""

_RESUMED = "This colony was stopped and goes on now. Its earlier work is in the worktree."


class Environments:
    """Values of the person's shell, kept in this process's memory only."""

    def __init__(self, fallback: Mapping[str, str]) -> None:
        self._fallback = fallback
        self._given: dict[ColonyId, Mapping[str, str]] = {}

    def give(self, colony: ColonyId, values: Mapping[str, str]) -> None:
        """Keeps values for the colony's agent; earlier ones of other names stay."""
        if values:
            self._given[colony] = {**self._given.get(colony, {}), **values}

    def of(self, colony: ColonyId) -> Mapping[str, str]:
        """What the colony's agent may be given."""
        return {**self._fallback, **self._given.get(colony, {})}

    def forget(self, colony: ColonyId) -> None:
        """Drops the colony's values."""
        self._given.pop(colony, None)


def installed(settings: Settings) -> Mapping[str, AgentSettings]:
    """All agents by their id; the demo is always among them."""
    demo = AgentSettings((sys.executable, "-I", str(Path(__file__).with_name("demo.py"))))
    return {DEMO_AGENT: demo, **settings.agents}


def find_agent(settings: Settings, agent: str) -> AgentSettings:
    """The agent with this id.

    Raises:
        Refusal: 400, there is none, or it is of a kind that cannot be run yet.
    """
    found = installed(settings).get(agent)
    if found is None:
        names = ", ".join(sorted(installed(settings)))
        raise Refusal(400, f'unknown_agent: "{agent}" is not an installed agent module; installed: {names}')
    if found.kind is not AgentKind.COMMAND:
        raise Refusal(400, f'the agent "{agent}" is of kind {found.kind}, which the local mothership cannot run yet')
    return found


def lacking(agent: AgentSettings, given: Mapping[str, str]) -> str | None:
    """Why the agent cannot start for want of variables, or None where it has all that it names."""
    names = [name for name in agent.env if name not in given]
    return f"needs {', '.join(names)}: resume it from a shell that has it" if names else None


def environment(
    colony: Colony, agent: AgentSettings, given: Mapping[str, str], own: Mapping[str, str], out: Path
) -> dict[str, str]:
    """The whole environment of the colony's agent.

    Args:
        colony: What it is started for.
        agent: Which names of `given` it gets.
        given: Values from the person's shell.
        own: The engine's environment, of which little is passed on.
        out: The folder for its artifacts.
    """
    session = colony.session
    variables = {name: own[name] for name in own if name in _INHERITED or name.startswith("LC_")}
    variables |= {name: given[name] for name in agent.env if name in given}
    variables |= {
        "COLONIZER_SESSION_ID": session.id,
        "COLONIZER_REPO": session.repo,
        "COLONIZER_OUT_DIR": str(out),
        "COLONIZER_RUN": str(colony.epoch),
    }
    if session.agent_session:
        variables["COLONIZER_RESUME_SESSION"] = session.agent_session
    return variables


def first_words(colony: Colony) -> str:
    """The text of the run's first message: the task, and on later runs what happened since."""
    session = colony.session
    title = session.issue_title if session.issue_title not in (session.instructions, UNTITLED) else ""
    if session.issue is not None:
        title = f"Issue #{session.issue}: {title}".removesuffix(": ")
    task = [title, session.instructions] if colony.epoch == 1 else [session.instructions]
    notes = [note.text for note in session.pending_notes or ()]
    resumed = [session.resume_note or _RESUMED] if colony.epoch > 1 else []
    answers = [line for answer in colony.unheard_answers for line in _answered(answer.questions, answer.answers)]
    remarks = [answer.response for answer in colony.unheard_answers if answer.response]
    return "\n\n".join(part for part in (*task, *notes, *resumed, *answers, *remarks) if part)


def _answered(prompts: Sequence[object] | None, answers: Mapping[str, object]) -> list[str]:
    asked = [str(prompt.get("question")) for prompt in map(as_object, prompts or ()) if prompt]
    return [f"You asked: {text}; the answer is: {choice_words(answers[text])}" for text in asked if text in answers]
