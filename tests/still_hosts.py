"""The person's hosts behind the port of the terminal face, without settings, keyring or network."""

from colonizer_tui.hosts import HostError, NoKeyring, Trial


class StillHosts:
    """Does what it is told, and remembers it."""

    def __init__(self, *, has_keyring: bool = True, refusal: str = "") -> None:
        self.has_keyring, self.refusal = has_keyring, refusal
        self.done: list[tuple[str, ...]] = []

    def fault(self, address: str) -> str:
        return f"{address} is no address: write host[:port]" if address.endswith("x") else ""

    def warning(self, address: str) -> str:
        return f"{address} is not encrypted: others may read the token and the rest" if "tailnet" in address else ""

    def try_token(self, name: str, pasted: str) -> Trial:
        return self._trial("try_token", name, pasted)

    def try_addition(self, name: str, address: str, pasted: str) -> Trial:
        return self._trial("try_addition", name, address, pasted)

    def change(self, name: str, new_name: str, address: str) -> None:
        self._do("change", name, new_name, address)

    def sign_out(self, name: str) -> str:
        self._do("sign_out", name)
        return f"{name} signed out: its token is forgotten (keyring)"

    def remove(self, name: str) -> str:
        self._do("remove", name)
        return f"{name} removed; its token is forgotten (keyring)"

    def apply(self, renamed: tuple[str, str] | None = None) -> None:
        self._do("apply", *(renamed or ()))

    def _trial(self, *what: str) -> Trial:
        self._do(*what)

        def keep(plain_file: bool) -> str:
            if not self.has_keyring and not plain_file:
                raise NoKeyring(
                    "this machine has no keyring: the token can be kept in the plain file /home/you/.config/colonizer/"
                    "tokens/5e7a, if you choose so"
                )
            self._do("keep", str(plain_file))
            return "plain file" if plain_file else "keyring"

        return Trial("scope operate (ci)", keep)

    def _do(self, *what: str) -> None:
        if self.refusal:
            raise HostError(self.refusal)
        self.done.append(what)
