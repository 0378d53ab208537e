"""Making a new colony: every guard in the order of spec 3.1, then the record."""

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace

from msgspec import UNSET, UnsetType

from colonizer_config.errors import SettingsError
from colonizer_config.settings import Settings
from colonizer_engines.mothership.agents import Environments, ReadSettings, find_agent
from colonizer_engines.mothership.boot import Folders, Sandboxes
from colonizer_engines.mothership.budgets import check_caps
from colonizer_engines.mothership.colony import Colony, Origin
from colonizer_engines.mothership.errors import Refusal
from colonizer_engines.mothership.fleet import Fleet
from colonizer_engines.mothership.known_repositories import KnownRepositories, check_name
from colonizer_engines.mothership.repositories import Base, Repository, RepositoryError, launch_base
from colonizer_engines.mothership.sandbox import SandboxError
from colonizer_engines.mothership.scheduler import Scheduler, issue_holder
from colonizer_engines.mothership.session import UNTITLED, ColonyId, Session, branch_name
from colonizer_engines.mothership.tokens import Caller
from colonizer_engines.mothership.wire import as_array, as_object

TITLE_LIMIT = 300
INSTRUCTIONS_LIMIT = 20_000
NAME_OF_CALLER_LIMIT = 200

_ACCOUNT = re.compile(r"[a-z0-9-]{1,40}")
_TIERS = ("low", "medium", "high")

STACKING = "stacking is not built yet in the local mothership"


@dataclass(frozen=True, slots=True)
class Ground:
    """What a colony stands on; found out before the guards, since asking git takes a moment in which others act."""

    base: Base | None
    repository: Repository | None
    sandbox: str
    problem: str | None
    """Why it cannot be launched here; said after every guard."""


