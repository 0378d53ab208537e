from typing import Any

import pytest

from colonizer_client.errors import EmptyQuery
from colonizer_client.mothership.repository_map import search, source_paths, stored_map

COMPONENTS = [
    {
        "id": "api", "type": "service", "label": "HTTP API", "sublabel": "Axum",
        "sources": [{"path": "src/api/"}, {"path": "src/main.rs"}],
    },
    {"id": "db", "type": "store", "label": "Database", "sources": [{"path": "src/db"}]},
    {"id": "nameless", "sources": "none"},
    5,
]  # fmt: skip
CONNECTIONS = [{"from": "api", "to": "db", "label": "reads"}, {"from": "db", "to": "elsewhere"}, "odd"]
STORED = {"repo": "acme/widgets", "revision": "abc", "map": {"components": COMPONENTS, "connections": CONNECTIONS}}


def found(query: str) -> list[Any]:
    components: Any = search(STORED, query)["components"]
    return [component["id"] for component in components]


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("api", ["api"]),
        ("AXUM", ["api"]),
        ("store", ["db"]),
        (" database ", ["db"]),
        ("src/api/routes/x.rs", ["api"]),
        ("src/api", ["api"]),
        ("src/apis", []),
        ("src", ["api", "db"]),
        ("nothing", []),
    ],
)
def test_a_component_is_found_by_its_words_or_a_path_under_its_sources(query: str, ids: list[str]) -> None:
    assert found(query) == ids


def test_what_is_found_names_its_connections_by_their_labels() -> None:
    answer: Any = search(STORED, "database")
    assert (answer["repo"], answer["revision"], answer["query"]) == ("acme/widgets", "abc", "database")
    assert answer["components"][0]["connections"] == [
        {"from": "HTTP API", "to": "Database", "label": "reads"},
        {"from": "Database", "to": "elsewhere", "label": None},
    ]


@pytest.mark.parametrize("query", ["", "  \n"])
def test_an_empty_query_is_refused_in_the_published_words(query: str) -> None:
    with pytest.raises(EmptyQuery, match="the map search query is empty"):
        search(STORED, query)


def test_a_map_that_was_never_drawn_is_none() -> None:
    assert stored_map({"repo": "a/b", "map": None, "mapping": None}) is None
    assert stored_map({"map": STORED}) == STORED
    assert search({}, "x")["components"] == []
    assert source_paths({"sources": [{"path": "a"}, {}]}) == ["a", ""]
