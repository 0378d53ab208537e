"""What may never wait in an inbox: values that look like secrets."""

import re

from colonizer_client.mothership import wire
from colonizer_config.secrets import redact

_NAMES = frozenset(
    {"api_key", "apikey", "key", "token", "secret", "password", "credential", "private_key", "passphrase"}
)
"""Of arguments whose values are secret (spec 6.3)."""

_SHAPES = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----"
    r"|\bgh[pousr]_[0-9A-Za-z]{20,}|\bgithub_pat_[0-9A-Za-z_]{20,}|\bglpat-[0-9A-Za-z_-]{20,}"
    r"|\bsk-[0-9A-Za-z_-]{20,}|\bAKIA[0-9A-Z]{16}\b|\bxox[abprs]-[0-9A-Za-z-]{10,}|\bAIza[0-9A-Za-z_-]{35}"
    r"|\beyJ[0-9A-Za-z_-]{8,}\.eyJ[0-9A-Za-z_-]{8,}\.[0-9A-Za-z_-]+"
)
"""Private keys, and tokens of GitHub, GitLab, model providers, AWS, Slack, Google, and signed JSON."""


def holds_secret(value: object) -> bool:
    """Whether something in it, however deep, is named like a secret or looks like one."""
    if isinstance(value, str):
        return redact(value) != value or _SHAPES.search(value) is not None
    named = wire.mapping(value).items()
    if any(name.casefold() in _NAMES or holds_secret(name) or holds_secret(inner) for name, inner in named):
        return True
    return any(map(holds_secret, wire.sequence(value)))
