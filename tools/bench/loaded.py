"""What is loaded when the cockpit's first picture is drawn."""

import json
import subprocess
import sys

from bench.figure import Figure
from bench.fleet import dead_ports
from bench.machine import configure, home

UNWANTED = ("mcp", "httpx", "keyring", "pydantic", "markdown_it", "tree_sitter", "pygments.lexers")

WATCHED = """
import json, sys
from colonizer_cli.cockpit_face import live_surroundings
from colonizer_cli.wiring import Wiring
from colonizer_config.paths import Paths
from colonizer_config.settings import load_or_default
from colonizer_tui.app import CockpitApp
class Watched(CockpitApp):
    loaded = None
    def _display(self, screen, renderable):
        super()._display(screen, renderable)
        if self.loaded is None and any(s.text.strip() for s in screen._compositor.render_strips(self.size)):
            self.loaded = sorted(sys.modules)
            self.exit()
paths = Paths.from_environment()
loaded = load_or_default(paths.settings)
wiring = Wiring(paths, loaded.settings)
app = Watched(wiring.cockpit, live_surroundings(paths, loaded, wiring))
app.run(headless=True, size=(120, 30))
print(json.dumps(app.loaded))
"""


def measure() -> None:
    with home(), dead_ports(10) as ports:
        configure(ports, default="host0")
        run = subprocess.run([sys.executable, "-c", WATCHED], check=True, capture_output=True, text=True)
    loaded: list[str] = json.loads(run.stdout)
    found = [name for name in UNWANTED if name in loaded]
    note = ", ".join(found)
    Figure(name="first picture: unwanted modules", value=len(found), unit="modules", target=0, note=note).print()
    Figure(name="first picture: modules in all", value=len(loaded), unit="modules").print()


if __name__ == "__main__":
    measure()
