import os
import stat
from pathlib import Path

import keyring
import pytest
from keyring.errors import KeyringLocked

from colonizer_config.address import SocketAddress, SshAddress, StdioAddress, parse_address, parse_host
from colonizer_config.endpoints import Endpoint, Origin, known_endpoints
from colonizer_config.errors import FolderError, NoKeyringError, SecretError
from colonizer_config.paths import Paths
from colonizer_config.secrets import FoundToken, Place, TokenStore
from colonizer_config.settings import EndpointName, Kind, Settings
from colonizer_config.token import Token
from config.memory_keyring import MemoryKeyring
from config.ownership import given_away

HQ = parse_host("hq")
OWNER = "0123456789abcdef" * 4


@pytest.fixture
def store(paths: Paths) -> TokenStore:
    return TokenStore(paths)


def write(path: Path, text: str, mode: int = 0o600) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)
    return path


def configured(address: str, name: str = "hq") -> Endpoint:
    return Endpoint(EndpointName(name), Kind.MOTHERSHIP, parse_address(address), Origin.SETTINGS)


class LockedKeyring(MemoryKeyring):
    def get_password(self, service: str, username: str) -> str | None:
        raise KeyringLocked


# The host that is named


def test_a_named_host_gets_the_first_token_of_the_order(
    store: TokenStore, paths: Paths, memory_keyring: MemoryKeyring, tmp_path: Path
) -> None:
    write(paths.published_token, f"{OWNER}\n")
    assert store.for_named_host(HQ, {}) == (Token(OWNER), Place.OWNER_FILE)
    store.store(HQ, Token("plain"), plain_file=True)
    assert store.for_named_host(HQ, {}) == (Token("plain"), Place.PLAIN_FILE)
    memory_keyring.entries["colonizer", HQ.identity] = "ring"
    assert store.for_named_host(HQ, {}) == (Token("ring"), Place.KEYRING)
    file = write(tmp_path / "token", " file \n")
    assert store.for_named_host(HQ, {}, file) == (Token("file"), Place.TOKEN_FILE)
    assert store.for_named_host(HQ, {"COLONIZER_TOKEN": " env\n"}, file) == (Token("env"), Place.ENVIRONMENT)


def test_a_blank_token_of_the_environment_is_none(store: TokenStore, tmp_path: Path) -> None:
    file = write(tmp_path / "token", "file")
    assert store.for_named_host(HQ, {"COLONIZER_TOKEN": " \n"}, file).place is Place.TOKEN_FILE


@pytest.mark.parametrize("content", [None, "", " \n", "folder"])
def test_a_named_token_file_without_a_token_ends_the_search_in_the_words_of_the_specification(
    store: TokenStore, paths: Paths, tmp_path: Path, content: str | None
) -> None:
    write(paths.published_token, OWNER)
    file = tmp_path / "token"
    if content == "folder":
        file.mkdir()
    elif content is not None:
        write(file, content)
    with pytest.raises(SecretError) as refused:
        store.for_named_host(HQ, {}, file)
    assert str(refused.value) == f"no token in {file}: set COLONIZER_TOKEN or write the token into the file"


def test_both_failures_are_those_that_were_recorded_of_the_published_program(tmp_path: Path) -> None:
    store = TokenStore(Paths.from_environment({"COLONIZER_CONFIG_DIR": "/srv/none", "HOME": str(tmp_path)}))
    for token_file, recorded in (
        (
            None,
            "no API token: set COLONIZER_TOKEN or --token-file, or start `colonizer` once "
            "(it writes /srv/none/api-token)",
        ),
        (Path("/srv/none"), "no token in /srv/none: set COLONIZER_TOKEN or write the token into the file"),
    ):
        with pytest.raises(SecretError) as refused:
            store.for_named_host(HQ, {}, token_file)
        assert str(refused.value) == recorded


