"""What a person says to the calls of agents that wait for it."""

from colonizer_client.approvals.models import Approval
from colonizer_client.cockpit import Cockpit
from colonizer_client.errors import ClientError
from colonizer_client.snapshot import ApprovalsChanged
from colonizer_tui.dialogs.consent import Consent, Wording
from colonizer_tui.dialogs.form import Field, Filled, Form, Terms
from colonizer_tui.face import Face
from colonizer_tui.present import approvals
from colonizer_tui.present.line import Span, line

_WORDING = Wording("approve, this once", "reads on; y once all was seen", "back, it waits on", "reject")


class ApprovalCommands:
    """Decides calls, each after it was read to its end."""

    def __init__(self, cockpit: Cockpit, face: Face) -> None:
        self._cockpit = cockpit
        self._face = face

    async def decide(self, approval: Approval) -> None:
        """Shows a call whole; approves or rejects it, or leaves it waiting."""
        now = self._cockpit.clock.now()
        agreed = await self._face.ask(Consent(lambda width: approvals.whole(approval, now, width), _WORDING))
        if agreed is None:
            return
        try:
            if agreed:
                self._cockpit.approvals.approve(approval.id, approval.digest)
                self._face.tell(f"{approval.request.caller.client} may call {approval.request.tool}, this once")
            else:
                await self._reject(approval)
        except ClientError as problem:
            self._face.tell(str(problem), tone="fault")
        self._face.attempt(lambda: self._cockpit.hub.post(ApprovalsChanged(self._cockpit.approvals.pending())))

    async def _reject(self, approval: Approval) -> None:
        async def hand_over(filled: Filled) -> str:
            self._cockpit.approvals.reject(approval.id, filled["reason"])
            return f"rejected: {approval.request.caller.client} is told so"

        title = line(Span("Reject ", "strong"), Span(approval.request.tool, "info"))
        field = Field("reason", "what the agent is told; may be empty")
        told = await self._face.ask(Form(Terms(title=title, yes="reject it", waiting=""), [field], hand_over))
        if told is not None:
            self._face.tell(told)
