"""Completion: scripts that shells take, and what they are offered without asking anybody."""

import shutil
import subprocess
from pathlib import Path

import pytest

from colonizer_cli.seen import KEPT, SeenColonies
from colonizer_config.paths import Paths
from colonizer_config.settings import EndpointName
from loopback_fleet import sign_in
from plain_command import PROGRAM, colonizer, own_environment, process
from scripted_mothership import Reply, scripted_mothership

HQ, LOCAL = EndpointName("hq"), EndpointName("local")


def offered(*words: str) -> list[str]:
    """What bash is offered for the last of these words."""
    typed = " ".join(("colonizer", *words))
    done = process(COMP_WORDS=typed, COMP_CWORD=str(len(words)), _COLONIZER_COMPLETE="bash_complete")
    assert (done.exit, done.stderr) == (0, "")
    return [line.partition(",")[2] for line in done.stdout.split()]


@pytest.fixture
def seen() -> SeenColonies:
    sign_in(1)
    kept = SeenColonies(Paths.from_environment())
    kept.keep(LOCAL, [("5e6f7a8b", "running"), ("5e000000", "idle")])
    kept.keep(HQ, [("910be000", "waiting_for_answer")])
    return kept


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_is_printed_that_its_shell_can_read(shell: str) -> None:
    done = colonizer("completion", shell)
    assert (done.exit, done.stderr) == (0, "")
    assert "_COLONIZER_COMPLETE" in done.stdout
    assert "colonizer" in done.stdout
    if shutil.which(shell) is not None:
        subprocess.run((shell, "-n"), input=done.stdout, text=True, check=True, timeout=30)


def test_another_shell_is_refused() -> None:
    assert colonizer("completion", "csh").exit == 2


def test_commands_are_completed_and_none_of_them_is_loaded() -> None:
    assert offered("st") == ["status", "stop"]
    run = "from colonizer_cli.main import main\ntry: main()\nexcept SystemExit: pass"
    source = f"import sys\n{run}\nprint([*sys.modules])"
    done = subprocess.run(
        (PROGRAM[0], "-c", source),
        capture_output=True,
        text=True,
        env=own_environment({"COMP_WORDS": "colonizer ", "COMP_CWORD": "1", "_COLONIZER_COMPLETE": "bash_complete"}),
        timeout=30,
        check=True,
    )
    assert "plain,doctor" in done.stdout
    assert "colonizer_cli.commands." not in done.stdout


def test_options_are_completed() -> None:
    assert "--json" in offered("status", "--j")
    assert offered("connect", "li") == ["list"]


def test_ids_are_completed_from_what_was_seen(seen: SeenColonies) -> None:
    assert offered("status", "5e") == ["5e6f7a8b", "5e000000"]
    assert offered("logs", "") == ["5e6f7a8b", "5e000000", "910be000"]
    assert offered("stop", "hq/") == ["hq/910be000"]


def test_hosts_are_completed(seen: SeenColonies) -> None:
    assert offered("connect", "test", "h") == ["hq"]
    assert offered("connect", "remove", "") == ["local", "hq"]


def test_kernels_and_their_commands_are_completed(seen: SeenColonies) -> None:
    settings = Paths.from_environment().settings
    lab = '\n[[endpoints]]\nname = "lab"\nkind = "kernel"\naddress = "https://lab.example/mcp"\n'
    settings.write_text(settings.read_text(encoding="utf-8") + lab, encoding="utf-8")
    assert offered("kernel", "tick", "--kernel", "l") == ["local", "lab"]
    assert offered("kernel", "p") == ["propose", "prune"]
    assert offered("kernel", "offers", "") == ["accept", "dismiss", "list"]


def test_a_host_that_is_no_longer_in_the_settings_offers_nothing(seen: SeenColonies) -> None:
    Paths.from_environment().settings.unlink()
    assert offered("status", "9") == []


def test_broken_settings_or_a_broken_file_of_ours_break_no_completion(seen: SeenColonies) -> None:
    paths = Paths.from_environment()
    for file in (paths.engine.root / "seen").iterdir():
        file.write_text("{")
    paths.settings.write_text("[")
    assert offered("status", "") == []


def test_a_home_that_is_not_known_breaks_no_completion() -> None:
    done = process(HOME="", COMP_WORDS="colonizer status ", COMP_CWORD="2", _COLONIZER_COMPLETE="bash_complete")
    assert (done.exit, done.stdout.strip(), done.stderr) == (0, "", "")


def test_a_list_is_what_is_seen_and_what_could_act_in_a_shell_is_left_out() -> None:
    sessions = [
        {"id": "c0ffee00", "status": "running"},
        {"id": "$(touch x)", "status": "running"},
        {"id": "a\x1b[2Jb", "status": "idle"},
        {"id": "beef0000", "status": "`id`"},
        {"id": None},
    ]
    replies = {("GET", "/api/sessions"): Reply.json({"sessions": sessions})}
    with scripted_mothership(replies) as server:
        sign_in(int(server.port))
        assert colonizer("list").exit == 0
    assert SeenColonies(Paths.from_environment()).of(HQ) == {"c0ffee00": "running", "beef0000": ""}


def test_no_more_is_kept_than_anybody_completes(seen: SeenColonies) -> None:
    seen.keep(HQ, [(f"{number:08x}", "idle") for number in range(KEPT + 10)])
    assert len(seen.of(HQ)) == KEPT


def test_what_was_seen_is_the_persons_alone_and_a_file_that_others_may_read_is_not_taken(seen: SeenColonies) -> None:
    files = [*(Paths.from_environment().engine.root / "seen").iterdir()]
    assert {oct(file.stat().st_mode & 0o777) for file in files} == {"0o600"}
    for file in files:
        file.chmod(0o644)
    assert seen.of(HQ) == {}


def test_a_folder_that_cannot_be_written_costs_nothing(tmp_path: Path) -> None:
    paths = Paths.from_environment()
    paths.engine.root.parent.mkdir(parents=True)
    paths.engine.root.touch()
    kept = SeenColonies(paths)
    kept.keep(HQ, [("a", "idle")])
    assert kept.of(HQ) == {}
