"""`colonizer map`: the architecture of a repository as text."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import click

from colonizer_cli import output
from colonizer_cli.failures import ExitCode, Failed, Negative
from colonizer_cli.options import GlobalOptions, PlainCommand
from colonizer_cli.targets import Targets
from colonizer_client.mothership import calls, wire
from colonizer_client.mothership.repository_map import search, stored_map
from colonizer_client.text import safe_line

Fields = Mapping[str, object]


@click.command("map", cls=PlainCommand)
@click.argument("repo", metavar="OWNER/REPO")
@click.option("--find", metavar="QUERY", help="Only the parts that match: a label, id, type or source path.")
@click.pass_obj
def repository_map(options: GlobalOptions, repo: str, find: str | None) -> None:
    """Print a repository's architecture map as an outline, or search in it."""
    if "/" not in repo:
        raise Failed(f'the repository is owner/repo (got "{safe_line(repo)}")')
    stored = stored_map(Targets(options).one().ask(calls.repository_map(repo)))
    if stored is None:
        words = f"no map for {safe_line(repo)} yet: draw one from the cockpit's Map view"
        raise Negative(words, ExitCode.ABSENT)
    shown = stored if find is None else search(stored, find)
    if options.as_json:
        output.show_json(shown)
        return
    for line in _outline(stored) if find is None else _parts(_rows(shown.get("components"))):
        output.say(line)


def _outline(stored: Fields) -> Iterator[str]:
    drawn = wire.mapping(stored.get("map"))
    subtitle = wire.line(drawn.get("subtitle"))
    yield (wire.line(drawn.get("title")) or "Architecture") + (f" — {subtitle}" if subtitle else "")
    if revision := wire.line(stored.get("revision")):
        yield f"revision {revision}"
    components = _rows(drawn.get("components"))
    placed = set[str]()
    for boundary in _rows(drawn.get("boundaries")):
        wraps = {wire.raw(part) for part in wire.sequence(boundary.get("wraps"))} - placed
        inside = [part for part in components if wire.raw(part.get("id")) in wraps]
        if label := wire.line(boundary.get("label")) if inside else "":
            yield from ("", f"{label}:", *_parts(inside))
            placed |= wraps
    outside = [part for part in components if wire.raw(part.get("id")) not in placed]
    if placed and outside:
        yield ""
    yield from _parts(outside)
    yield from _connections(components, _rows(drawn.get("connections")))


def _connections(components: Iterable[Fields], connections: Sequence[Fields]) -> Iterator[str]:
    labels = {wire.raw(part.get("id")): wire.line(part.get("label")) for part in components}
    if connections:
        yield ""
    for connection in connections:
        ends = (wire.raw(connection.get(key)) for key in ("from", "to"))
        start, end = (labels.get(part) or safe_line(part) for part in ends)
        label = wire.line(connection.get("label"))
        yield f"{start} → {end}" + (f"  {label}" if label else "")


def _parts(components: Iterable[Fields]) -> Iterator[str]:
    """Each component with its sources."""
    for part in components:
        name = wire.line(part.get("label")) or wire.line(part.get("id")) or "?"
        second = part.get("sublabel")
        tail = f" — {wire.line(second)}" if isinstance(second, str) else ""
        yield f"{name} ({wire.line(part.get('type')) or '?'}){tail}"
        for source in _rows(part.get("sources")):
            line = wire.integer(source.get("line"))
            yield f"    {wire.line(source.get('path'))}" + ("" if line is None else f":{line}")


def _rows(value: object) -> list[Fields]:
    return list(map(wire.mapping, wire.sequence(value)))
