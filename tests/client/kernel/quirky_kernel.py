"""A program that speaks MCP on stdio as the stock kernel does: noise, a huge list, its own errors, recorded answers.

Its only argument is a JSON file: `answers` (rows of `tool`, `arguments`, `result`, `is_error`, each used once, the last
one of a status again and again), `heard` (a file to which the name of each called tool is appended), and as they are
wanted `child` (a file for the id of a process that is left behind), `limit` (calls until RATE_LIMITED), `calls_lived`
(calls until the process dies), `tools` (bare names to list).
"""

import itertools
import json
import os
import subprocess
import sys
from typing import Any

Json = dict[str, Any]

PREFIX = "codomyrmex."
FOREIGN = 500
ERROR = {"code": -32603, "message": "Unhandled method"}


def main(path: str) -> None:
    with open(path, encoding="utf-8") as file:
        plan: dict[str, Any] = json.load(file)
    if "child" in plan:
        left = subprocess.Popen(["sleep", "600"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        with open(plan["child"], "w", encoding="ascii") as file:
            file.write(str(left.pid))
    print("INFO codomyrmex: importing 599 modules, 45 skipped", file=sys.stderr, flush=True)
    sys.stdout.buffer.write(b'2026-08-03 INFO logging on the wrong stream\n\n[1, 2]\n\xff\xfe{"id": 1}\n')
    answers, wrappings = list(plan["answers"]), itertools.cycle(range(3))
    called = 0
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            continue
        sys.stdout.write('{"an": "object that is no message"}\n')
        if request["method"] == "tools/call":
            called += 1
            if called > plan.get("calls_lived", called):
                print("Segmentation fault \x1b[2J(core dumped)", file=sys.stderr, flush=True)
                os._exit(139)
        reply = answered(plan, request, answers, next(wrappings), called)
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": request["id"], **reply}) + "\n")
        sys.stdout.flush()


def answered(
    plan: dict[str, Any], request: dict[str, Any], answers: list[Any], wrapping: int, called: int
) -> dict[str, Any]:
    params: dict[str, Any] = request.get("params") or {}
    match request["method"]:
        case "initialize":
            info = {"name": "codomyrmex-mcp", "version": "1.0.0"}
            capabilities: dict[str, object] = {"tools": {}, "resources": {}, "prompts": {}}
            return {"result": {"protocolVersion": "2025-06-18", "capabilities": capabilities, "serverInfo": info}}
        case "tools/list":
            return {"result": {"tools": listed(plan)}}
        case "tools/call":
            with open(plan["heard"], "a", encoding="utf-8") as heard:
                heard.write(params["name"] + "\n")
            if called > plan.get("limit", called):
                return {"result": failed({"code": "RATE_LIMITED", "message": "too many calls"})}
            return {"result": value(answers, params, wrapping)}
        case _:
            return {"error": ERROR}


def listed(plan: dict[str, Any]) -> list[dict[str, Any]]:
    """A kernel's tools among many others, some with schemas that no client of today reads."""
    rows = [
        {
            "name": f"codomyrmex.shell_{number}",
            "description": "Runs any command. " * 25,
            "inputSchema": {} if number % 7 else {"type": "string"},
            "x-codomyrmex": {"module": "codomyrmex.terminal", "version": 1},
        }
        for number in range(FOREIGN)
    ]
    names = plan.get("tools", ["propose_action", "record_outcome", "agent_profile", "status", "pheromone_query"])
    extra = [] if "tools" in plan else ["falsify_plan", "pruning_report", "tick"]
    ours: list[dict[str, Any]] = [{"name": f"{PREFIX}colony_{name}", "inputSchema": {}} for name in (*names, *extra)]
    return [*rows[:250], *ours, *rows[250:], {"name": "evil_colony_tick", "inputSchema": {}}, {"name": 5}]


def value(answers: list[Any], params: dict[str, Any], wrapping: int) -> dict[str, Any]:
    """The next recorded answer to this call, wrapped in one of the three ways."""
    bare = params["name"].removeprefix(PREFIX)
    for place, row in enumerate(answers):
        if row["tool"] == bare and row["arguments"] == params.get("arguments", {}):
            if bare != "colony_status" or any(later["tool"] == bare for later in answers[place + 1 :]):
                del answers[place]
            break
    else:
        return failed({"code": "NOT_FOUND", "message": f"no answer is recorded to {bare}"})
    if row["is_error"]:
        return failed(row["result"])
    found = row["result"]
    for _ in range(wrapping):
        found = {"result": found}
    return {"content": [{"type": "text", "text": json.dumps(found)}], "isError": False}


def failed(envelope: object) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": json.dumps(envelope)}], "isError": True}


if __name__ == "__main__":
    main(sys.argv[1])
