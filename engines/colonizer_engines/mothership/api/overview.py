"""What the embedded mothership says of itself and of all colonies together (spec 3.6, 3.7; local decisions)."""

import os
import platform
import shutil
from collections.abc import Iterable, Mapping

import psutil
from starlette.responses import Response

from colonizer_engines.mothership.agents import installed
from colonizer_engines.mothership.api.replies import json_reply
from colonizer_engines.mothership.api.routes import Call
from colonizer_engines.mothership.clock import rfc3339
from colonizer_engines.mothership.mothership import Mothership
from colonizer_engines.mothership.session import LIVE, Session
from colonizer_engines.mothership.tokens import Scope
from colonizer_engines.mothership.wire import as_object

_ORG_SETTINGS = (
    *("enabled", "jev", "agent", "max_parallel", "repo_max_parallel", "close_superseded_prs", "merge_prs", "ua_graph"),
    *("budget_usd", "host_disk", "stack", "egress", "path_policy", "memory", "watchdog", "notify", "sensitivity"),
    "guest_agents",
)
_LISTS = frozenset({"close_superseded_prs", "merge_prs", "ua_graph"})


async def get_status(call: Call) -> Response:
    """GET `/api/status`: everything, or a little for somebody without a token."""
    if call.caller.scope is Scope.ANYBODY:
        return json_reply(_for_nobody(call.mothership))
    return json_reply(await _status(call.mothership))


async def get_version(call: Call) -> Response:
    """GET `/api/version`."""
    version = f"v{call.mothership.given.version}"
    return json_reply(
        {
            "version": version,
            "commit": None,
            "dirty": False,
            "built_at": None,
            "release": version,
            "development": False,
        }
    )


async def get_hosts(call: Call) -> Response:
    """GET `/api/hosts`: this machine."""
    return json_reply({"hosts": [host(call.mothership)]})


async def get_orgs(call: Call) -> Response:
    """GET `/api/orgs`."""
    return json_reply(orgs(call.mothership))


async def get_repos(call: Call) -> Response:
    """GET `/api/repos`: those that were added here."""
    return json_reply(
        [
            {
                "full_name": repository.name,
                "description": None,
                "private": True,
                "fork": False,
                "archived": False,
                "open_issues_count": 0,
                "pushed_at": None,
                "has_issues": False,
            }
            for repository in call.mothership.repositories.all()
        ]
    )


async def get_storage(call: Call) -> Response:
    """GET `/api/storage`."""
    return json_reply(storage(call.mothership))


async def get_map(call: Call) -> Response:
    """GET `/api/maps/{owner}/{name}`: there are no maps here."""
    name = f"{call.parameters['owner']}/{call.parameters['name']}"
    return json_reply({"repo": name, "map": None, "mapping": None})


def host(mothership: Mothership) -> dict[str, object]:
    """This machine's row of the list of hosts."""
    total, _, free = _disk(mothership)
    settings = mothership.scheduler.settings()
    return {
        "id": "local",
        "name": platform.node() or "local",
        "platform": f"{platform.system().lower()}-{platform.machine()}",
        "os": _os_name(),
        "version": mothership.given.version,
        "slots_in_use": mothership.scheduler.slots_taken(),
        "slots_ceiling": settings.local.max_parallel,
        "queue_depth": len(mothership.fleet.in_status("queued")),
        "disk_free_bytes": free,
        "disk_total_bytes": total,
        "last_heartbeat": rfc3339(mothership.clock.now()),
        "health": "online",
    }


def orgs(mothership: Mothership) -> list[dict[str, object]]:
    """Every org that has a colony or a repository here, with its sums."""
    by_org: dict[str, list[Session]] = {
        repository.name.partition("/")[0]: [] for repository in mothership.repositories.all()
    }
    for colony in mothership.fleet.colonies():
        by_org.setdefault(colony.session.org, []).append(colony.session)
    return [
        {
            "org": org,
            "colonies": {"live": sum(session.live for session in sessions), "total": len(sessions)},
            "spend": _spend(sessions),
            "pending_memory": 0,
            "settings": {name: [] if name in _LISTS else None for name in _ORG_SETTINGS},
        }
        for org, sessions in sorted(by_org.items())
    ]