class Launches:
    """Makes colonies."""

    def __init__(
        self,
        fleet: Fleet,
        scheduler: Scheduler,
        repositories: KnownRepositories,
        folders: Folders,
        sandboxes: Sandboxes,
        environments: Environments,
        read_settings: ReadSettings,
    ) -> None:
        self._fleet = fleet
        self._scheduler = scheduler
        self._repositories = repositories
        self._folders = folders
        self._sandboxes = sandboxes
        self._environments = environments
        self._read_settings = read_settings

    async def launch(
        self, body: Mapping[str, object], caller: Caller, key: str | None, agent_env: Mapping[str, str]
    ) -> Session:
        """The new colony, `starting` or `queued`; the one that the same key made before, where there is one.

        Args:
            body: The fields of a launch, with the right types.
            caller: Who launches.
            key: The Idempotency-Key.
            agent_env: Values of the person's shell for the agent.

        Raises:
            Refusal: A guard says no.
        """
        name = _repository_name(body, caller)
        name = self._repositories.canonical(name)
        ground = await self._ground(name)
        found = self._guard(body, name, caller, key)
        if isinstance(found, Session):
            return found
        settings, agent = found
        if ground.problem is not None or ground.base is None or ground.repository is None:
            raise Refusal(400, ground.problem or "")
        session = self._session(body, name, caller, key, agent, ground)
        origin = Origin(
            str(ground.repository.git_dir), str(ground.repository.top), ground.base.branch, ground.base.commit
        )
        self._environments.give(session.id, agent_env)
        return self._admit(Colony(session=session, origin=origin), settings)

    async def _ground(self, name: str) -> Ground:
        repository = self._repositories.find(name)
        if repository is None:
            words = f"{name} is not known here; add it with: colonizer repo add PATH"
            return Ground(None, None, "none", words)
        try:
            settings = self._read_settings()
            base = await launch_base(repository)
            sandbox = await self._sandboxes.of(settings.local.sandbox)
        except (SettingsError, RepositoryError, SandboxError) as problem:
            return Ground(None, repository, "none", str(problem))
        return Ground(base, repository, sandbox.name, None)

    def _guard(
        self, body: Mapping[str, object], name: str, caller: Caller, key: str | None
    ) -> Session | tuple[Settings, str]:
        """The colony of an earlier request with the same key, or the settings and the agent of the new one."""
        check_name_of_caller(body.get("external_ref"), "external_ref")
        check_name_of_caller(key, "Idempotency-Key")
        if key is not None and not key.isascii():
            raise Refusal(400, "`Idempotency-Key` must be printable ASCII")
        earlier = self._earlier(name, caller, key)
        if earlier is not None:
            return earlier
        if caller.token is not None:
            check_caps(self._fleet, caller.token)
        try:
            settings = self._read_settings()
        except SettingsError as problem:
            raise Refusal(400, str(problem)) from problem
        agent = str(body.get("agent_module") or settings.default_agent)
        find_agent(settings, agent)
        _check_models(body)
        _check_supply_chain(body)
        self._check_parent(body)
        self._check_duplicate(body, name)
        if body.get("host"):
            raise Refusal(400, f'no fleet member matches "{body["host"]}"')
        return settings, agent

    def _earlier(self, name: str, caller: Caller, key: str | None) -> Session | None:
        if key is None:
            return None
        token = UNSET if caller.token is None else caller.token.id
        for colony in self._fleet.colonies():
            session = colony.session
            if session.idempotency_key == key and session.launched_by_token == token:
                if session.repo != name:
                    raise Refusal(
                        409,
                        f"this `Idempotency-Key` already created colony {session.id} on {session.repo};"
                        f" use a new key to start one on {name}",
                    )
                return self._fleet.shown(colony)
        return None

    def _check_parent(self, body: Mapping[str, object]) -> None:
        after = body.get("after")
        if after is None:
            return
        parent = str(after).strip()
        if not parent:
            raise Refusal(400, "`after` names no colony to stack on")
        if self._fleet.find(parent) is None:
            raise Refusal(404, f"there is no colony `{parent}` to stack on")
        raise Refusal(409, STACKING)

    def _check_duplicate(self, body: Mapping[str, object], name: str) -> None:
        issue = _issue(body)
        if issue is None or body.get("allow_duplicate") or body.get("queue_behind_holder"):
            return
        holder = issue_holder(self._fleet, name, issue)
        if holder is None:
            return
        doing = f"its pull request is open at {holder.pr_url}" if holder.pr_url else f"it is {holder.status}"
        raise Refusal(
            409,
            f"colony {holder.id} is already on #{issue} and {doing}. Starting a second one duplicates its work:"
            " read that colony first, or pass allow_duplicate (`colonizer launch --allow-duplicate`) to start another"
            " anyway, or queue_behind_holder (`colonizer launch --queue-behind-holder`) to wait for it.",
            duplicate={
                "kind": "issue",
                "colony": holder.id,
                "host": None,
                "status": holder.status,
                "pr_url": holder.pr_url,
                "issue": issue,
                "what": f"#{issue}",
                "queueable": True,
            },
        )

    def _session(
        self, body: Mapping[str, object], name: str, caller: Caller, key: str | None, agent: str, ground: Ground
    ) -> Session:
        colony = self._new_id()
        issue = _issue(body)
        title = str(body.get("title", "")).strip()[:TITLE_LIMIT]
        holder = None
        if issue is not None and body.get("queue_behind_holder") and not body.get("allow_duplicate"):
            holder = issue_holder(self._fleet, name, issue)
        autopilot, now = body.get("autopilot"), self._fleet.change_moment()
        return Session(
            id=colony,
            repo=name,
            org=name.partition("/")[0],
            issue=issue,
            issue_title=title or ("" if issue is not None else UNTITLED),
            instructions=str(body.get("instructions", "")).strip()[:INSTRUCTIONS_LIMIT],
            status="queued",
            branch=branch_name(colony, issue),
            launched_by_token=UNSET if caller.token is None else caller.token.id,
            external_ref=_text(body, "external_ref"),
            idempotency_key=key or UNSET,
            origin=_text(body, "origin"),
            worktree=str(self._folders.worktree_of(colony)),
            sandbox=ground.sandbox,
            agent=agent,
            autopilot=autopilot if isinstance(autopilot, bool) else True,
            autofix=_flag(body, "autofix"),
            automerge=_flag(body, "automerge"),
            queued_behind=holder.id if holder else UNSET,
            claim_wait=True if holder else UNSET,
            verify=str(body.get("verify") or "").strip() or "auto",
            model_tier=_text(body, "model_tier"),
            model_override=_text(body, "model_override"),
            subagent_model_override=_text(body, "subagent_model_override"),
            claude_account=_text(body, "claude_account"),
            supply_chain=_target(body.get("supply_chain")) if body.get("supply_chain") else UNSET,
            supply_chain_targets=tuple(_target(target) for target in _targets(body)) or UNSET,
            created_at=now,
            updated_at=now,
        )

    def _admit(self, colony: Colony, settings: Settings) -> Session:
        starts = self._scheduler.starts_now(colony.session, settings)
        if starts:
            colony = replace(colony, session=self._scheduler.starting(colony.session))
        with self._fleet.change() as change:
            change.put(colony)
        if starts:
            self._scheduler.start_agent(colony.id)
        self._scheduler.begin()
        return self._fleet.get(colony.id).session

    def _new_id(self) -> ColonyId:
        while True:
            colony = ColonyId(secrets.token_hex(4))
            if self._fleet.find(colony) is None and not self._folders.worktree_of(colony).exists():
                return colony


