"""A plan that a person wrote down as JSON."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

import click

from colonizer_cli.failures import ExitCode, Failed
from colonizer_client.mothership import wire


def plan_in(file: Path) -> Mapping[str, object]:
    """The JSON object of a file, or of stdin where the file is `-`.

    Raises:
        Failed: It cannot be read or is no JSON object; of what is no JSON, where in it.
    """
    name = "stdin" if str(file) == "-" else str(file)

    def refuse(constant: str) -> NoReturn:
        raise Failed(f"{name}: JSON has no {constant}", ExitCode.USAGE)

    try:
        plan = wire.maybe_mapping(json.loads(_text(file, name), parse_constant=refuse))
    except json.JSONDecodeError as problem:
        where = f"line {problem.lineno}, column {problem.colno}"
        raise Failed(f"{name}, {where}: this is not JSON: {problem.msg}", ExitCode.USAGE) from None
    except (ValueError, RecursionError):
        raise Failed(f"{name}: this JSON is nested too deeply, or holds an endless number", ExitCode.USAGE) from None
    if plan is None:
        raise Failed(f"{name}: a plan is a JSON object: {{…}}", ExitCode.USAGE)
    return plan


def _text(file: Path, name: str) -> str:
    try:
        with click.open_file(str(file), "rb") as source:
            content: bytes = source.read()
    except OSError as problem:
        raise Failed(f"cannot read {name}: {problem.strerror or problem}", ExitCode.USAGE) from problem
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        *lines, last = content[: problem.start].split(b"\n")
        where = f"line {len(lines) + 1}, column {len(last) + 1}"
        raise Failed(f"{name}, {where}: this is not UTF-8", ExitCode.USAGE) from None