def test_a_locked_keyring_is_told_where_no_other_token_is_found(
    store: TokenStore, paths: Paths, memory_keyring: MemoryKeyring
) -> None:
    keyring.set_keyring(LockedKeyring())
    with pytest.raises(SecretError, match=r"^no API token: .*; the keyring failed \(KeyringLocked\)$"):
        store.for_named_host(HQ, {})
    write(paths.published_token, OWNER)
    assert store.for_named_host(HQ, {}).place is Place.OWNER_FILE


@pytest.mark.parametrize("mode", [0o644, 0o444])
def test_a_file_that_the_person_named_may_be_open_to_others(store: TokenStore, tmp_path: Path, mode: int) -> None:
    assert store.for_named_host(HQ, {}, write(tmp_path / "token", "file", mode)).token.reveal() == "file"


@pytest.mark.parametrize("source", ["environment", "file", "owner"])
def test_a_token_that_could_not_stand_in_a_header_is_refused_with_its_source_and_not_shown(
    store: TokenStore, paths: Paths, tmp_path: Path, source: str
) -> None:
    evil = "s3cret\r\nX-Evil: y"
    file = write(tmp_path / "token", evil) if source == "file" else None
    if source == "owner":
        write(paths.published_token, evil)
    environment = {"COLONIZER_TOKEN": evil} if source == "environment" else {}
    named = {"environment": "COLONIZER_TOKEN", "file": str(file), "owner": str(paths.published_token)}[source]
    with pytest.raises(SecretError) as refused:
        store.for_named_host(HQ, environment, file)
    assert str(refused.value).startswith(f"{named}: this is no token")
    assert "s3cret" not in str(refused.value)


# Endpoints


def test_the_local_endpoint_has_the_token_that_its_engine_wrote(store: TokenStore, paths: Paths) -> None:
    [local] = known_endpoints(paths, Settings())
    assert store.for_endpoint(local) is None
    write(paths.engine.token, f"{OWNER}\n")
    assert store.for_endpoint(local) == (Token(OWNER), Place.OWNER_FILE)


def test_a_published_mothership_has_the_owner_token_beside_it(store: TokenStore, paths: Paths) -> None:
    write(paths.published_token, OWNER)
    _, found = known_endpoints(paths, Settings())
    assert store.for_endpoint(found) == (Token(OWNER), Place.OWNER_FILE)


