"""Links in texts from outside: what a browser may be given, and what is shown of where it leads."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonizer_tui.present.links import Link, link, links

PULL = "https://github.example/acme/widgets/pull/9"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"see {PULL}.", [PULL]),
        (f"({PULL}), and [{PULL}]({PULL})", [PULL]),
        ("https://a.example/x_(y) https://b.example/?q=1&r=2#top!", ["https://a.example/x_(y)", "https://b.example/?q=1&r=2#top"]),
        ("HTTP://A.example/Path", ["http://a.example/Path"]),
        ("no link here: ftp://a.example javascript:alert(1) file:///etc/passwd //a.example", []),
        ("`https://a.example`", ["https://a.example"]),
        ("https://a.example/a⟨U+202E⟩b", ["https://a.example/a"]),
        ("https://a.example/␛[2J", ["https://a.example/"]),
    ],
)  # fmt: skip
def test_the_links_of_a_text_are_found_without_the_signs_around_them(text: str, found: list[str]) -> None:
    assert [one.address for one in links(text)] == found


@pytest.mark.parametrize(
    "address",
    [
        "", "https://", "https:///path", "https://github.example@evil.example/", "https://user:word@evil.example/",
        "javascript:alert(1)", "file:///etc/passwd", "https://a.example\\@evil.example", "https://a b.example/",
        "https://a.example:port/", "https://a.example:99999/", "https://[::1", "https://a..example/", "--version",
        f"https://{'a' * 70}.example/",
    ],
)  # fmt: skip
def test_what_is_no_link_or_hides_where_it_leads_is_not_opened(address: str) -> None:
    assert link(address) is None


def test_a_plain_host_needs_no_warning() -> None:
    assert link("https://github.example:8443/x") == Link("https://github.example:8443/x", "github.example:8443")
    assert link("http://[::1]:80/") == Link("http://[::1]:80/", "[::1]:80")


@pytest.mark.parametrize("host", ["gіthub.example", "аррӏе.example", "bücher.example", "xn--bcher-kva.example"])
def test_a_host_of_other_letters_is_shown_in_ascii_and_said_to_be_one(host: str) -> None:
    found = link(f"https://{host}/x")
    assert found is not None
    assert found.host.startswith("xn--")
    assert found.address.isascii()
    assert found.letters in found.warning
    assert not found.letters.isascii()


def test_odd_letters_of_a_path_are_encoded_and_escapes_are_left() -> None:
    found = link("https://a.example/é%20x?q=ü#ß")
    assert found is not None
    assert found.address == "https://a.example/%C3%A9%20x?q=%C3%BC#%C3%9F"


@given(st.text())
def test_no_text_breaks_the_search_and_what_it_finds_is_safe_to_give_away(text: str) -> None:
    for one in links(f"https://{text} http://a.example/{text}"):
        assert one.address.isascii()
        assert one.address.isprintable()
        assert " " not in one.address
        assert one.address.startswith(("http://", "https://"))
        assert link(one.address) is not None
