"""What `make` says of a mistake, before it sets anything up."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from test_layout import ROOT


@pytest.mark.parametrize("name", ["nowhere", "no where/at all", "a file"])
def test_run_refuses_what_is_no_folder_in_one_line_and_sets_nothing_up(name: str, tmp_path: Path) -> None:
    make = shutil.which("make")
    if make is None:
        pytest.skip("make is not installed")
    (tmp_path / "a file").touch()
    venv, folder = tmp_path / "venv", tmp_path / name
    done = subprocess.run(
        [make, "--no-print-directory", "run", f"REPO={folder}", f"VENV={venv}"],
        cwd=ROOT,
        # Of a `make` that runs this test the other one must know nothing.
        env={name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    ours, of_make = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (2, "")
    assert ours == f"colonizer: no folder to open: REPO={folder}"
    assert of_make.startswith("make: ***")
    assert not venv.exists()