def storage(mothership: Mothership) -> dict[str, object]:
    """The figures of GET `/api/storage`; folders are not measured."""
    return {
        "enabled": False,
        "retention_secs": 0,
        "min_free_bytes": 0,
        "warn_free_bytes": 0,
        "free_bytes": _disk(mothership)[2],
        "admission_paused": mothership.fleet.health.failing,
        "totals": {
            "worktrees_bytes": 0,
            "repos_bytes": 0,
            "sessions_bytes": 0,
            "archive_bytes": 0,
            "microsandbox_bytes": None,
        },
        "reclaimable": [],
        "unpushed": [],
        "orphans": [],
    }


def _spend(sessions: Iterable[Session]) -> dict[str, object]:
    costs = [session.cost_usd for session in sessions if session.cost_usd is not None]
    routed = [session.routed_cost_usd for session in sessions if session.routed_cost_usd is not None]
    tokens = dict.fromkeys(("input", "output", "cache_read", "cache_write"), 0)
    models: dict[str, int] = {}
    costs_of: dict[str, float] = {}
    for session in sessions:
        usage = session.model_usage or {}
        if len(usage) == 1 and session.cost_usd is not None:
            # What several models cost together says nothing about one of them.
            costs_of[next(iter(usage))] = costs_of.get(next(iter(usage)), 0.0) + session.cost_usd
        for model, counts in usage.items():
            for kind in tokens:
                count = (as_object(counts) or {}).get(f"{kind}_tokens")
                if isinstance(count, int):
                    tokens[kind] += count
                    models[model] = models.get(model, 0) + count
    return {
        "cost_usd": sum(costs) if costs else None,
        "routed_cost_usd": sum(routed) if routed else None,
        "tokens": tokens,
        "models": [
            {"model": model, "tokens": count, "cost_usd": costs_of.get(model)} for model, count in models.items()
        ],
    }


async def _status(mothership: Mothership) -> dict[str, object]:
    settings = mothership.scheduler.settings()
    sandbox = await mothership.sandboxes.name_of(settings.local.sandbox)
    return {
        "version": mothership.given.version,
        "queue_depth": len(mothership.fleet.in_status("queued")),
        "queue": mothership.scheduler.queue_gates(),
        "draining": False,
        "stall": None,
        "reclaim": {"reclaimable": 0, "unpushed": 0},
        "github": {"connected": False, "error": "not set up"},
        "claude": _CLAUDE,
        "sandbox": _sandbox(mothership, sandbox, settings.local.max_parallel),
        "mesh": {"enabled": False, "provider": "none"},
        "storage": _storage_status(mothership),
        "runtime": _runtime(),
        "host": _host_figures(mothership),
        **_NOTHING_OF,
        "modules": {
            "source": "local",
            "sandbox": sandbox,
            "mesh": "none",
            "agent": settings.default_agent,
            "publish": "none",
            "notify": "none",
        },
        "assets": {**_NO_ASSETS, "agents": sorted(installed(settings))},
    }


def _sandbox(mothership: Mothership, name: str, ceiling: int) -> dict[str, object]:
    taken = mothership.scheduler.slots_taken()
    return {
        "provider": name,
        "mode": "fixed",
        "max_parallel": ceiling,
        "configured_max_parallel": ceiling,
        "running": taken,
        "room_for": max(0, ceiling - taken),
        "waiting_reason": "cap" if taken >= ceiling else None,
    }