def test_a_configured_endpoint_never_gets_a_token_of_the_environment_or_of_this_machine(
    store: TokenStore, paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLONIZER_TOKEN", "env")
    write(paths.published_token, OWNER)
    write(paths.engine.token, OWNER)
    assert store.for_endpoint(configured("hq")) is None
    assert store.for_endpoint(configured("127.0.0.1")) is None


def test_the_token_of_a_named_host_is_not_looked_for_as_an_endpoint(store: TokenStore) -> None:
    with pytest.raises(ValueError, match="for_named_host"):
        store.for_endpoint(Endpoint(EndpointName("hq:7878"), Kind.MOTHERSHIP, HQ, Origin.NAMED))


@pytest.mark.parametrize("plain_file", [True, False])
def test_a_token_goes_to_the_address_that_it_was_stored_for_and_to_no_other(
    store: TokenStore, memory_keyring: MemoryKeyring, plain_file: bool
) -> None:
    store.store(parse_address("hq"), Token("secret"), plain_file=plain_file)
    for same in ("hq:7878", "HQ", "http://hq:7878"):
        assert store.for_endpoint(configured(same, name="renamed")) is not None
    for other in ("hq:7879", "hq2", "https://hq:7878", "ssh://hq", "ssh://hq:7878", "hq.example", "http://hq:7878/x"):
        assert store.for_endpoint(configured(other)) is None


def test_a_token_of_an_ssh_endpoint_is_bound_to_the_ssh_target(store: TokenStore) -> None:
    store.store(SshAddress("far", "me", 2222), Token("secret"), plain_file=True)
    assert store.for_endpoint(configured("ssh://me@far:2222")) is not None
    for other in ("ssh://you@far:2222", "ssh://me@far", "ssh://me@near:2222", "far:2222", "127.0.0.1:7878"):
        assert store.for_endpoint(configured(other)) is None


def test_a_locked_keyring_is_an_error_unless_a_plain_file_has_the_token(
    store: TokenStore, memory_keyring: MemoryKeyring
) -> None:
    keyring.set_keyring(LockedKeyring())
    with pytest.raises(SecretError, match="KeyringLocked"):
        store.for_endpoint(configured("hq"))
    store.store(HQ, Token("plain"), plain_file=True)
    assert store.for_endpoint(configured("hq")) == (Token("plain"), Place.PLAIN_FILE)


@pytest.mark.parametrize("address", [StdioAddress(("x",)), SocketAddress(Path("/run/x"))])
def test_a_command_and_a_socket_have_no_stored_token(
    store: TokenStore, memory_keyring: MemoryKeyring, address: StdioAddress | SocketAddress
) -> None:
    assert store.for_endpoint(Endpoint(EndpointName("x"), Kind.MCP, address, Origin.SETTINGS)) is None
    with pytest.raises(SecretError, match="only a server that is reached over http, https or ssh"):
        store.store(address, Token("x"), plain_file=True)


# Keeping


def test_a_token_is_kept_in_the_keyring_where_there_is_one(
    store: TokenStore, paths: Paths, memory_keyring: MemoryKeyring
) -> None:
    assert store.store(HQ, Token("secret")) is Place.KEYRING
    assert memory_keyring.entries == {("colonizer", "http://hq:7878"): "secret"}
    assert not paths.tokens.exists()
    assert store.stored(HQ) == FoundToken(Token("secret"), Place.KEYRING)


def test_without_a_keyring_a_plain_file_needs_an_explicit_choice(store: TokenStore, paths: Paths) -> None:
    with pytest.raises(
        NoKeyringError, match="no keyring on this machine: the token can be kept in the plain file"
    ) as no:
        store.store(HQ, Token("secret"))
    assert str(paths.tokens) in str(no.value)
    assert "secret" not in str(no.value)
    assert not paths.tokens.exists()
    assert store.store(HQ, Token("secret"), plain_file=True) is Place.PLAIN_FILE
    assert store.stored(HQ) == FoundToken(Token("secret"), Place.PLAIN_FILE)


def test_a_plain_file_is_for_its_owner_alone(store: TokenStore, paths: Paths) -> None:
    paths.tokens.mkdir(parents=True, mode=0o755)
    store.store(HQ, Token("one"), plain_file=True)
    store.store(HQ, Token("two"), plain_file=True)
    [file] = paths.tokens.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(paths.tokens.stat().st_mode) == 0o700
    assert file.read_text(encoding="ascii") == "http://hq:7878\ntwo\n"


def test_the_token_that_was_stored_last_is_the_one_that_is_found(
    store: TokenStore, memory_keyring: MemoryKeyring
) -> None:
    store.store(HQ, Token("one"))
    store.store(HQ, Token("two"), plain_file=True)
    assert store.stored(HQ) == (Token("two"), Place.PLAIN_FILE)
    store.store(HQ, Token("three"))
    assert store.delete(HQ) == (Place.KEYRING,)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o777])
def test_a_file_that_is_open_to_others_is_refused_with_the_cure(store: TokenStore, paths: Paths, mode: int) -> None:
    store.store(HQ, Token("secret"), plain_file=True)
    [file] = paths.tokens.iterdir()
    file.chmod(mode)
    with pytest.raises(SecretError, match=rf"is open to others \(mode {mode:04o}\): chmod 600"):
        store.for_endpoint(configured("hq"))
    with pytest.raises(SecretError, match=r"no API token: .* is open to others"):
        store.for_named_host(HQ, {})


