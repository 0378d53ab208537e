"""Text without what could steer a terminal: for the last wall before the screen, and for whatever leaves beside it."""

import re

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_HALVES = re.compile("[\ud800-\udfff]")
"""Surrogates: no terminal can be sent one."""


def printable(text: str) -> str:
    """The text as it may be printed outside the application, line feeds and tabs kept."""
    return _HALVES.sub("\ufffd", _CONTROLS.sub("", text))
