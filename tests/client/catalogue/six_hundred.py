"""Ten servers with 600 tools in total, as people have them, and what one would say to find some."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from colonizer_config.address import StdioAddress
from recorded import Json

SERVER = Path(__file__).with_name("planned_server.py")

_VERBS: Mapping[str, tuple[str, bool]] = {
    "list": ("Lists the {many} that match, page by page.", True),
    "get": ("Reads one {one} with all its fields.", True),
    "create": ("Makes a new {one}.", False),
    "update": ("Changes fields of an existing {one}.", False),
    "delete": ("Removes a {one} for good.", False),
}

_NOUNS: Mapping[str, tuple[str, str]] = {
    "forge": (
        "issue pull_request branch commit release workflow_run review_comment repository label milestone deploy_key"
        " tag",
        "in a code hosting project",
    ),
    "chat": (
        "message channel thread reaction user_group reminder bookmark canvas huddle emoji status_text direct_message",
        "in the team chat",
    ),
    "calendar": (
        "event attendee room_booking time_zone working_hours invitation recurrence busy_slot holiday agenda"
        " appointment shared_calendar",
        "in the calendar",
    ),
    "database": (
        "table row column index view trigger stored_procedure migration backup replica connection_pool query_plan",
        "of the SQL database",
    ),
    "cluster": (
        "pod deployment service node namespace config_map secret ingress volume cron_job node_pool rollout",
        "in the Kubernetes cluster",
    ),
    "mail": (
        "email mailbox_folder draft attachment filter_rule signature contact mailing_list auto_reply spam_report"
        " mail_template delivery_receipt",
        "in the mailbox",
    ),
    "browser": (
        "page_tab screenshot cookie form_field console_log network_request download history_entry viewport"
        " page_script proxy extension",
        "of the web browser",
    ),
    "payments": (
        "invoice customer subscription refund payment_method coupon payout dispute tax_rate balance checkout price",
        "at the payment provider",
    ),
    "maps": (
        "route place geocode traffic_report elevation transit_stop distance_matrix map_tile boundary speed_limit"
        " parking_lot weather_station",
        "on the map",
    ),
    "files": (
        "file folder symlink archive checksum permission trash_item share_link file_version disk_quota watch lock",
        "on the file system",
    ),
}

QUERIES: Mapping[str, str] = {
    "list open pull requests": "forge/list_pull_requests",
    "create an issue": "forge/create_issue",
    "delete a branch": "forge/delete_branch",
    "list the comments of a review": "forge/list_review_comments",
    "new release of the project": "forge/create_release",
    "which milestones are there? list them": "forge/list_milestones",
    "send a direct message: create it": "chat/create_direct_message",
    "list chat channels": "chat/list_channels",
    "remove an emoji": "chat/delete_emoji",
    "create a reminder": "chat/create_reminder",
    "update working hours": "calendar/update_working_hours",
    "room bookings list": "calendar/list_room_bookings",
    "create calendar event": "calendar/create_event",
    "get one invitation": "calendar/get_invitation",
    "createTable": "database/create_table",
    "read the query plan": "database/get_query_plan",
    "delete old backups of the database": "database/delete_backup",
    "list SQL views": "database/list_views",
    "kubernetes pods list": "cluster/list_pods",
    "update a deployment in kubernetes": "cluster/update_deployment",
    "delete cron job": "cluster/delete_cron_job",
    "get the config map": "cluster/get_config_map",
    "list the attachments of a mail": "mail/list_attachments",
    "making a draft": "mail/create_draft",
    "create screenshot": "browser/create_screenshot",
    "delete cookies": "browser/delete_cookie",
    "refund: create one": "payments/create_refund",
    "listing unpaid invoices": "payments/list_invoices",
    "create a route on the map": "maps/create_route",
    "get file checksum": "files/get_checksum",
}


def tools(server: str) -> list[Json]:
    """The sixty tools of a server."""
    nouns, where = _NOUNS[server]
    return [_tool(verb, noun, where) for noun in nouns.split() for verb in _VERBS]


def command(folder: Path, server: str, rows: list[Any] | None = None) -> StdioAddress:
    """The command of a server with these tools, else with its sixty."""
    plan = folder / f"{server}.json"
    plan.write_text(json.dumps(tools(server) if rows is None else rows), encoding="utf-8")
    return StdioAddress((sys.executable, "-I", "-S", str(SERVER), str(plan), str(folder / f"{server}.heard")))


SERVERS = tuple(_NOUNS)


def _tool(verb: str, noun: str, where: str) -> Json:
    words, is_read = _VERBS[verb]
    one, many = noun.replace("_", " "), _many(noun)
    key = {"type": "string", "description": f"Which {one}."}
    schema: Json = {"type": "object", "properties": {"id": key}, "required": ["id"], "additionalProperties": False}
    if verb in ("list", "create"):
        schema = {"type": "object", "properties": {"query" if is_read else "fields": {"type": ["string", "object"]}}}
    return {
        "name": f"{verb}_{many if verb == 'list' else noun}",
        "description": f"{words.format(one=one, many=many.replace('_', ' '))[:-1]} {where}. Needs the usual rights.",
        "inputSchema": schema,
        **({"annotations": {"readOnlyHint": True}} if is_read else {}),
    }


def _many(noun: str) -> str:
    if noun.endswith(("x", "s", "h")):
        return f"{noun}es"
    return f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