def test_a_local_token_that_is_open_to_others_is_refused(store: TokenStore, paths: Paths) -> None:
    write(paths.engine.token, OWNER, 0o644)
    with pytest.raises(SecretError, match="is open to others"):
        store.for_endpoint(known_endpoints(paths, Settings())[0])


def test_a_file_of_another_user_is_refused(store: TokenStore, paths: Paths) -> None:
    store.store(HQ, Token("secret"), plain_file=True)
    [file] = paths.tokens.iterdir()
    if not given_away(file):
        file.unlink()
        file.symlink_to("/etc/passwd")
    if file.stat().st_uid == os.geteuid():
        pytest.skip("there is no file of another user here")
    with pytest.raises(SecretError, match=rf"belongs to user {file.stat().st_uid}, not to you"):
        store.for_endpoint(configured("hq"))


def test_a_token_file_that_was_moved_to_another_address_is_refused(store: TokenStore, paths: Paths) -> None:
    store.store(HQ, Token("secret"), plain_file=True)
    [file] = paths.tokens.iterdir()
    store.store(parse_host("evil"), Token("other"), plain_file=True)
    [evil] = [path for path in paths.tokens.iterdir() if path != file]
    file.rename(evil)
    with pytest.raises(SecretError, match="holds the token of another address"):
        store.for_endpoint(configured("evil"))


@pytest.mark.parametrize("content", [b"http://hq:7878\ns\xc3\xa9cret\n", b"x" * 100_000])
def test_a_file_that_holds_something_else_is_refused(store: TokenStore, paths: Paths, content: bytes) -> None:
    store.store(HQ, Token("secret"), plain_file=True)
    [file] = paths.tokens.iterdir()
    file.write_bytes(content)
    with pytest.raises(SecretError, match="holds something else than a token"):
        store.stored(HQ)


def test_a_pipe_or_a_folder_in_the_place_of_a_token_is_refused_and_nothing_waits(
    store: TokenStore, paths: Paths
) -> None:
    store.store(HQ, Token("secret"), plain_file=True)
    [file] = paths.tokens.iterdir()
    for make in (os.mkfifo, os.mkdir):
        file.unlink()
        make(file)
        with pytest.raises(SecretError, match="is not a file"):
            store.stored(HQ)


def test_a_link_in_the_place_of_a_token_is_replaced_and_not_followed(
    store: TokenStore, paths: Paths, tmp_path: Path
) -> None:
    store.store(HQ, Token("one"), plain_file=True)
    [file] = paths.tokens.iterdir()
    file.unlink()
    file.symlink_to(write(tmp_path / "target", "theirs"))
    store.store(HQ, Token("two"), plain_file=True)
    assert not file.is_symlink()
    assert (tmp_path / "target").read_text(encoding="ascii") == "theirs"


def test_a_place_that_cannot_be_written_is_an_error(store: TokenStore, paths: Paths) -> None:
    paths.config.parent.mkdir(parents=True)
    paths.config.touch()
    with pytest.raises(FolderError, match="cannot use the folder"):
        store.store(HQ, Token("secret"), plain_file=True)
    with pytest.raises(SecretError, match="cannot read"):
        store.stored(HQ)


def test_a_deleted_token_is_gone_from_every_place(
    store: TokenStore, paths: Paths, memory_keyring: MemoryKeyring
) -> None:
    store.store(HQ, Token("plain"), plain_file=True)
    memory_keyring.entries["colonizer", HQ.identity] = "ring"
    assert store.delete(HQ) == (Place.PLAIN_FILE, Place.KEYRING)
    assert store.stored(HQ) is None
    assert store.delete(HQ) == ()
    assert list(paths.tokens.iterdir()) == []


def test_a_token_that_may_still_be_in_a_locked_keyring_is_not_said_to_be_deleted(
    store: TokenStore, memory_keyring: MemoryKeyring
) -> None:
    keyring.set_keyring(LockedKeyring())
    with pytest.raises(SecretError, match="KeyringLocked"):
        store.delete(HQ)
