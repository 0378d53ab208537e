"""`colonizer mothership serve` as a process of its own."""

import os
import signal
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from colonizer_client.identity import EndpointName
from colonizer_client.mothership import calls
from colonizer_client.mothership.models import Colony
from colonizer_client.mothership.oneshot import OneShot
from colonizer_config.address import HttpAddress
from colonizer_config.paths import Paths
from colonizer_config.token import Token
from plain_command import LIMIT_S, colonizer, process, started
from real_sshd import free_port


@dataclass(frozen=True, slots=True)
class Serving:
    """A running mothership with a folder of its own."""

    process: "subprocess.Popen[str]"
    port: int
    folder: Path
    words: str
    """The two lines that it says when it is there."""

    @property
    def host(self) -> str:
        """Its address as one types it."""
        return f"127.0.0.1:{self.port}"

    @property
    def token_file(self) -> Path:
        """Where its owner's token stands."""
        return self.folder / "api-token"

    def ask(self, *command: str) -> str:
        """What a plain command of its owner prints."""
        done = colonizer(*command, "--host", self.host, "--token-file", str(self.token_file))
        assert done.exit == 0, done.stderr
        return done.stdout

    def mint(self, scope: str) -> str:
        """A new token of this scope."""
        return self.ask("token", "create", f"for {scope}", "--scope", scope).strip()

    def colonies(self) -> tuple[Colony, ...]:
        """Its colonies as its owner sees them."""
        return self._one_shot().run(calls.colonies(EndpointName("it")))[0]

    def answers(self, colony: Colony) -> list[object]:
        """What its record says that a colony was answered."""
        detail = self._one_shot().run(calls.colony(EndpointName("it"), colony.key.colony))
        return [record.answer_raw for record in detail.answered]

    def kill(self) -> None:
        """Ends it as a crash does."""
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait(LIMIT_S)

    def _one_shot(self) -> OneShot:
        token = Token(self.token_file.read_text(encoding="ascii").strip())
        return OneShot(HttpAddress("http", "127.0.0.1", self.port), token)


@contextmanager
def serving(*argv: str, folder: Path | None = None) -> Generator[Serving]:
    """A mothership that serves until the test is over, in the local engine's folder where none is named."""
    port = free_port()
    place = () if folder is None else ("--data-dir", str(folder))
    with started("mothership", "serve", "--bind", f"127.0.0.1:{port}", *place, *argv, limit_s=240) as server:
        assert server.stdout is not None
        words = server.stdout.readline() + server.stdout.readline()
        yield Serving(server, port, folder or Paths.from_environment().engine.root, words)
        if server.poll() is None:
            server.send_signal(signal.SIGINT)
            assert server.wait(LIMIT_S) == 0


def connect(name: str, address: str, token: str, *, is_default: bool = False) -> None:
    """Adds a mothership to the settings, as a person does who has no keyring."""
    added = process("connect", "add", name, address, "--plain-file", stdin=f"{token}\n")
    assert added.exit == 0, added.stderr
    if is_default:
        settings = Paths.from_environment().settings
        settings.write_text(f'default_endpoint = "{name}"\n{settings.read_text(encoding="utf-8")}', encoding="utf-8")
