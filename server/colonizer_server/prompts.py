"""The prompts: what a person has an agent do over and over with colonies, with what it needs to know for it."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from colonizer_client.identity import ColonyId, ColonyKey, EndpointName
from colonizer_server.arguments import Parameter, read
from colonizer_server.errors import UnknownResource
from colonizer_server.resource_uris import NEEDS_YOU, Aspect
from colonizer_server.resources import Shelf

_TRIAGE = (
    "Triage what needs me. Below stands every colony that waits for a person, the most urgent first. For each, say in"
    " one or two sentences what it wants, what speaks for each answer, and what you would answer; name those that I can"
    " leave for later. Answer none of them before I say so."
)

_REVIEW = (
    "Review this colony's diff as you would a colleague's. Look for faults first, then for what is missing, such as"
    " tests, then for what could be simpler; name the file and the line. Say at the end whether you would merge it."
)


@dataclass(frozen=True, slots=True)
class Ready:
    """What a prompt says: the wish, and then what colonies have to do with it."""

    wish: str
    data: str


Work = Callable[[Shelf, EndpointName, Mapping[str, object], float], Awaitable[Ready]]


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt. `work` raises ToolError or ClientError."""

    name: str
    title: str
    description: str
    parameters: tuple[Parameter, ...]
    work: Work


_COLONY = Parameter("id", "The colony's id, as the list and the cockpit show it.", required=True)


async def _triage(shelf: Shelf, endpoint: EndpointName, given: Mapping[str, object], now: float) -> Ready:
    del endpoint, given
    return Ready(_TRIAGE, await shelf.read(NEEDS_YOU, now))


async def _review(shelf: Shelf, endpoint: EndpointName, given: Mapping[str, object], now: float) -> Ready:
    del now
    colony = ColonyKey(endpoint, ColonyId(read((_COLONY,), given).text(_COLONY.name)))
    status = await shelf.told(colony, Aspect.STATUS)
    return Ready(_REVIEW, f"{status}\n\n{await shelf.told(colony, Aspect.DIFF)}")


PROMPTS: tuple[Prompt, ...] = (
    Prompt(
        "review_colony_diff",
        "Review this colony's diff",
        "Reviews everything that one colony has changed, faults first.",
        (_COLONY,),
        _review,
    ),
    Prompt(
        "triage_what_needs_me",
        "Triage what needs me",
        "Goes through every colony that waits for you, and proposes an answer to each.",
        (),
        _triage,
    ),
)
"""All prompts, in the order of their names."""


def prompt_named(name: str) -> Prompt:
    """The prompt of that name.

    Raises:
        UnknownResource: There is none.
    """
    for prompt in PROMPTS:
        if prompt.name == name:
            return prompt
    raise UnknownResource("no such prompt; prompts/list tells what there is")
