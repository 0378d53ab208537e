"""Which connections a cockpit has by its settings."""

from colonizer_cli.wiring import Wiring
from colonizer_client.identity import EndpointName
from colonizer_client.kernel.view import Condition
from colonizer_config.paths import Paths
from colonizer_config.settings import Settings, parse

KERNELS = """
[[endpoints]]
name = "lab"
kind = "kernel"
command = ["codomyrmex", "mcp"]
env = ["CODOMYRMEX_HOME"]

[[endpoints]]
name = "far"
kind = "kernel"
address = "https://kernel.example/mcp"

[[endpoints]]
name = "hq"
kind = "mothership"
address = "hq.example"
"""


def names(wiring: Wiring) -> tuple[list[str], list[str]]:
    snapshot = wiring.cockpit.snapshot
    return list(snapshot.endpoints), list(snapshot.kernels)


def test_kernels_are_there_by_the_settings_beside_the_embedded_one_and_nothing_of_them_is_started() -> None:
    wiring = Wiring(Paths.from_environment(), Settings())
    assert names(wiring) == (["local"], ["local"])
    wiring.apply(parse(KERNELS, "cockpit.toml"))
    assert names(wiring) == (["local", "hq"], ["local", "lab", "far"])
    kernels = wiring.cockpit.snapshot.kernels
    assert all(view.condition is Condition.IDLE for view in kernels.values())
    assert [view.link.is_own for view in kernels.values()] == [False, True, True]
    assert kernels[EndpointName("far")].link.address == "https://kernel.example/mcp"
    before = kernels[EndpointName("far")]
    wiring.apply(parse(KERNELS.replace('"codomyrmex", "mcp"', '"other"').replace('"lab"', '"home"'), "cockpit.toml"))
    assert names(wiring)[1] == ["local", "far", "home"]
    assert wiring.cockpit.snapshot.kernels[EndpointName("far")] is before
    wiring.apply(Settings())
    assert names(wiring) == (["local"], ["local"])