def check_name_of_caller(value: object, what: str) -> None:
    """Nothing, where the value is absent or may be a caller's own name for a colony.

    Raises:
        Refusal: 400, it may not.
    """
    if value is None:
        return
    text = str(value).strip()
    if not 1 <= len(text) <= NAME_OF_CALLER_LIMIT or not text.isprintable():
        raise Refusal(400, f"`{what}` must be 1 to {NAME_OF_CALLER_LIMIT} printable characters")


def _repository_name(body: Mapping[str, object], caller: Caller) -> str:
    name = str(body["repo"]).strip()
    check_name(name)
    if not caller.sees(name):
        raise Refusal(403, f"this API token's org/repo limits do not include {name}")
    return name


def _issue(body: Mapping[str, object]) -> int | None:
    issue = body.get("issue")
    return issue if isinstance(issue, int) else None


def _check_models(body: Mapping[str, object]) -> None:
    account = body.get("claude_account")
    if account is not None and not _ACCOUNT.fullmatch(str(account)):
        raise Refusal(400, "Claude account ids are lowercase letters, digits and dashes, 1-40 characters")
    tier = body.get("model_tier")
    if tier is not None and str(tier).strip().lower() not in _TIERS:
        raise Refusal(400, f'unknown model tier "{tier}"; use low, medium or high')


def _check_supply_chain(body: Mapping[str, object]) -> None:
    single = body.get("supply_chain")
    if single is not None and not all(_target(single).values()):
        raise Refusal(400, "a supply-chain target names both a package and an advisory")
    if any(not _target(target)["package"] for target in _targets(body)):
        raise Refusal(400, "every supply-chain target names a package")


def _targets(body: Mapping[str, object]) -> list[object]:
    return as_array(body.get("supply_chain_targets")) or []


def _target(value: object) -> dict[str, object]:
    fields = as_object(value) or {}
    return {name: str(fields[name]).strip().lower() for name in ("package", "advisory")}


def _text(body: Mapping[str, object], name: str) -> str | UnsetType:
    return str(body.get(name) or "").strip() or UNSET


def _flag(body: Mapping[str, object], name: str) -> bool | UnsetType:
    value = body.get(name)
    return value if isinstance(value, bool) else UNSET
