"""The URIs of resources: what needs a person, and each colony with its question, diff and transcript."""

from enum import StrEnum
from urllib.parse import quote, unquote

from colonizer_client.identity import ColonyId, ColonyKey, EndpointName
from colonizer_server.errors import UnknownResource

NEEDS_YOU = "needs-you://"

_SCHEME = "colony://"


class Aspect(StrEnum):
    """What of a colony a resource tells; the value is the end of its URI."""

    STATUS = ""
    QUESTION = "question"
    DIFF = "diff"
    TRANSCRIPT = "transcript"


def uri_of(key: ColonyKey, aspect: Aspect = Aspect.STATUS) -> str:
    """The URI of one aspect of a colony."""
    parts = (quote(key.endpoint, safe=":"), quote(key.colony, safe=""), aspect.value)
    return _SCHEME + "/".join(filter(None, parts))


def template_of(endpoint: EndpointName, aspect: Aspect) -> str:
    """The URI template of one aspect of all colonies of an endpoint."""
    return _SCHEME + "/".join(filter(None, (quote(endpoint, safe=":"), "{id}", aspect.value)))


def colony_named(uri: str, endpoint: EndpointName) -> tuple[ColonyKey, Aspect]:
    """Which aspect of which colony a URI names.

    Raises:
        UnknownResource: None of this endpoint's.
    """
    parts = uri.removeprefix(_SCHEME).split("/")
    aspects = {aspect.value: aspect for aspect in Aspect}
    if uri.startswith(_SCHEME) and len(parts) in (2, 3):
        where, colony, aspect = unquote(parts[0]), unquote(parts[1]), aspects.get("".join(parts[2:]))
        if where == endpoint and colony and aspect is not None and uri == uri_of(key := _key(where, colony), aspect):
            return key, aspect
    raise UnknownResource("no such resource; resources/templates/list tells what there is")


def _key(endpoint: str, colony: str) -> ColonyKey:
    return ColonyKey(EndpointName(endpoint), ColonyId(colony))
