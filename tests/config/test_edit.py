import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from colonizer_config.edit import SettingsEdit
from colonizer_config.errors import SettingsError
from colonizer_config.settings import EndpointName, EndpointSettings, Kind, Settings, load

HQ, SAFETY, NEW = EndpointName("hq"), EndpointName("safety"), EndpointName("new")
MOTHERSHIP = EndpointSettings(NEW, Kind.MOTHERSHIP, "new.example:7878", tags=("a", "b"))

WRITTEN_BY_HAND = """\
# My cockpit.

# Over the first host.
[[endpoints]]   # work
name = 'hq'     # the host
kind = "mothership"
address = "hq:7878"
# tags = ["x"]

# Over the kernel.
[[endpoints]]
  name = "safety"
  # How it is started.
  kind = "kernel"
  command = [
    "codomyrmex", # the program
    "mcp",
  ]

# Over the keys.
[keys]
answer = 'a'  # as in mail
# Over the face.
[ui]
ascii = true
"""


def opened(folder: Path, text: str) -> SettingsEdit:
    file = folder / "cockpit.toml"
    file.write_bytes(text.encode())
    return SettingsEdit(file)


def test_a_new_endpoint_comes_after_the_others_and_under_their_comments(tmp_path: Path) -> None:
    edit = opened(tmp_path, WRITTEN_BY_HAND)
    edit.add_endpoint(MOTHERSHIP)
    added = '\n[[endpoints]]\nname = "new"\nkind = "mothership"\naddress = "new.example:7878"\ntags = ["a", "b"]\n'
    assert edit.text == WRITTEN_BY_HAND.replace("\n\n# Over the keys.", f"\n{added}\n# Over the keys.")
    assert edit.settings.endpoints[-1] == MOTHERSHIP


def test_the_first_endpoint_comes_at_the_end_of_the_file(tmp_path: Path) -> None:
    edit = opened(tmp_path, "[ui]\nascii = true")
    edit.add_endpoint(EndpointSettings(NEW, Kind.MOTHERSHIP, "new"))
    assert edit.text == ('[ui]\nascii = true\n\n[[endpoints]]\nname = "new"\nkind = "mothership"\naddress = "new"\n')


def test_a_comment_right_under_the_last_endpoint_stays_with_it(tmp_path: Path) -> None:
    edit = opened(tmp_path, '[[endpoints]]\nname = "hq"\nkind = "mothership"\naddress = "hq"\n# tags = ["x"]\n')
    edit.add_endpoint(MOTHERSHIP)
    assert edit.text.index('# tags = ["x"]') < edit.text.index('name = "new"')


def test_only_the_values_that_differ_are_replaced(tmp_path: Path) -> None:
    edit = opened(tmp_path, WRITTEN_BY_HAND)
    edit.replace_endpoint(HQ, EndpointSettings(HQ, Kind.MOTHERSHIP, "hq:80"))
    edit.replace_endpoint(SAFETY, EndpointSettings(SAFETY, Kind.KERNEL, command=("codomyrmex", "mcp"), env=("A",)))
    assert edit.text == WRITTEN_BY_HAND.replace("hq:7878", "hq:80").replace("  ]\n", '  ]\n  env = ["A"]\n')


def test_a_value_that_an_endpoint_no_longer_has_is_taken_out(tmp_path: Path) -> None:
    edit = opened(tmp_path, WRITTEN_BY_HAND)
    edit.replace_endpoint(SAFETY, EndpointSettings(SAFETY, Kind.KERNEL, "https://k.example/mcp"))
    command = '  command = [\n    "codomyrmex", # the program\n    "mcp",\n  ]\n'
    assert edit.text == WRITTEN_BY_HAND.replace(command, '  address = "https://k.example/mcp"\n')


def test_an_empty_value_that_stands_in_the_file_stays(tmp_path: Path) -> None:
    text = '[[endpoints]]\nname = "hq"\nkind = "mothership"\naddress = "hq"\ntags = []\n'
    edit = opened(tmp_path, text)
    edit.replace_endpoint(HQ, EndpointSettings(HQ, Kind.MOTHERSHIP, "hq"))
    assert edit.text == text


def test_the_default_follows_the_new_name_of_its_endpoint(tmp_path: Path) -> None:
    edit = opened(tmp_path, f"default_endpoint = 'hq' # mine\n{WRITTEN_BY_HAND}")
    edit.replace_endpoint(HQ, EndpointSettings(NEW, Kind.MOTHERSHIP, "hq:7878"))
    assert edit.text == f'default_endpoint = "new" # mine\n{WRITTEN_BY_HAND}'.replace("name = 'hq' ", 'name = "new" ')