def _runtime() -> dict[str, object]:
    return {
        "platform": f"{platform.system().lower()}-{platform.machine()}",
        "os": {"vendor": platform.system().lower(), "name": _os_name(), "version": None, "id": None},
        "kvm": None,
        "git": {"ok": shutil.which("git") is not None, "version": None, "error": None},
        "gh": {"ok": False, "version": None, "error": "not used"},
        "host_claude_bin": None,
        "host_claude_bin_error": None,
    }


_NO_ASSETS = {"path": None, "agentd": False, "headscale": False, "tailscale": False, "web": False}

_CLAUDE = {
    "configured": False,
    "source": None,
    "kind": None,
    "account": None,
    "account_note": None,
    "saved_at": None,
    "expires_at": None,
    "expires_estimated": False,
    "health_status": None,
    "health_checked_at": None,
}

_NOTHING_OF: Mapping[str, object] = {
    "model_providers": [],
    "quota": {
        "paused": False,
        "reason": None,
        "reset_at": None,
        "reset_unix": None,
        "providers": [],
        "kind": None,
        "scope": None,
        "held": 0,
        "fallback": None,
        "provider_details": [],
    },
    "quota_cards": [],
    "findings_cards": [],
    "account_alerts": [],
    "backlog": None,
    "github_pause": {"paused": False, "secondary_limits_recent": 0},
    "merge_steward": {"ci_blocked": []},
    "ledger": {"counters": {}, "pending_digest": {}, "last_digest": None, "quarantined": 0, "limits": {}},
    "observability": "off",
}
"""Parts of a status that a local mothership has nothing of."""


def _for_nobody(mothership: Mothership) -> dict[str, object]:
    tick = mothership.scheduler.last_tick
    return {
        "version": mothership.given.version,
        "queue_depth": len(mothership.fleet.in_status("queued")),
        "host": {
            key: value
            for key, value in _host_figures(mothership).items()
            if key not in ("id", "hostname", "uptime_secs", "checked_at")
        },
        "runtime": {
            "platform": f"{platform.system().lower()}-{platform.machine()}",
            "os": {"vendor": platform.system().lower(), "name": _os_name(), "version": None},
        },
        "storage": {"ok": not mothership.fleet.health.failing},
        "runner": {"last_tick_age_s": None if tick is None else int(mothership.clock.monotonic() - tick)},
        "observability": {"enabled": False, "state": "off", "failing_since": None, "destination_hash": None},
    }


def _storage_status(mothership: Mothership) -> dict[str, object]:
    health = mothership.fleet.health
    return {
        "ok": not health.failing,
        **(health.trouble.wire() if health.trouble else {}),
        "free_bytes": _disk(mothership)[2],
        "warn_free_bytes": 0,
        "min_free_bytes": 0,
        "low_disk": health.failing,
        "admission_paused": health.failing,
    }


def _host_figures(mothership: Mothership) -> dict[str, object]:
    memory, (total, used, free) = psutil.virtual_memory(), _disk(mothership)
    return {
        "id": "local",
        "hostname": platform.node(),
        "cpu_cores": os.cpu_count(),
        "memory_total_bytes": memory.total,
        "memory_used_bytes": memory.used,
        "load": list(os.getloadavg()),
        "uptime_secs": int((mothership.clock.now() - mothership.started_at).total_seconds()),
        "disk_total_bytes": total,
        "disk_used_bytes": used,
        "disk_free_bytes": free,
        "checked_at": rfc3339(mothership.clock.now()),
        "microvms_live": len(mothership.fleet.in_status(*LIVE)),
        "microvms_ceiling": mothership.scheduler.settings().local.max_parallel,
    }


def _disk(mothership: Mothership) -> tuple[int, int, int]:
    """Bytes of the disk that holds the colonies: all, used, free."""
    return shutil.disk_usage(mothership.given.folders.worktrees.parent)


def _os_name() -> str:
    try:
        return platform.freedesktop_os_release().get("NAME", platform.system())
    except OSError:
        return platform.system()
