"""How a tool's arguments are read: nothing is converted, and what cannot be read is told in the program's words."""

import pytest

from colonizer_server.arguments import Parameter, read
from colonizer_server.errors import ToolError
from colonizer_server.scope import Scope
from colonizer_server.tools import TOOLS, tools_at

PARAMETERS = (
    Parameter("id", "", required=True),
    Parameter("text", ""),
    Parameter("flag", "", "boolean"),
    Parameter("number", "", "u64"),
)

REFUSED: dict[str, dict[str, object]] = {
    "missing field `id`": {},
    "invalid type: null, expected a string": {"id": None},
    "invalid type: integer `3`, expected a string": {"id": 3},
    "invalid type: boolean `true`, expected a string": {"id": True},
    "invalid type: floating point `1.5`, expected a string": {"id": 1.5},
    "invalid type: sequence, expected a string": {"id": ["a"]},
    "invalid type: map, expected a string": {"id": {"a": 1}},
    'invalid type: string "5", expected u64': {"id": "a", "number": "5"},
    "invalid type: floating point `5.0`, expected u64": {"id": "a", "number": 5.0},
    "invalid type: floating point `1.8446744073709552e+19`, expected u64": {"id": "a", "number": 2**64},
    "invalid type: boolean `false`, expected u64": {"id": "a", "number": False},
    "invalid value: integer `-1`, expected u64": {"id": "a", "number": -1},
    "invalid type: integer `1`, expected a boolean": {"id": "a", "flag": 1},
    'invalid type: string "é\\"", expected a boolean': {"id": "a", "flag": 'é"'},
}


def test_what_is_left_out_or_null_is_not_there_and_what_has_no_parameter_is_ignored() -> None:
    given = read(PARAMETERS, {"id": "a", "text": None, "extra": [1], "number": 2**64 - 1})
    assert given.text("id") == "a"
    assert given.maybe_text("text") is None
    assert given.maybe_flag("flag") is None
    assert given.flag("flag") is False
    assert given.maybe_number("number") == 2**64 - 1


@pytest.mark.parametrize("words", REFUSED)
def test_what_cannot_be_read_is_told(words: str) -> None:
    with pytest.raises(ToolError) as refused:
        read(PARAMETERS, REFUSED[words])
    assert str(refused.value) == f"failed to deserialize parameters: {words}"


def test_each_scope_has_the_tools_of_those_below_it_in_the_order_of_their_names() -> None:
    assert [len(tools_at(scope)) for scope in Scope] == [6, 9, 10]
    names = [tool.name for tool in TOOLS]
    assert names == sorted(names)