def test_the_bridge_follows_the_new_name_of_its_kernel_which_cannot_be_removed(tmp_path: Path) -> None:
    bridge = "\n[kernel]\nbridge = 'safety' # mine\n"
    edit = opened(tmp_path, WRITTEN_BY_HAND + bridge)
    with pytest.raises(SettingsError, match="outcomes of colonies are offered for safety"):
        edit.remove_endpoint(SAFETY)
    edit.replace_endpoint(SAFETY, replace(edit.endpoint(SAFETY), name=NEW))
    assert edit.settings.kernel.bridge == NEW
    assert edit.text.endswith('bridge = "new" # mine\n')


def test_a_removed_endpoint_leaves_the_comments_over_and_under_it(tmp_path: Path) -> None:
    edit = opened(tmp_path, WRITTEN_BY_HAND)
    edit.remove_endpoint(SAFETY)
    before, _, rest = WRITTEN_BY_HAND.partition("[[endpoints]]\n  name")
    assert edit.text == before + rest.partition("  ]\n")[2]


def test_removing_the_only_endpoint_leaves_no_trace(tmp_path: Path) -> None:
    edit = opened(tmp_path, "[ui]\nascii = true\n")
    edit.add_endpoint(MOTHERSHIP)
    edit.remove_endpoint(NEW)
    assert edit.text == "[ui]\nascii = true\n"


def test_endpoints_that_are_apart_in_the_file_are_told_apart(tmp_path: Path) -> None:
    one, other = (f'[[endpoints]]\nname = "{n}"\nkind = "mothership"\naddress = "{n}"\n' for n in ("hq", "safety"))
    edit = opened(tmp_path, f"{one}[ui]\nascii = true\n{other}")
    edit.replace_endpoint(SAFETY, EndpointSettings(SAFETY, Kind.MOTHERSHIP, "safety:80"))
    edit.remove_endpoint(HQ)
    assert edit.text == f"[ui]\nascii = true\n{other}".replace('address = "safety"', 'address = "safety:80"')


def test_endpoints_in_an_inline_array_are_changed_there(tmp_path: Path) -> None:
    text = (
        "endpoints = [ # all\n"
        "  { name = 'hq', kind = 'mothership', address = 'hq' }, # one\n"
        "  { name = 'safety', kind = 'mothership', address = 'safety' }, # two\n"
        "]\n"
    )
    edit = opened(tmp_path, text)
    edit.replace_endpoint(SAFETY, EndpointSettings(SAFETY, Kind.MOTHERSHIP, "safety:80", tags=("x",)))
    edit.add_endpoint(MOTHERSHIP)
    edit.remove_endpoint(HQ)
    assert [row.address for row in edit.settings.endpoints] == ["safety:80", "new.example:7878"]
    assert edit.settings.endpoints[0].tags == ("x",)
    assert "# all" in edit.text
    assert "# two" in edit.text


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("", 'default_endpoint = "mothership"\n'),
        ("# Mine.\n", '# Mine.\n\ndefault_endpoint = "mothership"\n'),
        ("# Mine.\n\n[ui]\n", '# Mine.\n\ndefault_endpoint = "mothership"\n\n[ui]\n'),
        ("# Mine.\n\n# Face.\n[ui]\n", '# Mine.\n\ndefault_endpoint = "mothership"\n\n# Face.\n[ui]\n'),
        ("# Face.\n[ui]", 'default_endpoint = "mothership"\n\n# Face.\n[ui]'),
        ("ui.ascii = true\n[mcp]\n", 'ui.ascii = true\ndefault_endpoint = "mothership"\n[mcp]\n'),
        ("'default_endpoint'='local'# x\n", "'default_endpoint'=\"mothership\"# x\n"),
    ],
)
def test_the_default_endpoint_is_written_over_the_first_table(tmp_path: Path, text: str, after: str) -> None:
    edit = opened(tmp_path, text)
    edit.set_default_endpoint(EndpointName("mothership"))
    assert edit.text == after
    assert edit.settings.default_endpoint == "mothership"


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("", '[keys]\nstop = "s"\n'),
        ("[ui]\nascii = true", '[ui]\nascii = true\n\n[keys]\nstop = "s"\n'),
        ("[keys]\n# None yet.\n[ui]\n", '[keys]\nstop = "s"\n# None yet.\n[ui]\n'),
        ("[keys]\n  a = 'b'\n\n# Face.\n[ui]\n", "[keys]\n  a = 'b'\n  stop = \"s\"\n\n# Face.\n[ui]\n"),
        ("keys.a = 'b'\n[ui]\n", "keys.a = 'b'\nkeys.stop = \"s\"\n[ui]\n"),
        ("keys = { a = 'b' } # all\n", "keys = { a = 'b', stop = \"s\"} # all\n"),
        ("keys = {}\n", 'keys = {stop = "s"}\n'),
        ("[keys]\n'stop' = 'x' # y\na = 'b'\n", "[keys]\n'stop' = \"s\" # y\na = 'b'\n"),
        ("keys.stop = 'x'\n", 'keys.stop = "s"\n'),
        ("keys = { stop = 'x' }\n", 'keys = { stop = "s" }\n'),
        ("[keys]\r\na = 'b' # c\r\n", "[keys]\r\na = 'b' # c\r\nstop = \"s\"\r\n"),
    ],
)
def test_a_key_is_set_in_the_way_the_file_writes_its_keys(tmp_path: Path, text: str, after: str) -> None:
    edit = opened(tmp_path, text)
    edit.set_key("stop", "s")
    assert tomllib.loads(edit.text) == tomllib.loads(after)
    assert edit.text == after


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("[keys]\nstop = 'x' # y\n# z\na = 'b'\n", "[keys]\n# z\na = 'b'\n"),
        ("keys.stop = 'x'\nkeys.a = 'b'\n", "keys.a = 'b'\n"),
        ("keys = {stop = 'x', a = 'b' } # all\n", "keys = { a = 'b' } # all\n"),
        ("[keys]\na = 'b'\n", "[keys]\na = 'b'\n"),
    ],
)
def test_an_action_gets_its_own_key_back(tmp_path: Path, text: str, after: str) -> None:
    edit = opened(tmp_path, text)
    edit.set_key("stop", None)
    assert edit.text == after


