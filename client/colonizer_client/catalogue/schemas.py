"""The schema of a tool's arguments: whether it is one, and whether given arguments keep to it."""

import importlib
import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from colonizer_client.mothership import wire
from colonizer_client.text import safe_line

SCHEMA_LIMIT_BYTES = 256 * 1024
ERRORS_TOLD = 3

_WORDS_LIMIT = 300
_DEFAULT_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def fault_of(schema: object) -> str:
    """Why no arguments can be checked against this, safe to show; empty for a sound schema."""
    fields = wire.maybe_mapping(schema)
    if fields is None:
        return "it has no schema of its arguments"
    if fields.get("type") != "object":
        return f"its schema is not one of an object: type is {_shown(fields.get('type'))}"
    if len(json.dumps(fields, default=str)) > SCHEMA_LIMIT_BYTES:
        return f"its schema has more than {SCHEMA_LIMIT_BYTES // 1024} KiB"
    try:
        error = next(_of_schemas(_dialect(fields)).iter_errors(fields), None)
    except RecursionError:
        return "its schema is nested beyond reason"
    if error is None:
        return ""
    place = "/".join(map(str, error.absolute_path))
    return safe_line(f"its schema is none: {place or 'it'}: {error.message}", limit=_WORDS_LIMIT)


def objection(schema: Mapping[str, object], arguments: Mapping[str, object]) -> str:
    """What of the arguments is not as the schema wants it, safe to show; empty where all is."""
    referencing = importlib.import_module("referencing.exceptions")
    validator = _checking(_dialect(schema))(schema, registry=_known_schemas())
    told: list[str] = []
    try:
        for error in validator.iter_errors(dict(arguments)):
            place = ".".join(map(str, error.absolute_path))
            told.append(safe_line(f"{place}: {error.message}" if place else error.message, limit=_WORDS_LIMIT))
            if len(told) == ERRORS_TOLD:
                break
    except referencing.Unresolvable as problem:
        return safe_line(f"its schema refers to what is not in it: {problem}", limit=_WORDS_LIMIT)
    except RecursionError:
        return "its schema refers to itself without end"
    return "; ".join(told)


def _dialect(schema: Mapping[str, object]) -> Any:
    named = {"$schema": wire.raw(schema.get("$schema")) or _DEFAULT_DIALECT}
    validators = _jsonschema().validators
    return validators.validator_for(named, default=validators.Draft202012Validator)


@cache
def _of_schemas(dialect: Any) -> Any:
    """What checks schemas of the dialect."""
    return dialect(dialect.META_SCHEMA, registry=_known_schemas())


@cache
def _checking(dialect: Any) -> Any:
    """The dialect without regular expressions: one of theirs could keep ours busy for ever. Their server checks it."""
    extra = dialect.VALIDATORS.get("additionalProperties")

    def unless_by_pattern(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[Any]:
        if "patternProperties" not in schema:
            yield from extra(validator, wanted, instance, schema)

    unchecked = dict.fromkeys(("pattern", "patternProperties", "unevaluatedProperties"), _unchecked)
    return _jsonschema().validators.extend(dialect, {**unchecked, "additionalProperties": unless_by_pattern})


def _unchecked(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[Any]:
    del validator, wanted, instance, schema
    return iter(())


@cache
def _jsonschema() -> Any:
    return importlib.import_module("jsonschema")  # loaded by who has a schema; it comes without types


@cache
def _known_schemas() -> Any:
    """The published dialects and nothing else: what a schema refers to elsewhere is not fetched."""
    return importlib.import_module("jsonschema_specifications").REGISTRY


def _shown(value: object) -> str:
    return safe_line(json.dumps(value, default=str), limit=60)
