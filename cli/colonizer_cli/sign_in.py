"""A new endpoint's address and token, which is never read from the command line (spec 2.1)."""

import sys
from pathlib import Path

from colonizer_cli import output
from colonizer_cli.failures import ExitCode, Failed
from colonizer_config.address import HttpAddress, SshAddress, parse_address, split_sign_in_link
from colonizer_config.paths import Paths
from colonizer_config.secrets import TokenStore
from colonizer_config.token import Token
from colonizer_config.value import Value


class SignIn(Value):
    """What the person gave."""

    written: str
    """The address as it goes into the settings."""
    address: HttpAddress | SshAddress
    token: Token | None
    """The token of a sign-in link, None where it has to be asked for."""


def read_address(given: str | None) -> SignIn:
    """The address that was given, or the address or link that is pasted.

    Raises:
        Failed: A link with a token was given as an argument.
        AddressError: It is no address, or no sign-in link.
    """
    if given is not None and "?" in given:
        raise Failed(
            "a link with a token would stay in the shell's history and in the list of processes:"
            " leave it out and paste it when you are asked, or give it on stdin",
            ExitCode.USAGE,
        )
    text = given if given is not None else secret_line("Address or sign-in link of the mothership (not shown): ")
    if "?" in text:
        address, token = split_sign_in_link(text)
        return SignIn(str(address), address, token)
    return SignIn(text, parse_address(text), None)


def read_token(address: HttpAddress | SshAddress, file: Path | None, paths: Paths) -> Token:
    """The token for that address: of the file, else the one that is pasted.

    Raises:
        SecretError: There is none, or it is no token.
    """
    if file is not None:
        return TokenStore(paths).for_named_host(address, {}, file).token
    return Token(secret_line(f"Token for {address} (not shown): "))


def secret_line(prompt: str) -> str:
    """The line that the person types unseen, or the next line of a stdin that is no terminal.

    Raises:
        Failed: There is none.
    """
    line = secret_line_or_none(prompt)
    if line is None:
        raise Failed("nothing was given", ExitCode.USAGE)
    return line


def secret_line_or_none(prompt: str) -> str | None:
    """The line that the person types unseen, or the next line of a stdin that is no terminal; None for an empty one."""
    if sys.stdin is not None and not sys.stdin.isatty():
        line = sys.stdin.readline()
    else:
        import getpass

        try:
            line = getpass.getpass(prompt)
        except EOFError:
            line = ""
    return line.strip() or None


def agreed(question: str) -> bool:
    """Whether the person says yes; no where nobody can be asked.

    The question goes to stderr, and only a `y` or `yes` counts.
    """
    if sys.stdin is None or not sys.stdin.isatty():
        return False
    output.ask(f"{question} [y/N] ")
    return sys.stdin.readline().strip().lower() in ("y", "yes")
