#!/usr/bin/env python3
"""Stands in for `gh`: answers what the published mothership asks while it launches and publishes, without a network.

GITHUB_STATE names a folder; the bare repository `remote/OWNER/NAME.git` in it is the one that is on GitHub.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

STATE = Path(os.environ["GITHUB_STATE"])
PULLS = STATE / "pulls.json"
NOT_FOUND = "gh: Not Found (HTTP 404)"


def answer(argv: Sequence[str]) -> str:
    match argv:
        case ["--version"]:
            return "gh version 2.60.0 (2024-11-06)"
        case ["auth", *_]:
            return ""
        case ["api", "user", *_]:
            return json.dumps({"login": "octo", "id": 4242, "name": "Octo"})
        case ["api", "-i", route]:
            return f"HTTP/2.0 200 OK\r\nContent-Type: application/json\r\n\r\n{json.dumps(repository(route))}"
        case ["api", route, "--jq", ".default_branch"]:
            return str(repository(route)["default_branch"])
        case ["api", route]:
            return json.dumps(repository(route))
        case ["pr", "list", *_]:
            return "[]"
        case ["pr", "create", *_]:
            return opened(argv)
        case ["pr", "view", url, *_]:
            return viewed(url, argv)
        case _:
            sys.exit("gh: this stand-in has no answer to that")


def repository(route: str) -> dict[str, object]:
    found = re.fullmatch("repos/([^/]+)/([^/]+)", route)
    if found is None:
        sys.exit(NOT_FOUND)
    owner, name = found.groups()
    rights = {"admin": True, "push": True, "pull": True}
    return {
        **{"full_name": f"{owner}/{name}", "name": name, "owner": {"login": owner}, "default_branch": "main"},
        **{"private": False, "visibility": "public", "archived": False, "has_issues": True, "permissions": rights},
    }


def pulls() -> list[dict[str, str]]:
    return json.loads(PULLS.read_text()) if PULLS.exists() else []


def option(argv: Sequence[str], name: str) -> str:
    return argv[argv.index(name) + 1]


def opened(argv: Sequence[str]) -> str:
    repo, had = option(argv, "-R"), pulls()
    url = f"https://github.com/{repo}/pull/{len(had) + 101}"
    had.append({"url": url, "repo": repo, "head": option(argv, "--head"), "base": option(argv, "--base")})
    PULLS.write_text(json.dumps(had))
    return url


def viewed(url: str, argv: Sequence[str]) -> str:
    pull = next((pull for pull in pulls() if pull["url"] == url), None)
    if pull is None:
        sys.exit(NOT_FOUND)
    remote = STATE / "remote" / f"{pull['repo']}.git"
    command = ["git", "--git-dir", str(remote), "diff", "--name-only", f"{pull['base']}...{pull['head']}"]
    paths = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    if ".files[].path" in argv:
        return paths.strip()
    number = int(url.rpartition("/")[2])
    return json.dumps(
        {"url": url, "number": number, "state": "OPEN", "mergeable": "MERGEABLE", "statusCheckRollup": []}
    )


if __name__ == "__main__":
    print(answer(sys.argv[1:]))
