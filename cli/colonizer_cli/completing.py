"""What a shell offers while a person types: ids of colonies and names of hosts, from what is known without asking."""

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

import click
from click.shell_completion import CompletionItem

from colonizer_cli.seen import SeenColonies
from colonizer_config.endpoints import Endpoint, known_endpoints, known_kernels
from colonizer_config.errors import ConfigError
from colonizer_config.paths import Paths
from colonizer_config.settings import load_or_default

Item: TypeAlias = "CompletionItem[Any]"


def colonies(context: click.Context, parameter: click.Parameter, typed: str) -> list[Item]:
    """Ids that begin so; with their host before them where one was begun."""
    del context, parameter
    try:
        paths = Paths.from_environment()
        return [item for item in _colonies(paths, is_named="/" in typed) if str(item.value).startswith(typed)]
    except ConfigError:
        return []


def hosts(context: click.Context, parameter: click.Parameter, typed: str) -> list[Item]:
    """Names of endpoints that begin so."""
    del context, parameter
    try:
        names = [endpoint.name for endpoint in _endpoints(Paths.from_environment())]
    except ConfigError:
        return []
    return [CompletionItem(name) for name in names if name.startswith(typed)]


def kernels(context: click.Context, parameter: click.Parameter, typed: str) -> list[Item]:
    """Names of kernels that begin so."""
    del context, parameter
    try:
        paths = Paths.from_environment()
        names = [kernel.name for kernel in known_kernels(paths, load_or_default(paths.settings).settings)]
    except ConfigError:
        return []
    return [CompletionItem(name) for name in names if name.startswith(typed)]


def _colonies(paths: Paths, *, is_named: bool) -> Iterator[Item]:
    seen = SeenColonies(paths)
    for endpoint in _endpoints(paths):
        for name, state in seen.of(endpoint.name).items():
            yield CompletionItem(f"{endpoint.name}/{name}" if is_named else name, help=state.replace("_", " ") or None)


def _endpoints(paths: Paths) -> Iterable[Endpoint]:
    return known_endpoints(paths, load_or_default(paths.settings).settings)
