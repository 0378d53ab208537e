"""What colonies come to, offered to a kernel: each run once, settled once, and every call on record."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from client.cockpits import cockpit_at, running, until
from client.hand_clock import LONG_S, HandClock, HastyClock
from client.kernel.real_kernel import KernelConnector
from client.samples import HQ, colony
from client.simulated_time import NOON
from colonizer_client.audit import AuditLog, first_break
from colonizer_client.endpoint_state import EndpointState
from colonizer_client.errors import ClientError, NoReply, NotFound, OnItsWay, StoreError, ToolFailed, Unreachable
from colonizer_client.identity import EndpointName
from colonizer_client.kernel.bridge import Happened, Offer, Seen, happened, offered, seen_now
from colonizer_client.kernel.models import OutcomeOrder, Recorded
from colonizer_client.kernel.offers import Offers
from colonizer_client.kernel.recording import Acceptance, Bridge
from colonizer_client.mothership.models import Colony
from colonizer_client.snapshot import ColoniesListed, ColonyChanged
from colonizer_client.store import Store

LAB = EndpointName("lab")
ELSEWHERE = {"reason": "files", "pr_url": "https://x/1"}
Recording = Callable[[OutcomeOrder], Awaitable[Recorded]]


def at(seconds: float) -> str:
    """A moment after noon, as the wire has it."""
    return datetime.fromtimestamp(NOON + seconds, UTC).isoformat().replace("+00:00", "Z")


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


def test_an_end_is_offered_and_nothing_else_is() -> None:
    rows: tuple[tuple[str | None, Colony, Happened | None], ...] = (
        ("running", colony(status="stopped"), Happened.STOPPED),
        ("idle", colony(status="failed", error="agent exited"), Happened.FAILED),
        ("pr_opened", colony(status="merged"), Happened.MERGED),
        ("pr_opened", colony(status="closed"), Happened.REFUSED),
        (None, colony(status="merged"), Happened.MERGED),
        ("running", colony(status="no_changes"), None),
        ("running", colony(status="idle"), None),
        ("running", colony(status="parked"), None),
        ("running", colony(status="of tomorrow"), None),
        ("stopped", colony(status="stopped"), None),
        ("pr_opened", colony(status="closed", superseded=ELSEWHERE), None),
        ("running", colony(status="stopped", repo=None), None),
    )
    for before, now, end in rows:
        assert happened(None if before is None else Seen(before), now) is end, (before, now.status)


def test_a_run_ends_with_the_end_that_a_colony_goes_on_from() -> None:
    before = Seen("running", active_at=NOON)
    rows = (
        ("stopped", 0, 1),
        ("stopped", 4, 1),  # its last words came after its end
        ("publishing", 4, 1),
        ("pr_opened", 4, 1),
        ("closed", 4, 1),
        ("pr_opened", 4, 1),  # opened again
        ("queued", 4, 2),
        ("running", 60, 2),
        ("failed", 60, 2),
        ("failed", 90, 3),  # resumed and failed again while nobody looked
        ("failed", 90, 3),
        ("merged", 95, 3),
        ("merged", 195, 3),  # nobody works on what is merged
    )
    for status, active, run in rows:
        before = seen_now(before, colony(status=status, last_activity_at=at(active)))
        assert before.run == run, (status, active)
    assert seen_now(Seen("stopped"), colony(status="stopped", last_activity_at=at(99))).run == 1


def test_an_offer_says_what_can_be_told_and_leaves_the_rest_to_the_person() -> None:
    rows: tuple[tuple[Happened, Colony, bool | None, float], ...] = (
        (Happened.STOPPED, colony(ci_state="success"), None, 0.0),
        (Happened.FAILED, colony(error="agent exited: 1\nmore"), False, 0.0),
        (Happened.MERGED, colony(ci_state="success"), True, 1.0),
        (Happened.MERGED, colony(), True, 1.0),
        (Happened.MERGED, colony(ci_state="failure"), False, 1.0),
        (Happened.REFUSED, colony(), False, -1.0),
    )
    for end, now, passed, feedback in rows:
        offer = offered("0ffe4", 1, end, now, NOON)
        assert (offer.passed, offer.feedback) == (passed, feedback), end
    failed = offered("0ffe4", 1, *rows[1][:2], NOON)
    assert failed.outcome == "colony c0ffee00 failed (agent exited: 1): A task"
    mine = offered("0ffe4", 1, Happened.STOPPED, colony(agent="ant"), NOON).order(passed=True, feedback=0.5)
    words = "colony c0ffee00 was stopped: A task"
    assert mine == OutcomeOrder("ant", "run_colony", "acme/widgets", words, tests_passed=True, feedback=0.5)
    hostile = offered("0ffe4", 1, Happened.STOPPED, colony(issue_title="a\x1b[2Jb\n" + "c" * 999), NOON)
    assert "␛[2J" in hostile.outcome
    assert len(hostile.outcome) < 310
    assert "\n" not in hostile.outcome


def seen(offers: Offers, *statuses: str) -> list[str]:
    """What is offered of the colony after it went through these states."""
    for status in statuses:
        offers.look(HQ, [colony(status=status)])
    return [f"{offer.run} {offer.happened}" for offer in offers.unsettled()]


def test_each_run_is_offered_once_by_whatever_face_and_over_restarts(tmp_path: Path, clock: HandClock) -> None:
    store, other = Store(tmp_path / "cockpit.db"), Store(tmp_path / "cockpit.db")
    offers = Offers(store, clock)
    assert seen(offers, "running", "stopped") == ["1 stopped"]
    assert seen(Offers(other, clock), "stopped") == ["1 stopped"]
    # What came of it in the end takes the place of what nobody settled.
    assert seen(offers, "publishing", "pr_opened", "merged") == ["1 merged"]
    offers.dismiss(offers.unsettled()[0].id)
    store.close()
    again = Offers(other, clock)
    assert seen(again, "merged", "closed", "pr_opened", "merged") == []
    assert seen(again, "queued", "running", "failed") == ["2 failed"]
    with pytest.raises(NotFound):
        again.dismiss("another")
    other.close()


def test_what_had_ended_before_a_mothership_was_first_looked_at_is_not_offered(
    tmp_path: Path, clock: HandClock
) -> None:
    store = Store(tmp_path / "cockpit.db")
    offers = Offers(store, clock)
    assert not offers.look(HQ, [])
    clock.move(3600)
    old = [colony(f"{number:08x}", status="merged") for number in range(50)]
    # A colony that was launched and ended since then was never seen at work.
    new = colony("c0ffee00", status="failed", created_at=at(60))
    assert offers.look(HQ, [*old, new])
    assert [offer.key.colony for offer in offers.unsettled()] == ["c0ffee00"]
    assert not offers.look(HQ, [*old, new])
    # Under another name it is the same mothership.
    store.rename_endpoint(HQ, "base")
    assert offers.unsettled()[0].key.endpoint == "base"
    store.close()


class Kernel:
    """Records outcomes, or fails to."""

    def __init__(self, failure: ClientError | None = None) -> None:
        self.failure = failure
        self.recorded: list[OutcomeOrder] = []

    async def __call__(self, order: OutcomeOrder) -> Recorded:
        if self.failure is not None:
            raise self.failure
        self.recorded.append(order)
        return Recorded("1", 0.14, "sandbox")


def log_of(folder: Path) -> list[tuple[str, str]]:
    assert first_break(folder / "audit.jsonl") is None
    lines = (folder / "audit.jsonl").read_text(encoding="utf-8").splitlines()
    return [(record["who"], record["result"]) for record in map(json.loads, lines)]


def only_offer(bridge: Bridge) -> Offer:
    [offer] = bridge.offers.unsettled()
    return offer


@pytest.fixture
def bridge(tmp_path: Path, clock: HandClock) -> Bridge:
    """A bridge with one offer, of a run that failed."""
    bridge = Bridge(Store(tmp_path / "cockpit.db"), clock, "a test")
    seen(bridge.offers, "running", "failed")
    return bridge


@pytest.mark.anyio
async def test_an_offer_is_recorded_once_and_whatever_came_of_it_is_on_record(
    tmp_path: Path, bridge: Bridge, clock: HandClock
) -> None:
    word, offer = Acceptance(passed=False), only_offer(bridge)
    with pytest.raises(ToolFailed):
        await bridge.accept(offer.id, word, LAB, Kernel(ToolFailed("the disk is full")))
    assert (only_offer(bridge).state, only_offer(bridge).words) == ("open", "the disk is full")
    with pytest.raises(NoReply):
        await bridge.accept(offer.id, word, LAB, Kernel(NoReply("it ended")))
    assert (only_offer(bridge).state, only_offer(bridge).words) == ("sent", "it ended")
    kernel = Kernel()
    with pytest.raises(OnItsWay, match="look whether the kernel has it"):
        await bridge.accept(offer.id, word, LAB, kernel)
    await bridge.accept(offer.id, Acceptance(passed=True, feedback=0.5, again=True), LAB, kernel)
    [order] = kernel.recorded
    assert (order.target, order.tests_passed, order.feedback) == ("acme/widgets", True, 0.5)
    for again in (False, True):
        with pytest.raises(OnItsWay, match="recorded already"):
            await bridge.accept(offer.id, Acceptance(passed=True, again=again), LAB, kernel)
    assert bridge.offers.unsettled() == ()
    results = ["asked", "failed", "asked", "not known", "asked", "recorded"]
    assert log_of(tmp_path) == [("a test", result) for result in results]
    assert (tmp_path / "audit.jsonl").stat().st_mode & 0o777 == 0o600


@pytest.mark.anyio
async def test_two_faces_record_an_offer_once_and_one_that_dies_leaves_it_in_doubt(
    tmp_path: Path, bridge: Bridge, clock: HandClock
) -> None:
    offer, asked, kernel = only_offer(bridge), asyncio.Event(), Kernel()

    async def never(order: OutcomeOrder) -> Recorded:
        asked.set()
        await asyncio.Event().wait()
        return await kernel(order)

    first = asyncio.create_task(bridge.accept(offer.id, Acceptance(passed=False), LAB, never))
    await asked.wait()
    other = Bridge(Store(tmp_path / "cockpit.db"), clock, "another")
    with pytest.raises(OnItsWay):
        await other.accept(offer.id, Acceptance(passed=False), LAB, kernel)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert only_offer(other).state == "sent"
    assert other.dismiss(offer.id, LAB).id == offer.id
    assert kernel.recorded == []
    assert log_of(tmp_path) == [("a test", "asked"), ("a test", "cut off"), ("another", "dismissed")]


@pytest.mark.anyio
async def test_what_cannot_be_logged_is_not_sent(tmp_path: Path, bridge: Bridge) -> None:
    (tmp_path / "audit.jsonl").symlink_to("/dev/full")
    kernel = Kernel()
    with pytest.raises(StoreError, match="nothing is sent that cannot be logged"):
        await bridge.accept(only_offer(bridge).id, Acceptance(passed=False), LAB, kernel)
    assert (kernel.recorded, only_offer(bridge).state) == ([], "open")


@pytest.mark.anyio
async def test_a_log_that_fails_afterwards_hides_neither_that_it_was_recorded_nor_why_it_was_not(
    tmp_path: Path, bridge: Bridge
) -> None:
    log, offer = tmp_path / "audit.jsonl", only_offer(bridge)

    def filling_the_disk(kernel: Kernel) -> Recording:
        async def record(order: OutcomeOrder) -> Recorded:
            log.unlink()
            log.symlink_to("/dev/full")
            return await kernel(order)

        return record

    with pytest.raises(ToolFailed, match="no such agent"):
        await bridge.accept(
            offer.id, Acceptance(passed=False), LAB, filling_the_disk(Kernel(ToolFailed("no such agent")))
        )
    assert only_offer(bridge).words == "no such agent"
    log.unlink()
    with pytest.raises(StoreError, match="lab recorded it, which could not be noted"):
        await bridge.accept(offer.id, Acceptance(passed=False), LAB, filling_the_disk(Kernel()))
    assert bridge.offers.unsettled() == ()


def test_a_line_that_was_changed_or_taken_out_of_the_log_shows(tmp_path: Path, clock: HandClock) -> None:
    path = tmp_path / "audit.jsonl"
    for number in range(4):
        AuditLog(path, clock).append({"number": number})
    lines = path.read_bytes().splitlines(keepends=True)
    for kept, broken in (
        (lines, None),
        ([lines[0], lines[2], lines[3]], 2),
        ([lines[0], lines[1].replace(b'"number": 1', b'"number": 7'), *lines[2:]], 3),
        ([*lines[:2], b"[]\n"], 3),
    ):
        path.write_bytes(b"".join(kept))
        assert first_break(path) == broken
    # The writer of the last line died over it: what comes next begins a line of its own.
    path.write_bytes(b"".join(lines) + lines[3][:20])
    AuditLog(path, clock).append({"number": 9})
    assert first_break(path) == 5
    assert json.loads(path.read_bytes().splitlines()[-1])["number"] == 9
    with pytest.raises(StoreError, match="too long"):
        AuditLog(path, clock).append({"words": "x" * 40_000})


@pytest.mark.anyio
async def test_a_cockpit_offers_while_a_kernel_is_chosen_and_records_there(tmp_path: Path) -> None:
    clock = HastyClock()
    cockpit = cockpit_at(tmp_path, clock)
    connector = KernelConnector(clock=clock)
    cockpit.kernels.add(EndpointState(LAB, "here", "kernel"), connector)
    tomorrow = at(86_400)
    cockpit.hub.post(ColoniesListed(HQ, (colony(status="merged"),)))
    async with asyncio.timeout(LONG_S), running(cockpit):
        with pytest.raises(Unreachable, match="no kernel is chosen"):
            await cockpit.offers.accept("any", Acceptance(passed=True))
        cockpit.offers.lead_to(LAB)
        cockpit.hub.post(ColonyChanged(colony("0000beef", status="failed", created_at=tomorrow)))
        [offer] = (await until(cockpit, lambda snapshot: snapshot.offers)).offers
        assert (offer.key.colony, offer.happened) == ("0000beef", Happened.FAILED)
        recorded = await cockpit.offers.accept(offer.id, Acceptance(passed=False))
        assert (recorded.role, cockpit.snapshot.offers) == ("sandbox", ())
        assert connector.kernel is not None
        assert connector.kernel.status()["recent_consequences"][0]["target"] == "acme/widgets"
        cockpit.hub.post(ColonyChanged(colony("0000cafe", status="closed", created_at=tomorrow)))
        [offer] = (await until(cockpit, lambda snapshot: snapshot.offers)).offers
        cockpit.offers.dismiss(offer.id)
        assert cockpit.snapshot.offers == ()
        cockpit.offers.lead_to(EndpointName("another"))
        assert cockpit.snapshot.offers_for == "another", "also where nothing is offered just then"
        cockpit.offers.lead_to(None)
        await until(cockpit, lambda snapshot: snapshot.offers_for is None)
    assert log_of(tmp_path)[-1] == ("a person in the cockpit", "dismissed")
