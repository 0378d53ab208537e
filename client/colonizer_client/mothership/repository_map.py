"""The architecture map of a repository: its parts, and the search in them that commands and agents share (spec 5.4)."""

from collections.abc import Mapping, Sequence

from colonizer_client.errors import EmptyQuery
from colonizer_client.mothership import wire


def stored_map(reply: object) -> Mapping[str, object] | None:
    """The stored map (`repo`, `revision`, `map`, …) in the answer of a mothership, None where none was drawn."""
    return wire.maybe_mapping(wire.mapping(reply).get("map"))


def search(stored: Mapping[str, object], query: str) -> Mapping[str, object]:
    """The components that match, raw: `{repo, revision, query, components}`.

    A component matches by a part of its label, id, type, second label or source path, or by a path that lies under
    one of its sources.

    Raises:
        EmptyQuery: The query is empty.
    """
    query = query.strip()
    if not query:
        raise EmptyQuery("the map search query is empty")
    drawn = wire.mapping(stored.get("map"))
    components = list(map(wire.mapping, wire.sequence(drawn.get("components"))))
    connections = list(map(wire.mapping, wire.sequence(drawn.get("connections"))))
    labels = {wire.raw(component.get("id")): component.get("label") for component in components}
    return {
        "repo": stored.get("repo"),
        "revision": stored.get("revision"),
        "query": query,
        "components": [
            _found(component, connections, labels) for component in components if _matches(component, query.lower())
        ],
    }


def source_paths(component: Mapping[str, object]) -> Sequence[str]:
    """The paths of a component's sources, as they came."""
    return [wire.raw(source.get("path")) for source in map(wire.mapping, wire.sequence(component.get("sources")))]


def _matches(component: Mapping[str, object], query: str) -> bool:
    paths = [path.lower() for path in source_paths(component)]
    words = [wire.raw(component.get(key)).lower() for key in ("id", "label", "sublabel", "type")]
    return any(query in word for word in (*words, *paths)) or any(
        query == folder or query.startswith(f"{folder}/") for folder in (path.rstrip("/") for path in paths)
    )


def _found(
    component: Mapping[str, object], connections: Sequence[Mapping[str, object]], labels: Mapping[str, object]
) -> Mapping[str, object]:
    own = wire.raw(component.get("id"))
    touching = [each for each in connections if own and own in (each.get("from"), each.get("to"))]
    return {
        **{key: component.get(key) for key in ("id", "label", "type", "sublabel", "sources")},
        "connections": [
            {
                **{key: labels.get(wire.raw(each.get(key))) or each.get(key) for key in ("from", "to")},
                "label": each.get("label"),
            }
            for each in touching
        ],
    }
