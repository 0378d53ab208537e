import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonizer_config.toml_text import KeyPath, line_of, statements

TRICKY = '''\
a = 1 # [not] = a "header"
"b = c".'d' = [
  "]", # ]
  { e = "}" },
]
text = """
[not.a.header]
f = "still text\\"""
""""" # five quotes
raw = \'\'\'
[no] # \'\'\'

[[rows]]
x = 1
  [[rows]]
  y.z = { w = 2 }
[rows.inner]
v = """"quoted"""
["odd [name]"]
u = \'#\'
'''


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("a",), 1),
        (("b = c", "d"), 2),
        (("b = c",), 2),
        (("b = c", "d", 1, "e"), 2),
        (("text",), 6),
        (("raw",), 10),
        (("rows",), 13),
        (("rows", 0), 13),
        (("rows", 0, "x"), 14),
        (("rows", 1), 15),
        (("rows", 1, "y", "z", "w"), 16),
        (("rows", 1, "inner", "v"), 18),
        (("odd [name]", "u"), 20),
        (("odd [name]", "missing"), 19),
        (("missing",), None),
        ((), None),
    ],
)
def test_a_key_is_found_in_its_line(path: KeyPath, line: int | None) -> None:
    assert tomllib.loads(TRICKY)["rows"][1]["inner"] == {"v": '"quoted'}
    assert line_of(TRICKY, path) == line


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_statements_joined_are_the_text_and_lines_count_on(end: str) -> None:
    text = TRICKY.replace("\n", end)
    rows = statements(text)
    assert "".join(row.text for row in rows) == text
    assert [row.line for row in rows] == [1, 2, 6, 10, 12, 13, 14, 15, 16, 17, 18, 19, 20]


def test_a_text_without_a_last_line_end_keeps_its_last_statement() -> None:
    assert statements("a = 1\n[b]\nc = 2")[-1].path == ("b", "c")


VALUES = st.sampled_from(
    ['"]"', "'#'", '"""\n[x]\n"""', "[\n1, # [\n2]", "{ a = '}' }", "'''\n= '''", '"""a""""', "1e3"]
)
KEYS = st.sampled_from(["a", '"b = c"', "'[d]'", "e.f", '"#"', "g . h"])


@given(st.dictionaries(KEYS, VALUES), st.lists(st.sampled_from(["\n", "# x = [ \" '\n"])))
def test_every_entry_is_found_whatever_its_key_and_value_look_like(rows: dict[str, str], between: list[str]) -> None:
    gap = "".join(between)
    text = gap + gap.join(f"{key} = {value}\n" for key, value in rows.items())
    found = [row for row in statements(text) if row.is_entry]
    assert [row.text.rstrip("\n") for row in found] == [f"{key} = {value}" for key, value in rows.items()]
    for row in found:
        value = tomllib.loads(text)
        for key in row.path:
            value = value[str(key)]
        assert row.line == text[: text.index(row.text)].count("\n") + 1
