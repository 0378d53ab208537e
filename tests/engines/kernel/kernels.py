"""Kernels for tests, and what agents ask of them."""

from colonizer_engines.kernel.kernel import Kernel
from colonizer_engines.kernel.replies import ProposalReply

GOOD_ROLLBACK = "git revert the commit, then run the unit suite once more"
GOOD_RATIONALE = "Correct the index used when a label has a slash in it"


def propose(kernel: Kernel, agent: str = "a", target: str = "t", rationale: str = GOOD_RATIONALE) -> ProposalReply:
    """The verdict on a proposal with nothing wrong in it."""
    return kernel.propose(agent, "patch_file", target, rationale, GOOD_ROLLBACK, {"tests": ["one"]})


def record(kernel: Kernel, agent: str = "a", target: str = "t", *, passed: bool = True) -> str:
    """The id of the outcome."""
    return kernel.record_outcome(agent, "patch_file", target, "done", tests_passed=passed)["consequence_id"]