@pytest.mark.parametrize("key", ['"', "\\", "ctrl+ü", "'", "#", "="])
@pytest.mark.parametrize("action", ["stop", "next thing", 'a"b', "a.b", "ü", "#"])
def test_an_action_and_a_key_of_any_characters_are_written_as_they_are(tmp_path: Path, action: str, key: str) -> None:
    edit = opened(tmp_path, WRITTEN_BY_HAND)
    edit.set_key(action, key)
    edit.set_key(action, "x")
    edit.set_key(action, key)
    assert edit.settings.keys == {"answer": "a", action: key}


def test_a_change_that_would_make_the_file_wrong_is_refused_and_leaves_the_text_alone(tmp_path: Path) -> None:
    edit = opened(tmp_path, f"default_endpoint = 'hq'\n{WRITTEN_BY_HAND}")
    before = edit.text
    with pytest.raises(SettingsError, match="another endpoint with the name HQ"):
        edit.add_endpoint(EndpointSettings(EndpointName("HQ"), Kind.MOTHERSHIP, "x"))
    with pytest.raises(SettingsError, match="the name local is reserved"):
        edit.replace_endpoint(HQ, EndpointSettings(EndpointName("local"), Kind.MOTHERSHIP, "x"))
    with pytest.raises(SettingsError, match="may not hold a user name"):
        edit.add_endpoint(EndpointSettings(NEW, Kind.MOTHERSHIP, "http://me:x@hq"))
    with pytest.raises(SettingsError, match="has to be a mothership"):
        edit.set_default_endpoint(SAFETY)
    with pytest.raises(SettingsError, match="there is no endpoint new"):
        edit.set_default_endpoint(NEW)
    with pytest.raises(SettingsError, match="hq is the default endpoint"):
        edit.remove_endpoint(HQ)
    with pytest.raises(SettingsError, match="there is no endpoint new"):
        edit.remove_endpoint(NEW)
    with pytest.raises(SettingsError, match="must be a string in one line"):
        edit.set_key("stop", "a\nb")
    assert edit.text == before


def test_a_text_that_could_not_be_read_again_is_refused(tmp_path: Path) -> None:
    edit = opened(tmp_path, WRITTEN_BY_HAND)
    with pytest.raises(SettingsError, match="would become larger than 256 KiB"):
        edit.set_key("stop", "s" * 300_000)
    with pytest.raises(SettingsError, match="a character that no text file can hold"):
        edit.add_endpoint(EndpointSettings(NEW, Kind.MCP, command=("x", "\udcff")))
    assert edit.text == WRITTEN_BY_HAND


def test_a_command_of_any_text_is_written_as_it_is(tmp_path: Path) -> None:
    command = ("sh", "-c", "a\n\t\"b\" \\ 'c' \x1b\x7f\u202e# = [", "")
    edit = opened(tmp_path, WRITTEN_BY_HAND)
    edit.add_endpoint(EndpointSettings(NEW, Kind.MCP, command=command))
    edit.save()
    assert load(tmp_path / "cockpit.toml").endpoints[-1].command == command
    assert "\x1b" not in edit.text


@pytest.mark.parametrize("text", ["a = ", "[ui]\nascii = 1\n", "[uii]\n"])
def test_a_file_with_a_fault_is_not_opened_for_a_change(tmp_path: Path, text: str) -> None:
    with pytest.raises(SettingsError, match=r"cockpit\.toml, line"):
        opened(tmp_path, text)


