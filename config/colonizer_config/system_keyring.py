"""The keyring of the desktop, asked with a time limit.

A keyring can be absent (the usual case on a server), locked, or wait for a prompt that nobody sees. No answer in time
counts as a failure, and the thread that still waits keeps nothing from going on or exiting.
"""

import sys
import threading
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar, cast

from colonizer_config.errors import NoKeyringError, SecretError

T = TypeVar("T")

SERVICE = "colonizer"
"""The name under which our entries stand in the keyring; the user name of an entry is an address."""

READ_LIMIT_S = 2.0
WRITE_LIMIT_S = 30.0
"""A write may wait for the person, who sits there and unlocks the keyring."""

_REAL_PRIORITY = 1
"""Backends below it keep nothing, or keep it in plain text without saying so."""


class Backend(Protocol):
    """What keeps the secrets: the part of keyring's backends that is used here."""

    @property
    def priority(self) -> float:
        """How good it is, by its own account; below 1 it is not recommended."""
        ...

    def get_password(self, service: str, username: str) -> str | None:
        """The secret, or None."""
        ...

    def set_password(self, service: str, username: str, password: str) -> None:
        """Keeps the secret."""
        ...

    def delete_password(self, service: str, username: str) -> None:
        """Removes the secret, which has to be there."""
        ...


class SystemKeyring:
    """The tokens in the desktop's keyring. Its calls block, at most for their limits."""

    def __init__(self, *, read_limit_s: float = READ_LIMIT_S, write_limit_s: float = WRITE_LIMIT_S) -> None:
        self._read_limit_s = read_limit_s
        self._write_limit_s = write_limit_s
        self._turn = threading.Lock()
        self._abandoned: threading.Thread | None = None

    def get(self, name: str) -> str | None:
        """The secret under that name, or None.

        Raises:
            NoKeyringError: There is no keyring.
            SecretError: It is locked, fails, or does not answer in time.
        """
        return self._ask(lambda backend: backend.get_password(SERVICE, name), self._read_limit_s)

    def set(self, name: str, secret: str) -> None:
        """Keeps the secret under that name, in the place of an older one.

        Raises:
            NoKeyringError: There is no keyring.
            SecretError: It is locked, fails, or does not answer in time.
        """
        self._ask(lambda backend: backend.set_password(SERVICE, name, secret), self._write_limit_s)

    def delete(self, name: str) -> bool:
        """Removes what is under that name; whether there was something.

        Raises:
            NoKeyringError: There is no keyring.
            SecretError: It is locked, fails, or does not answer in time.
        """

        def remove(backend: Backend) -> bool:
            if backend.get_password(SERVICE, name) is None:
                return False
            backend.delete_password(SERVICE, name)
            return True

        return self._ask(remove, self._write_limit_s)

    def name(self) -> str:
        """What keeps the secrets, as the keyring library calls it.

        Raises:
            NoKeyringError: There is no keyring.
            SecretError: It fails, or does not answer in time.
        """
        return self._ask(lambda backend: f"{type(backend).__module__}.{type(backend).__name__}", self._read_limit_s)

    def _ask(self, question: Callable[[Backend], T], limit_s: float) -> T:
        # One at a time: a locked keyring then shows one prompt, and many endpoints wait for one limit in all.
        with self._turn:
            if self._abandoned is not None and self._abandoned.is_alive():
                raise SecretError("the keyring still does not answer")
            ask = _Ask(question)
            ask.start()
            ask.join(limit_s)
            if ask.is_alive():
                self._abandoned = ask
                raise SecretError(f"the keyring did not answer within {limit_s:g} s")
            return ask.answer()


class _Ask(threading.Thread, Generic[T]):
    """One question to the keyring, its import included, in a thread that may be abandoned."""

    def __init__(self, question: Callable[[Backend], T]) -> None:
        super().__init__(name="keyring", daemon=True)
        self._question = question
        self._answers: list[T] = []
        self._problem: SecretError | None = None

    def run(self) -> None:
        try:
            backend = _real_backend()
            if backend is None:
                self._problem = NoKeyringError("there is no keyring on this machine")
            else:
                self._answers.append(self._question(backend))
        except _failures() as problem:
            # Its words may hold the secret, such as the command line of a helper that was given it.
            self._problem = SecretError(f"the keyring failed ({type(problem).__name__})")

    def answer(self) -> T:
        """The answer of a thread that has ended."""
        if self._problem is not None:
            raise self._problem
        if not self._answers:
            raise SecretError("the keyring failed")
        return self._answers[0]


def _real_backend() -> Backend | None:
    import keyring
    from keyring.backends.chainer import ChainerBackend

    chosen = keyring.get_keyring()
    # A chain goes on to a plain-text backend where the first one refuses; we ask its best member alone.
    members = cast(list[Backend], chosen.backends if isinstance(chosen, ChainerBackend) else [chosen])
    return next((member for member in members if member.priority >= _REAL_PRIORITY), None)


def _failures() -> tuple[type[BaseException], ...]:
    """What keyring and its backends raise; only libraries that are loaded by now can have raised anything."""
    named = (
        ("keyring.errors", "KeyringError"),
        ("secretstorage.exceptions", "SecretStorageException"),
        ("jeepney", "DBusErrorResponse"),
        ("subprocess", "SubprocessError"),
    )
    loaded = (getattr(sys.modules.get(module), name, None) for module, name in named)
    return (
        *(error for error in loaded if error is not None),
        OSError,
        RuntimeError,
        ImportError,
        ValueError,
        TypeError,
        AttributeError,
        LookupError,
        EOFError,
    )
