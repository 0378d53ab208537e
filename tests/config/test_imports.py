import subprocess
import sys
from pathlib import Path

import pytest

import colonizer_config

ROOT = Path(colonizer_config.__file__).parents[1]
SHOW = "import sys; print(*sorted({name.partition('.')[0] for name in sys.modules}))"


@pytest.mark.parametrize("module", ["settings", "endpoints", "paths", "address", "secrets"])
def test_a_module_that_a_face_needs_at_its_start_loads_little_beyond_the_standard_library(module: str) -> None:
    code = f"{SHOW}; import colonizer_config.{module}; {SHOW.partition('; ')[2]}"
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(ROOT)},
        timeout=30,
    )
    before, after = (set(line.split()) for line in run.stdout.splitlines())
    loaded = {name for name in after - before if name not in sys.stdlib_module_names}
    # msgspec makes records in a fraction of the time that dataclasses take; every face has it loaded anyway.
    assert loaded <= {"colonizer_config", "msgspec", "typing_extensions"}