OUTSIDE = st.lists(st.sampled_from(["", "# outside [x]", "  # outside = '"]), max_size=3)
COMMENTS = st.lists(st.sampled_from(["", "# = [ { \" '", "  # a comment, indented", "#[keys]"]), max_size=3)
STRINGS = st.sampled_from(["'{}'", '"{}"', "'''{}'''", '"""\\\n  {}"""'])
TAILS = st.sampled_from(["", " # tail", "  #[x] = '"])


@st.composite
def hand_written(draw: st.DrawFn) -> str:
    """A settings file as people write them: sections in any order, comments anywhere, strings in any notation."""

    def entry(key: str, value: str) -> str:
        return f"{draw(st.sampled_from(['', '  ']))}{key} = {draw(STRINGS).format(value)}{draw(TAILS)}"

    def section(header: str, entries: Sequence[str]) -> list[str]:
        return [f"{header}{draw(TAILS)}", *(line for row in entries for line in [*draw(COMMENTS), row])]

    hosts = draw(st.lists(st.sampled_from(["a", "b", "c"]), unique=True))
    sections = [
        section("[[endpoints]]", [entry("name", host), entry("kind", "mothership"), entry("address", f"{host}:1")])
        for host in hosts
    ]
    keys = [entry(action, "x") for action in draw(st.lists(st.sampled_from(["stop", "'go on'", "up"]), unique=True))]
    style = draw(st.sampled_from(["table", "dotted", "none"]))
    if style == "table":
        sections.append(section("[keys]", keys))
    if draw(st.booleans()):
        sections.append(section("[ui]", ["ascii = true"]))
    top = [entry("default_endpoint", "local")] if draw(st.booleans()) else []
    top += [f"keys.{row.lstrip()}" for row in keys] if style == "dotted" else []
    lines = [*draw(OUTSIDE), *(line for row in top for line in [row, *draw(OUTSIDE)])]
    for rows in draw(st.permutations(sections)):
        lines += [*rows, *draw(OUTSIDE)]
    return "\n".join(lines) + draw(st.sampled_from(["", "\n"]))


def common_start(lines: Sequence[str], others: Sequence[str]) -> int:
    return next((i for i, (one, other) in enumerate(zip(lines, others, strict=False)) if one != other), len(others))


def without(lines: Sequence[str], others: Sequence[str]) -> list[str] | None:
    """What is left of `lines` when `others` are taken out in their order; None where they are not all there."""
    wanted, left = list(others), list[str]()
    for line in lines:
        if wanted and line == wanted[0]:
            wanted.pop(0)
        else:
            left.append(line)
    return None if wanted else left


@given(text=hand_written(), action=st.sampled_from(["stop", "go on", "new one"]))
def test_setting_a_key_changes_one_line_or_adds_lines_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, text: str, action: str
) -> None:
    edit = opened(tmp_path_factory.mktemp("edit"), text)
    before = edit.settings
    edit.set_key(action, "f5")
    edit.save()
    assert edit.settings.keys == {**before.keys, action: "f5"}
    assert (edit.settings.endpoints, edit.settings.ui) == (before.endpoints, before.ui)
    old, new = text.splitlines(), edit.text.splitlines()
    if action not in before.keys:
        added = without(new, old)
        assert added is not None
        assert len([line for line in added if line]) <= 2
    else:
        over = common_start(old, new)
        under = common_start(old[over:][::-1], new[over:][::-1])
        assert len(new) - over - under == 1
        assert len(old) - over - under <= 2  # a string may go over two lines


@given(text=hand_written())
def test_an_endpoint_that_is_added_adds_lines_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    edit = opened(tmp_path_factory.mktemp("edit"), text)
    before = edit.settings
    edit.add_endpoint(MOTHERSHIP)
    edit.save()
    assert edit.settings.endpoints == (*before.endpoints, MOTHERSHIP)
    assert (edit.settings.keys, edit.settings.ui) == (before.keys, before.ui)
    added = without(edit.text.splitlines(), text.splitlines())
    assert added is not None
    assert len([line for line in added if line]) == 5


@given(text=hand_written())
def test_a_removed_endpoint_takes_its_own_lines_away_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    folder = tmp_path_factory.mktemp("edit")
    edit = opened(folder, text)
    before = edit.settings
    for endpoint in before.endpoints:
        lines = edit.text.splitlines()
        edit.remove_endpoint(endpoint.name)
        assert without(lines, edit.text.splitlines()) is not None
    edit.save()
    assert edit.settings == Settings(before.default_endpoint, keys=before.keys, ui=before.ui)
    assert load(folder / "cockpit.toml") == edit.settings
    assert edit.text.count("# outside") == text.count("# outside")
