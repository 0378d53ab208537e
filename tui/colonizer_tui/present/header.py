"""The first line: where you are, what needs you, how the hosts are, what it cost today."""

from collections.abc import Sequence

from colonizer_client.snapshot import EndpointState, Health
from colonizer_config.value import Value
from colonizer_tui.present import words
from colonizer_tui.present.line import Line, Span, line, spread, width_of
from colonizer_tui.present.states import Glyphs
from colonizer_tui.present.view import View


class Tab(Value):
    """A workspace's place in the header."""

    key: str
    title: str
    is_shown: bool
    count: int = 0
    """What waits there for the person."""
    unsure: int = 0
    """What waited there on hosts that do not answer now."""
    label: str = ""
    """The letters to jump there, in the place of the key."""


def header(tabs: Sequence[Tab], view: View, width: int, glyphs: Glyphs) -> Line:
    """The header, its less urgent parts left out where there is no room."""
    left = [Span(" colonizer ", "strong")]
    for tab in tabs:
        count = f" {tab.count}" if tab.count else ""
        unsure = f" +{tab.unsure}?" if tab.unsure else ""
        role = "tab-on" if tab.is_shown else "tab-off"
        key = Span(f" {tab.key} ", "tab-on" if tab.is_shown else "dim")
        label: Line = (Span(tab.label, "jump"), Span(" " * (len(key.text) - len(tab.label)), role))
        left += [*(label if tab.label else (key,)), Span(tab.title, role)]
        left.append(Span(count, "tab-count" if tab.is_shown else "attention-strong"))
        left.append(Span(unsure, role))
        left.append(Span(" ", role))
    hosts = tuple(piece for state in view.snapshot.endpoints.values() for piece in _host(state, view.now, glyphs))
    hosts = (*hosts, Span(" "))
    money, (short, shortest) = _money(view), _hosts_in_short(view, glyphs)
    is_well = all(state.health is Health.LIVE and not state.notice for state in view.snapshot.endpoints.values())
    ways = ((*hosts, *money), hosts, (*short, *money), (is_well and money) or short)
    room = width - width_of(left) - 1
    right = next((way for way in ways if width_of(way) <= room), shortest)
    return spread(tuple(left), right, width)


def _host(state: EndpointState, now: float, glyphs: Glyphs) -> Line:
    if state.health is Health.LIVE and state.notice:
        return Span(f"  {state.name} ", "attention"), Span(glyphs["live"], "attention"), Span(" check", "attention")
    if state.health is Health.LIVE:
        slow = "" if state.is_local or state.latency_s is None else f" {state.latency_s * 1000:.0f}ms"
        return Span(f"  {state.name} ", "muted"), Span(glyphs["live"], "ok"), Span(slow, "muted")
    if state.health is Health.SIGNED_OUT:
        return Span(f"  {state.name} ", "danger"), Span(glyphs["no"], "danger"), Span(" signed out", "danger")
    if state.health is Health.CONNECTING and not state.error:
        return Span(f"  {state.name} ", "muted"), Span(glyphs["underway"], "active")
    since = state.as_of if state.as_of is not None else state.since
    age = f" {words.age(now - since)}" if since else ""
    return Span(f"  {state.name} ", "attention"), Span(glyphs["silent"], "attention"), Span(age, "attention")


def _hosts_in_short(view: View, glyphs: Glyphs) -> tuple[Line, Line]:
    """How the hosts are together, and the same in still fewer letters."""
    states = view.snapshot.endpoints.values()
    down = sum(state.health is not Health.LIVE for state in states)
    if down:
        told = f"{glyphs['silent']} {down} of {len(states)} hosts"
        return (Span(f"{told} down ", "attention"),), (Span(f"{told} ", "attention"),)
    odd = sum(bool(state.notice) for state in states)
    if odd:
        check = Span(f"{glyphs['live']} check ", "attention")
        return (check, Span(f"{words.count(odd, 'host')} ", "attention")), (check,)
    sign = Span(f"{glyphs['live']} ", "ok")
    return (sign, Span(f"{words.count(len(states), 'host')} ", "muted")), (sign,)


def _money(view: View) -> Line:
    if not view.cost_today_usd:
        return ()
    at_least = "≥" if view.cost_is_partial else ""
    return line(Span(f" {at_least}{words.dollars(view.cost_today_usd)} today ", "muted"))


SMALLEST = (40, 10)
"""Columns and rows below which there is no room for anything but one line that says so."""

TOO_SMALL = line(Span(f"too small: {SMALLEST[0]}×{SMALLEST[1]} at least; ctrl+q leaves", "muted"))


def is_too_small(size: tuple[int, int]) -> bool:
    """Whether there is room for nothing else in so many columns and rows."""
    return size[0] < SMALLEST[0] or size[1] < SMALLEST[1]
