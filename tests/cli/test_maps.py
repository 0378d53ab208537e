"""`map`: a repository's architecture as text, and the search in it (spec 5.4, 7.2)."""

import json
from collections.abc import Sequence

import pytest

from plain_command import Done, colonizer
from scripted_mothership import Reply, scripted_mothership

Json = dict[str, object]


def component(name: str, **more: object) -> Json:
    return {"id": name, "label": name.upper(), "type": "backend", **more}


def drawn(*argv: str, **parts: object) -> Done:
    stored = {"repo": "a/b", "revision": "r1", "map": parts}
    with scripted_mothership({("GET", "/api/maps/a/b"): Reply.json({"repo": "a/b", "map": stored})}) as mothership:
        return colonizer("map", "a/b", *argv, COLONIZER_BIND=mothership.host, COLONIZER_TOKEN="t")


def test_components_stand_under_the_first_boundary_that_wraps_them() -> None:
    done = drawn(
        title="T",
        subtitle="S",
        components=[component("web"), component("api"), component("db")],
        boundaries=[
            {"label": "One", "wraps": ["web"]},
            {"label": "Two", "wraps": ["web", "api"]},
            {"label": "Empty", "wraps": ["nobody"]},
            {"wraps": ["db"]},
        ],
    )
    assert done == Done(
        0,
        "T — S\nrevision r1\n\nOne:\nWEB (backend)\n\nTwo:\nAPI (backend)\n\nDB (backend)\n",
        "",
    )


def test_sources_have_their_lines_and_connections_their_labels() -> None:
    done = drawn(
        components=[component("web", sublabel="React", sources=[{"path": "w", "line": 3}, {"path": "src/"}])],
        connections=[{"from": "web", "to": "gone"}, {"from": "gone", "to": "web", "label": "calls"}],
    )
    assert done.stdout == (
        "Architecture\nrevision r1\nWEB (backend) — React\n    w:3\n    src/\n\nWEB → gone\ngone → WEB  calls\n"
    )


ODD: list[Json] = [
    {"components": [{"id": ["odd"]}, "no object", None], "connections": [{"from": ["odd"]}, 1]},
    {"components": {}, "boundaries": [{"label": "B", "wraps": [{}, None]}, 1]},
    {},
]


@pytest.mark.parametrize("parts", ODD)
def test_a_map_of_another_shape_is_drawn_as_far_as_it_goes(parts: Json) -> None:
    assert drawn(**parts).exit == 0
    assert drawn("--find", "x", **parts).exit == 0
    assert drawn("--find", "x", "--json", **parts).exit == 0


def found(query: str, components: Sequence[Json]) -> list[str]:
    done = drawn("--find", query, "--json", components=components, connections=[])
    return [row["id"] for row in json.loads(done.stdout)["components"]]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("WEB", ["web"]),
        ("act", ["web"]),
        ("back", ["web", "api"]),
        ("src", ["web", "api"]),
        ("src/app/main.py", ["web"]),
        (" src/app ", ["web"]),
        ("src/application", []),
        ("nothing", []),
    ],
)
def test_a_component_is_found_by_its_words_and_by_what_lies_under_its_sources(query: str, names: list[str]) -> None:
    web = component("web", sublabel="React", sources=[{"path": "src/app/"}])
    api = component("api", sources=[{"path": "src/api.py"}])
    assert found(query, [web, api]) == names


def test_an_empty_search_is_refused() -> None:
    assert drawn("--find", " ") == Done(1, "", "colonizer: the map search query is empty\n")
