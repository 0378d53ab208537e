"""Numbers as a person reads them: short ages, money, clock times."""

from datetime import datetime

UNKNOWN = "—"

_UNITS = ((60, "s"), (90, "m"), (48, "h"), (14, "d"))
"""Below which number a unit is used: 89 minutes say more than one hour."""

_SIZES = {"s": 60, "m": 60, "h": 24, "d": 7}


def age(seconds: float) -> str:
    """How long ago, in one unit: `4s`, `3m`, `2h`, `4d`, `3w`. What lies in the future is `0s`."""
    left = max(int(seconds), 0)
    for limit, unit in _UNITS:
        if left < limit:
            return f"{left}{unit}"
        left //= _SIZES[unit]
    return f"{left}w"


def duration(seconds: float) -> str:
    """How long, in two units at the most: `45 s`, `12 min`, `1 h`, `3 h 5 min`, `2 d 4 h`."""
    left = max(int(seconds), 0)
    if left < 60:
        return f"{left} s"
    units = ((left // 86_400, "d"), (left // 3600 % 24, "h"), (left // 60 % 60, "min"))
    largest = next(place for place, (number, _) in enumerate(units) if number)
    return " ".join(f"{number} {unit}" for number, unit in units[largest : largest + 2] if number)


def money(dollars: float | None) -> str:
    """Dollars to the cent; what is not known is `—`, never zero."""
    return UNKNOWN if dollars is None else f"{dollars:,.2f}"


def short_money(dollars: float | None) -> str:
    """As `money`, in six cells up to a hundred million: without cents from a thousand on, then in thousands."""
    if dollars is None or abs(dollars) < 999.995:
        return money(dollars)
    return f"{dollars:,.0f}" if abs(dollars) < 99_999.5 else f"{dollars / 1_000:.0f}k"


def dollars(amount: float | None) -> str:
    """As `money`, with its sign."""
    if amount is None:
        return UNKNOWN
    return f"-${-amount:,.2f}" if amount < 0 else f"${amount:,.2f}"


def clock(at: float | None) -> str:
    """The local time of day, five cells wide."""
    if at is None:
        return "     "
    try:
        return datetime.fromtimestamp(at).strftime("%H:%M")
    except (OverflowError, ValueError, OSError):
        return "  ?  "


def moment(at: float, now: float) -> str:
    """The local time of day, with the day where that is another one than now's."""
    try:
        there, here = datetime.fromtimestamp(at), datetime.fromtimestamp(now)
    except (OverflowError, ValueError, OSError):
        return UNKNOWN
    return there.strftime("%H:%M" if there.date() == here.date() else "%d %b %Y %H:%M")


def clock_to_the_second(at: float) -> str:
    """The local time of day with its seconds."""
    return datetime.fromtimestamp(at).strftime("%H:%M:%S")


def count(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun: `1 file`, `3 files`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
