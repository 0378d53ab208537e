"""A program that speaks MCP on stdio and offers the tools of a plan; it starts in some 20 ms.

Its arguments are a JSON file with a list of tools, and a file to which each called tool's name is appended. Some names
mean more than an echo of the arguments: see `result`.
"""

import json
import os
import sys
from typing import Any, cast

Json = dict[str, Any]


def main(plan: str, heard: str) -> None:
    with open(plan, encoding="utf-8") as file:
        tools: list[Any] = json.load(file)
    answer: Json
    for line in sys.stdin:
        request: Json = json.loads(line)
        if "id" not in request:
            continue
        method, params = request["method"], cast("Json", request.get("params") or {})
        if method == "initialize":
            capabilities = {"tools": {"listChanged": True}}
            info = {"name": "planned", "version": "1"}
            answer = {"protocolVersion": "2025-06-18", "capabilities": capabilities, "serverInfo": info}
        elif method == "tools/list":
            begin = int(params.get("cursor") or 0)
            answer = {"tools": tools[begin : begin + 50]}
            if begin + 50 < len(tools):
                answer["nextCursor"] = str(begin + 50)
        elif method == "tools/call":
            with open(heard, "a", encoding="utf-8") as file:
                file.write(params["name"] + "\n")
            answer = result(params, tools)
        else:
            say({"id": request["id"], "error": {"code": -32601, "message": "Method not found"}})
            continue
        say({"id": request["id"], "result": answer})


def result(params: Json, tools: list[Any]) -> Json:
    name, token = params["name"], cast("Json", params.get("_meta") or {}).get("progressToken")
    if name.startswith("die"):
        os._exit(3)
    if name == "silent":
        sys.stdin.readline()
    if name == "slow":
        for step in range(3):
            say({"method": "notifications/progress", "params": {"progressToken": token, "progress": step, "total": 3}})
    if name == "grow":
        tools.append({"name": "grown", "description": "New here.", "inputSchema": {"type": "object"}})
        say({"method": "notifications/tools/list_changed"})
    if name == "odd":
        return {
            "content": [{"type": "hologram", "beam": 3}],
            "structuredContent": [1],
            "isError": True,
            "x-more": "\x1b",
        }
    if name == "environment":
        return {"content": [{"type": "text", "text": json.dumps(sorted(os.environ))}]}
    return {"content": [{"type": "text", "text": json.dumps([name, os.getpid(), params.get("arguments")])}]}


def say(message: Json) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
